//! The question whether a folder is trusted, asked before anything of it is switched on.

use super::tty::Tty;
use neco_view::paint::wrap::wrap;

/// Columns when the terminal does not say how many it has.
const USUAL_WIDTH: usize = 80;

/// What a person says to what a folder would switch on; `kept` is where their answer is. Only a plain yes is one, and a
/// terminal that can't be read decides nothing.
pub fn answer(tty: &Tty, described: &str, kept: &str) -> Option<bool> {
    let width = tty.size().map_or(USUAL_WIDTH, |(_, columns)| columns);
    let line = tty.ask(&question(described, kept, width)).filter(|line| !line.is_empty())?;
    Some(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What is asked; the file that keeps the answer stands on a line of its own, as its name may be long.
fn question(described: &str, kept: &str, width: usize) -> String {
    let lines = described.lines().chain(["Hooks run commands with your rights, outside the sandbox."]);
    let kept = format!("Your answer is saved in {kept}.");
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
