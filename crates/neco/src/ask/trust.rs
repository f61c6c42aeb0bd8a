//! The question whether a folder is trusted, asked before anything of it is switched on.

use std::io::{BufRead, BufReader, Write};

use neco_config::Env;

use super::tty::Tty;
use crate::plugged::{Plugged, Scope};

/// Shows what a folder would switch on and asks; what is decided is kept. Only a plain yes is one,
/// and a terminal that can't be read decides nothing.
pub fn ask(tty: &Tty, plugged: &mut Plugged, scope: Scope, env: &Env) -> Result<(), String> {
    let Some(trusted) = answer(tty, plugged, scope, env) else { return Ok(()) };
    plugged.decide(scope, trusted).map_err(|error| error.to_string())
}

fn answer(tty: &Tty, plugged: &Plugged, scope: Scope, env: &Env) -> Option<bool> {
    // What was typed before the question is no answer to it.
    tty.forget_typed();
    let mut file = tty.lend().ok()?;
    let kept = env.shown(&env.config_dir().join(neco_safety::trust::TRUST_FILE));
    let question = format!(
        "{}Hooks run commands with your rights, outside the sandbox. Your answer is kept in {kept}.\n\
         Trust this and switch it on? [y/N] ",
        plugged.describe(scope)
    );
    file.write_all(question.as_bytes()).and_then(|()| file.flush()).ok()?;
    let mut line = String::new();
    let read = BufReader::new(file).read_line(&mut line).ok()?;
    (read > 0).then(|| matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
