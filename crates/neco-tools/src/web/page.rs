//! What an answer holds, as the model reads it.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use neco_safety::world::net::Answer;
use neco_toolkit::ToolError;

use super::readable::readable;
use crate::shell::plain_text::plain_text;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Where it came from in the end.
    pub(super) url: String,
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Whether there was more of it than was read.
    pub(super) cut: bool,
}

/// What a kind of content is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    Unreadable,
}

impl Page {
    /// Reads an answer. Takes a while for a big one: not on a thread of the runtime.
    pub(super) fn read(answer: Answer) -> Result<Self, ToolError> {
        let content_type = answer.content_type.as_deref();
        let named = content_type.map(media_type).filter(|name| !name.is_empty() && name != "application/octet-stream");
        let kind = named.as_deref().map_or_else(|| sniff(&answer.body), kind_of);
        let url = answer.url.to_string();
        let (title, text, unread) = match kind {
            Kind::Unreadable => return Err(unreadable(named.as_deref(), answer.body.len(), answer.cut)),
            Kind::Text => (None, decode(&answer.body, content_type), false),
            Kind::Html => {
                let page = readable(&decode(&answer.body, content_type), &answer.url);
                (page.title, page.markdown, page.cut)
            }
        };
        let text = plain_text(text.as_bytes());
        Ok(Self { url, title: title.map(|title| one_line(&title)), text, cut: answer.cut || unread })
    }
}

/// A name or number that a server sent, short and harmless enough to stand among our own words.
pub(super) fn token(text: &str) -> String {
    let harmless = |character: &char| character.is_ascii_alphanumeric() || "+#.,:/- ".contains(*character);
    text.chars().filter(harmless).take(40).collect::<String>().trim().to_owned()
}

/// A text of a page on one line of ordinary length.
pub(super) fn one_line(text: &str) -> String {
    let line: String = plain_text(text.as_bytes()).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(300).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

/// `Text/HTML; charset=x` is `text/html`.
fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn kind_of(media_type: &str) -> Kind {
    const TEXT: &str = "\
        json xml javascript ecmascript yaml x-yaml toml x-ndjson jsonlines graphql sql rtf x-sh x-httpd-php x-tex \
        x-subrip manifest+json";
    match media_type.split_once('/') {
        Some(("text", "html")) | Some(("application", "xhtml+xml")) => Kind::Html,
        Some(("text", _)) => Kind::Text,
        Some((_, kind)) if kind.ends_with("+json") || kind.ends_with("+xml") && !kind.starts_with("svg") => Kind::Text,
        Some(("application", kind)) if TEXT.split(' ').any(|text| text == kind) => Kind::Text,
        Some(_) | None => Kind::Unreadable,
    }
}

/// What it is when the server does not say.
fn sniff(body: &[u8]) -> Kind {
    let head = body.get(..1024).unwrap_or(body);
    let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    // In text of any charset there is hardly a control character besides these.
    let is_control = |byte: &&u8| byte.is_ascii_control() && !b"\t\n\r\x0c\x1b".contains(byte);
    let controls = head.iter().filter(is_control).count();
    if !is_wide && (head.contains(&0) || (controls > 1 && controls * 50 > head.len())) {
        return Kind::Unreadable;
    }
    let start = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") { Kind::Html } else { Kind::Text }
}

fn unreadable(media_type: Option<&str>, bytes: usize, cut: bool) -> ToolError {
    let what = media_type.map_or_else(|| "binary data".to_owned(), one_line);
    let size = if cut { format!("more than {bytes} bytes") } else { format!("{bytes} bytes") };
    ToolError::failed(format!(
        "it is {what} ({size}), which is no text; if the task needs the file, download it with a command"
    ))
}

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
    use neco_proto::ErrorCode;
    use url::Url;

    use super::*;

    fn read(content_type: Option<&str>, body: &[u8]) -> Result<Page, ToolError> {
        Page::read(Answer {
            url: Url::parse("https://example.com/").unwrap(),
            status: 200,
            content_type: content_type.map(str::to_owned),
            retry_after: None,
            elsewhere: None,
            body: body.to_vec(),
            cut: false,
        })
    }

    #[test]
    fn text_comes_as_it_is_and_pages_as_markdown() {
        for (content_type, body, text) in [
            (Some("text/html"), &b"<h1>T</h1>"[..], "# T"),
            (Some("TEXT/HTML; charset=utf-8"), b"<h1>T</h1>", "# T"),
            (Some("application/xhtml+xml"), b"<h1>T</h1>", "# T"),
            (Some("text/plain"), b"<h1>T</h1>", "<h1>T</h1>"),
            (Some("application/json"), b"{\"a\": 1}", "{\"a\": 1}"),
            (Some("application/problem+json"), b"{}", "{}"),
            (Some("application/rss+xml"), b"<rss/>", "<rss/>"),
            (Some("text/markdown"), b"# a", "# a"),
            (None, b" <!DOCTYPE html><p>x", "x"),
            (None, b"plain", "plain"),
            (Some("application/octet-stream"), b"plain", "plain"),
            (Some("text/plain"), b"a\x1b[31mred\x1b[0m\x07", "ared"),
        ] {
            assert_eq!(read(content_type, body).unwrap().text, text, "{content_type:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_by_name() {
        for (content_type, body, what) in [
            (Some("application/pdf"), &b"%PDF-1.7"[..], "application/pdf (8 bytes)"),
            (Some("image/png"), b"\x89PNG", "image/png"),
            (Some("image/svg+xml"), b"<svg/>", "image/svg+xml"),
            (Some("application/zip"), b"PK", "application/zip"),
            (None, b"\0\0\0", "binary data"),
            (Some("application/octet-stream"), b"\x9c\x01\xe8\x02\x13\xf1\x7f\xd5ab", "binary data"),
            (Some("application/octet-stream"), b"\x7fELF\0", "binary data"),
        ] {
            let error = read(content_type, body).unwrap_err();
            assert!(error.code == ErrorCode::ToolFailed && error.message.contains(what), "{}", error.message);
        }
    }

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
