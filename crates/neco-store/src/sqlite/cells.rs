//! The rows that lie in one page of a damaged database.

use std::collections::HashSet;

use super::pages::{Pages, SIZE, number_at};

/// Kinds of pages that hold rows of ours: leaves of tables with row numbers, and leaves and forks of those without.
const TABLE_LEAF: u8 = 0x0d;
const INDEX_LEAF: u8 = 0x0a;
const INDEX_FORK: u8 = 0x02;

/// The longest row that is believed, in bytes.
const LONGEST: usize = 256 << 20;

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Number(i64),
    Bytes(Vec<u8>),
    Text(String),
}

/// A row, and whether it is of a table with row numbers.
pub(super) struct Cells {
    pub(super) is_numbered: bool,
    pub(super) rows: Vec<Vec<Value>>,
}

/// The rows of a page that can be read; nothing when it is of another kind.
pub(super) fn read(pages: &Pages, number: u32) -> Option<Cells> {
    let page = pages.page(number);
    let start = if number == 1 { 100 } else { 0 };
    let kind = *page.get(start)?;
    let (first, skipped) = match kind {
        TABLE_LEAF | INDEX_LEAF => (start + 8, 0),
        INDEX_FORK => (start + 12, 4),
        _ => return None,
    };
    let count = usize::from(short_at(&page, start + 3)?);
    let is_numbered = kind == TABLE_LEAF;
    let cells = (0..count).filter_map(|index| {
        let at = usize::from(short_at(&page, first + index * 2)?);
        record(&payload(pages, &page, at + skipped, is_numbered)?)
    });
    Some(Cells { is_numbered, rows: cells.collect() })
}

/// The bytes of a row, with what lies on other pages.
fn payload(pages: &Pages, page: &[u8], at: usize, is_numbered: bool) -> Option<Vec<u8>> {
    let (length, at) = varint(page, at)?;
    // No row is longer than the whole file.
    let longest = SIZE.saturating_mul(pages.count as usize).min(LONGEST);
    let length = usize::try_from(length).ok().filter(|length| *length <= longest)?;
    let at = if is_numbered { varint(page, at)?.1 } else { at };
    // How much of a long row lies on the page itself is laid down in the file format.
    let most = if is_numbered { SIZE - 35 } else { (SIZE - 12) * 64 / 255 - 23 };
    if length <= most {
        return page.get(at..at + length).map(<[u8]>::to_vec);
    }
    let least = (SIZE - 12) * 32 / 255 - 23;
    let wanted = least + (length - least) % (SIZE - 4);
    let local = if wanted <= most { wanted } else { least };
    let mut bytes = page.get(at..at + local)?.to_vec();
    let mut next = number_at(page.get(at + local..at + local + 4)?, 0);
    let mut seen = HashSet::new();
    // A chain that comes back to a page is none.
    while bytes.len() < length && (2..=pages.count).contains(&next) && seen.insert(next) {
        let more = pages.page(next);
        let wanted = (length - bytes.len()).min(SIZE - 4);
        bytes.extend_from_slice(more.get(4..4 + wanted)?);
        next = number_at(&more, 0);
    }
    (bytes.len() == length).then_some(bytes)
}

/// The values of a row; nothing when it is none.
fn record(bytes: &[u8]) -> Option<Vec<Value>> {
    let (head, mut at) = varint(bytes, 0)?;
    let head = usize::try_from(head).ok().filter(|head| *head <= bytes.len())?;
    let mut content = head;
    let mut values = Vec::new();
    while at < head {
        let (kind, next) = varint(bytes, at)?;
        at = next;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let part = bytes.get(content..content.checked_add(length)?)?;
        content += length;
        values.push(match kind {
            0 => Value::Null,
            8 | 9 => Value::Number((kind - 8).cast_signed()),
            1..=6 => Value::Number(signed(part)),
            _ if kind % 2 == 0 => Value::Bytes(part.to_vec()),
            // A byte that is no text must not take the rest with it.
            _ => Value::Text(String::from_utf8_lossy(part).into_owned()),
        });
    }
    (at == head && content == bytes.len()).then_some(values)
}

/// A number of up to eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    let start: i64 = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(start, |number, byte| number << 8 | i64::from(*byte))
}

/// A number of up to nine bytes that says itself how long it is, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number: u64 = 0;
    for index in 0..8 {
        let byte = *bytes.get(at + index)?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((number, at + index + 1));
        }
    }
    Some((number << 8 | u64::from(*bytes.get(at + 8)?), at + 9))
}

fn short_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        assert_eq!(varint(&[0x7f], 0), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x81], 0), None);
        assert_eq!((signed(&[0xff]), signed(&[0x80, 0]), signed(&[0x01, 0, 0])), (-1, -32_768, 65_536));
    }

    proptest! {
        #[test]
        fn whatever_lies_in_a_row_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = record(&bytes);
        }
    }
}
