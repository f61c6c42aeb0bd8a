//! A sorted table in a file that is never changed: keys and values in blocks, each with a fingerprint.
//!
//! Blocks are read where they lie, so that a table costs memory only for the first key of each. What
//! is read is checked: a file that was damaged gives an error, never a wrong answer.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use super::store::IndexError;
use crate::bytes::{Damaged, Reader, fingerprint, put_bytes, put_number};

/// Bytes after which a block ends.
const BLOCK: usize = 8 * 1024;
/// No block is nearly as large; what claims to be is damaged.
const MOST_BLOCK: u64 = 256 * 1024 * 1024;
const MAGIC: u64 = 0x6e65_636f_7461_6201;
const FOOTER: usize = 32;

/// Writes a table, key by key in ascending order.
pub(super) struct TableWriter {
    out: BufWriter<File>,
    offset: u64,
    block: Vec<u8>,
    first: Vec<u8>,
    last: Vec<u8>,
    index: Vec<u8>,
}

impl TableWriter {
    pub(super) fn new(file: File) -> Self {
        let out = BufWriter::with_capacity(64 * 1024, file);
        Self { out, offset: 0, block: Vec::new(), first: Vec::new(), last: Vec::new(), index: Vec::new() }
    }

    /// Adds an entry; its key comes after all before it.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if self.block.is_empty() {
            self.first.clear();
            self.first.extend_from_slice(key);
            self.last.clear();
        }
        let shared = self.last.iter().zip(key).take_while(|(a, b)| a == b).count();
        put_number(&mut self.block, shared as u64);
        put_bytes(&mut self.block, key.get(shared..).unwrap_or_default());
        put_bytes(&mut self.block, value);
        self.last.clear();
        self.last.extend_from_slice(key);
        if self.block.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.out.write_all(&self.index)?;
        for number in [self.offset, self.index.len() as u64, fingerprint(&self.index), MAGIC] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.flush()
    }

    fn end_block(&mut self) -> io::Result<()> {
        self.out.write_all(&self.block)?;
        put_bytes(&mut self.index, &self.first);
        put_number(&mut self.index, self.block.len() as u64);
        self.index.extend_from_slice(&fingerprint(&self.block).to_le_bytes());
        self.offset += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}

/// A table that was written.
#[derive(Debug)]
pub(super) struct Table {
    file: File,
    blocks: Vec<Block>,
    /// The first keys of all blocks, one after another.
    keys: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    offset: u64,
    length: u64,
    fingerprint: u64,
    key: (usize, usize),
}

impl Table {
    pub(super) fn open(file: File) -> Result<Self, IndexError> {
        let size = file.metadata()?.len();
        let start = size.checked_sub(FOOTER as u64).ok_or(Damaged)?;
        let mut footer = [0; FOOTER];
        file.read_exact_at(&mut footer, start)?;
        let mut footer = Reader(&footer);
        let (offset, length) = (footer.fixed()?, footer.fixed()?);
        let (expected, magic) = (footer.fixed()?, footer.fixed()?);
        if magic != MAGIC || offset.checked_add(length) != Some(start) {
            return Err(IndexError::Damaged);
        }
        let index = read(&file, offset, length)?;
        if fingerprint(&index) != expected {
            return Err(IndexError::Damaged);
        }
        let (blocks, keys) = blocks(&index)?;
        Ok(Self { file, blocks, keys })
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        let mut cursor = self.seek(key)?;
        if cursor.key() == Some(key) { Ok(cursor.take_value()) } else { Ok(None) }
    }

    /// A cursor at the first entry whose key is not before `key`.
    pub(super) fn seek(&self, key: &[u8]) -> Result<Cursor<'_>, IndexError> {
        let after = self.blocks.partition_point(|block| self.first_key(block) <= key);
        let mut cursor = Cursor::at(self, after.saturating_sub(1));
        cursor.advance()?;
        while cursor.key().is_some_and(|found| found < key) {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    fn first_key(&self, block: &Block) -> &[u8] {
        self.keys.get(block.key.0..block.key.1).unwrap_or_default()
    }

    fn block(&self, number: usize) -> Result<Option<Vec<u8>>, IndexError> {
        let Some(block) = self.blocks.get(number) else { return Ok(None) };
        let bytes = read(&self.file, block.offset, block.length)?;
        if fingerprint(&bytes) == block.fingerprint { Ok(Some(bytes)) } else { Err(IndexError::Damaged) }
    }
}

fn read(file: &File, offset: u64, length: u64) -> Result<Vec<u8>, IndexError> {
    if length > MOST_BLOCK {
        return Err(IndexError::Damaged);
    }
    let mut bytes = vec![0; length as usize];
    match file.read_exact_at(&mut bytes, offset) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(IndexError::Damaged),
        Err(error) => Err(error.into()),
    }
}

fn blocks(index: &[u8]) -> Result<(Vec<Block>, Vec<u8>), Damaged> {
    let (mut blocks, mut keys, mut offset) = (Vec::new(), Vec::new(), 0_u64);
    let mut reader = Reader(index);
    while !reader.is_empty() {
        let from = keys.len();
        keys.extend_from_slice(reader.bytes()?);
        let (length, fingerprint) = (reader.number()?, reader.fixed()?);
        blocks.push(Block { offset, length, fingerprint, key: (from, keys.len()) });
        offset = offset.checked_add(length).ok_or(Damaged)?;
    }
    keys.shrink_to_fit();
    Ok((blocks, keys))
}

