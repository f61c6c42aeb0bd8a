//! What is remembered, as lines and as JSON.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::app::Known;
use neco_proto::app::memory::{Kept, MemoryEntry, MemoryReach, ShownMemory};
use neco_proto::clean::{clean, clean_line};
use serde_json::{Value, json};

use crate::figures::ago;
use crate::paint::wrap::columns;

/// What is said when there is nothing at all.
pub const NOTHING: &str = "Nothing is remembered yet.";

/// What is said when there is nothing to be found.
pub const NO_HIT: &str = "No match.";

/// Columns of a cell that those of other rows are brought into line with.
const WIDEST: usize = 30;

/// One line for each entry, below a heading.
pub fn as_lines(entries: &[MemoryEntry], none: &str, now: Timestamp) -> String {
    if entries.is_empty() {
        return format!("{none}\n");
    }
    let rows: Vec<[String; 4]> = entries
        .iter()
        .map(|entry| {
            let (category, reach) = (entry.category.to_string(), entry.scope.to_string());
            let kind = if category == reach { category } else { format!("{category} ({reach})") };
            [clean_line(&entry.id), since(entry.created, now), kind, clean_line(&entry.title)]
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

fn since(time: Option<Timestamp>, now: Timestamp) -> String {
    time.map_or_else(|| "long ago".to_owned(), |time| ago(time.as_millisecond(), now))
}

/// What is wrong with files.
pub fn troubles(entries: &[MemoryEntry]) -> Vec<String> {
    let of = |entry: &MemoryEntry| {
        let folder = Path::new(&entry.path).parent().unwrap_or(Path::new("")).to_owned();
        let mut troubles: Vec<String> = entry.troubles.clone();
        // `file:line: …`, by the line and not by its digits.
        troubles.sort_by_key(|trouble| trouble.split(':').nth(1).and_then(|line| line.trim().parse::<u32>().ok()));
        troubles.into_iter().map(move |trouble| format!("{}/{trouble}", folder.display())).collect::<Vec<_>>()
    };
    entries.iter().flat_map(of).collect()
}

/// All of an entry.
pub fn whole(shown: &ShownMemory, now: Timestamp) -> String {
    let ShownMemory { entry, content, .. } = shown;
    let mut text = format!("{}\n{}\n", clean_line(&entry.title), clean_line(&entry.summary));
    let used = match entry.uses {
        0 => "never used".to_owned(),
        uses => format!("used {uses} times, last {}", since(entry.last_used, now)),
    };
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<9} {}", clean_line(value));
        }
    };
    let topic = entry.topic.as_ref().map(|topic| format!(" · {topic}")).unwrap_or_default();
    let reach = match (&entry.scope, &entry.directory) {
        (Known::This(MemoryReach::Private), Some(folder)) => format!("private, for {folder}"),
        (reach, _) => reach.to_string(),
    };
    line("id", &entry.id);
    line("kind", &format!("{}{topic} · {reach}", entry.category));
    line("tags", &entry.tags.join(", "));
    line("from", &format!("{}, {}", entry.source, since(entry.created, now)));
    line("use", &used);
    line("file", &entry.path);
    entry.troubles.iter().for_each(|trouble| line("trouble", trouble));
    if !content.is_empty() && *content != entry.summary {
        let _ = write!(text, "\n{}\n", clean(content));
    }
    text
}

/// The same as JSON.
pub fn whole_json(shown: &ShownMemory) -> String {
    format!("{:#}\n", json!(shown))
}

/// What became of a note, as an object.
#[must_use]
pub fn kept_json(kept: &Kept) -> Value {
    let note = &kept.note;
    let action = kept.action.map_or("known", |action| action.name());
    let mut value =
        json!({ "action": action, "id": note.id, "title": note.title, "scope": note.scope, "path": note.path });
    if let (Some(other), Some(fields)) = (&kept.resembles, value.as_object_mut()) {
        fields.insert("resembles".to_owned(), json!(other.id));
    }
    value
}
