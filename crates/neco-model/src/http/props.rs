//! What a server on this machine says of itself: llama.cpp's `/props`, asked once for each endpoint, and the list of
//! its models where that says nothing of its window.
//!
//! Servers that have no such address answer at once that they have none. A server that takes its
//! time is asked in the background: its answer counts from the next request on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use tokio::sync::{OnceCell, watch};

use crate::route::Address;
use crate::wire::format::Template;

/// How long the first request waits for the answer.
const WAIT: Duration = Duration::from_millis(50);
/// How long the first prompt waits for the window that it has to fit into.
const WAIT_FOR_WINDOW: Duration = Duration::from_millis(500);
/// How long the answer may take at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest answer that is read.
const LIMIT: usize = 1024 * 1024;

/// The header that shows a key.
type KeyHeader = (HeaderName, HeaderValue);

/// What one server said, as far as it was asked.
#[derive(Default)]
pub(crate) struct Props {
    state: Arc<Mutex<State>>,
    /// The windows of its models by their names, as the list of them says.
    listed: OnceCell<Vec<(String, u64)>>,
}

#[derive(Default)]
enum State {
    #[default]
    Unasked,
    /// Closed when the answer is there.
    Asking(watch::Receiver<()>),
    Known(Said),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    template: Template,
    /// Tokens that fit into one request and its answer.
    window: Option<u64>,
}

impl Said {
    const NOTHING: Self = Self { template: Template::Unknown, window: None };
}

impl Props {
    /// The window that the server was started with, or else that of this model, once it has said so.
    pub(super) fn window(&self, model: &str) -> Option<u64> {
        let said = match *self.state() {
            State::Known(said) => said.window,
            State::Unasked | State::Asking(_) => None,
        };
        said.or_else(|| match self.listed.get()?.as_slice() {
            // A server that serves one model serves it by any name.
            [(_, window)] => Some(*window),
            several => several.iter().find(|(name, _)| name == model).map(|(_, window)| *window),
        })
    }

    /// Asks the server behind `base` for its window if it did not say anything yet, and waits a moment for the answer.
    pub(super) async fn learn(&self, client: &Client, base: &Address, key: Option<KeyHeader>) {
        if let Some(mut answered) = self.ask(client, base, key.clone()) {
            let _ = tokio::time::timeout(WAIT_FOR_WINDOW, answered.changed()).await;
        }
        let says_nothing = matches!(*self.state(), State::Known(Said { window: None, .. }));
        if says_nothing {
            let list = tokio::time::timeout(WAIT_FOR_WINDOW, list(client, base, key));
            self.listed.get_or_init(|| async { list.await.ok().flatten().unwrap_or_default() }).await;
        }
    }

    /// What the server behind `base` says; nothing when that is not known yet.
    pub(super) async fn template(&self, client: &Client, base: &Address) -> Option<Template> {
        if let Some(mut answered) = self.ask(client, base, None) {
            // Ends with an error when the sender is gone, which is the answer.
            let _ = tokio::time::timeout(WAIT, answered.changed()).await;
        }
        match *self.state() {
            State::Known(said) => Some(said.template),
            State::Unasked | State::Asking(_) => None,
        }
    }

