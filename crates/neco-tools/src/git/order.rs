//! What git is told for each action.

use neco_proto::Risk;
use neco_toolkit::ToolError;

use super::tool::{Action, GitArgs, Op, invalid};
use super::words::quoted;

/// Commits that a log shows when nobody says how many, and at most.
const LOGGED: u32 = 20;
const MOST_LOGGED: u32 = 1000;

/// One line a commit: short hash, day, author, names that lead to it, subject.
const LOG_FORMAT: &str = "--format=%h %ad %an%d %s";

/// A run of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The words after `git`.
    pub(super) words: Vec<String>,
    /// Whether it changes anything.
    pub(super) changes: bool,
    /// How much harm it could do.
    pub(super) risk: Risk,
    /// Whether the box stands in its way: it holds what is known of other worktrees in its place.
    pub(super) leaves_box: bool,
    /// What is said when git says nothing.
    pub(super) silence: &'static str,
}

impl Order {
    /// How things stand.
    pub(super) fn status() -> Self {
        Self::looks(&["status", "--porcelain=v2", "--branch", "--untracked-files=normal"], "")
    }

    /// As a person would write it.
    pub(super) fn line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        format!("git {}", words.join(" "))
    }

    fn looks(words: &[&str], silence: &'static str) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self { words, changes: false, risk: Risk::Safe, leaves_box: false, silence }
    }

    fn changes(words: &[&str], risk: Risk, silence: &'static str) -> Self {
        Self { changes: true, risk, ..Self::looks(words, silence) }
    }

    fn with(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.words.extend(words);
        self
    }

    /// Paths come last, after a sign that no option follows.
    fn on(mut self, paths: &[String]) -> Self {
        if !paths.is_empty() {
            self.words.push("--".to_owned());
            self.words.extend(paths.iter().cloned());
        }
        self
    }
}

/// What git is told.
///
/// # Errors
/// When arguments are missing or are none.
pub(super) fn order(args: &GitArgs, op: Op) -> Result<Order, ToolError> {
    let rev = args.rev.as_deref().map(str::trim).filter(|rev| !rev.is_empty());
    if let Some(rev) = rev.filter(|rev| rev.starts_with('-') || rev.contains(char::is_whitespace)) {
        return Err(invalid(format!("rev: {rev:?} is no commit, branch or range")));
    }
    // A path in there would be one that nobody judged.
    if let Some(rev) = rev.filter(|rev| rev.contains(':')) {
        return Err(invalid(format!("rev: {rev:?} names a file; give it in paths")));
    }
    let rev = rev.map(str::to_owned);
    match args.action {
        Action::Status => Ok(Order::status().on(&args.paths)),
        Action::Diff => {
            let staged = args.staged.unwrap_or(false).then(|| "--cached".to_owned());
            let diff = Order::looks(&["diff", "--no-color", "--no-ext-diff", "--no-textconv"], "");
            Ok(diff.with(staged).with(rev).on(&args.paths))
        }
        Action::Log => {
            let count = args.limit.unwrap_or(LOGGED).clamp(1, MOST_LOGGED);
            let log = Order::looks(&["log", "--no-color", "--date=short", LOG_FORMAT], "(no commits)");
            Ok(log.with([format!("--max-count={count}")]).with(rev).on(&args.paths))
        }
        Action::Blame => blame(args, rev),
        Action::Show => show(args, rev),
        Action::Add => add(args),
        Action::Commit => commit(args),
        Action::Branch => branch(args, op, rev),
        Action::Worktree => worktree(args, op, rev),
    }
}

fn blame(args: &GitArgs, rev: Option<String>) -> Result<Order, ToolError> {
    let [path] = args.paths.as_slice() else { return Err(invalid("paths: blame is of one file")) };
    let lines = args.lines.as_deref().map(line_range).transpose()?;
    let blame = Order::looks(&["blame", "--no-textconv", "--date=short", "--abbrev=8"], "(an empty file)");
    Ok(blame.with(lines.map(|lines| format!("-L{lines}"))).with(rev).on(std::slice::from_ref(path)))
}

fn line_range(text: &str) -> Result<String, ToolError> {
    let (first, last) = text.split_once(['-', ',', '–']).unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(format!("{first},{last}")),
        _ => Err(invalid(format!("lines: {text:?} is no stretch of lines; write 10-20"))),
    }
}

fn show(args: &GitArgs, rev: Option<String>) -> Result<Order, ToolError> {
    let rev = rev.unwrap_or_else(|| "HEAD".to_owned());
    // Settings of the repository could ask for a format that runs a program.
    let head = ["show", "--no-color", "--no-ext-diff", "--no-textconv", "--format=medium"];
    match args.paths.as_slice() {
        [] => Ok(Order::looks(&head, "").with(["--date=iso".to_owned(), rev])),
        // With `./` the path is one from where git stands, not from the root of the repository.
        [path] => {
            Ok(Order::looks(&head, "(an empty file)").with([format!("{rev}:./{}", path.trim_start_matches("./"))]))
        }
        _ => Err(invalid("paths: show gives a commit, or one file of it")),
    }
}

