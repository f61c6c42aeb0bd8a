//! Set-ups of other agents: which there are, and what of them is taken over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::request::request;
use crate::mode::names;

names! {
    /// An agent whose set-up can be taken over.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SetupAgent {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// opencode.
        Opencode = "opencode",
        /// Cursor.
        Cursor = "cursor",
        /// OpenClaw.
        Openclaw = "openclaw",
    }
}

impl SetupAgent {
    /// What people call it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Cursor => "Cursor",
            Self::Openclaw => "OpenClaw",
        }
    }
}

/// Finds out which other agents are set up on this machine, or in a folder. Nothing of them is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FindSetups {
    /// The folder.
    pub folder: String,
}

request!(FindSetups => FoundSetups, "setups.find", Get "/setups", Read, repeatable);

/// The set-ups there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSetups {
    /// One for each agent.
    pub setups: Vec<FoundSetup>,
}

/// A set-up of another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSetup {
    /// The agent.
    pub agent: Known<SetupAgent>,
    /// What people call it.
    pub title: String,
    /// Its files and folders, as people write them.
    pub places: Vec<String>,
}

/// Tells what taking over a set-up would do. Nothing is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreviewSetup {
    /// The agent.
    pub agent: SetupAgent,
    /// The folder whose part of the set-up counts besides the person's own.
    #[serde(default)]
    pub folder: String,
    /// Whether its sessions come in, too.
    #[serde(default)]
    pub sessions: bool,
}

request!(PreviewSetup => SetupReport, "setups.preview", Get "/setups/{agent}", Read, repeatable);

/// Takes over a set-up. The other agent's files stay as they are, and so does what is set here already. A second time
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportSetup {
    /// The agent.
    pub agent: SetupAgent,
    /// The folder whose part of the set-up counts besides the person's own.
    #[serde(default)]
    pub folder: String,
    /// Whether its sessions come in, too.
    #[serde(default)]
    pub sessions: bool,
}

request!(ImportSetup => SetupReport, "setups.import", Post "/setups/{agent}", Manage, repeatable);

/// What a set-up holds, and what becomes of each piece of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupReport {
    /// The agent.
    pub agent: Known<SetupAgent>,
    /// Whether nothing was written.
    pub preview: bool,
    /// The pieces.
    pub rows: Vec<SetupRow>,
}

/// A piece of a set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupRow {
    /// What it is.
    pub kind: Known<SetupKind>,
    /// What it is called.
    pub name: String,
    /// The file that it is written in, as people write it.
    pub from: String,
    /// What becomes of it.
    pub outcome: Known<SetupOutcome>,
    /// Where it is now, as people write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What it means here, what is different about it, or why it is not taken.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// The plugin that can be added at once, as its list is known here or lies in a folder of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<PluginToAdd>,
}

/// A plugin that another agent has on, and that can be added here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginToAdd {
    /// What it is added by: `plugin@marketplace`.
    pub from: String,
    /// The folder of its marketplace, which has to be added before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marketplace: Option<String>,
    /// Whether it is for the project alone.
    #[serde(default)]
    pub project: bool,
}

names! {
    /// A kind of piece of a set-up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SetupKind {
        /// The model that is asked.
        Model = "model",
        /// A group of models.
        Group = "group",
        /// Whom models are asked from.
        Provider = "provider",
        /// A key or a login.
        Key = "key",
        /// Any other setting.
        Setting = "setting",
        /// A file of settings as a whole.
        File = "file",
        /// An MCP server.
        Server = "server",
        /// A skill.
        Skill = "skill",
        /// A command after a slash.
        Command = "command",
        /// A definition of an agent.
        Agent = "agent",
        /// A file of rules for the model.
        Rules = "rules",
        /// A hook.
        Hook = "hook",
        /// A rule about what may happen.
        Permission = "permission",
        /// Something that is remembered.
        Memory = "memory",
        /// Sessions.
        Sessions = "sessions",
        /// A plugin or an extension.
        Plugin = "plugin",
    }
}

names! {
    /// What becomes of a piece of a set-up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SetupOutcome {
        /// It is taken as it is.
        Taken = "taken",
        /// It is taken, and something of it is different here.
        Changed = "changed",
        /// Neco reads it where it is.
        InPlace = "in_place",
        /// It was here before.
        Already = "already",
        /// It is left to the person, and the words say what they can do.
        Yours = "yours",
        /// It has no meaning here.
        NotSupported = "not_supported",
        /// It could not be read or written.
        Failed = "failed",
    }
}
