//! Brave Search: `GET` with the key in a header.

use neco_safety::world::net::{KeyHeader, Request};
use serde_json::Value;

use super::ask::{SEARCH_KEY, each, field};
use super::hit::Hit;

pub(super) const ADDRESS: &str = "https://api.search.brave.com/res/v1/web/search";

pub(super) fn ask(mut request: Request, query: &str, count: usize) -> Request {
    request.url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.to_string());
    request.headers.push(("accept", "application/json".to_owned()));
    request.key = Some(KeyHeader { key: SEARCH_KEY, header: "x-subscription-token", before: "" });
    request
}

/// A search that finds nothing has no `web` at all.
pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    match answer.pointer("/web/results") {
        Some(results) => each(results, |item| field(item, "description").to_owned()),
        None => (field(answer, "type") == "search").then(Vec::new),
    }
}
