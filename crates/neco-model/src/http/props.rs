//! What a server on this machine says of itself: llama.cpp's `/props`, asked for each endpoint until it answers,
//! and the list of its models where that says nothing of its window.
//!
//! Servers that have no such address answer at once that they have none. A server that takes its
//! time is asked in the background: its answer counts from the next request on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode};
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
pub(super) type KeyHeader = (HeaderName, HeaderValue);

/// What one server said, as far as it was asked.
#[derive(Default)]
pub(crate) struct Props {
    state: Arc<Mutex<State>>,
    /// Its models, once it has listed them.
    listed: OnceCell<Vec<Listed>>,
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
        said.or_else(|| self.listed(model)?.window())
    }

    /// The most tokens that the model could take, whatever the server was started with, if it has said so.
    pub(super) fn most(&self, model: &str) -> Option<u64> {
        self.listed(model)?.most()
    }

    fn listed(&self, model: &str) -> Option<&Listed> {
        match self.listed.get()?.as_slice() {
            // A server that serves one model serves it by any name.
            [one] => Some(one),
            several => several.iter().find(|listed| listed.id == model),
        }
    }

    /// Asks the server behind `base` for its window if it did not say anything yet, and waits a moment for the answer.
    pub(super) async fn learn(&self, client: &Client, base: &Address, key: Option<KeyHeader>) {
        if let Some(mut answered) = self.ask(client, base, key.clone()) {
            let _ = tokio::time::timeout(WAIT_FOR_WINDOW, answered.changed()).await;
        }
        let says_nothing = match *self.state() {
            State::Known(said) => said.window.is_none(),
            // It did not let itself be asked.
            State::Unasked => true,
            State::Asking(_) => false,
        };
        if says_nothing {
            let list = tokio::time::timeout(WAIT_FOR_WINDOW, list(client, base, key));
            // A list that did not come is asked for again with the next request.
            let _ = self.listed.get_or_try_init(|| async { list.await.ok().flatten().ok_or(()) }).await;
        }
    }

    /// What the server behind `base` says; nothing when that is not known yet.
    pub(super) async fn template(&self, client: &Client, base: &Address, key: Option<KeyHeader>) -> Option<Template> {
        if let Some(mut answered) = self.ask(client, base, key) {
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
                    // A server that can't say now is asked again with the next request.
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
    if may_change(status) {
        return None;
    }
    if !status.is_success() {
        return Some(Said::NOTHING);
    }
    let body = body(response).await?;
    Some(serde_json::from_slice(&body).map_or(Said::NOTHING, |answer| said(&answer)))
}

/// Whether the same question may be answered otherwise later: the server still loads its model, has too much to do, or
/// wants another key.
fn may_change(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 401 | 403 | 408 | 429)
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

/// The models that a server lists; nothing when it can't say now.
async fn list(client: &Client, base: &Address, key: Option<KeyHeader>) -> Option<Vec<Listed>> {
    let response = with_key(client.get(base.join("/models")), key).send().await.ok()?;
    let status = response.status();
    if may_change(status) {
        return None;
    }
    if !status.is_success() {
        return Some(Vec::new());
    }
    let listing: Listing = serde_json::from_slice(&body(response).await?).unwrap_or_default();
    Some(listing.data)
}

#[derive(Default, Deserialize)]
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
    /// What it was started with.
    fn window(&self) -> Option<u64> {
        let started_with = self.meta.as_ref().and_then(|meta| meta.n_ctx);
        first([self.max_model_len, started_with, self.context_length])
    }

    /// What it was trained for: it may have been started with less.
    fn most(&self) -> Option<u64> {
        first([self.max_context_length, self.meta.as_ref().and_then(|meta| meta.n_ctx_train)])
    }
}

fn first<const N: usize>(said: [Option<u64>; N]) -> Option<u64> {
    said.into_iter().flatten().find(|tokens| *tokens > 0)
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::http::build_client;

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
        for (model, window, most) in [
            (r#"{"id":"m","max_model_len":32768,"meta":null}"#, Some(32768), None),
            (r#"{"id":"m","meta":{"n_ctx_train":131072,"n_ctx":8192}}"#, Some(8192), Some(131_072)),
            (r#"{"id":"m","meta":{"n_ctx_train":131072}}"#, None, Some(131_072)),
            (r#"{"id":"m","context_length":4096,"object":"model"}"#, Some(4096), None),
            (r#"{"id":"m","max_context_length":16384}"#, None, Some(16384)),
            (r#"{"id":"m","max_context_length":0}"#, None, None),
            (r#"{"id":"m"}"#, None, None),
        ] {
            let listed: Listed = serde_json::from_str(model).unwrap();
            assert_eq!((listed.window(), listed.most()), (window, most), "{model}");
        }
    }

    #[test]
    fn the_window_of_one_model_is_not_that_of_another() {
        let listing = |models: &str| -> Props {
            let listing: Listing = serde_json::from_str(&format!("{{\"data\":[{models}]}}")).unwrap();
            Props { listed: OnceCell::from(listing.data), ..Props::default() }
        };
        let one = listing(r#"{"id":"a","max_model_len":4096}"#);
        assert_eq!((one.window("a"), one.window("b")), (Some(4096), Some(4096)));
        let two = listing(r#"{"id":"a","max_model_len":4096},{"id":"b"}"#);
        assert_eq!((two.window("a"), two.window("b"), two.window("c")), (Some(4096), None, None));
    }

    /// A server that answers these statuses in turn, the last one for good, with a list of one model.
    async fn answering(statuses: &'static [u16]) -> Address {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let body = r#"{"data":[{"id":"m","max_model_len":4096}],"n_ctx":2048}"#;
            let mut asked = 0;
            while let Ok((mut socket, _)) = listener.accept().await {
                let read = socket.read(&mut [0; 4096]).await;
                let status = statuses.get(asked).or(statuses.last()).unwrap();
                asked += usize::from(read.is_ok());
                let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}", body.len());
                let _ = socket.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await;
            }
        });
        Address::new(&base)
    }

    #[tokio::test]
    async fn what_a_server_can_t_say_now_is_asked_again() {
        for statuses in [&[503, 503, 200], &[401, 403, 200], &[429, 500, 200], &[404, 503, 200], &[404, 401, 200]] {
            let (base, props) = (answering(statuses).await, Props::default());
            let client = build_client(base.shown(), None).await.unwrap();
            for _ in 0..100 {
                props.learn(&client, &base, None).await;
                if props.window("m").is_some() {
                    break;
                }
            }
            assert!(props.window("m").is_some(), "{statuses:?}");
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
