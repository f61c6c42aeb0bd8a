//! How an agent works and how freely: modes, approval modes, risks, what rules say of calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of work the agent is here for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All tools.
    #[default]
    Agent,
    /// Looks and thinks, changes nothing: files are read, and commands that are known to only look are run.
    Plan,
    /// Questions only: no tool that writes or runs exists for the model.
    Ask,
    /// All tools, and a fault is reproduced first, then explained, then mended, then proved to be gone.
    Debug,
}

/// When the person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// Only for what is critical.
    Auto,
    /// Before files are written and commands are run.
    #[default]
    AskFirst,
    /// Before everything that does more than read.
    Manual,
}

/// How much harm a call could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// It only reads.
    Safe,
    /// It changes something small that is easily undone.
    Low,
    /// It writes files inside the workspace.
    Medium,
    /// It runs a command.
    High,
    /// It touches secrets, deletes much, or leaves the box.
    Critical,
}

/// What is to be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not run.
    Deny,
}

impl Ruling {
    /// The ruling of a name that rules use.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|ruling| ruling.name() == name)
    }
}

/// Who wrote a rule; later ones outrank earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum RuleSource {
    /// Compiled in.
    #[serde(rename = "built-in")]
    BuiltIn,
    /// The user's policy files and settings.
    #[serde(rename = "user")]
    User,
    /// The project's policy files: they narrow what the user's rules say and never widen it.
    #[serde(rename = "project")]
    Project,
    /// Flags of this run.
    #[serde(rename = "command line")]
    CommandLine,
    /// What a person answered in this run.
    #[serde(rename = "session")]
    Session,
}

macro_rules! names {
    ($type:ty { $($variant:path => $name:literal),+ $(,)? }) => {
        impl $type {
            /// The name used in files, flags and events.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($variant => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use names;

names!(Mode { Mode::Agent => "agent", Mode::Plan => "plan", Mode::Ask => "ask", Mode::Debug => "debug" });
names!(ApprovalMode {
    ApprovalMode::Auto => "auto",
    ApprovalMode::AskFirst => "ask_first",
    ApprovalMode::Manual => "manual",
});
names!(Risk {
    Risk::Safe => "safe",
    Risk::Low => "low",
    Risk::Medium => "medium",
    Risk::High => "high",
    Risk::Critical => "critical",
});
names!(Ruling { Ruling::Allow => "allow", Ruling::Ask => "ask", Ruling::Deny => "deny" });
names!(RuleSource {
    RuleSource::BuiltIn => "built-in",
    RuleSource::User => "user",
    RuleSource::Project => "project",
    RuleSource::CommandLine => "command line",
    RuleSource::Session => "session",
});