fn add(args: &GitArgs) -> Result<Order, ToolError> {
    match (args.paths.as_slice(), args.all.unwrap_or(false)) {
        ([], true) => Ok(Order::changes(&["add", "--all"], Risk::Low, "(staged)")),
        ([], false) => Err(invalid("paths: say what to stage, or all: true")),
        (paths, _) => Ok(Order::changes(&["add"], Risk::Low, "(staged)").on(paths)),
    }
}

fn commit(args: &GitArgs) -> Result<Order, ToolError> {
    let message = args.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
    let Some(message) = message else { return Err(invalid("message: say what the commit does")) };
    let all = args.all.unwrap_or(false).then(|| "--all".to_owned());
    let commit = Order::changes(&["commit"], Risk::Medium, "(committed)").with(all);
    Ok(commit.with(["-m".to_owned(), message.to_owned()]).on(&args.paths))
}

fn branch(args: &GitArgs, op: Op, rev: Option<String>) -> Result<Order, ToolError> {
    const FORMAT: &str =
        "--format=%(HEAD) %(refname:short) %(objectname:short) %(upstream:short) %(upstream:track) %(subject)";
    match op {
        Op::List => {
            Ok(Order::looks(&["branch", "--no-color", "--list", "--sort=-committerdate", FORMAT], "(no branches)"))
        }
        Op::Create => Ok(Order::changes(&["branch"], Risk::Low, "(created)").with([name(args)?]).with(rev)),
        Op::Switch => Ok(Order::changes(&["switch"], Risk::Medium, "(switched)").with([name(args)?])),
        Op::Delete => Ok(Order::changes(&["branch", "--delete"], Risk::High, "(deleted)").with([name(args)?])),
    }
}

fn worktree(args: &GitArgs, op: Op, rev: Option<String>) -> Result<Order, ToolError> {
    match op {
        Op::List => Ok(Order::looks(&["worktree", "list"], "")),
        Op::Create => Ok(Order::changes(&["worktree", "add"], Risk::Medium, "(created)").with([name(args)?]).with(rev)),
        Op::Delete => {
            let remove = Order::changes(&["worktree", "remove"], Risk::High, "(removed)").with([name(args)?]);
            Ok(Order { leaves_box: true, ..remove })
        }
        Op::Switch => Err(invalid("op: a worktree is a folder; work in it by its path")),
    }
}

fn name(args: &GitArgs) -> Result<String, ToolError> {
    let name = args.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    match name {
        Some(name) if !name.starts_with('-') => Ok(name.to_owned()),
        Some(name) => Err(invalid(format!("name: {name:?} would be an option"))),
        None => Err(invalid("name: say which")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(args: Value) -> Result<String, String> {
        let args: GitArgs = serde_json::from_value(args).unwrap();
        let op = args.op.unwrap_or(if args.name.is_some() { Op::Create } else { Op::List });
        order(&args, op).map(|order| order.line()).map_err(|error| error.message)
    }

    #[test]
    fn nothing_that_is_given_becomes_an_option() {
        for args in [
            json!({"action": "log", "rev": "--output=/tmp/x"}),
            json!({"action": "branch", "name": "-D"}),
            json!({"action": "diff", "rev": "HEAD --output=x"}),
            json!({"action": "worktree", "name": "--force"}),
            json!({"action": "show", "rev": "HEAD:.env"}),
            json!({"action": "show", "rev": ":.env"}),
        ] {
            assert!(line(args.clone()).is_err(), "{args}");
        }
        assert_eq!(line(json!({"action": "add", "paths": ["-x"]})).unwrap(), "git add -- -x");
        let commit = line(json!({"action": "commit", "message": "it's --amend", "all": true})).unwrap();
        assert_eq!(commit, r"git commit --all -m 'it'\''s --amend'");
    }

    #[test]
    fn what_is_missing_is_named() {
        for (args, words) in [
            (json!({"action": "commit"}), "message"),
            (json!({"action": "commit", "message": "  "}), "message"),
            (json!({"action": "add"}), "paths"),
            (json!({"action": "blame"}), "paths"),
            (json!({"action": "blame", "paths": ["a"], "lines": "9-2"}), "lines"),
            (json!({"action": "branch", "op": "delete"}), "name"),
            (json!({"action": "worktree", "op": "switch", "name": "x"}), "op"),
        ] {
            assert!(line(args.clone()).unwrap_err().starts_with(words), "{args}");
        }
    }
}
