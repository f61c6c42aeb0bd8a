//! What is judged: a call, and on whose behalf it is made.

use std::path::{Path, PathBuf};

use neco_proto::{ApprovalMode, Mode, Risk, ToolOrigin};
use serde_json::Value;

use crate::world::Freedom;

/// What a call does to the world. The scheduler orders calls by this alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideEffect {
    /// It only looks.
    Reads,
    /// It only looks, at something on the network.
    Network,
    /// It changes files.
    Writes,
    /// It runs a command.
    Runs,
}

impl SideEffect {
    /// Whether it leaves the machine as it is, so that it may run together with others that do.
    pub fn changes_nothing(self) -> bool {
        match self {
            Self::Reads | Self::Network => true,
            Self::Writes | Self::Runs => false,
        }
    }

    /// The name that rules use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Network => "network",
            Self::Writes => "writes",
            Self::Runs => "runs",
        }
    }
}

/// A call, as far as the policy needs to know it.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    /// Where the tool comes from.
    pub origin: &'a ToolOrigin,
    /// The arguments as they would run.
    pub arguments: &'a Value,
    /// What it does to the world.
    pub touch: SideEffect,
    /// How much harm it could do, as the tool sees it; a command can make it more, never less.
    pub risk: Risk,
    /// The command line, for tools that run one.
    pub command: Option<&'a str>,
    /// The folder that the command would start in; `None` is the workspace.
    pub folder: Option<&'a Path>,
    /// The files and folders it would touch, resolved.
    pub paths: &'a [PathBuf],
    /// What makes it so risky, where that is more than its kind.
    pub because: Option<&'a str>,
    /// How much more than its settings its command asks for.
    pub freedom: Freedom,
}

impl<'a> Action<'a> {
    /// A call of which no more is known than this, so that it looks safe.
    pub(super) fn plain(tool: &'a str, origin: &'a ToolOrigin, arguments: &'a Value, touch: SideEffect) -> Self {
        let (risk, command, folder, paths, because) = (Risk::Safe, None, None, [].as_slice(), None);
        let freedom = Freedom::AsConfigured;
        Self { tool, origin, arguments, touch, risk, command, folder, paths, because, freedom }
    }
}

/// What stands between commands and the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// They run in a sandbox.
    Boxed,
    /// They run in a sandbox that hides nothing of what they can write to.
    BoxedInPart,
    /// The person chose to run them without one.
    ChosenNone,
    /// There is no sandbox on this machine, and nobody chose that.
    Unavailable,
}

impl Confinement {
    /// Whether there is a sandbox.
    pub fn is_boxed(self) -> bool {
        match self {
            Self::Boxed | Self::BoxedInPart => true,
            Self::ChosenNone | Self::Unavailable => false,
        }
    }

    /// The name that rules use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boxed | Self::BoxedInPart => "boxed",
            Self::ChosenNone => "chosen_none",
            Self::Unavailable => "unavailable",
        }
    }
}

/// On whose behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who<'a> {
    /// The agent's mode.
    pub mode: Mode,
    /// When the person wants to be asked.
    pub approval: ApprovalMode,
    /// Whether there is a person to ask.
    pub person_present: bool,
    /// The agent's role: `root` for the one that a person talks to.
    pub role: &'a str,
    /// What stands between its commands and the machine.
    pub confinement: Confinement,
    /// Whether its commands reach the network.
    pub network: bool,
}

impl Who<'_> {
    /// The role of the agent that a person talks to.
    pub const ROOT: &'static str = "root";
}
