//! Rows of a table as structs.

/// Reads a struct from a row; a field is called as its column is, or `field = column`.
macro_rules! from_row {
    ($type:ident { $($field:ident $(= $column:ident)?),+ }) => {
        impl sqlx::FromRow<'_, sqlx::sqlite::SqliteRow> for $type {
            fn from_row(row: &sqlx::sqlite::SqliteRow) -> Result<Self, sqlx::Error> {
                Ok(Self { $($field: sqlx::Row::try_get(row, $crate::sqlite::from_row!(@ $field $($column)?))?),+ })
            }
        }
    };
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $column:ident) => { stringify!($column) };
}
pub(crate) use from_row;
