//! One result of a search.

use url::Url;

use crate::shell::plain_text::plain_text;
use crate::web::dom::plain;

/// Characters of a title and of an extract that are kept.
const LONGEST_TITLE: usize = 200;
const LONGEST_EXTRACT: usize = 500;

/// Bytes of either that are looked at.
const LONGEST_READ: usize = 20_000;

/// One result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::web) struct Hit {
    pub(in crate::web) title: String,
    pub(in crate::web) url: String,
    /// What it says there.
    pub(in crate::web) extract: String,
}

impl Hit {
    /// A result, cleaned; nothing when its address is none of the web.
    pub(super) fn new(title: &str, url: &str, extract: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let clean = |text: &str, most| {
            let text = text.get(..text.floor_char_boundary(LONGEST_READ)).unwrap_or_default();
            short(&plain_text(plain(text).as_bytes()), most)
        };
        Some(Self { title: clean(title, LONGEST_TITLE), url: url.into(), extract: clean(extract, LONGEST_EXTRACT) })
    }
}

fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_plain_text_at_a_web_address() {
        let hit =
            Hit::new("A <b>bold</b>\n title &amp; more", " https://example.com/a b ", "x\u{1b}[31m<script>y</script>")
                .unwrap();
        assert_eq!((hit.title.as_str(), hit.url.as_str()), ("A bold title & more", "https://example.com/a%20b"));
        assert!(!hit.extract.contains('<') && !hit.extract.contains('\u{1b}'), "{}", hit.extract);
        for url in ["javascript:alert(1)", "file:///etc/passwd", "", "//example.com", "not an address"] {
            assert_eq!(Hit::new("t", url, "e"), None, "{url}");
        }
        let long = Hit::new(&"é".repeat(300), "https://e.example", &"x".repeat(600)).unwrap();
        assert_eq!((long.title.chars().count(), long.extract.chars().count()), (201, 501));
    }
}
