//! What a file is, from its first bytes.

use super::text::{Encoding, Form};

/// How many bytes are looked at.
pub const SNIFFED: usize = 8192;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text(Form),
    /// Something else, in words.
    Binary(&'static str),
}

/// What a file with these first bytes is.
pub fn sniff(head: &[u8]) -> Kind {
    for (encoding, mark) in
        [(Encoding::Utf8, &b"\xef\xbb\xbf"[..]), (Encoding::Utf16Le, b"\xff\xfe"), (Encoding::Utf16Be, b"\xfe\xff")]
    {
        if head.starts_with(mark) && !(encoding == Encoding::Utf16Le && head.starts_with(b"\xff\xfe\0\0")) {
            return Kind::Text(Form { encoding, mark: true });
        }
    }
    if let Some(kind) = known(head) {
        return Kind::Binary(kind);
    }
    if !head.contains(&0) {
        return if mostly_control(head) { Kind::Binary("a binary file") } else { Kind::Text(Form::PLAIN) };
    }
    [Encoding::Utf16Le, Encoding::Utf16Be]
        .map(|encoding| Form { encoding, mark: false })
        .into_iter()
        .find(|form| looks_like_utf16(*form, head))
        .map_or(Kind::Binary("a binary file"), Kind::Text)
}

/// Formats that people have in their folders, by their first bytes.
fn known(head: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF87a", "a GIF image"),
        (b"GIF89a", "a GIF image"),
        (b"BM\x00", "a BMP image"),
        (b"\0\0\x01\0", "an icon"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive or an office document"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xfd7zXZ\0", "an xz archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x7fELF", "an ELF program or library"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
        (b"MZ\x90\0", "a Windows program or library"),
        (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
        (b"\0asm", "a WebAssembly module"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"ID3", "an MP3 sound"),
        (b"OggS", "an Ogg sound or film"),
        (b"fLaC", "a FLAC sound"),
        (b"wOFF", "a font"),
        (b"wOF2", "a font"),
        (b"\0\x01\0\0", "a font"),
    ];
    let container = |kind: &[u8]| head.starts_with(b"RIFF") && head.get(8..12) == Some(kind);
    if container(b"WEBP") {
        return Some("a WebP image");
    }
    if container(b"WAVE") {
        return Some("a WAV sound");
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Some("an MP4 film or HEIC image");
    }
    let found = KNOWN.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| *name)?;
    // A text may begin with the same letters.
    let is_certain = !head.starts_with(b"BZh") && !head.starts_with(b"ID3") || head.contains(&0);
    is_certain.then_some(found)
}

fn mostly_control(head: &[u8]) -> bool {
    let odd = head.iter().filter(|byte| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08));
    odd.count() * 10 > head.len().max(10) * 3
}

/// Zeroes on one side only, nothing that is no character, no control characters, some ASCII.
fn looks_like_utf16(form: Form, head: &[u8]) -> bool {
    let units: Vec<u16> = head.chunks_exact(2).map(|unit| form.unit(unit)).collect();
    let ascii = units.iter().filter(|unit| **unit < 0x80).count();
    let is_odd = |unit: u16| unit == 0 || (unit < 0x20 && !matches!(unit, 0x09 | 0x0a | 0x0d | 0x0c));
    // The last character may be cut in two where the look ends.
    let whole = units.split_last().map_or(units.as_slice(), |(_, rest)| rest);
    units.len() > 1
        && head.len().is_multiple_of(2)
        && ascii * 5 >= units.len()
        && !units.iter().any(|unit| is_odd(*unit))
        && char::decode_utf16(whole.iter().copied()).filter(Result::is_err).count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, encoding: Encoding) -> Vec<u8> {
        Form { encoding, mark: false }.encode(text.as_bytes())
    }

    #[test]
    fn texts_are_told_from_the_rest() {
        let le = Form { encoding: Encoding::Utf16Le, mark: false };
        let be = Form { encoding: Encoding::Utf16Be, mark: false };
        let cases: Vec<(Vec<u8>, Kind)> = vec![
            (b"".to_vec(), Kind::Text(Form::PLAIN)),
            (b"plain\n".to_vec(), Kind::Text(Form::PLAIN)),
            ("\u{feff}marked".into(), Kind::Text(Form { encoding: Encoding::Utf8, mark: true })),
            (b"\xff\xfea\0".to_vec(), Kind::Text(Form { encoding: Encoding::Utf16Le, mark: true })),
            (b"\xfe\xff\0a".to_vec(), Kind::Text(Form { encoding: Encoding::Utf16Be, mark: true })),
            (utf16("hello\r\nworld 別\r\n", Encoding::Utf16Le), Kind::Text(le)),
            (utf16("hello\r\nworld 別\r\n", Encoding::Utf16Be), Kind::Text(be)),
            (b"\xc4\xe3\xba\xc3\n".to_vec(), Kind::Text(Form::PLAIN)),
            (b"\x1b[31mred\x1b[0m\n".to_vec(), Kind::Text(Form::PLAIN)),
            (b"BZh is not an archive here".to_vec(), Kind::Text(Form::PLAIN)),
            (b"\x89PNG\r\n\x1a\n....".to_vec(), Kind::Binary("a PNG image")),
            (b"%PDF-1.7\n".to_vec(), Kind::Binary("a PDF document")),
            (b"a\0b\0\0\0c".to_vec(), Kind::Binary("a binary file")),
            (vec![0; 100], Kind::Binary("a binary file")),
            (vec![1, 2, 3, 4, 5, 6, 7, 14, 15, 16, 65], Kind::Binary("a binary file")),
        ];
        for (head, expected) in cases {
            assert_eq!(sniff(&head), expected, "{:?}", String::from_utf8_lossy(&head));
        }
    }
}
