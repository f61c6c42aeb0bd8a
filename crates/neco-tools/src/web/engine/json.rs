//! The engines that answer with JSON: what each is asked, and where its answer has the results.

use neco_config::section::SearchEngine;
use neco_safety::world::net::{KeyHeader, Method, Request};
use serde_json::{Value, json};

use super::ask::Hit;

/// The name under which the network keeps the key of the search engine.
pub const SEARCH_KEY: &str = "web_search";

/// Results of an answer that are looked at.
const MOST_HITS: usize = 60;

/// SearXNG is a server of one's own, whose address is its start page; `/search` belongs to it.
pub(super) fn ask_searxng(mut request: Request, query: &str) -> Request {
    let path = request.url.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/search") {
        request.url.set_path(&format!("{path}/search"));
    }
    request.url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    request.headers.push(("accept", "application/json".to_owned()));
    request
}

/// Brave Search takes its key in a header.
pub(super) fn ask_brave(mut request: Request, query: &str, count: usize) -> Request {
    request.url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.to_string());
    request.headers.push(("accept", "application/json".to_owned()));
    request.key = Some(KeyHeader { key: SEARCH_KEY, header: "x-subscription-token", before: "" });
    request
}

/// Tavily takes its key as a bearer token.
pub(super) fn ask_tavily(request: Request, query: &str, count: usize) -> Request {
    let body = json!({ "query": query, "max_results": count, "search_depth": "basic" });
    posted(request, &body, KeyHeader { key: SEARCH_KEY, header: "authorization", before: "Bearer " })
}

/// Exa gives extracts as highlights.
pub(super) fn ask_exa(request: Request, query: &str, count: usize) -> Request {
    let body = json!({ "query": query, "numResults": count, "contents": { "highlights": true } });
    posted(request, &body, KeyHeader { key: SEARCH_KEY, header: "x-api-key", before: "" })
}

/// A request with a body of JSON.
fn posted(mut request: Request, body: &Value, key: KeyHeader) -> Request {
    request.method = Method::Post;
    request.headers.push(("content-type", "application/json".to_owned()));
    request.headers.push(("accept", "application/json".to_owned()));
    request.body = Some(body.to_string());
    request.key = Some(key);
    request
}

/// The results of an answer; nothing where it is none.
pub(super) fn hits(kind: SearchEngine, answer: &Value) -> Option<Vec<Hit>> {
    match kind {
        SearchEngine::Searxng | SearchEngine::Tavily => {
            each(answer.get("results")?, |item| field(item, "content").to_owned())
        }
        SearchEngine::Brave => match answer.pointer("/web/results") {
            Some(results) => each(results, |item| field(item, "description").to_owned()),
            // A search that finds nothing has no `web` at all.
            None => (field(answer, "type") == "search").then(Vec::new),
        },
        SearchEngine::Exa => each(answer.get("results")?, highlights),
        SearchEngine::Duckduckgo => None,
    }
}

fn highlights(item: &Value) -> String {
    let highlights = item.get("highlights").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let highlights: Vec<&str> = highlights.iter().filter_map(Value::as_str).collect();
    if !highlights.is_empty() {
        return highlights.join(" … ");
    }
    let mut others = [field(item, "summary"), field(item, "text")].into_iter();
    others.find(|text| !text.is_empty()).unwrap_or_default().to_owned()
}

/// The text of a field; empty where there is none.
fn field<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The results of a list, as many as anybody asks for.
fn each(list: &Value, extract: impl Fn(&Value) -> String) -> Option<Vec<Hit>> {
    let hit = |item: &Value| Hit::new(field(item, "title"), field(item, "url"), &extract(item));
    Some(list.as_array()?.iter().filter_map(hit).take(MOST_HITS).collect())
}
