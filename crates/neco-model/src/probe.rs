//! Finding local servers on their usual ports.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::catalogue::makes_instead;
use crate::http::build_client;
use crate::route::{Address, ProviderEntry};

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

/// Asks all of `entries` at once; those that list no model within `timeout` are left out.
pub(crate) async fn probe<'a>(entries: impl Iterator<Item = &'a ProviderEntry>, timeout: Duration) -> Vec<LocalServer> {
    let asked = entries.filter_map(|entry| Some((entry, entry.base.as_ref()?))).map(|(entry, base)| async move {
        let models = tokio::time::timeout(timeout, models(base)).await.ok().flatten()?;
        let server = LocalServer { provider: entry.name.clone(), base: base.shown().to_owned(), models };
        (!server.models.is_empty()).then_some(server)
    });
    join_all(asked).await.into_iter().flatten().collect()
}

async fn models(base: &Address) -> Option<Vec<String>> {
    let client = build_client(base.shown(), None).await.ok()?;
    let mut response = client.get(base.join("/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
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
