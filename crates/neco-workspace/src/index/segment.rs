//! A segment: what is known of some files, in one table that is never changed.
//!
//! Files have numbers inside their segment, from zero. A file that changed is in a newer segment; which
//! number of which segment counts is said by the manifest alone.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use super::code::{Code, Definition, Use};
use super::postings::{Key, Postings, Value, put_definition, put_uses};
use super::store::IndexError;
use super::table::{Cursor, Table, TableWriter};
use super::terms::{Share, each_term};
use crate::bytes::Quick;

/// The number of a file that no longer counts.
pub(super) const GONE: u32 = u32::MAX;

/// What an entry costs besides its bytes.
const ENTRY: usize = 120;

const WHOLE: u32 = 2;
const PART: u32 = 1;
/// A name that is defined somewhere says more about a file than one that is used in it.
const DEFINED: u32 = 6;
/// And its path says most.
const IN_PATH: u32 = 12;

/// A segment in the making.
#[derive(Default)]
pub(super) struct SegmentBuilder {
    /// The numbers of the values of all keys.
    keys: HashMap<Box<[u8]>, u32, Quick>,
    values: Vec<Value>,
    /// What the terms of the file that is being added weigh, by number, and which of them are not zero.
    counts: Vec<u32>,
    counted: Vec<u32>,
    /// A key in the making.
    key: Vec<u8>,
    /// How many files it has.
    pub(super) docs: u32,
    /// About how many bytes of memory it takes.
    pub(super) memory: usize,
}

/// A file in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Added {
    pub(super) doc: u32,
    /// How much text it has, in the measure of weights.
    pub(super) length: u32,
}

impl SegmentBuilder {
    pub(super) fn add(&mut self, path: &str, text: &str, code: Option<&Code<'_>>) -> Added {
        let doc = self.docs;
        self.docs += 1;
        let length = self.add_terms(doc, path, text, code);
        if let Some(code) = code {
            self.add_definitions(doc, code);
            self.add_uses(doc, code);
        }
        Added { doc, length }
    }

    fn add_terms(&mut self, doc: u32, path: &str, text: &str, code: Option<&Code<'_>>) -> u32 {
        let mut length = 0_u32;
        let mut count = |term: &str, by: u32| {
            length = length.saturating_add(by);
            self.count(term, by);
        };
        each_term(text, |term, share| {
            let weight = match share {
                Share::Whole => WHOLE,
                Share::Part => PART,
            };
            count(term, weight);
        });
        each_term(path, |term, _| count(term, IN_PATH));
        for definition in code.iter().flat_map(|code| &code.definitions) {
            each_term(&definition.name, |term, _| count(term, DEFINED));
        }
        for number in std::mem::take(&mut self.counted) {
            let counted = self.counts.get_mut(number as usize).map(std::mem::take);
            if let (Some(value), Some(weight)) = (self.values.get_mut(number as usize), counted) {
                value.add_weight(doc, weight);
                self.memory += 3;
            }
        }
        length
    }

    fn count(&mut self, term: &str, by: u32) {
        self.key.clear();
        self.key.push(Key::Term.letter());
        self.key.extend_from_slice(term.as_bytes());
        let number = self.number();
        if self.counts.len() <= number as usize {
            self.counts.resize(number as usize + 1, 0);
        }
        let Some(counted) = self.counts.get_mut(number as usize) else { return };
        if *counted == 0 {
            self.counted.push(number);
        }
        *counted = counted.saturating_add(by);
    }

    fn add_definitions(&mut self, doc: u32, code: &Code<'_>) {
        let mut definitions: Vec<&Definition> = code.definitions.iter().collect();
        definitions.sort_by(|a, b| a.name.cmp(&b.name));
        let mut body = Vec::new();
        for of_name in definitions.chunk_by(|a, b| a.name == b.name) {
            body.clear();
            of_name.iter().for_each(|definition| put_definition(&mut body, definition));
            self.add_body(Key::Definition, of_name.first().map_or("", |first| &first.name), doc, &body);
        }
    }

