//! Entries as lines and as JSON.

use std::fmt::Write;

use jiff::Timestamp;
use neco_session::memory::{Entry, Found, reach_words};
use serde_json::{Value, json};

use crate::cmd::when::ago;
use crate::print::clean::{clean, clean_line};
use crate::print::wrap::columns;

/// Columns of a cell that those of other rows are brought into line with.
const WIDEST: usize = 30;

/// One line for each entry, below a heading.
#[must_use]
pub fn as_lines(entries: &[Found], none: &str) -> String {
    if entries.is_empty() {
        return format!("{none}\n");
    }
    let now = Timestamp::now();
    let rows: Vec<[String; 4]> = entries
        .iter()
        .map(|found| {
            let reach = reach(found);
            let kind = match found.category.name() {
                name if name == reach => name.to_owned(),
                name => format!("{name} ({reach})"),
            };
            [clean_line(&found.id), ago(found.created_ms, now), kind, clean_line(&found.title)]
        })
        .collect();
    let heading = ["ID", "MADE", "KIND", "TITLE"].map(str::to_owned);
    let widest =
        |at: usize| rows.iter().chain([&heading]).filter_map(|row| row.get(at)).map(|cell| columns(cell)).max();
    // One long id makes its own row long, and not all of them.
    let widths: Vec<usize> = (0..3).map(|at| widest(at).unwrap_or_default().min(WIDEST)).collect();
    let mut text = String::new();
    for row in std::iter::once(&heading).chain(&rows) {
        for (at, cell) in row.iter().enumerate() {
            let gap = widths.get(at).map_or(0, |width| width.saturating_sub(columns(cell)) + 2);
            let _ = write!(text, "{cell}{}", " ".repeat(gap));
        }
        text.push('\n');
    }
    text
}

/// How far an entry reaches, in a word.
fn reach(found: &Found) -> &'static str {
    if found.reach.is_empty() { found.scope().name() } else { "private" }
}

/// What is wrong with files.
#[must_use]
pub fn troubles(entries: &[Found]) -> Vec<String> {
    let of = |found: &Found| {
        let folder = found.folder.path();
        let mut troubles: Vec<&String> = found.troubles.iter().collect();
        // `file:line: …`, by the line and not by its digits.
        troubles.sort_by_key(|trouble| trouble.split(':').nth(1).and_then(|line| line.trim().parse::<u32>().ok()));
        troubles.into_iter().map(move |trouble| format!("{}/{trouble}", folder.display())).collect::<Vec<_>>()
    };
    entries.iter().flat_map(of).collect()
}

/// The entries without their content.
#[must_use]
pub fn as_json(entries: &[Found]) -> String {
    format!("{:#}\n", json!(entries.iter().map(value).collect::<Vec<_>>()))
}

/// All of an entry.
#[must_use]
pub fn whole(found: &Found, entry: &Entry) -> String {
    let mut text = format!("{}\n{}\n", clean_line(&entry.title), clean_line(&entry.summary));
    let now = Timestamp::now();
    let used = match found.uses {
        0 => "never used".to_owned(),
        uses => format!("used {uses} times, last {}", ago(found.last_ms, now)),
    };
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<9} {}", clean_line(value));
        }
    };
    line("id", &found.id);
    line("kind", &format!("{} · {}", entry.category, reach_words(found.scope(), &found.reach)));
    line("tags", &entry.tags.join(", "));
    line("from", &format!("{}, {}", entry.source, ago(found.created_ms, now)));
    line("use", &used);
    line("file", &found.path().display().to_string());
    found.troubles.iter().for_each(|trouble| line("trouble", trouble));
    if !entry.content.is_empty() && entry.content != entry.summary {
        let _ = write!(text, "\n{}\n", clean(&entry.content));
    }
    text
}

/// The same as JSON.
#[must_use]
pub fn whole_json(found: &Found, entry: &Entry) -> String {
    let mut value = value(found);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("content".to_owned(), json!(entry.content));
    }
    format!("{value:#}\n")
}

fn value(found: &Found) -> Value {
    let time = |millis: i64| Timestamp::from_millisecond(millis).map(|time| time.to_string()).ok();
    json!({
        "id": found.id,
        "title": found.title,
        "summary": found.summary,
        "category": found.category.name(),
        "topic": Some(found.category.topic()).filter(|topic| !topic.is_empty()),
        "tags": found.tags,
        "scope": reach(found),
        "directory": Some(&found.reach).filter(|reach| !reach.is_empty()),
        "source": found.source,
        "created": time(found.created_ms),
        "last_used": Some(found.last_ms).filter(|last| *last > 0).and_then(time),
        "uses": found.uses,
        "path": found.path(),
        "troubles": found.troubles,
    })
}
