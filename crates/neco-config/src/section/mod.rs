//! What can be set, section by section. A field's doc comment is what the reference prints.
//!
//! Limits are attributes of the fields: the check, the JSON schema and the reference all read them
//! from there. Every field is optional here: the built-in defaults are a TOML layer like any other
//! (`defaults/config.toml`), so that `neco config show --origin` can name them too.

mod agent;
mod agents;
mod checkpoints;
mod context;
mod dialect;
mod extensions;
mod hooks;
mod memory;
mod models;
mod notifications;
mod policy;
mod sandbox;
mod server;
mod sessions;
mod skills;
mod tools;
mod tui;
mod web;

use std::collections::BTreeMap;

use neco_proto::{ApprovalMode, Mode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agent::AgentSection;
pub use agent::GuardsSection;
pub use agents::{AgentsSection, RoleSection};
pub use checkpoints::{CheckpointBackend, CheckpointsSection};
pub use context::{ContextSection, ContextShares};
pub use dialect::{CallIdForm, DialectSection, OutputForm, ReasoningBack, ReasoningParameter};
pub use extensions::{
    McpLoginSection, McpSampling, McpServerSection, McpToolsSection, McpTransport, ScriptType, ScriptedToolSection,
};
pub use hooks::{HookSection, HooksSection};
pub use memory::MemorySection;
pub use models::{
    GroupSection, LoginSection, ModelSection, NetworkSection, ProviderSection, ProviderType, RetrySection, Strategy,
    TextToolCalls,
};
pub use notifications::NotificationsSection;
pub use policy::{OtherAgents, PolicySection};
pub use sandbox::{SandboxLevel, SandboxNetwork, SandboxSection};
pub use server::{ServerSection, UseServer};
pub use sessions::SessionsSection;
pub use skills::SkillsSection;
pub use tools::{CheckerSection, DiagnosticsSection};
pub use tools::{Declare, ToolsSection};
pub use tui::{TuiNotifications, TuiSection, TuiTheme};
pub use web::{SearchEngine, WebFetchSection, WebSearchSection};

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// `provider/model` used for every group that is not given.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// When the person is asked.
    pub approval: ApprovalMode,
    /// Seconds that a question about a call waits for you; after them the call is refused, and the model is told why.
    /// Without it, a question waits for as long as you take.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub approval_timeout: Option<f64>,
    /// What kind of work.
    pub mode: Mode,
    /// Further folders that files are read and written in, besides the workspace; `--add-dir` adds more.
    #[schemars(inner(length(min = 1)))]
    pub roots: Vec<String>,
    /// Whom models are asked from.
    pub model_providers: BTreeMap<String, ProviderSection>,
    /// Models that share the load and stand in for each other.
    pub model_groups: BTreeMap<String, GroupSection>,
    /// What is known of a model, by `provider/model`; overrides the catalogue.
    pub models: BTreeMap<String, ModelSection>,
    /// Timeouts and retries of model calls.
    pub network: NetworkSection,
    /// The loop.
    pub agent: AgentSection,
    /// The agents that an agent can start.
    pub agents: AgentsSection,
    /// What the model is told, and how much of each.
    pub context: ContextSection,
    /// Tools and their limits.
    pub tools: ToolsSection,
    /// Commands that run at the moments of an agent's work. A repository's run only when its folder
    /// and they themselves are trusted.
    pub hooks: HooksSection,
    /// MCP servers, which bring tools of their own; see docs/mcp.md. A repository's run only when its folder and they
    /// themselves are trusted.
    pub mcp_servers: BTreeMap<String, McpServerSection>,
    /// Tools that are scripts; see docs/scripted-tools.md. A repository brings its own in `.neco/tools`.
    pub scripted_tools: Vec<ScriptedToolSection>,
    /// Skills: guides for a kind of task.
    pub skills: SkillsSection,
    /// What is remembered from one session to the next.
    pub memory: MemorySection,
    /// How sessions are kept and named.
    pub sessions: SessionsSection,
    /// The server, in which sessions outlive windows; see docs/server.md.
    pub server: ServerSection,
    /// Checkpoints of the workspace, so that work can be undone.
    pub checkpoints: CheckpointsSection,
    /// Rules about what may happen.
    pub policy: PolicySection,
    /// The box that commands run in.
    pub sandbox: SandboxSection,
    /// Notices of what sessions of the server ask while nobody looks.
    pub notifications: NotificationsSection,
    /// The terminal window.
    pub tui: TuiSection,
}

impl Config {
    /// The environment variables that hold keys of providers, of the search engine, of the webhook and of MCP servers;
    /// nobody else is to see them.
    pub fn key_variables(&self) -> Vec<String> {
        let of = |provider: &ProviderSection| {
            provider.api_key_env.iter().chain(&provider.api_key_envs).cloned().collect::<Vec<_>>()
        };
        let of_search = self.tools.web_search.key_variable().map(str::to_owned);
        let of_webhook = self.notifications.webhook_secret_env.clone();
        let of_servers = self.mcp_servers.values().flat_map(McpServerSection::key_variables).cloned();
        self.model_providers.values().flat_map(of).chain(of_search).chain(of_webhook).chain(of_servers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_holds_a_key_is_named() {
        let provider = |one: Option<&str>, several: &[&str]| ProviderSection {
            api_key_env: one.map(str::to_owned),
            api_key_envs: several.iter().map(ToString::to_string).collect(),
            ..ProviderSection::default()
        };
        let config = Config {
            model_providers: [
                ("a".to_owned(), provider(Some("WORK"), &[])),
                ("b".to_owned(), provider(Some("ONE"), &["TWO", "THREE"])),
                ("c".to_owned(), provider(None, &[])),
            ]
            .into(),
            mcp_servers: [(
                "d".to_owned(),
                McpServerSection {
                    bearer_token_env_var: Some("BEARER".to_owned()),
                    env_http_headers: [("x-key".to_owned(), "HEADER".to_owned())].into(),
                    oauth: McpLoginSection {
                        client_secret_env: Some("SECRET".to_owned()),
                        ..McpLoginSection::default()
                    },
                    ..McpServerSection::default()
                },
            )]
            .into(),
            ..Config::default()
        };
        assert_eq!(config.key_variables(), ["WORK", "ONE", "TWO", "THREE", "BEARER", "SECRET", "HEADER"]);
    }
}
