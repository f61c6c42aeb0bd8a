//! What a local server says of itself: llama.cpp's `/props`, asked once for each endpoint.
//!
//! Servers that have no such address answer at once that they have none. A server that takes its
//! time is asked in the background: its answer counts from the next request on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Client;
use serde::Deserialize;
use tokio::sync::watch;

use crate::route::Address;
use crate::wire::format::Template;

/// How long the first request waits for the answer.
const WAIT: Duration = Duration::from_millis(50);
/// How long the answer may take at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest answer that is read.
const LIMIT: usize = 1024 * 1024;

/// What one server said, as far as it was asked.
#[derive(Default)]
pub(crate) struct Props {
    state: Arc<Mutex<State>>,
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
    /// The window that the server was started with, once it has said so.
    pub(super) fn window(&self) -> Option<u64> {
        match *self.state() {
            State::Known(said) => said.window,
            State::Unasked | State::Asking(_) => None,
        }
    }

    /// What the server behind `base` says; nothing when that is not known yet.
    pub(super) async fn template(&self, client: &Client, base: &Address) -> Option<Template> {
        if let Some(mut answered) = self.ask(client, base) {
            // Ends with an error when the sender is gone, which is the answer.
            let _ = tokio::time::timeout(WAIT, answered.changed()).await;
        }
        match *self.state() {
            State::Known(said) => Some(said.template),
            State::Unasked | State::Asking(_) => None,
        }
    }

    /// Asks if nobody did; gives what to wait for.
    fn ask(&self, client: &Client, base: &Address) -> Option<watch::Receiver<()>> {
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
                    let said = tokio::time::timeout(PATIENCE, ask(&client, &address)).await;
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
async fn ask(client: &Client, address: &str) -> Option<Said> {
    let mut response = client.get(address).send().await.ok()?;
    let status = response.status();
    if status.is_server_error() {
        return None;
    }
    if !status.is_success() {
        return Some(Said::NOTHING);
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > LIMIT {
            return Some(Said::NOTHING);
        }
    }
    Some(serde_json::from_slice(&body).map_or(Said::NOTHING, |answer| said(&answer)))
}

fn said(answer: &Answer) -> Said {
    let window = answer.default_generation_settings.n_ctx.filter(|tokens| *tokens > 0);
    Said { template: template(answer), window }
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
    fn the_window_is_the_one_that_the_server_was_started_with() {
        for (answer, wanted) in [
            (r#"{"default_generation_settings":{"n_ctx":8192,"params":{}}}"#, Some(8192)),
            (r#"{"default_generation_settings":{"n_ctx":0}}"#, None),
            (r#"{"default_generation_settings":{}}"#, None),
            ("{}", None),
        ] {
            assert_eq!(said(&serde_json::from_str(answer).unwrap()).window, wanted, "{answer}");
        }
    }
}
