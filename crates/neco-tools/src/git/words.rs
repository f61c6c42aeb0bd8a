//! What is said about a run of git.

use neco_toolkit::ToolError;

use super::order::Order;
use super::run::Ran;

/// Characters of a command line in a summary.
const LONGEST: usize = 80;

/// A word as a shell would need it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=@%+,~^{}".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command line in one line.
pub(super) fn one_line(line: &str) -> String {
    let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Why git failed, in its own words and ours.
pub(super) fn failed(order: &Order, ran: &Ran) -> ToolError {
    let said = ran.text.trim();
    let hint = if said.contains("not a git repository") {
        "\nThe workspace is no git repository."
    } else if said.contains("nothing to commit") || said.contains("nothing added to commit") {
        "\nStage what belongs to the commit first, with add, or give all: true."
    } else if said.contains("Please tell me who you are") || said.contains("unable to auto-detect email address") {
        "\nGit does not know who commits: ask the user to set user.name and user.email."
    } else {
        ""
    };
    let said = if said.is_empty() { "git said nothing" } else { said };
    ToolError::failed(format!("{} failed: {said}{hint}", one_line(&order.line())))
}
