//! A table of a policy file, read field by field; every mistake is told with its place and what to do.

use std::fmt;

use neco_config::Lines;
use serde_json::Value;
use toml_edit::{Document, Item, TableLike};

/// Something to say about a place in a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// `~/.config/neco/policy/mine.toml:3:1`, or a flag.
    pub place: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Where it begins.
    pub place: String,
    pub entries: Vec<Entry>,
}

/// A name, its value, and where the name stands.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: String,
    pub place: String,
    pub value: Value,
    /// For tables and lists of tables, with the places of what is in them.
    pub tables: Vec<Table>,
}

pub(super) fn parse(text: &str, file: &str) -> Result<Table, Problem> {
    let lines = Lines::of(text);
    let place = |offset: usize| {
        let position = lines.position(offset);
        format!("{file}:{}:{}", position.line, position.column)
    };
    match Document::parse(text) {
        Ok(document) => Ok(Reader { place: &place }.table(document.as_table(), place(0))),
        Err(error) => {
            let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
            Err(Problem { place: place(error.span().map_or(0, |span| span.start)), message })
        }
    }
}

struct Reader<'a> {
    place: &'a dyn Fn(usize) -> String,
}

impl Reader<'_> {
    fn table(&self, table: &dyn TableLike, place: String) -> Table {
        let entries = table.iter().map(|(name, item)| {
            let span = table.key(name).and_then(toml_edit::Key::span);
            let own = span.map_or_else(|| place.clone(), |span| (self.place)(span.start));
            Entry { name: name.to_owned(), value: value_of(item), tables: self.tables(item, &own), place: own }
        });
        let entries = entries.collect();
        Table { place, entries }
    }

    fn tables(&self, item: &Item, fallback: &str) -> Vec<Table> {
        let place = |span: Option<std::ops::Range<usize>>| {
            span.map_or_else(|| fallback.to_owned(), |span| (self.place)(span.start))
        };
        match item {
            Item::ArrayOfTables(tables) => tables.iter().map(|table| self.table(table, place(table.span()))).collect(),
            Item::Table(table) => vec![self.table(table, place(table.span()))],
            Item::Value(toml_edit::Value::InlineTable(table)) => vec![self.table(table, place(table.span()))],
            Item::Value(toml_edit::Value::Array(items)) => items
                .iter()
                .filter_map(|item| item.as_inline_table().map(|table| self.table(table, place(item.span()))))
                .collect(),
            Item::Value(_) | Item::None => Vec::new(),
        }
    }
}

fn value_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain(value),
        Item::Table(table) => table.iter().map(|(name, item)| (name.to_owned(), value_of(item))).collect(),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| table.iter().map(|(name, item)| (name.to_owned(), value_of(item))).collect::<Value>())
            .collect(),
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(switch) => Value::Bool(*switch.value()),
        toml_edit::Value::Datetime(date) => Value::String(date.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(plain).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(name, value)| (name.to_owned(), plain(value))).collect()
        }
    }
}

/// The fields of a table that are not read yet, and what was wrong so far.
pub(super) struct Fields {
    place: String,
    entries: Vec<Entry>,
    known: Vec<&'static str>,
    pub problems: Vec<Problem>,
}

impl Fields {
    pub fn of(table: Table) -> Self {
        Self { place: table.place, entries: table.entries, known: Vec::new(), problems: Vec::new() }
    }

    pub fn place(&self) -> &str {
        &self.place
    }

    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    pub fn take(&mut self, name: &'static str) -> Option<Entry> {
        self.known.push(name);
        let at = self.entries.iter().position(|entry| entry.name == name)?;
        Some(self.entries.remove(at))
    }

    pub fn wrong(&mut self, place: &str, message: impl Into<String>) {
        self.problems.push(Problem { place: place.to_owned(), message: message.into() });
    }

    pub fn text(&mut self, name: &'static str) -> Option<String> {
        let entry = self.take(name)?;
        match entry.value {
            Value::String(text) => Some(text),
            other => {
                self.wrong(&entry.place, format!("{name}: expected a string, found {other}"));
                None
            }
        }
    }

    /// A string, or a list of strings.
    pub fn texts(&mut self, name: &'static str) -> Vec<(String, String)> {
        let Some(entry) = self.take(name) else { return Vec::new() };
        let expected = |found: &Value| format!("{name}: expected a string or a list of strings, found {found}");
        let items = match entry.value {
            Value::String(text) => return vec![(entry.place, text)],
            Value::Array(items) => items,
            other => {
                self.wrong(&entry.place, expected(&other));
                return Vec::new();
            }
        };
        if items.is_empty() {
            self.wrong(&entry.place, format!("{name}: an empty list would be about nothing; take the line away"));
        }
        let mut texts = Vec::new();
        for item in items {
            match item {
                Value::String(text) => texts.push((entry.place.clone(), text)),
                other => self.wrong(&entry.place, expected(&other)),
            }
        }
        texts
    }

    pub fn whole(&mut self, name: &'static str, least: i64, most: i64) -> Option<i64> {
        let entry = self.take(name)?;
        match entry.value.as_i64().filter(|number| (least..=most).contains(number)) {
            Some(number) => Some(number),
            None => {
                let found = entry.value;
                self.wrong(
                    &entry.place,
                    format!("{name}: expected a whole number from {least} to {most}, found {found}"),
                );
                None
            }
        }
    }

    pub fn switch(&mut self, name: &'static str) -> Option<bool> {
        let entry = self.take(name)?;
        if entry.value.as_bool().is_none() {
            let found = &entry.value;
            self.wrong(&entry.place, format!("{name}: expected true or false, found {found}"));
        }
        entry.value.as_bool()
    }

    /// Values of a fixed set, by the names that they have themselves.
    pub fn named<T: Copy + fmt::Display>(&mut self, name: &'static str, all: &[T]) -> Vec<T> {
        let all: Vec<(String, T)> = all.iter().map(|value| (value.to_string(), *value)).collect();
        self.choices(name, &all)
    }

    /// Values of a fixed set, by names that are given.
    pub fn choices<T: Copy>(&mut self, name: &'static str, all: &[(impl AsRef<str>, T)]) -> Vec<T> {
        let mut chosen = Vec::new();
        for (place, text) in self.texts(name) {
            match all.iter().find(|(known, _)| known.as_ref() == text) {
                Some((_, value)) => chosen.push(*value),
                None => {
                    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_ref()).collect();
                    self.wrong(&place, format!("{name}: there is no {text:?}; there are {}", names.join(", ")));
                }
            }
        }
        chosen
    }

    /// Tells what is left: nobody reads it, so it would silently mean nothing.
    pub fn finish(mut self) -> Vec<Problem> {
        let left = self.left();
        self.problems.extend(left);
        self.problems
    }

    /// Takes out what is left and tells of it.
    pub fn left(&mut self) -> Vec<Problem> {
        let entries = std::mem::take(&mut self.entries);
        let told = entries.into_iter().map(|entry| {
            let hint = match nearest(&entry.name, &self.known) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", self.known.join(", ")),
            };
            Problem { place: entry.place, message: format!("there is no field {:?}; {hint}", entry.name) }
        });
        told.collect()
    }
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > 64 {
        return None;
    }
    let scored = known.iter().map(|known| (strsim::normalized_damerau_levenshtein(name, known), *known));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness >= 0.5).map(|(_, known)| known)
}
