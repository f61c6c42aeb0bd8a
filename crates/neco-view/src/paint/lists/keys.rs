//! Which providers have keys, and where, as lines.

use std::fmt::Write;

use neco_proto::app::Known;
use neco_proto::app::keys::{KeyList, KeyPlace, KeyRow};
use neco_proto::clean::clean_line;

/// Columns before what follows a line that is too wide.
pub const HANGING: usize = 4;

/// The list for a person.
pub fn as_lines(list: &KeyList) -> String {
    let rows = &list.keys;
    if rows.is_empty() {
        return "no keys; `neco login PROVIDER` adds one\n".to_owned();
    }
    let width = rows.iter().map(|row| row.provider.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let count = match row.keys {
            1 => "1 key ".to_owned(),
            count => format!("{count} keys"),
        };
        let remark = match (&row.problem, row.used) {
            (Some(problem), _) => problem.clone(),
            (None, true) => String::new(),
            (None, false) => "not used: the ones above come first".to_owned(),
        };
        let parts = [place(row, &list.file), endings(&row.endings), remark].into_iter().filter(|part| !part.is_empty());
        let rest = clean_line(&parts.collect::<Vec<_>>().join("  "));
        let _ = writeln!(text, "{:<width$}  {count}  {rest}", clean_line(&row.provider));
    }
    text
}

/// The last characters of each key, with its number where there are several.
fn endings(endings: &[Option<String>]) -> String {
    let shown = |ending: &Option<String>| format!("…{}", ending.as_deref().unwrap_or_default());
    match endings {
        [] | [None] => String::new(),
        [one] => shown(one),
        several => {
            let numbered = several.iter().zip(1..).map(|(ending, number)| format!("({number}) {}", shown(ending)));
            numbered.collect::<Vec<_>>().join(" ")
        }
    }
}

fn place(row: &KeyRow, file: &str) -> String {
    match row.source {
        Known::This(KeyPlace::Environment) => row.names.join(", "),
        Known::This(KeyPlace::File) if row.login => format!("{file} (login)"),
        Known::This(KeyPlace::File) => file.to_owned(),
        Known::This(KeyPlace::Configuration | KeyPlace::Keyring) | Known::Newer(_) => row.source.to_string(),
    }
}
