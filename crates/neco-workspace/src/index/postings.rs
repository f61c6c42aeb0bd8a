//! What stands under a key: for terms, which files have it how often; for names, where it is defined
//! and used in each file.
//!
//! Keys are a letter for their kind and then the term, or the name in lower case, a zero byte and the
//! name: so names are found whatever their case and by how they begin.

use super::code::{Definition, Use};
use super::kind::SymbolKind;
use crate::bytes::{Damaged, Reader, put_bytes, put_number};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A term of the text.
    Term,
    /// The definitions of a name.
    Definition,
    /// The uses of a name.
    Use,
}

impl Key {
    /// The letter that its keys begin with.
    pub(super) fn letter(self) -> u8 {
        match self {
            Self::Term => b't',
            Self::Definition => b'd',
            Self::Use => b'u',
        }
    }

    pub(super) fn of_term(term: &str) -> Vec<u8> {
        [&[Self::Term.letter()], term.as_bytes()].concat()
    }

    pub(super) fn of_name(self, name: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(2 * name.len() + 2);
        self.put_name(name, &mut key);
        key
    }

    /// Makes `key` the key of a name.
    pub(super) fn put_name(self, name: &str, key: &mut Vec<u8>) {
        key.clear();
        key.push(self.letter());
        if name.is_ascii() {
            key.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        } else {
            key.extend_from_slice(name.to_lowercase().as_bytes());
        }
        key.push(0);
        key.extend_from_slice(name.as_bytes());
    }

    /// The beginning of the keys of all names that begin like this, in any case.
    pub(super) fn of_beginning(self, name: &str) -> Vec<u8> {
        [&[self.letter()], name.to_lowercase().as_bytes()].concat()
    }
}

/// The name in a key that [`Key::of_name`] made.
pub(super) fn name_in(key: &[u8]) -> Result<&str, Damaged> {
    let zero = memchr::memchr(0, key).ok_or(Damaged)?;
    std::str::from_utf8(key.get(zero + 1..).unwrap_or_default()).map_err(|_| Damaged)
}

/// The files that stand under a key, in ascending order, with the weight of a term or what stands there about a name.
pub(super) struct Postings<'a> {
    reader: Reader<'a>,
    doc: u32,
}

impl<'a> Postings<'a> {
    pub(super) fn new(value: &'a [u8]) -> Self {
        Self { reader: Reader(value), doc: 0 }
    }

    /// The next file and weight.
    pub(super) fn weight(&mut self) -> Result<Option<(u32, u32)>, Damaged> {
        self.next(Reader::small)
    }

    /// The next file and what stands there.
    pub(super) fn body(&mut self) -> Result<Option<(u32, &'a [u8])>, Damaged> {
        self.next(Reader::bytes)
    }

    fn next<T>(&mut self, read: fn(&mut Reader<'a>) -> Result<T, Damaged>) -> Result<Option<(u32, T)>, Damaged> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        self.doc = self.doc.checked_add(self.reader.small()?).ok_or(Damaged)?;
        Ok(Some((self.doc, read(&mut self.reader)?)))
    }
}

/// A value in the making: files are added in ascending order.
#[derive(Debug, Default)]
pub(super) struct Value {
    bytes: Vec<u8>,
    last: u32,
}

impl Value {
    pub(super) fn add_weight(&mut self, doc: u32, weight: u32) {
        put_number(&mut self.bytes, u64::from(doc - self.last));
        put_number(&mut self.bytes, u64::from(weight));
        self.last = doc;
    }

    /// Adds a file with what stands there.
    pub(super) fn add_body(&mut self, doc: u32, body: &[u8]) {
        put_number(&mut self.bytes, u64::from(doc - self.last));
        put_bytes(&mut self.bytes, body);
        self.last = doc;
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes it as if nothing had been added.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.last = 0;
    }
}

/// Adds a definition to the body of its name.
pub(super) fn put_definition(body: &mut Vec<u8>, definition: &Definition) {
    put_number(body, definition.kind.number());
    put_number(body, u64::from(definition.line));
    put_number(body, u64::from(definition.end_line.saturating_sub(definition.line)));
    put_bytes(body, definition.container.as_bytes());
}

pub(super) fn definitions(name: &str, body: &[u8]) -> Result<Vec<Definition>, Damaged> {
    let mut reader = Reader(body);
    let mut found = Vec::new();
    while !reader.is_empty() {
        let kind = SymbolKind::from_number(reader.number()?).ok_or(Damaged)?;
        let line = reader.small()?;
        let end_line = line.checked_add(reader.small()?).ok_or(Damaged)?;
        let container = reader.text()?.to_owned();
        found.push(Definition { name: name.to_owned(), kind, line, end_line, container });
    }
    Ok(found)
}

/// The body of a name's uses, which are in the order of the text: its lines, and in which it is certain.
pub(super) fn put_uses(body: &mut Vec<u8>, uses: &[&Use<'_>]) {
    let mut last = 0;
    for group in uses.chunk_by(|a, b| a.line == b.line) {
        let Some(first) = group.first() else { continue };
        let certain = group.iter().any(|one| one.certain);
        put_number(body, u64::from(first.line.saturating_sub(last)) << 1 | u64::from(certain));
        last = first.line;
    }
}

/// The lines of a name's uses in a body, and whether each is certain.
pub(super) fn uses(body: &[u8]) -> Result<Vec<(u32, bool)>, Damaged> {
    let mut reader = Reader(body);
    let (mut found, mut line) = (Vec::new(), 0_u32);
    while !reader.is_empty() {
        let number = reader.number()?;
        line = u32::try_from(number >> 1).ok().and_then(|step| line.checked_add(step)).ok_or(Damaged)?;
        found.push((line, number & 1 == 1));
    }
    Ok(found)
}
