//! What a guard is, what it sees and what it may say.

use neco_proto::{ErrorCode, Mode};
use neco_safety::SideEffect;

use crate::plan::Progress;

/// One watcher of an agent's work. It looks at everything and says at most one thing to each.
/// ```
/// use neco_agent::guards::{Guard, Hint, Scene, Seen};
///
/// /// Reminds the model of the tests when it changes a file of the parser.
/// struct Parser;
///
/// impl Guard for Parser {
///     fn watch(&mut self, seen: &Seen<'_>, _: &Scene) -> Option<Hint> {
///         match seen {
///             Seen::Call(call) if call.target.ends_with("parser.rs") => {
///                 Some(Hint::Tell("The parser has tests of its own.".to_owned()))
///             }
///             _ => None,
///         }
///     }
/// }
/// # let _: Box<dyn Guard> = Box::new(Parser);
/// ```
pub trait Guard: Send {
    /// Takes in what happened; says something about it, or nothing.
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint>;
}

/// How the agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Its mode.
    pub mode: Mode,
    /// Whether it has a tool to ask the person with, and a person.
    pub can_ask: bool,
    /// Whether it has a todo list.
    pub has_todos: bool,
    /// Whether it has a tool to hand over a plan with.
    pub can_plan: bool,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Seen<'a> {
    /// The person wants something.
    Request(&'a str),
    /// The model said something.
    Words(&'a str),
    /// A call has its result.
    Call(CallSeen<'a>),
    /// The model wants to be done.
    End(&'a Progress),
}

/// A call that has its result.
#[derive(Clone, Debug)]
pub struct CallSeen<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    /// Its arguments as one text that the same arguments always have.
    pub arguments: String,
    /// What it is about: a file, a command, an address.
    pub target: String,
    /// Whether it is the first call of its answer.
    pub is_first: bool,
    /// What the tool does to the world at most.
    pub touch: SideEffect,
    /// Why it failed, if it did.
    pub error: Option<Failure>,
    /// What the model was told, without what is another each time.
    pub output: &'a str,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// With an error of a tool.
    Code(ErrorCode),
    /// With an exit code of a command.
    Exit(i32),
}

impl Failure {
    /// Whether nothing failed but something was not allowed.
    pub(super) fn is_refusal(self) -> bool {
        let refusals = [ErrorCode::BlockedByPolicy, ErrorCode::RejectedByUser, ErrorCode::CommandBlocked];
        refusals.iter().any(|code| self == Self::Code(*code))
    }
}

/// What a guard has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The model should know this.
    Tell(String),
    /// The model should know this, and the person that it does.
    Warn {
        /// For the model.
        text: String,
        /// For the person.
        notice: &'static str,
    },
    /// The agent should not go on without the person, who reads this reason.
    Stop(String),
    /// The model should not be done yet.
    Hold {
        /// For the model: why.
        text: String,
        /// For the person.
        notice: &'static str,
    },
    /// The model may be done; the person should know this.
    Note(&'static str),
}

/// What is against the end of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The model is told something and goes on.
    Hold {
        /// For the model: why.
        text: String,
        /// For the person.
        notice: &'static str,
    },
    /// The work ends as one that was stopped, for this reason.
    Stop(String),
    /// Nothing; the person should know something.
    Note(&'static str),
}
