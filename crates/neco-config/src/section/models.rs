//! Providers, groups, models and how they are called.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dialect::DialectSection;
use crate::address::without_secrets;

pub use neco_proto::app::models::{ProviderType, Strategy};

/// Whether calls that a model writes into its text are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextToolCalls {
    /// Where the whole answer is clearly meant as a call.
    Auto,
    /// The models can't call tools otherwise: they are told how to write calls.
    Always,
    /// Text stays text.
    Never,
}

/// Whom models are asked from.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProviderSection {
    /// What people call it, such as `ZhipuAI`; shown beside the name that settings have for it.
    pub name: Option<String>,
    /// Which wire format it speaks.
    #[serde(rename = "type")]
    pub kind: Option<ProviderType>,
    /// The address that paths such as `/chat/completions` are added to; `base_url` means the same.
    pub base: Option<String>,
    /// The path that is added instead of the format's own; `{model}` in it stands for the model.
    pub path: Option<String>,
    /// The header that carries the key instead of the format's own, such as `api-key`; for
    /// `authorization` the key is sent as a bearer token.
    pub key_header: Option<String>,
    /// The environment variable that holds the key; `env_key` means the same.
    pub api_key_env: Option<String>,
    /// Several variables, one key each; the keys take turns. `env_keys` means the same.
    pub api_key_envs: Vec<String>,
    /// The key itself, before all others. `neco login` stores it more safely: settings get shared.
    pub api_key: Option<String>,
    /// What the key is filed under in the keyring of the system, as the user of the service `neco`;
    /// looked at when there is no other key.
    pub keyring: Option<String>,
    /// Where `neco auth login` logs in, for a GitHub of your own.
    pub login: Option<LoginSection>,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, String>,
    /// The script to play, for `type = "scripted"`.
    pub script: Option<String>,
    /// Whether it runs on this machine and needs no key.
    pub local: bool,
    /// Whether calls that its models write into their text are run; without it `auto` for a provider
    /// on this machine and `never` for others.
    pub text_tool_calls: Option<TextToolCalls>,
    /// Parts of the names of models that it serves in the responses format only.
    pub responses_only: Vec<String>,
    /// How its chat completions differ from others'.
    pub dialect: Option<DialectSection>,
    /// How failed calls of it are tried again, where that differs from `network`.
    pub retry: Option<RetrySection>,
}

/// How failed calls of one provider are tried again; what is not given is as in `network`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RetrySection {
    /// How often a failed call is tried again.
    #[schemars(range(max = 100))]
    pub retries: Option<u32>,
    /// Seconds before the first retry; doubled each time.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub backoff: Option<f64>,
    /// The longest wait in seconds that the vendor may ask for.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub max_retry_after: Option<f64>,
    /// Seconds that the server may take to load its model.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub load_timeout: Option<f64>,
}

/// Where one logs in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LoginSection {
    /// Where a person confirms the login; `https://github.com` without it.
    pub site: Option<String>,
    /// Where the login is traded for tokens; `https://api.github.com` without it.
    pub api: Option<String>,
    /// The number of the application that is let in.
    pub client_id: Option<String>,
}

/// Without the key and the values of headers: what is printed for debugging ends up in logs.
impl fmt::Debug for ProviderSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            kind,
            base,
            path,
            key_header,
            api_key_env,
            api_key_envs,
            api_key,
            keyring,
            login,
            headers,
            script,
            local,
            text_tool_calls,
            responses_only,
            dialect,
            retry,
        } = self;
        f.debug_struct("ProviderSection")
            .field("name", name)
            .field("kind", kind)
            .field("base", &base.as_deref().map(without_secrets))
            .field("path", &path.as_deref().map(path_without_secrets))
            .field("key_header", key_header)
            .field("api_key_env", api_key_env)
            .field("api_key_envs", api_key_envs)
            .field("api_key", &api_key.as_ref().map(|_| "***"))
            .field("keyring", keyring)
            .field("login", login)
            .field("headers", &headers.keys())
            .field("script", script)
            .field("local", local)
            .field("text_tool_calls", text_tool_calls)
            .field("responses_only", responses_only)
            .field("dialect", dialect)
            .field("retry", retry)
            .finish()
    }
}

