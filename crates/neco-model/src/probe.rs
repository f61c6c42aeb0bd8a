//! Finding local servers on their usual ports, and asking servers what they serve.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::catalogue::makes_instead;
use crate::http::build_client;
use crate::route::{Address, Key, ProviderEntry};
use crate::wire::format::Auth;
use neco_config::section::ProviderType;
use reqwest::RequestBuilder;
use reqwest::header::HeaderName;

/// The largest list of models that is read.
const LIST_LIMIT: usize = 1024 * 1024;

/// A local server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Its provider's name.
    pub provider: String,
    /// Its address, without login and query.
    pub base: String,
    /// The models it serves, as they are written after `provider/`.
    pub models: Vec<String>,
}

/// What a server says that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// These models, as they are written after `provider/`.
    Models(Vec<String>),
    /// That it tells nobody without a key, or without another one.
    NeedsKey,
    /// Nothing that could be read, or nobody is there.
    Unknown,
}

/// Asks one server, with this key where it has one.
pub(crate) async fn served(entry: &ProviderEntry, key: Option<&Key>, timeout: Duration) -> Served {
    let Some(base) = &entry.base else { return Served::Unknown };
    tokio::time::timeout(timeout, list(base, key)).await.unwrap_or(Served::Unknown)
}

/// What a provider says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyTrial {
    /// It takes the key, and no one without.
    Works,
    /// It refuses the key.
    Refused,
    /// It does not answer.
    Unreachable,
    /// It answers, and does not say.
    Unsaid,
}

/// Asks a provider what it says of a key, which costs nothing; each of two questions may take as long as `timeout`.
pub async fn try_key(entry: &ProviderEntry, key: &Key, timeout: Duration) -> KeyTrial {
    let Some(base) = &entry.base else { return KeyTrial::Unsaid };
    let auth = match entry.kind {
        ProviderType::Anthropic => Auth::Header(HeaderName::from_static("x-api-key")),
        ProviderType::Gemini => Auth::Header(HeaderName::from_static("x-goog-api-key")),
        ProviderType::Openai | ProviderType::Responses | ProviderType::Scripted => Auth::Bearer,
    };
    let Ok(client) = build_client(base.shown(), None).await else { return KeyTrial::Unsaid };
    let bare = || client.get(base.join("/models")).header("anthropic-version", "2023-06-01");
    let (name, value) = key.header(&auth);
    let Some(answered) = status(bare().header(name, value), timeout).await else { return KeyTrial::Unreachable };
    match answered {
        401 => KeyTrial::Refused,
        // Google calls a key that is none a bad request.
        400 if entry.kind == ProviderType::Gemini => KeyTrial::Refused,
        // Some tell everybody which models they have: that says nothing of the key.
        200..300 => match status(bare(), timeout).await {
            Some(401 | 403) => KeyTrial::Works,
            Some(_) | None => KeyTrial::Unsaid,
        },
        // A key that may not list models may still ask them.
        _ => KeyTrial::Unsaid,
    }
}

/// The status that a request is answered with; nothing where no answer comes in time.
async fn status(request: RequestBuilder, timeout: Duration) -> Option<u16> {
    let answer = tokio::time::timeout(timeout, request.send()).await.ok()?.ok()?;
    Some(answer.status().as_u16())
}

/// Asks all of `entries` at once; those that list no model within `timeout` are left out.
pub(crate) async fn probe<'a>(entries: impl Iterator<Item = &'a ProviderEntry>, timeout: Duration) -> Vec<LocalServer> {
    let asked = entries.filter_map(|entry| Some((entry, entry.base.as_ref()?))).map(|(entry, base)| async move {
        let Ok(Served::Models(models)) = tokio::time::timeout(timeout, list(base, None)).await else { return None };
        let server = LocalServer { provider: entry.name.clone(), base: base.shown().to_owned(), models };
        (!server.models.is_empty()).then_some(server)
    });
    join_all(asked).await.into_iter().flatten().collect()
}

async fn list(base: &Address, key: Option<&Key>) -> Served {
    let Ok(client) = build_client(base.shown(), None).await else { return Served::Unknown };
    let mut request = client.get(base.join("/models"));
    if let Some((name, value)) = key.map(|key| key.header(&Auth::Bearer)) {
        request = request.header(name, value);
    }
    let Ok(response) = request.send().await else { return Served::Unknown };
    match response.status().as_u16() {
        200..300 => models(response).await.map_or(Served::Unknown, Served::Models),
        401 | 403 => Served::NeedsKey,
        _ => Served::Unknown,
    }
}

async fn models(mut response: reqwest::Response) -> Option<Vec<String>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > LIST_LIMIT {
            return None;
        }
    }
    let list: Value = serde_json::from_slice(&body).ok()?;
    let id = |model: &Value| model.get("id").and_then(Value::as_str).map(str::to_owned);
    let chats = |id: &String| makes_instead(id).is_none();
    Some(list.get("data")?.as_array()?.iter().filter_map(id).filter(chats).collect())
}