    /// Asks if nobody did; gives what to wait for.
    fn ask(&self, client: &Client, base: &Address, key: Option<KeyHeader>) -> Option<watch::Receiver<()>> {
        let mut state = self.state();
        match &*state {
            State::Known(_) => None,
            State::Asking(answered) => Some(answered.clone()),
            State::Unasked => {
                let (asking, answered) = watch::channel(());
                *state = State::Asking(answered.clone());
                drop(state);
                let (client, address, state) = (client.clone(), address(base), self.state.clone());
                tokio::spawn(async move {
                    let said = tokio::time::timeout(PATIENCE, ask(&client, address, key)).await;
                    // A server that still loads its model is asked again with the next request.
                    let known = said.ok().flatten().map_or(State::Unasked, State::Known);
                    *state.lock().unwrap_or_else(PoisonError::into_inner) = known;
                    drop(asking);
                });
                Some(answered)
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Beside the address of the API, not below it.
fn address(base: &Address) -> String {
    base.beside("/v1").join("/props")
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    chat_template: Option<String>,
    chat_template_caps: Option<Caps>,
    default_generation_settings: Settings,
    n_ctx: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Settings {
    n_ctx: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Caps {
    supports_tools: Option<bool>,
}

/// Nothing when the server can't say now.
async fn ask(client: &Client, address: String, key: Option<KeyHeader>) -> Option<Said> {
    let response = with_key(client.get(address), key).send().await.ok()?;
    let status = response.status();
    if status.is_server_error() {
        return None;
    }
    if !status.is_success() {
        return Some(Said::NOTHING);
    }
    let body = body(response).await?;
    Some(serde_json::from_slice(&body).map_or(Said::NOTHING, |answer| said(&answer)))
}

fn with_key(request: RequestBuilder, key: Option<KeyHeader>) -> RequestBuilder {
    match key {
        Some((name, value)) => request.header(name, value),
        None => request,
    }
}

/// Empty when it is longer than anybody wants to read; nothing when it does not come to its end.
async fn body(mut response: reqwest::Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > LIMIT {
            return Some(Vec::new());
        }
    }
    Some(body)
}

fn said(answer: &Answer) -> Said {
    let window = answer.default_generation_settings.n_ctx.or(answer.n_ctx).filter(|tokens| *tokens > 0);
    Said { template: template(answer), window }
}

/// The windows of the models that a server lists, as far as it says them; nothing when it lists none.
async fn list(client: &Client, base: &Address, key: Option<KeyHeader>) -> Option<Vec<(String, u64)>> {
    let request = with_key(client.get(base.join("/models")), key);
    let response = request.send().await.ok().filter(|response| response.status().is_success())?;
    let listing: Listing = serde_json::from_slice(&body(response).await?).ok()?;
    let window = |model: Listed| model.window().map(|window| (model.id, window));
    Some(listing.data.into_iter().filter_map(window).collect())
}

#[derive(Deserialize)]
struct Listing {
    data: Vec<Listed>,
}

/// A model of the list, with what servers call its window.
#[derive(Deserialize)]
struct Listed {
    id: String,
    #[serde(default)]
    max_model_len: Option<u64>,
    #[serde(default)]
    context_length: Option<u64>,
    #[serde(default)]
    max_context_length: Option<u64>,
    #[serde(default)]
    meta: Option<Meta>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    n_ctx: Option<u64>,
    n_ctx_train: Option<u64>,
}

impl Listed {
    /// What it was started with counts more than what it was trained for.
    fn window(&self) -> Option<u64> {
        let meta = self.meta.as_ref();
        let said = [
            self.max_model_len,
            meta.and_then(|meta| meta.n_ctx),
            self.context_length,
            self.max_context_length,
            meta.and_then(|meta| meta.n_ctx_train),
        ];
        said.into_iter().flatten().find(|tokens| *tokens > 0)
    }
}

/// Older servers show their template and leave the judgement to the reader.
fn template(answer: &Answer) -> Template {
    let said = answer.chat_template_caps.as_ref().and_then(|caps| caps.supports_tools);
    let shown = answer.chat_template.as_ref().filter(|template| !template.is_empty());
    match said.or_else(|| shown.map(|template| template.contains("tools"))) {
        Some(true) => Template::ShowsTools,
        Some(false) => Template::DropsTools,
        None => Template::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_beside_the_api() {
        for (base, props) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/props"),
            ("http://localhost:8080/llama/v1/", "http://localhost:8080/llama/props"),
            ("http://localhost:8080", "http://localhost:8080/props"),
            ("http://me:pw@localhost:8080/v1?k=1", "http://me:pw@localhost:8080/props?k=1"),
        ] {
            assert_eq!(address(&Address::new(base)), props);
        }
    }

    #[test]
    fn what_is_said_counts_more_than_what_is_shown() {
        for (answer, wanted) in [
            (r#"{"chat_template":"x","chat_template_caps":{"supports_tools":true}}"#, Template::ShowsTools),
            (
                r#"{"chat_template":"{% if tools %}","chat_template_caps":{"supports_tools":false}}"#,
                Template::DropsTools,
            ),
            (r#"{"chat_template":"{% if tools %}"}"#, Template::ShowsTools),
            (r#"{"chat_template":"{{ messages }}","chat_template_caps":{}}"#, Template::DropsTools),
            (r#"{"chat_template":""}"#, Template::Unknown),
            (r#"{"model":"x"}"#, Template::Unknown),
        ] {
            assert_eq!(template(&serde_json::from_str(answer).unwrap()), wanted, "{answer}");
        }
    }

    #[test]
    fn a_list_of_models_says_their_windows_in_several_ways() {
        for (model, wanted) in [
            (r#"{"id":"m","max_model_len":32768,"meta":null}"#, Some(32768)),
            (r#"{"id":"m","meta":{"n_ctx_train":131072,"n_ctx":8192}}"#, Some(8192)),
            (r#"{"id":"m","meta":{"n_ctx_train":131072}}"#, Some(131_072)),
            (r#"{"id":"m","context_length":4096,"object":"model"}"#, Some(4096)),
            (r#"{"id":"m","max_context_length":0}"#, None),
            (r#"{"id":"m"}"#, None),
        ] {
            assert_eq!(serde_json::from_str::<Listed>(model).unwrap().window(), wanted, "{model}");
        }
    }

    #[test]
    fn the_window_is_the_one_that_the_server_was_started_with() {
        for (answer, wanted) in [
            (r#"{"default_generation_settings":{"n_ctx":8192,"params":{}}}"#, Some(8192)),
            (r#"{"default_generation_settings":{"n_ctx":0}}"#, None),
            (r#"{"n_ctx":4096}"#, Some(4096)),
            (r#"{"default_generation_settings":{}}"#, None),
            ("{}", None),
        ] {
            assert_eq!(said(&serde_json::from_str(answer).unwrap()).window, wanted, "{answer}");
        }
    }
}