    fn add_uses(&mut self, doc: u32, code: &Code<'_>) {
        let mut uses: Vec<&Use<'_>> = code.uses.iter().collect();
        uses.sort_by(|a, b| a.name.cmp(b.name));
        let mut body = Vec::new();
        for of_name in uses.chunk_by(|a, b| a.name == b.name) {
            body.clear();
            put_uses(&mut body, of_name);
            self.add_body(Key::Use, of_name.first().map_or("", |first| first.name), doc, &body);
        }
    }

    fn add_body(&mut self, kind: Key, name: &str, doc: u32, body: &[u8]) {
        kind.put_name(name, &mut self.key);
        let number = self.number();
        if let Some(value) = self.values.get_mut(number as usize) {
            value.add_body(doc, body);
            self.memory += body.len() + 3;
        }
    }

    /// The number of the key in the making.
    fn number(&mut self) -> u32 {
        if let Some(number) = self.keys.get(self.key.as_slice()) {
            return *number;
        }
        let number = self.values.len() as u32;
        self.keys.insert(self.key.as_slice().into(), number);
        self.values.push(Value::default());
        self.memory += self.key.len() + ENTRY;
        number
    }

    /// Writes it, and is empty again.
    pub(super) fn write(&mut self, file: File) -> io::Result<()> {
        let Self { keys, values, .. } = std::mem::take(self);
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut writer = TableWriter::new(file);
        for (key, number) in &keys {
            if let Some(value) = values.get(*number as usize) {
                writer.push(key, value.bytes())?;
            }
        }
        writer.finish()
    }
}

/// Several tables read together, key by key in ascending order.
pub(super) struct Together<'a> {
    cursors: Vec<Cursor<'a>>,
    key: Vec<u8>,
    ended: bool,
}

impl<'a> Together<'a> {
    /// From the first key that is not before `key`.
    pub(super) fn seek(tables: impl IntoIterator<Item = &'a Table>, key: &[u8]) -> Result<Self, IndexError> {
        let cursors = tables.into_iter().map(|table| table.seek(key)).collect::<Result<_, _>>()?;
        let mut together = Self { cursors, key: Vec::new(), ended: false };
        together.find_key();
        Ok(together)
    }

    /// The key, unless all have ended.
    pub(super) fn key(&self) -> Option<&[u8]> {
        (!self.ended).then_some(self.key.as_slice())
    }

    /// The values that stand under it, with the numbers of their tables.
    pub(super) fn values(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let here = self.cursors.iter().enumerate().filter(|(_, cursor)| cursor.key() == Some(&self.key));
        here.map(|(number, cursor)| (number, cursor.value()))
    }

    /// Goes to the next key.
    pub(super) fn advance(&mut self) -> Result<(), IndexError> {
        for cursor in &mut self.cursors {
            if cursor.key() == Some(&self.key) {
                cursor.advance()?;
            }
        }
        self.find_key();
        Ok(())
    }

    fn find_key(&mut self) {
        match self.cursors.iter().filter_map(Cursor::key).min() {
            Some(least) => {
                self.key.clear();
                self.key.extend_from_slice(least);
            }
            None => self.ended = true,
        }
    }
}

/// Writes several segments as one. `numbers` gives each file of each segment its new number, in
/// ascending order through all of them, or says that it is [`GONE`].
pub(super) fn merge(tables: &[&Table], numbers: &[Vec<u32>], file: File) -> Result<(), IndexError> {
    let mut writer = TableWriter::new(file);
    let mut together = Together::seek(tables.iter().copied(), b"")?;
    let mut value = Value::default();
    while let Some(key) = together.key() {
        value.clear();
        let is_term = key.first() == Some(&Key::Term.letter());
        for (table, bytes) in together.values() {
            let numbers = numbers.get(table).map_or(&[][..], Vec::as_slice);
            let number = |doc: u32| numbers.get(doc as usize).copied().filter(|new| *new != GONE);
            if is_term {
                let mut weights = Postings::new(bytes);
                while let Some((doc, weight)) = weights.weight()? {
                    number(doc).into_iter().for_each(|doc| value.add_weight(doc, weight));
                }
            } else {
                let mut bodies = Postings::new(bytes);
                while let Some((doc, body)) = bodies.body()? {
                    number(doc).into_iter().for_each(|doc| value.add_body(doc, body));
                }
            }
        }
        if !value.bytes().is_empty() {
            writer.push(key, value.bytes())?;
        }
        together.advance()?;
    }
    Ok(writer.finish()?)
}
