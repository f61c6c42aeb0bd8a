//! DuckDuckGo: the page for browsers without scripts.

use markup5ever_rcdom::Handle;
use neco_safety::world::net::Request;
use url::Url;

use super::ask::Hit;
use crate::web::dom::{attribute, below, has_class, parse, tag, text};

pub(super) const ADDRESS: &str = "https://html.duckduckgo.com/html/";

/// Results of a page that are looked at.
const MOST: usize = 60;

pub(super) fn ask(mut request: Request, query: &str) -> Request {
    request.url.query_pairs_mut().append_pair("q", query);
    request.headers.push(("accept", "text/html".to_owned()));
    request
}

/// The results of a page; nothing for a page that is none of results.
pub(super) fn hits(html: &str) -> Option<Vec<Hit>> {
    let page = parse(html).document;
    let is_page = below(&page).any(|node| {
        let id = attribute(&node, "id");
        id.as_deref() == Some("links") || has_class(&node, "no-results") || has_class(&node, "result")
    });
    let is_result = |node: &Handle| has_class(node, "result") && !has_class(node, "result--ad");
    is_page.then(|| below(&page).filter(is_result).take(MOST).filter_map(|node| hit(&node)).collect())
}

fn hit(result: &Handle) -> Option<Hit> {
    let link = below(result).find(|node| tag(node) == Some("a") && has_class(node, "result__a"))?;
    let extract = below(result).find(|node| has_class(node, "result__snippet")).map(|node| text(&node));
    Hit::new(&escaped(&text(&link)), &target(&attribute(&link, "href")?)?, &escaped(&extract.unwrap_or_default()))
}

/// What was read from HTML is no HTML again.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Links lead through the engine, which counts them; where they lead to stands in `uddg`.
fn target(href: &str) -> Option<String> {
    let url = Url::parse(ADDRESS).ok()?.join(href).ok()?;
    let ours = url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !ours {
        return Some(url.into());
    }
    // What stays with the engine is an advertisement or no result.
    url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, target)| target.into_owned())
}
