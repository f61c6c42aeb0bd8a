//! An entry as a file: a head between two lines `---`, and the content below it.
//!
//! The head is what everybody expects there: `name: value`, lists as `[a, b]` or as lines `- a`,
//! quotes where needed. People write these files by hand, so nothing in them is fatal: what is not
//! understood is reported with its line, and the rest counts.

use std::fmt::Display;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use neco_config::front_matter::{FENCE, Field, Parted, Reading, part};
use neco_proto::event::MemoryScope;

use super::entry::{Category, Entry, LONGEST_SUMMARY, LONGEST_TITLE, PERSON, one_line};

/// What a file can't say about itself.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The file's name without its ending.
    pub stem: &'a str,
    /// Where the file lies.
    pub scope: MemoryScope,
    /// When it was last written, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// Reads a file's text. What is missing is filled in from the content and from what lies around.
pub fn read(text: &str, around: Around<'_>) -> (Entry, Vec<String>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut head = Head::default();
    let content = match part(&text, Reading::Loose) {
        Parted::Whole { fields, stray, body, .. } => {
            head.take(fields, &stray);
            body
        }
        Parted::Open => {
            head.trouble(1, "the head that begins here has no end: a line `---` is missing");
            text.split_once('\n').map_or("", |(_, rest)| rest)
        }
        Parted::None => &text,
    };
    let entry = head.entry(content, around);
    (entry, head.troubles)
}

/// The entry as a file's text.
pub fn write(entry: &Entry) -> String {
    let mut lines = vec![
        FENCE.to_owned(),
        format!("id: {}", scalar(&entry.id)),
        format!("title: {}", scalar(&entry.title)),
        format!("summary: {}", scalar(&entry.summary)),
        format!("category: {}", entry.category.name()),
    ];
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{name}: {value}"));
        }
    };
    add("topic", optional(entry.category.topic()));
    if !entry.tags.is_empty() {
        let tags: Vec<String> = entry.tags.iter().map(|tag| item(tag)).collect();
        add("tags", format!("[{}]", tags.join(", ")));
    }
    add("directory", optional(&entry.reach));
    add("source", optional(&entry.source));
    let created = Timestamp::from_millisecond(entry.created_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    add("created", format!("{created:.0}"));
    lines.extend(entry.others.iter().cloned());
    lines.push(FENCE.to_owned());
    let content = entry.content.trim_matches('\n');
    format!("{}\n{content}{}", lines.join("\n"), if content.is_empty() { "" } else { "\n" })
}

/// The fields of a head as they were found.
#[derive(Default)]
struct Head {
    fields: Vec<Field>,
    others: Vec<String>,
    /// What is not as it should be, each with its line before it.
    troubles: Vec<String>,
}

impl Head {
    const KNOWN: [&'static str; 9] =
        ["id", "title", "summary", "category", "topic", "tags", "directory", "source", "created"];

    fn trouble(&mut self, line: usize, what: impl Display) {
        self.troubles.push(format!("{line}: {what}"));
    }

    fn take(&mut self, fields: Vec<Field>, stray: &[(usize, &str)]) {
        for (line, text) in stray {
            self.trouble(*line, format!("not understood: {:?}", one_line(text, 60)));
        }
        for field in fields {
            if !Self::KNOWN.contains(&field.written.as_str()) {
                let first = format!("{}: {}", field.written, field.first());
                self.others.push(first.trim_end().to_owned());
                self.others.extend(field.below().map(|(_, line)| line.to_owned()));
            } else if self.field(&field.written).is_some() {
                self.trouble(field.line, format!("`{}` is there twice; the first one counts", field.written));
            } else {
                self.fields.push(field);
            }
        }
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.written == name)
    }

    fn value(&self, name: &str) -> Option<(String, usize)> {
        let field = self.field(name)?;
        Some((field.one_line().trim().to_owned(), field.line)).filter(|(value, _)| !value.is_empty())
    }

    fn text(&self, name: &str) -> String {
        self.value(name).map(|(value, _)| value).unwrap_or_default()
    }

