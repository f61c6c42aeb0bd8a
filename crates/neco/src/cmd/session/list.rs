//! Sessions as lines and as JSON.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::SessionId;
use neco_session::hub::Stage;
use neco_store::SessionRecord;
use serde_json::{Value, json};

use crate::cmd::when::ago;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::wrap::{columns, fitting};
use crate::short_id::ShortIds;

/// Columns of a folder at most.
const FOLDER: usize = 36;

/// Columns of a title at least.
const TITLE: usize = 16;

/// How a list is shown.
pub struct Shape<'a> {
    /// Whether sessions of all folders are in it.
    pub all: bool,
    /// The person's home, which is shown as `~`.
    pub home: &'a Path,
    /// Columns there are.
    pub width: usize,
    /// How they stand, where that is known.
    pub stages: &'a [Stage],
    /// How much room they take, where that is shown.
    pub bytes: Option<&'a HashMap<SessionId, u64>>,
}

/// One line for each session, below a heading.
#[must_use]
pub fn as_lines(records: &[SessionRecord], ids: &ShortIds, shape: &Shape<'_>) -> String {
    if records.is_empty() {
        let more = if shape.all { "" } else { " in this folder; --all lists those of all folders" };
        return format!("no sessions{more}\n");
    }
    let now = Timestamp::now();
    let mut rows = vec![["ID", "LAST USED", "FOLDER", "TITLE", "SIZE"].map(str::to_owned)];
    rows.extend(records.iter().enumerate().map(|(at, record)| {
        let folder = if shape.all { below_home(&record.cwd, shape.home) } else { String::new() };
        let title = match shape.stages.get(at) {
            Some(Stage::Open) => format!("(open) {}", title(record)),
            Some(Stage::Stopped) => format!("(stopped) {}", title(record)),
            Some(Stage::AtRest) | None => title(record),
        };
        let bytes = shape.bytes.map_or(0, |bytes| bytes.get(&record.id).copied().unwrap_or(0));
        [ids.short(record.id), ago(record.updated_ms, now), folder, title, figures::bytes(bytes)]
    }));
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or_default();
    let (id, used) = (widest(0), widest(1));
    let size = if shape.bytes.is_some() { widest(4) } else { 0 };
    let left = shape.width.saturating_sub(id + used + 4 + if size > 0 { size + 2 } else { 0 }).max(TITLE);
    // The title tells more than the folder, whose end tells more than its beginning.
    let folder = if shape.all { widest(2).min(FOLDER).min(left / 5 * 2) } else { 0 };
    let title_width = if shape.all { left.saturating_sub(folder + 2) } else { left };
    let mut text = String::new();
    for row in &rows {
        let place = match shape.all {
            true => format!("{}  ", padded(&end_of(&row[2], folder), folder)),
            false => String::new(),
        };
        let room = if size > 0 { format!("{:>size$}  ", row[4]) } else { String::new() };
        let (id, used) = (padded(&row[0], id), padded(&row[1], used));
        let line = format!("{id}  {used}  {room}{place}{}", fitting(&row[3], title_width));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The records as they are.
#[must_use]
pub fn as_json(records: &[SessionRecord], stages: &[Stage], bytes: Option<&HashMap<SessionId, u64>>) -> String {
    let one = |(at, record): (usize, &SessionRecord)| {
        let mut json = record_json(record);
        if let Some(bytes) = bytes {
            json["bytes"] = json!(bytes.get(&record.id).copied().unwrap_or(0));
        }
        if let Some(stage) = stages.get(at) {
            json["state"] = json!(match stage {
                Stage::Open => "open",
                Stage::Stopped => "stopped",
                Stage::AtRest => "at_rest",
            });
        }
        json
    };
    format!("{:#}\n", json!(records.iter().enumerate().map(one).collect::<Vec<_>>()))
}

/// A record as it is.
#[must_use]
pub fn record_json(record: &SessionRecord) -> Value {
    let time = |millis: i64| Timestamp::from_millisecond(millis).map(|time| time.to_string()).ok();
    json!({
        "id": record.id,
        "title": record.title,
        "title_by": record.title_by,
        "cwd": record.cwd,
        "created": time(record.created_ms),
        "updated": time(record.updated_ms),
        "events": record.events,
        "forked_from": record.parent.map(|(session, seq)| json!({ "session_id": session, "seq": seq })),
    })
}

/// The title, or that there is none; a fork is marked.
#[must_use]
pub fn title(record: &SessionRecord) -> String {
    let title = clean_line(&record.title);
    let words = title.split_once(" ```").map_or(title.as_str(), |(words, _)| words);
    let words = if words.is_empty() { "(nothing was said)" } else { words };
    if record.parent.is_some() { format!("⑂ {words}") } else { words.to_owned() }
}

/// A folder as people write it.
#[must_use]
pub fn below_home(folder: &str, home: &Path) -> String {
    match Path::new(folder).strip_prefix(home) {
        Ok(rest) if home.parent().is_some() => clean_line(&Path::new("~").join(rest).display().to_string()),
        _ => clean_line(folder),
    }
}

/// Padded by what is seen: some characters take two columns.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The end of `text` that fits into `most` columns.
fn end_of(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let reversed: String = text.chars().rev().collect();
    fitting(&reversed, most).chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use neco_proto::SessionId;

    use super::*;

    fn record(number: u32, title: &str, cwd: &str, age_s: i64) -> SessionRecord {
        let id: SessionId = format!("019a8{number:03x}-0000-7000-8000-000000000000").parse().unwrap();
        let now = Timestamp::now().as_millisecond();
        let updated_ms = now - age_s * 1000;
        SessionRecord { title: title.into(), updated_ms, ..SessionRecord::new(id, cwd, 0) }
    }

    fn sample() -> Vec<SessionRecord> {
        let parent = Some((SessionId::new(), 3));
        vec![
            record(1, "review ``` fn main() {", "/home/me/a", 5),
            record(2, "make the login page remember who was there last, and why", "/home/me/code/customers/shop", 4000),
            record(3, "", "/srv/漢字", 90_000),
            SessionRecord { parent, ..record(4, "登录页面修复", "/home/me/a", 400_000) },
        ]
    }

    fn shown(all: bool, width: usize, sized: bool) -> String {
        let records = sample();
        let bytes = records.iter().zip([0, 12_345, 999, 7_654_321]).map(|(record, bytes)| (record.id, bytes)).collect();
        let ids = ShortIds::of(records.iter().map(|record| record.id));
        let text = as_lines(
            &records,
            &ids,
            &Shape {
                all,
                home: Path::new("/home/me"),
                width,
                stages: &[Stage::Open, Stage::Stopped],
                bytes: sized.then_some(&bytes),
            },
        );
        assert!(text.lines().all(|line| columns(line) <= width), "{text}");
        text
    }

    #[test]
    fn lists_fit_the_terminal() {
        insta::assert_snapshot!("list_60", shown(false, 60, false));
        insta::assert_snapshot!("list_all_60", shown(true, 60, false));
        insta::assert_snapshot!("list_all_120", shown(true, 120, false));
        insta::assert_snapshot!("list_all_80_with_sizes", shown(true, 80, true));
    }

    #[test]
    fn an_empty_list_says_where_to_look() {
        let shape = Shape { all: false, home: Path::new("/"), width: 80, stages: &[], bytes: None };
        assert!(as_lines(&[], &ShortIds::default(), &shape).contains("--all"));
    }
}