/// A place in a table, from which it is read onwards.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    table: &'a Table,
    next_block: usize,
    block: Vec<u8>,
    at: usize,
    key: Vec<u8>,
    value: (usize, usize),
    ended: bool,
}

impl<'a> Cursor<'a> {
    fn at(table: &'a Table, block: usize) -> Self {
        let (bytes, key) = (Vec::new(), Vec::new());
        Self { table, next_block: block, block: bytes, at: 0, key, value: (0, 0), ended: false }
    }

    /// The key of the entry, unless the table has ended.
    pub(super) fn key(&self) -> Option<&[u8]> {
        (!self.ended).then_some(self.key.as_slice())
    }

    /// The value of the entry.
    pub(super) fn value(&self) -> &[u8] {
        self.block.get(self.value.0..self.value.1).unwrap_or_default()
    }

    /// Goes to the next entry.
    pub(super) fn advance(&mut self) -> Result<(), IndexError> {
        if self.at >= self.block.len() {
            let Some(block) = self.table.block(self.next_block)? else {
                self.ended = true;
                return Ok(());
            };
            self.block = block;
            self.next_block += 1;
            self.at = 0;
            self.key.clear();
        }
        let mut reader = Reader(self.block.get(self.at..).unwrap_or_default());
        let shared = usize::try_from(reader.number()?).map_err(|_| Damaged)?;
        if shared > self.key.len() {
            return Err(IndexError::Damaged);
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(reader.bytes()?);
        let length = reader.bytes()?.len();
        self.at = self.block.len() - reader.0.len();
        self.value = (self.at - length, self.at);
        Ok(())
    }

    fn take_value(&mut self) -> Option<Vec<u8>> {
        self.key()?;
        let mut block = std::mem::take(&mut self.block);
        block.truncate(self.value.1);
        block.drain(..self.value.0);
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn table(entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> (tempfile::NamedTempFile, Table) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = TableWriter::new(file.reopen().unwrap());
        for (key, value) in entries {
            writer.push(key, value).unwrap();
        }
        writer.finish().unwrap();
        let table = Table::open(file.reopen().unwrap()).unwrap();
        (file, table)
    }

    fn many() -> BTreeMap<Vec<u8>, Vec<u8>> {
        (0..5000_u32).map(|n| (format!("key {:06}", n * 7).into_bytes(), n.to_le_bytes().repeat(3))).collect()
    }

    type Entries = Vec<(Vec<u8>, Vec<u8>)>;

    fn all(table: &Table, from: &[u8]) -> Result<Entries, IndexError> {
        let mut cursor = table.seek(from)?;
        let mut found = Vec::new();
        while let Some(key) = cursor.key() {
            found.push((key.to_vec(), cursor.value().to_vec()));
            cursor.advance()?;
        }
        Ok(found)
    }

    #[test]
    fn what_is_in_it_is_found_and_the_rest_is_not() {
        let entries = many();
        let (_file, table) = table(&entries);
        assert!(table.blocks.len() > 5, "{}", table.blocks.len());
        for (key, value) in &entries {
            assert_eq!(table.get(key).unwrap().as_ref(), Some(value));
        }
        for key in ["", "key", "key 000001", "key 034994", "zzz"] {
            assert_eq!(table.get(key.as_bytes()).unwrap(), None, "{key}");
        }
        assert_eq!(all(&table, b"").unwrap().len(), entries.len());
        assert_eq!(all(&table, b"key 034986").unwrap().len(), 2);
    }

    #[test]
    fn an_empty_table_has_nothing() {
        let (_file, table) = table(&BTreeMap::new());
        assert_eq!(table.get(b"a").unwrap(), None);
    }

    #[test]
    fn damage_is_seen_wherever_it_is() {
        let entries = many();
        let (file, _) = table(&entries);
        let good = std::fs::read(file.path()).unwrap();
        for at in (0..good.len()).step_by(4999).chain([good.len() - 1, good.len() - 30]) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            std::fs::write(file.path(), &bad).unwrap();
            let result = Table::open(file.reopen().unwrap()).and_then(|table| all(&table, b""));
            assert!(matches!(result, Err(IndexError::Damaged)), "{at}");
        }
        for length in [0, 10, 40, good.len() / 2, good.len() - 1] {
            std::fs::write(file.path(), &good[..length]).unwrap();
            let result = Table::open(file.reopen().unwrap()).and_then(|table| all(&table, b""));
            assert!(matches!(result, Err(IndexError::Damaged)), "{length}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]
        #[test]
        fn any_keys_and_values_come_back(
            entries in prop::collection::btree_map(
                prop::collection::vec(any::<u8>(), 0..6), prop::collection::vec(any::<u8>(), 0..3000), 0..40),
            from in prop::collection::vec(any::<u8>(), 0..6),
        ) {
            let (_file, table) = table(&entries);
            let expected: Entries = entries.range(from.clone()..).map(|(k, v)| (k.clone(), v.clone())).collect();
            prop_assert_eq!(all(&table, &from).unwrap(), expected);
        }
    }
}
