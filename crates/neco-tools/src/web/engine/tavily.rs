//! Tavily: `POST` with the key as a bearer token.

use neco_safety::world::net::{KeyHeader, Request};
use serde_json::{Value, json};

use super::ask::{SEARCH_KEY, each, field, posted};
use super::hit::Hit;

pub(super) const ADDRESS: &str = "https://api.tavily.com/search";

pub(super) fn ask(request: Request, query: &str, count: usize) -> Request {
    let body = json!({ "query": query, "max_results": count, "search_depth": "basic" });
    posted(request, &body, KeyHeader { key: SEARCH_KEY, header: "authorization", before: "Bearer " })
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    each(answer.get("results")?, |item| field(item, "content").to_owned())
}
