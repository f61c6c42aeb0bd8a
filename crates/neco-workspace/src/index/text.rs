//! The text of a file, whatever its encoding.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

use neco_safety::Located;

use super::manifest::FileStamp;

/// Files that are larger are data, whatever their name says.
pub(super) const MOST_BYTES: u64 = 1 << 20;
/// Where a zero byte makes a file no text.
const LOOKED_AT: usize = 8192;

/// Reads a file below the root; nothing when it is too large or no regular file. The stamp is that
/// of what was opened, from before it was read.
pub(super) fn read(root: &Located, path: &Path) -> io::Result<(FileStamp, Option<Vec<u8>>)> {
    let file = root.open_below(&root.path().join(path))?;
    let facts = file.metadata()?;
    let stamp = FileStamp::of(&facts);
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return Ok((stamp, None));
    }
    let mut bytes = Vec::with_capacity(facts.len() as usize + 1);
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= MOST_BYTES;
    Ok((stamp, fits.then_some(bytes)))
}

/// The text that bytes stand for; nothing when they are no text.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |convert: fn([u8; 2]) -> u16| {
        let units = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units = units.map(|pair| <[u8; 2]>::try_from(pair).map_or(0, convert));
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match bytes {
        [0xff, 0xfe, ..] => Some(wide(u16::from_le_bytes).into()),
        [0xfe, 0xff, ..] => Some(wide(u16::from_be_bytes).into()),
        _ if memchr::memchr(0, bytes.get(..LOOKED_AT).unwrap_or(bytes)).is_some() => None,
        _ => Some(String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_from_the_rest() {
        assert_eq!(decode(b"plain").as_deref(), Some("plain"));
        assert_eq!(decode("\u{feff}marked".as_bytes()).as_deref(), Some("marked"));
        assert_eq!(decode(b"\xff\xfea\0\n\0").as_deref(), Some("a\n"));
        assert_eq!(decode(b"\xfe\xff\0a").as_deref(), Some("a"));
        assert_eq!(decode(b"caf\xe9").as_deref(), Some("caf\u{fffd}"));
        assert_eq!(decode(b"a\0b"), None);
    }
}
