//! What is judged: a call, and on whose behalf it is made.

use neco_proto::{ApprovalMode, Mode, Risk};

/// What a call does to the world. The scheduler orders calls by this alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// It only looks.
    Reads,
    /// It changes files.
    Writes,
    /// It runs a command.
    Runs,
}

/// A call, as far as the policy needs to know it.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    /// What it does to the world.
    pub touch: Touch,
    /// How much harm it could do, as the tool sees it.
    pub risk: Risk,
    /// The command line, for tools that run one.
    pub command: Option<&'a str>,
    /// What makes it so risky, where that is more than its kind.
    pub because: Option<&'a str>,
}

/// On whose behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The agent's mode.
    pub mode: Mode,
    /// When the person wants to be asked.
    pub approval: ApprovalMode,
    /// Whether there is a person to ask.
    pub person_present: bool,
}
