//! Exa: `POST` with the key in a header; extracts come as highlights.

use neco_safety::world::net::{KeyHeader, Request};
use serde_json::{Value, json};

use super::ask::{SEARCH_KEY, each, field, posted};
use super::hit::Hit;

pub(super) const ADDRESS: &str = "https://api.exa.ai/search";

pub(super) fn ask(request: Request, query: &str, count: usize) -> Request {
    let body = json!({ "query": query, "numResults": count, "contents": { "highlights": true } });
    posted(request, &body, KeyHeader { key: SEARCH_KEY, header: "x-api-key", before: "" })
}

pub(super) fn hits(answer: &Value) -> Option<Vec<Hit>> {
    each(answer.get("results")?, extract)
}

fn extract(item: &Value) -> String {
    let highlights = item.get("highlights").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let highlights: Vec<&str> = highlights.iter().filter_map(Value::as_str).collect();
    match highlights.as_slice() {
        [] => [field(item, "summary"), field(item, "text")]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default()
            .to_owned(),
        some => some.join(" … "),
    }
}
