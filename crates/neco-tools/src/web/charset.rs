//! From the bytes of an answer to text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far into a page its own word on its encoding is looked for.
const LOOKED_AT: usize = 2048;

/// The text of an answer: as its byte order mark says, else its header, else the page itself; what says
/// nothing is UTF-8 if it can be, else what browsers take it for.
pub(super) fn decode(bytes: &[u8], content_type: Option<&str>) -> String {
    let named = content_type.and_then(parameter).or_else(|| in_page(bytes));
    let encoding = match (named, std::str::from_utf8(bytes)) {
        (Some(encoding), _) => encoding,
        (None, Ok(_)) => UTF_8,
        // Cut in the middle of a character it is still UTF-8.
        (None, Err(error)) if error.error_len().is_none() && !is_ascii(bytes, error.valid_up_to()) => UTF_8,
        (None, Err(_)) => WINDOWS_1252,
    };
    encoding.decode(bytes).0.into_owned()
}

fn is_ascii(bytes: &[u8], up_to: usize) -> bool {
    bytes.get(..up_to).is_some_and(<[u8]>::is_ascii)
}

/// The encoding that a `Content-Type` names.
fn parameter(content_type: &str) -> Option<&'static Encoding> {
    let (_, label) = content_type.split(';').skip(1).filter_map(|part| part.split_once('=')).find(|(name, _)| {
        let name = name.trim();
        name.eq_ignore_ascii_case("charset")
    })?;
    Encoding::for_label(label.trim().trim_matches('"').as_bytes())
}

/// The encoding that a page names in its `<meta>`.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..LOOKED_AT).unwrap_or(bytes)).to_ascii_lowercase();
    let (_, after) = head.split("<meta").skip(1).find_map(|meta| meta.split_once("charset="))?;
    let label: String =
        after.trim_start_matches(['"', '\'', ' ']).chars().take_while(|char| is_of_label(*char)).collect();
    let named = Encoding::for_label(label.as_bytes())?;
    // Its own ASCII could be read, so it is not what it says.
    Some(if named == encoding_rs::UTF_16BE || named == encoding_rs::UTF_16LE { UTF_8 } else { named })
}

fn is_of_label(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_was_meant() {
        let table: [(&[u8], Option<&str>, &str); 11] = [
            ("é日".as_bytes(), None, "é日"),
            (b"caf\xe9", None, "café"),
            (b"caf\xe9", Some("text/plain; charset=ISO-8859-1"), "café"),
            (b"\x83n\x83\x8d\x81[", Some("text/html;charset=\"Shift_JIS\""), "ハロー"),
            (b"\xc4\xe3\xba\xc3", Some("text/html; Charset=gb2312"), "你好"),
            (b"\xff\xfeh\0i\0", None, "hi"),
            (b"\xef\xbb\xbfhi", Some("text/plain; charset=utf-16"), "hi"),
            (b"<meta charset=windows-1251>\xcf\xf0", None, "<meta charset=windows-1251>Пр"),
            (
                b"<META http-equiv='x' content='text/html; charset=koi8-r'>\xf0",
                None,
                "<META http-equiv='x' content='text/html; charset=koi8-r'>П",
            ),
            (b"<meta charset=utf-16>\xc3\xa9", None, "<meta charset=utf-16>é"),
            (b"\xc3\xa9 half a \xe6\x97", None, "é half a \u{fffd}"),
        ];
        for (bytes, content_type, text) in table {
            assert_eq!(decode(bytes, content_type), text, "{bytes:?} {content_type:?}");
        }
    }
}