/// A path may hold a key too, in its query.
fn path_without_secrets(path: &str) -> String {
    without_secrets(&format!("://{path}")).replacen("://", "", 1)
}

/// Models that share the load and stand in for each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GroupSection {
    /// `provider/model?param=value`, in order of preference.
    #[schemars(inner(length(min = 1)))]
    pub models: Vec<String>,
    /// How one is chosen.
    pub strategy: Strategy,
}

/// What is known of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelSection {
    /// Tokens that fit into one request and its answer.
    #[schemars(range(min = 1))]
    pub context_window: Option<u64>,
    /// Most tokens of one answer.
    #[schemars(range(min = 1))]
    pub max_output: Option<u64>,
    /// US dollars for a million input tokens.
    #[schemars(range(min = 0))]
    pub input_price: Option<f64>,
    /// US dollars for a million output tokens.
    #[schemars(range(min = 0))]
    pub output_price: Option<f64>,
    /// US dollars for a million input tokens read from the vendor's cache.
    #[schemars(range(min = 0))]
    pub cache_read_price: Option<f64>,
    /// US dollars for a million input tokens written to the vendor's cache.
    #[schemars(range(min = 0))]
    pub cache_write_price: Option<f64>,
    /// Whether it sees pictures.
    pub vision: Option<bool>,
    /// Whether it can call tools.
    pub tools: Option<bool>,
    /// Whether it thinks before it answers.
    pub reasoning: Option<bool>,
}

/// Timeouts and retries of model calls, and how much an answer may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NetworkSection {
    /// Seconds to wait for a connection.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub connect_timeout: f64,
    /// Seconds to wait for the first byte of an answer: 300 without it, and `stall_timeout` for servers on this
    /// machine, where a small one may read a long request for minutes.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub first_byte_timeout: Option<f64>,
    /// Seconds of silence after which a stream counts as broken: 120 without it, and `stall_timeout` for servers on
    /// this machine.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub idle_timeout: Option<f64>,
    /// Seconds after which a stream that only shows signs of life counts as broken: pings, but nothing
    /// of the answer.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub stall_timeout: f64,
    /// How often a failed call is tried again. A connection that is refused on this machine is tried again only where a
    /// server has answered since the program began: before that nobody started one, and the call fails at once.
    #[schemars(range(max = 100))]
    pub retries: u32,
    /// Seconds before the first retry; doubled each time.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub backoff: f64,
    /// The longest wait in seconds that a vendor may ask for; past it the next key or model is tried.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub max_retry_after: f64,
    /// Seconds that a server may take to load its model, asked again every few seconds. It is waited for on top of
    /// `retries`, unless those are 0; 0 waits for no loading.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub load_timeout: f64,
    /// Most bytes of text in one answer of a model, and never more than about half of its window holds. What comes after
    /// them is not read: the text is shown so far, its beginning stays in the conversation, and you and the model are
    /// told.
    #[schemars(range(min = 1000, max = 4_000_000))]
    pub max_answer_text: u64,
    /// Most bytes of thoughts in one answer; an answer with more is cut off there.
    #[schemars(range(min = 1000, max = 4_000_000))]
    pub max_answer_reasoning: u64,
    /// Most calls in one answer. Those up to it are run; the next one is not, the model is told so, and whatever follows
    /// is not read.
    #[schemars(range(min = 1, max = 1000))]
    pub max_answer_calls: u64,
    /// Most bytes of the arguments of one call, and a quarter of those of all calls in one answer; never more than about
    /// half of the model's window holds. A call with more is not run; the model is told to call again with less.
    #[schemars(range(min = 1000, max = 4_000_000))]
    pub max_call_arguments: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_holds_no_secrets() {
        let provider = ProviderSection {
            api_key: Some("sk-hidden".into()),
            headers: [("x-key".to_owned(), "hidden-too".to_owned())].into(),
            base: Some("http://me:hidden@here/v1?key=hidden".into()),
            path: Some("/chat?key=hidden".into()),
            ..ProviderSection::default()
        };
        let printed = format!("{provider:?}");
        assert!(
            printed.contains("@here/v1?key=") && printed.contains("/chat?key=") && printed.contains("x-key"),
            "{printed}"
        );
        assert!(!printed.contains("hidden"), "{printed}");
    }
}
