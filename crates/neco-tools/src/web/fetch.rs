//! `web_fetch`: reads a web page.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use neco_config::section::WebFetchSection;
use neco_proto::{Display, ErrorCode, Risk};
use neco_safety::world::net::{Answer, NetError, Request};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::page::{Page, one_line, token};

/// What the scheduler's clock leaves us beyond our own, so that it is never first.
const SLACK: Duration = Duration::from_secs(10);

/// Room for our own words around a part of a page.
const OWN_WORDS: usize = 2_000;

/// What we like best.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// Arguments of `web_fetch`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchArgs {
    /// The whole address, with http:// or https://.
    url: String,
    /// Where to go on in a long page, as the last result said.
    offset: Option<usize>,
}

pub(super) struct WebFetch {
    time: Duration,
    bytes: usize,
    cache: Cache,
}

impl WebFetch {
    /// The tool of one agent.
    pub(super) fn new(settings: &WebFetchSection) -> Self {
        let time = Duration::try_from_secs_f64(settings.timeout).ok().filter(|time| !time.is_zero());
        Self {
            time: time.unwrap_or(Duration::from_secs(30)),
            bytes: if settings.max_bytes == 0 { 5_000_000 } else { settings.max_bytes },
            cache: Cache::default(),
        }
    }

    async fn page(&self, url: Url, ctx: &ToolContext) -> Result<Found, ToolError> {
        let address = address(&url);
        if let Some(page) = self.cache.get(&address, Instant::now()) {
            return Ok(Found::Page(page));
        }
        let mut request = Request::get(url, self.time, self.bytes);
        request.headers.push(("accept", ACCEPT.to_owned()));
        let answer = answered(ctx, request).await?;
        if let Some(elsewhere) = answer.elsewhere {
            return Ok(Found::Elsewhere(elsewhere));
        }
        check_status(&answer)?;
        let reading = tokio::task::spawn_blocking(move || Page::read(answer));
        let page = Arc::new(reading.await.map_err(|_| ToolError::failed("the page can't be read"))??);
        self.cache.put(address, Arc::clone(&page), Instant::now());
        Ok(Found::Page(page))
    }
}

/// What was found at an address.
enum Found {
    Page(Arc<Page>),
    Elsewhere(Url),
}

impl Tool for WebFetch {
    type Args = FetchArgs;
    const NAME: &'static str = "web_fetch";
    const DESCRIPTION: &'static str = include_str!("fetch.txt");
    const TOUCH: SideEffect = SideEffect::Network;

    /// An address without how to reach it is one of the web.
    fn adapt(arguments: &mut serde_json::Value) {
        let Some(url) = arguments.get_mut("url") else { return };
        let Some(text) = url.as_str() else { return };
        let text = text.trim().trim_matches(['"', '\'', '`', '<', '>']).trim();
        let host = text.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host =
            host.contains('.') && !host.starts_with('.') && !host.contains([':', '@']) && Url::parse(text).is_err();
        *url = serde_json::Value::from(if is_host { format!("https://{text}") } else { text.to_owned() });
    }

    fn timeout(&self, _args: &FetchArgs) -> Option<Duration> {
        Some(self.time + SLACK)
    }

    fn summary(&self, args: &FetchArgs) -> String {
        format!("Fetch {}", one_line(&args.url))
    }

    async fn plan(&self, args: &FetchArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let url = parsed(&args.url)?;
        ctx.world.net().check(&url).map_err(refused)?;
        let because = format!("it fetches from {}", url.host_str().unwrap_or_default());
        // Who opened a host of their own wants it fetched from, and nothing leaves their network that way.
        let risk = if ctx.world.net().is_opened(&url) { Risk::Low } else { Risk::Medium };
        Ok(Plan { because: Some(because), ..Plan::of(risk) })
    }

