//! A yes or a no, where something can't be had back easily.

use neco_config::Env;

use crate::ask::Tty;
use crate::failure::Failure;
use crate::terminal::is_unattended;

/// The terminal of somebody who can be asked.
pub(super) fn person(env: &Env) -> Option<Tty> {
    (!is_unattended(env)).then(Tty::open).flatten()
}

/// Asks `question` below `shown`. Only a plain yes is one.
///
/// # Errors
/// When nobody can be asked; `instead` says what to do then.
pub(super) fn agrees(tty: Option<Tty>, shown: &str, question: &str, instead: &str) -> Result<bool, Failure> {
    let answer = tty.and_then(|tty| tty.ask(&format!("{shown}{question} [y/N] ")));
    let answer = answer
        .ok_or_else(|| Failure::usage("this has to be confirmed, and there is no terminal to ask on").hint(instead))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
