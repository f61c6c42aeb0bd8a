//! A yes or a no, where something can't be had back easily.

use std::io::{BufRead, BufReader, Write};

use neco_config::Env;

use crate::ask::Tty;
use crate::failure::Failure;
use crate::terminal::is_unattended;

/// Asks `question` below `shown`. Only a plain yes is one.
///
/// # Errors
/// When nobody can be asked; `instead` says what to do then.
pub(super) fn is_meant(shown: &str, question: &str, instead: &str, env: &Env) -> Result<bool, Failure> {
    let nobody = || Failure::usage("nobody can be asked here").hint(instead.to_owned());
    let tty = (!is_unattended(env)).then(Tty::open).flatten().ok_or_else(nobody)?;
    tty.forget_typed();
    let mut terminal = tty.lend().map_err(|_| nobody())?;
    let asked = write!(terminal, "{shown}{question} [y/N] ");
    asked.and_then(|()| terminal.flush()).map_err(|_| nobody())?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).map_err(|_| nobody())?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
