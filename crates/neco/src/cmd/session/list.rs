//! Sessions as lines and as JSON.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_store::SessionRecord;
use serde_json::json;

use crate::cmd::when::ago;
use crate::print::clean::clean_line;
use crate::print::wrap::{columns, fitting};
use crate::short_id::short_id;

/// Columns of a folder.
const FOLDER: usize = 36;

/// One line for each session, below a heading.
#[must_use]
pub fn as_lines(records: &[SessionRecord], all: bool, home: &Path) -> String {
    if records.is_empty() {
        let more = if all { "" } else { " in this folder; --all lists those of all folders" };
        return format!("no sessions{more}\n");
    }
    let now = Timestamp::now();
    let folders: Vec<String> = records.iter().map(|record| fitting(&below_home(&record.cwd, home), FOLDER)).collect();
    let widest = folders.iter().map(|folder| columns(folder)).max().unwrap_or_default();
    let folder_column = |folder: &str| match all {
        // Padded by what is seen: some characters take two columns.
        true => format!("{folder}{}  ", " ".repeat(widest.saturating_sub(columns(folder)))),
        false => String::new(),
    };
    let mut text = format!("{:<18}  {:<12}  {}TITLE\n", "ID", "LAST USED", folder_column("FOLDER"));
    for (record, folder) in records.iter().zip(&folders) {
        let (id, used) = (short_id(record.id), ago(record.updated_ms, now));
        let _ = writeln!(text, "{id:<18}  {used:<12}  {}{}", folder_column(folder), title(record));
    }
    text
}

/// The records as they are.
#[must_use]
pub fn as_json(records: &[SessionRecord]) -> String {
    let entry = |record: &SessionRecord| {
        let time = |millis: i64| Timestamp::from_millisecond(millis).map(|time| time.to_string()).ok();
        json!({
            "id": record.id,
            "title": record.title,
            "cwd": record.cwd,
            "created": time(record.created_ms),
            "updated": time(record.updated_ms),
            "events": record.events,
        })
    };
    format!("{:#}\n", json!(records.iter().map(entry).collect::<Vec<_>>()))
}

/// The first words, without what was piped in behind them.
fn title(record: &SessionRecord) -> String {
    let title = clean_line(&record.title);
    let words = title.split_once(" ```").map_or(title.as_str(), |(words, _)| words);
    if words.is_empty() { "(nothing was said)".to_owned() } else { words.to_owned() }
}

fn below_home(folder: &str, home: &Path) -> String {
    match Path::new(folder).strip_prefix(home) {
        Ok(rest) if home.parent().is_some() => clean_line(&Path::new("~").join(rest).display().to_string()),
        _ => clean_line(folder),
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::SessionId;

    use super::*;

    fn record(title: &str, cwd: &str) -> SessionRecord {
        SessionRecord {
            id: SessionId::new(),
            cwd: cwd.into(),
            title: title.into(),
            created_ms: 0,
            updated_ms: Timestamp::now().as_millisecond(),
            events: 3,
        }
    }

    #[test]
    fn columns_stand_below_each_other() {
        let records = [record("review ``` fn main() {", "/home/me/a"), record("", "/srv/漢字")];
        let text = as_lines(&records, true, Path::new("/home/me"));
        let column = |line: &str, words: &str| columns(line.split_once(words).unwrap().0);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("~/a        review"), "{text}");
        let at = column(lines[0], "TITLE");
        assert_eq!((column(lines[1], "review"), column(lines[2], "(nothing")), (at, at), "{text}");
        assert!(!as_lines(&records, false, Path::new("/")).contains("FOLDER"));
    }
}
