//! SearXNG: a server of one's own; `GET /search?format=json`.

use neco_safety::world::net::Request;
use serde_json::Value;

use super::ask::{each, field};
use super::hit::Hit;

/// The address of the server is its start page; `/search` belongs to it.
pub(super) fn ask(mut request: Request, query: &str) -> Request {
    let path = request.url.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/search") {
        request.url.set_path(&format!("{path}/search"));
    }
    request.url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    request.headers.push(("accept", "application/json".to_owned()));
    request
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    each(answer.get("results")?, |item| field(item, "content").to_owned())
}
