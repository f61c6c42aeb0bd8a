//! Which pictures models take: a vendor refuses the whole conversation because of one that is damaged or too big.

/// The most bytes of one picture: what every vendor takes.
pub const MOST_BYTES: u64 = 5 * 1024 * 1024;
/// The most points of one side: what every vendor takes.
const MOST_POINTS: u32 = 8000;

/// What kind of picture a file is, by its first bytes; none for what models do not take.
pub fn media_type(head: &[u8]) -> Option<&'static str> {
    match head {
        _ if head.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        _ if head.starts_with(b"\xff\xd8\xff") => Some("image/jpeg"),
        _ if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") => Some("image/gif"),
        _ if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ => None,
    }
}

/// Why a picture is not shown: a vendor would refuse the whole conversation because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum PictureError {
    /// It is not whole.
    #[error("that is damaged, so it can't be shown")]
    Damaged,
    /// It has too many points, or none.
    #[error("of {width}×{height} points, of which models take {MOST_POINTS} a side at most; make a smaller copy")]
    Points { width: u32, height: u32 },
}

/// Width and height of a picture that models take.
pub fn points_shown(media_type: &str, bytes: &[u8]) -> Result<(u32, u32), PictureError> {
    let Some((width, height)) = points(media_type, bytes).filter(|_| is_whole(media_type, bytes)) else {
        return Err(PictureError::Damaged);
    };
    if width == 0 || height == 0 || width > MOST_POINTS || height > MOST_POINTS {
        return Err(PictureError::Points { width, height });
    }
    Ok((width, height))
}

/// Width and height.
fn points(media_type: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let little = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    match media_type {
        "image/png" => (bytes.get(12..16) == Some(b"IHDR")).then_some((big(16)?, big(20)?)),
        "image/gif" => Some((little(6)?, little(8)?)),
        "image/webp" => webp(bytes),
        _ => jpeg(bytes),
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let three = |at: usize| match bytes.get(at..at + 3) {
        Some([a, b, c]) => Some(u32::from_le_bytes([*a, *b, *c, 0])),
        _ => None,
    };
    let two = |at: usize| match bytes.get(at..at + 2) {
        Some([a, b]) => Some(u32::from(u16::from_le_bytes([*a, *b]) & 0x3fff)),
        _ => None,
    };
    match bytes.get(12..16)? {
        b"VP8X" => Some((three(24)? + 1, three(27)? + 1)),
        b"VP8 " => Some((two(26)?, two(28)?)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        _ => None,
    }
}

/// The frame header of a JPEG comes after any number of other segments.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let two = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let mut at = 2;
    loop {
        match bytes.get(at..at + 2)? {
            [0xff, 0xff] => at += 1,
            [0xff, kind @ 0xc0..=0xcf] if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                return Some((two(at + 7)?, two(at + 5)?));
            }
            [0xff, _] => at += 2 + usize::try_from(two(at + 2)?).ok()?.max(2),
            _ => return None,
        }
    }
}

/// Whether its end is there.
fn is_whole(media_type: &str, bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(64 * 1024)..).unwrap_or(bytes);
    let has = |end: &[u8]| memchr::memmem::rfind(tail, end).is_some();
    match media_type {
        "image/png" => has(b"IEND\xaeB`\x82"),
        "image/gif" => has(b"\0;"),
        "image/webp" => bytes
            .get(4..8)
            .and_then(|size| size.try_into().ok())
            .map(u32::from_le_bytes)
            .is_some_and(|size| size as usize + 8 <= bytes.len()),
        _ => has(b"\xff\xd9"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_headers() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0";
        assert_eq!(points("image/png", png), Some((640, 480)));
        assert_eq!(points("image/gif", b"GIF89a\x10\0\x20\0"), Some((16, 32)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x03x\xff\xc2\0\x11\x08\0\x20\0\x10";
        assert_eq!(points("image/jpeg", jpeg), Some((16, 32)));
        assert_eq!(points("image/jpeg", b"\xff\xd8\xff\xe0\0\x04a"), None);
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x0f\x00\x04\x00";
        assert_eq!(points("image/webp", lossless), Some((16, 17)));
    }
}
