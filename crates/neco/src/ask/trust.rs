//! The question whether a folder is trusted, asked before anything of it is switched on.

use std::io::{BufRead, BufReader, Write};

use neco_app::workspace::plugged::{Plugged, Scope};
use neco_config::Env;

use super::tty::Tty;
use crate::print::wrap::wrap;
use crate::terminal;

/// Shows what a folder would switch on and asks; what is decided is kept. Only a plain yes is one,
/// and a terminal that can't be read decides nothing.
pub fn ask(tty: &Tty, plugged: &mut Plugged, scope: Scope, env: &Env) -> Result<(), String> {
    let Some(trusted) = answer(tty, &plugged.describe(scope), env) else { return Ok(()) };
    plugged.decide(scope, trusted).map_err(|error| error.to_string())
}

/// What a person says to what was described; nothing when they can't be read.
pub fn answer(tty: &Tty, described: &str, env: &Env) -> Option<bool> {
    // What was typed before the question is no answer to it.
    tty.forget_typed();
    let mut file = tty.lend().ok()?;
    let kept = env.shown(&env.config_dir().join(neco_safety::trust::TRUST_FILE));
    let question = question(described, &kept, terminal::size().0);
    file.write_all(question.as_bytes()).and_then(|()| file.flush()).ok()?;
    let mut line = String::new();
    let read = BufReader::new(file).read_line(&mut line).ok()?;
    (read > 0).then(|| matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What is asked; the file that keeps the answer stands on a line of its own, as its name may be long.
fn question(described: &str, kept: &str, width: usize) -> String {
    let lines = described.lines().chain(["Hooks run commands with your rights, outside the sandbox."]);
    let kept = format!("Your answer is kept in {kept}.");
    let lines: Vec<String> = lines.chain([kept.as_str()]).map(|line| wrap(line, width)).collect();
    format!("{}\nTrust this and switch it on? [y/N] ", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_broken_where_the_terminal_ends() {
        let described = "/home/me/project would switch on:\n  hook PostToolUse Edit: ./scripts/format.sh --all --quiet \
                         --with-many-options  (/home/me/project/.claude/settings.json)\n";
        let asked = question(described, "~/.config/neco/trusted-folders.json", 60);
        assert!(asked.lines().all(|line| line.chars().count() <= 60), "{asked}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(words(&asked).starts_with(&words(described)), "{asked}");
        assert!(asked.ends_with("Trust this and switch it on? [y/N] "));
    }
}