    async fn run(&self, args: FetchArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        match self.page(parsed(&args.url)?, ctx).await? {
            Found::Page(page) => part(&page, args.offset.unwrap_or(0), ctx.max_output),
            Found::Elsewhere(url) => {
                let words =
                    "[it redirects to another host, which was not asked; fetch this if that is what you want:]\n";
                let (start, source) = (words.len(), one_line(url.host_str().unwrap_or_default()));
                Ok(ToolOutput::text(format!("{words}{}", one_line(url.as_str()))).outside(start.., source))
            }
        }
    }
}

/// Asks, unless the call is stopped before.
pub(super) async fn answered(ctx: &ToolContext, request: Request) -> Result<Answer, ToolError> {
    tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => Err(ToolError::failed("cancelled")),
        answer = ctx.world.net().send(request) => answer.map_err(refused),
    }
}

pub(super) fn refused(error: NetError) -> ToolError {
    ToolError::new(error.code(), error.to_string())
}

/// The very address that rules were asked about.
fn parsed(text: &str) -> Result<Url, ToolError> {
    Url::parse(text).map_err(|_| {
        let words = format!("url: {:?} is no web address; give the whole of it, with https://", one_line(text));
        ToolError::new(ErrorCode::InvalidArguments, words)
    })
}

