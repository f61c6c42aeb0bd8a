//! `neco auth list`: which providers have keys, and where.

use std::fmt::Write;

use neco_config::Env;
use neco_proto::app::keys::{KeyList, KeyPlace, KeyRow, ListKeys};
use serde_json::json;

use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::say;

/// Columns before what follows a line that is too wide.
const HANGING: usize = 4;

/// Prints them.
///
/// # Errors
/// When stdout can't be written.
pub fn run(json: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let list = ask(&ListKeys { folder: folder(everywhere)? }, everywhere, env)?;
    notes(&list.warnings);
    list.problem.iter().for_each(|reason| say::note(reason));
    let exit = if list.problem.is_none() { Exit::Done } else { Exit::Failed };
    match json {
        true => say::out(&as_json(list.keys))?,
        false => say::lines(&as_lines(&list), HANGING)?,
    }
    Ok(exit)
}

fn as_lines(list: &KeyList) -> String {
    let rows = &list.keys;
    if rows.is_empty() {
        return "no keys; `neco auth set PROVIDER` keeps one\n".to_owned();
    }
    let width = rows.iter().map(|row| row.provider.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let count = match row.keys {
            1 => "1 key ".to_owned(),
            count => format!("{count} keys"),
        };
        let endings = endings(&row.endings);
        let remark = match (&row.problem, row.used) {
            (Some(problem), _) => problem.clone(),
            (None, true) => String::new(),
            (None, false) => "not used: the ones above go first".to_owned(),
        };
        let parts = [place(row, &list.file), endings, remark].into_iter().filter(|part| !part.is_empty());
        let rest = clean_line(&parts.collect::<Vec<_>>().join("  "));
        let _ = writeln!(text, "{:<width$}  {count}  {rest}", clean_line(&row.provider));
    }
    text
}

/// The last characters of each key, with its number where there are several.
fn endings(endings: &[Option<String>]) -> String {
    let shown = |ending: &Option<String>| ending.as_ref().map_or_else(|| "…".to_owned(), |ending| format!("…{ending}"));
    match endings {
        [] | [None] => String::new(),
        [one] => shown(one),
        several => {
            let numbered = several.iter().enumerate().map(|(at, ending)| format!("({}) {}", at + 1, shown(ending)));
            numbered.collect::<Vec<_>>().join(" ")
        }
    }
}

fn place(row: &KeyRow, file: &str) -> String {
    match row.source {
        KeyPlace::Environment => row.names.join(", "),
        KeyPlace::File if row.login => format!("{file} (login)"),
        KeyPlace::File => file.to_owned(),
        KeyPlace::Configuration | KeyPlace::Keyring => row.source.to_string(),
    }
}

fn as_json(mut rows: Vec<KeyRow>) -> String {
    // Programs see that by the names.
    rows.iter_mut().for_each(|row| row.login = false);
    format!("{:#}\n", json!(rows))
}
