//! SQL with less around it.

/// Runs SQL with values in the places that it leaves open, and awaits that:
/// `sql!(query.execute(connection), "DELETE FROM events WHERE seq > ?", (seq))?`.
macro_rules! sql {
    ($query:ident.$run:ident($connection:expr), $sql:expr $(, ($($value:expr),+ $(,)?))? $(,)?) => {
        sqlx::$query($sql)$($(.bind($value))+)?.$run($connection).await
    };
}

/// Reads a struct from a row; a field is called as its column is, or `field = column`.
macro_rules! from_row {
    ($type:ident { $($field:ident $(= $column:ident)?),+ }) => {
        impl sqlx::FromRow<'_, sqlx::sqlite::SqliteRow> for $type {
            fn from_row(row: &sqlx::sqlite::SqliteRow) -> Result<Self, sqlx::Error> {
                Ok(Self { $($field: sqlx::Row::try_get(row, from_row!(@ $field $($column)?))?),+ })
            }
        }
    };
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $column:ident) => { stringify!($column) };
}