/// What is asked of the server: a part of a page is its own business.
fn address(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

fn check_status(answer: &Answer) -> Result<(), ToolError> {
    let what_to_do = match answer.status {
        200..=299 => return Ok(()),
        401 | 407 => "it wants a login, which can't be given here".to_owned(),
        403 => "it refuses this page, perhaps to programs; try another source".to_owned(),
        404 | 410 => "there is no such page; check the address or search for it".to_owned(),
        429 => match answer.retry_after.as_deref().map(token) {
            Some(after) => format!("too many requests; it asks to wait (retry-after: {after})"),
            None => "too many requests; wait or use another source".to_owned(),
        },
        300..=399 => "it redirects without saying where".to_owned(),
        500..=599 => "the server has a problem; try again later or use another source".to_owned(),
        _ => "it did not give the page".to_owned(),
    };
    Err(ToolError::failed(format!(
        "{} answered {}: {what_to_do}",
        answer.url.host_str().unwrap_or_default(),
        answer.status
    )))
}

/// One part of a page, with where it ends and what follows.
fn part(page: &Page, offset: usize, most: usize) -> Result<ToolOutput, ToolError> {
    let total = page.text.len();
    if offset > 0 && offset >= total {
        let message = format!("offset: the page ends at {total}");
        return Err(ToolError::new(ErrorCode::InvalidArguments, message));
    }
    let start = page.text.floor_char_boundary(offset);
    let most = most.saturating_sub(OWN_WORDS).max(OWN_WORDS);
    let end = good_end(&page.text, start, most);
    let text = page.text.get(start..end).unwrap_or_default();
    let head = page.title.as_ref().filter(|_| start == 0).map(|title| format!("{title}\n\n")).unwrap_or_default();
    let whole = start == 0 && end == total;
    let note = match (total, whole) {
        (0, _) => "\n[the page has no text; it may be made by scripts, which are not run]".to_owned(),
        (_, true) => String::new(),
        (_, false) if end < total => format!("\n[{start} to {end} of {total}; go on with offset {end}]"),
        (_, false) => format!("\n[{start} to {end} of {total}, the end]"),
    };
    let cut = if page.cut && end == total {
        "\n[the page is bigger than what is read of one; the rest is missing]"
    } else {
        ""
    };
    let shown = format!("{head}{text}");
    let length = shown.len();
    let size = format!(
        "{}{} characters from {}",
        page.title.as_ref().map(|title| format!("{title}: ")).unwrap_or_default(),
        text.chars().count(),
        page.url
    );
    Ok(ToolOutput::text(format!("{shown}{note}{cut}"))
        .outside(..length, page.url.as_str())
        .with_display(Display::Text { text: size }))
}

/// The end of a part: after a line where there is one in its second half.
fn good_end(text: &str, start: usize, most: usize) -> usize {
    if text.len() - start <= most {
        return text.len();
    }
    let end = text.floor_char_boundary(start + most);
    let part = text.get(start..end).unwrap_or_default();
    match part.rfind('\n') {
        Some(at) if at >= part.len() / 2 => start + at + 1,
        Some(_) | None => end,
    }
}

/// How long a page is good for.
const FRESH: Duration = Duration::from_secs(15 * 60);

/// Pages, and bytes of them, that are kept.
const MOST_PAGES: usize = 50;
const MOST_BYTES: usize = 20_000_000;

/// The pages of one agent, the newest last.
#[derive(Default)]
struct Cache(Mutex<VecDeque<Kept>>);

struct Kept {
    address: String,
    read: Instant,
    page: Arc<Page>,
}

impl Cache {
    /// The page that was read from an address.
    fn get(&self, address: &str, now: Instant) -> Option<Arc<Page>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| now.duration_since(kept.read) < FRESH);
        pages.iter().find(|kept| kept.address == address).map(|kept| Arc::clone(&kept.page))
    }

    /// Keeps a page; the oldest go where there is no room.
    fn put(&self, address: String, page: Arc<Page>, now: Instant) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| kept.address != address);
        pages.push_back(Kept { address, read: now, page });
        while pages.len() > MOST_PAGES || pages.iter().map(|kept| kept.page.text.len()).sum::<usize>() > MOST_BYTES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(text: &str) -> Page {
        Page { url: "https://example.com/".to_owned(), title: Some("T".to_owned()), text: text.to_owned(), cut: false }
    }

    #[test]
    fn a_short_page_comes_whole_and_a_long_one_in_parts() {
        let short = part(&page("text"), 0, 10_000).unwrap();
        assert_eq!(short.model, "T\n\ntext");
        let line = "0123456789\n".repeat(1000);
        let first = part(&page(&line), 0, 6_000).unwrap();
        assert!(first.model.ends_with("[0 to 3993 of 11000; go on with offset 3993]"), "{}", &first.model[3990..]);
        let last = part(&page(&line), 7986, 6_000).unwrap();
        assert!(last.model.ends_with("[7986 to 11000 of 11000, the end]") && !last.model.starts_with('T'));
        assert_eq!(part(&page(&line), 11_000, 6_000).unwrap_err().code, ErrorCode::InvalidArguments);
        assert!(part(&page(""), 0, 6_000).unwrap().model.contains("no text"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn parts_put_together_are_the_page(text in "([aé日\\n]{1,30}){1,200}", most in 2_000usize..5_000) {
            let page = page(&text);
            let (mut offset, mut put_together) = (0, String::new());
            while offset < text.len() {
                let end = good_end(&page.text, offset, most.saturating_sub(OWN_WORDS).max(OWN_WORDS));
                prop_assert!(part(&page, offset, most).is_ok() && end > offset);
                put_together.push_str(&text[offset..end]);
                offset = end;
            }
            prop_assert_eq!(put_together, text);
        }
    }

    fn cached(text: String) -> Arc<Page> {
        Arc::new(Page { url: String::new(), title: None, text, cut: false })
    }

    #[test]
    fn a_page_is_kept_for_a_while_and_not_for_ever() {
        let (cache, now) = (Cache::default(), Instant::now());
        cache.put("a".to_owned(), cached("1".to_owned()), now);
        cache.put("a".to_owned(), cached("2".to_owned()), now);
        assert_eq!(cache.get("a", now + FRESH - Duration::from_secs(1)).unwrap().text, "2");
        assert!(cache.get("b", now).is_none());
        assert!(cache.get("a", now + FRESH).is_none());
    }

    #[test]
    fn the_oldest_pages_go_first() {
        let (cache, now) = (Cache::default(), Instant::now());
        for number in 0..MOST_PAGES + 1 {
            cache.put(number.to_string(), cached(String::new()), now);
        }
        assert!(cache.get("0", now).is_none() && cache.get("1", now).is_some());
        cache.put("big".to_owned(), cached("x".repeat(MOST_BYTES)), now);
        cache.put("small".to_owned(), cached("x".to_owned()), now);
        assert!(cache.get("big", now).is_none() && cache.get("small", now).is_some());
    }
}
