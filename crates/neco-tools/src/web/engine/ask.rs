//! The engine that was chosen: what it is asked, and what its answer comes to.

use std::time::Duration;

use neco_config::section::SearchEngine;
use neco_safety::world::net::{Answer, Request};
use neco_toolkit::ToolError;
use serde_json::Value;
use url::Url;

use super::{duckduckgo, json};
use crate::shell::plain_text::plain_text;
use crate::web::dom::plain;
use crate::web::page::{one_line, token};

/// Bytes of an answer that are read.
const MOST_BYTES: usize = 2_000_000;

/// Why an engine gave no results.
#[derive(Debug)]
pub(in crate::web) struct Refusal {
    /// In our words.
    pub(in crate::web) words: String,
    /// In its own.
    pub(in crate::web) said: Option<String>,
}

/// An engine at its address.
#[derive(Debug)]
pub(in crate::web) struct Engine {
    kind: SearchEngine,
    url: Url,
    /// Whether the user named the address, so that it may be a private one.
    named: bool,
}

impl Engine {
    /// The engine, at its own address or at another one that the user named.
    pub(in crate::web) fn new(kind: SearchEngine, url: Option<&str>) -> Result<Self, ToolError> {
        let own = match kind {
            SearchEngine::Searxng => None,
            SearchEngine::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            SearchEngine::Tavily => Some("https://api.tavily.com/search"),
            SearchEngine::Exa => Some("https://api.exa.ai/search"),
            SearchEngine::Duckduckgo => Some(duckduckgo::ADDRESS),
        };
        let Some(text) = url.or(own) else {
            return Err(ToolError::failed(format!(
                "the search engine {} needs the address of a server: the user sets url under \
                 [tools.web_search] in config.toml",
                kind.name()
            )));
        };
        let address = Url::parse(text).ok().filter(|url| url.has_host());
        let address = address.ok_or_else(|| {
            ToolError::failed("the url under [tools.web_search] in the user's config.toml is no web address")
        })?;
        Ok(Self { kind, url: address, named: url.is_some() })
    }

    pub(in crate::web) fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// What it is asked.
    pub(in crate::web) fn request(&self, query: &str, count: usize, time: Duration) -> Request {
        let request = Request::get(self.url.clone(), time, MOST_BYTES);
        let mut request = match self.kind {
            SearchEngine::Searxng => json::ask_searxng(request, query),
            SearchEngine::Brave => json::ask_brave(request, query, count),
            SearchEngine::Tavily => json::ask_tavily(request, query, count),
            SearchEngine::Exa => json::ask_exa(request, query, count),
            SearchEngine::Duckduckgo => duckduckgo::ask(request, query),
        };
        let host = self.url.host_str().unwrap_or_default();
        let port = self.url.port_or_known_default();
        request.open_host = self.named.then(|| port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")));
        request
    }

    /// What its answer comes to. Takes a while for a big one: not on a thread of the runtime.
    pub(in crate::web) fn hits(&self, answer: &Answer) -> Result<Vec<Hit>, Refusal> {
        if let Some(elsewhere) = &answer.elsewhere {
            let said = Some(one_line(elsewhere.as_str()));
            let words = "it redirects elsewhere; the url under [tools.web_search] is not right";
            return Err(Refusal { said, ..self.failed(answer, words) });
        }
        if !(200..300).contains(&answer.status) || answer.status == 202 && self.kind == SearchEngine::Duckduckgo {
            return Err(self.refused(answer));
        }
        if self.kind == SearchEngine::Duckduckgo {
            return duckduckgo::hits(&String::from_utf8_lossy(&answer.body)).ok_or_else(|| self.refused(answer));
        }
        let unreadable = || self.failed(answer, "its answer can't be read");
        let json: Value = serde_json::from_slice(&answer.body).map_err(|_| unreadable())?;
        json::hits(self.kind, &json).ok_or_else(unreadable)
    }

    /// Why it said no, and what to do about it.
    fn refused(&self, answer: &Answer) -> Refusal {
        let wait =
            answer.retry_after.as_deref().map(|after| format!(" (retry-after: {})", token(after))).unwrap_or_default();
        let advice = match (self.kind, answer.status) {
            (SearchEngine::Duckduckgo, 200..=299 | 403 | 418) => {
                "it takes us for a robot and refuses for now; wait, or another engine under [tools.web_search] is more \
                 reliable"
                    .to_owned()
            }
            (SearchEngine::Searxng, 403) => "the server does not allow the format json: add it to search.formats in \
                 its settings.yml, or use another server"
                .to_owned(),
            (_, 401 | 403) => "the key is not accepted".to_owned(),
            (_, 402 | 432 | 433) => "the plan of the key is used up".to_owned(),
            (_, 429) => format!("too many searches{wait}; wait before the next one"),
            (_, 404) => "the url under [tools.web_search] is not right".to_owned(),
            (_, 500..=599) => format!("it has a problem of its own{wait}; try again later"),
            (_, _) => "it did not accept the search".to_owned(),
        };
        self.failed(answer, &advice)
    }

    fn failed(&self, answer: &Answer, words: &str) -> Refusal {
        Refusal { words: format!("{} answered {}: {words}", self.name(), answer.status), said: said(&answer.body) }
    }
}

/// The words of an error, wherever an engine puts them.
fn said(body: &[u8]) -> Option<String> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let places = ["/error/detail", "/detail/error", "/error/message", "/error", "/detail", "/message"];
    let text = places.iter().find_map(|place| json.pointer(place).and_then(Value::as_str))?;
    Some(one_line(text)).filter(|text| !text.is_empty())
}

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
