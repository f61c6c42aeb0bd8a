//! What a script does, step by step.

use crate::command::examined::Word;
use crate::command::finding::{Command, Input};

/// One thing that a script does.
#[derive(Debug)]
pub(crate) enum Step {
    /// It runs a command; `moves` tells whether a change of folder in it surely holds for what follows.
    Command {
        command: Command,
        moves: bool,
    },
    /// It redirects to or from a file.
    Redirect {
        operator: String,
        target: Word,
    },
    Assign {
        name: String,
        value: Word,
    },
    /// It runs text: the inside of a substitution.
    Script {
        text: String,
    },
    /// It names words that a loop will use.
    Mention {
        word: Word,
    },
    /// It works out a value in which commands may hide.
    Computes,
    /// It defines a function; `bomb` when that starts itself twice at once.
    Function {
        bomb: bool,
    },
    /// It may now be in any folder it named so far.
    StatementEnd,
}

#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) steps: Vec<Step>,
    /// Whether all of it was understood.
    pub(crate) clean: bool,
    /// Whether both readers found the same words.
    pub(crate) agreed: bool,
}

/// How a script as a whole stands.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) input: Input,
    /// Whether what it prints becomes part of another command.
    pub(crate) captured: bool,
    /// Whether it is the line itself.
    pub(crate) outermost: bool,
}
