//! What is said about a run of git.

use neco_proto::ErrorCode;
use neco_toolkit::{ToolError, ToolOutput};

use super::order::Order;
use super::run::Ran;
use super::tool::SOURCE;
use crate::shell::wording::{last_bytes, last_lines};

/// Characters of a command line in a summary.
const LONGEST: usize = 80;

/// A word as a shell would need it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=@%+,~^".contains(character);
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(super) fn one_line(line: &str) -> String {
    let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Lines and bytes of what git said that are told of a failure.
const MOST_LINES: usize = 40;
const MOST_BYTES: usize = 4096;

/// Why git failed: our words, and its own as data.
pub(super) fn failed(order: &Order, ran: &Ran, whole: bool) -> ToolOutput {
    let said = ran.text.trim();
    let name = order.name();
    if !whole && (said.contains("Read-only file system") || said.contains("Permission denied")) {
        let error = ToolError::new(
            ErrorCode::SandboxDenied,
            format!(
                "{name} is not possible: the repository is larger than the workspace, and outside the \
                 workspace nothing is written; the user starts Neco at the root of the repository, or opens that with \
                 --add-dir or /add-dir. It said:"
            ),
        );
        return ToolOutput::failure(&error, last(said), SOURCE);
    }
    let hint = if said.contains("not a git repository") {
        "the workspace is no git repository"
    } else if said.contains("nothing to commit")
        || said.contains("nothing added to commit")
        || said.contains("no changes added")
    {
        "there is nothing to commit: stage what belongs to it first, with add, or give all: true"
    } else if said.contains("Please tell me who you are") || said.contains("unable to auto-detect email address") {
        "git does not know who commits: the user sets user.name and user.email"
    } else {
        ""
    };
    match (hint, said) {
        ("", "") => ToolOutput {
            error_code: Some(ErrorCode::ToolFailed),
            ..ToolOutput::text(format!("{name} failed and said nothing"))
        },
        ("", said) => ToolOutput::failure(&ToolError::failed(format!("{name} failed:")), &reason_first(said), SOURCE),
        (hint, said) => {
            let error = ToolError::failed(format!("{name} failed: {hint}. It said:"));
            ToolOutput::failure(&error, last(said), SOURCE)
        }
    }
}

/// The end of what git said, after the line that says why.
fn reason_first(said: &str) -> String {
    let is_reason = |line: &&str| ["fatal: ", "error: "].iter().any(|sign| line.starts_with(sign));
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let reason = lines().find(is_reason).or_else(|| lines().next_back()).unwrap_or_default();
    let reason: String = reason.chars().take(300).collect();
    let rest = last(said);
    if rest.starts_with(&reason) { rest.to_owned() } else { format!("{reason}\n{rest}") }
}

fn last(said: &str) -> &str {
    last_bytes(last_lines(said, MOST_LINES), MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_comes_first_and_the_rest_is_bounded() {
        let hook = format!("{}\nerror: the hook says no\ndone\n", "x".repeat(100_000));
        let told = reason_first(&hook);
        assert!(told.starts_with("error: the hook says no\n") && told.len() < 2 * MOST_BYTES, "{}", told.len());
        assert_eq!(reason_first("fatal: bad revision\n"), "fatal: bad revision");
        assert!(reason_first("one\ntwo").starts_with("two\none"));
    }
}