    fn entry(&mut self, content: &str, around: Around<'_>) -> Entry {
        let content = content.trim_matches('\n').to_owned();
        let title = one_line(&self.text("title"), LONGEST_TITLE);
        let title = if title.is_empty() { title_of(&content, around.stem) } else { title };
        let summary = one_line(&self.text("summary"), LONGEST_SUMMARY);
        let summary = if summary.is_empty() { summary_of(&content, &title) } else { summary };
        let source = self.text("source");
        Entry {
            id: self.id(around.stem),
            title,
            summary,
            category: self.category(around.scope),
            tags: self.tags(),
            source: if source.is_empty() { PERSON.to_owned() } else { one_line(&source, LONGEST_TITLE) },
            created_ms: self.created(around.modified_ms),
            reach: self.text("directory"),
            others: std::mem::take(&mut self.others),
            content,
        }
    }

    fn id(&mut self, stem: &str) -> String {
        let stem = one_line(stem, LONGEST_TITLE);
        let Some((id, line)) = self.value("id") else { return stem };
        if id.chars().count() <= LONGEST_TITLE && !id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return id;
        }
        self.trouble(line, "an id has no spaces and at most 120 characters; the file's name is used");
        stem
    }

    fn category(&mut self, scope: MemoryScope) -> Category {
        let topic = self.text("topic");
        let Some((name, line)) = self.value("category") else {
            return Category::usual(scope);
        };
        Category::of(&name, &one_line(&topic, LONGEST_TITLE)).unwrap_or_else(|| {
            let known = Category::NAMES.join(", ");
            self.trouble(line, format!("there is no category {name:?}; there are: {known}"));
            Category::usual(scope)
        })
    }

    fn tags(&mut self) -> Vec<String> {
        let Some(field) = self.field("tags") else { return Vec::new() };
        let mut found = field.items();
        let last = field.below().last().map_or(field.first(), |(_, line)| line);
        if field.first().starts_with('[') && !last.ends_with(']') {
            let line = field.line;
            found = found.iter().map(|tag| tag.trim_start_matches('[').to_owned()).collect();
            self.trouble(line, "the list of `tags` has no end: `]` is missing");
        }
        let mut tags: Vec<String> = Vec::new();
        for tag in found.iter().map(|tag| one_line(tag, LONGEST_TITLE)) {
            if !tag.is_empty() && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    }

    fn created(&mut self, modified_ms: i64) -> i64 {
        let Some((text, line)) = self.value("created") else {
            return modified_ms;
        };
        let day = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
        match text.parse::<Timestamp>().ok().or_else(day) {
            Some(time) => time.as_millisecond(),
            None => {
                self.trouble(line, format!("{:?} is no time such as 2026-01-31T12:00:00Z", one_line(&text, 60)));
                modified_ms
            }
        }
    }
}

fn optional(text: &str) -> String {
    if text.is_empty() { String::new() } else { scalar(text) }
}

/// A value as it is written: with quotes only where it would be read as something else.
fn scalar(text: &str) -> String {
    let strange = text.is_empty()
        || text.trim() != text
        || text.starts_with(['"', '\'', '[', '{', '|', '>', '#', '-', '&', '*', '!', '%', '@', '`', '?', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || text.ends_with(':')
        || text.chars().any(char::is_control);
    if strange { serde_json::Value::from(text).to_string() } else { text.to_owned() }
}

/// The same for an item of a list.
fn item(text: &str) -> String {
    if text.contains([',', ']', '[', '"', '\'']) { serde_json::Value::from(text).to_string() } else { scalar(text) }
}

/// The first line that says something, else the file's name.
fn title_of(content: &str, stem: &str) -> String {
    let first =
        content.lines().map(|line| line.trim_start_matches(['#', ' ', '-', '*'])).find(|line| !line.trim().is_empty());
    let title = one_line(first.unwrap_or_default(), LONGEST_TITLE);
    if title.is_empty() { one_line(&stem.replace(['-', '_'], " "), LONGEST_TITLE) } else { title }
}

/// The first paragraph that is more than the title.
fn summary_of(content: &str, title: &str) -> String {
    let paragraphs = content.split("\n\n").flat_map(|paragraph| {
        paragraph.split_once('\n').map_or_else(
            || vec![paragraph],
            |(first, rest)| if first.starts_with('#') { vec![first, rest] } else { vec![paragraph] },
        )
    });
    let mut lines = paragraphs.map(|text| one_line(text.trim_start_matches(['#', ' ']), LONGEST_SUMMARY));
    lines.find(|text| !text.is_empty() && text != title).unwrap_or_default()
}
