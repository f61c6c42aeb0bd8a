//! What git is told for each action.

use neco_proto::Risk;
use neco_toolkit::ToolError;

use super::report::quoted;
use super::tool::{Action, GitArgs, Op, invalid};

/// Commits that a log shows when nobody says how many, and at most.
const LOGGED: u32 = 20;
const MOST_LOGGED: u32 = 1000;

/// One line a commit: short hash, day, author, names that lead to it, subject.
const LOG_FORMAT: &str = "--format=%h %ad %an%d %s";

/// For what shows content: no program that the repository names, nothing of submodules but which commit
/// they are at (git would ask another git about them), and only what lies below the workspace, by its names.
const SHOWING: [&str; 6] =
    ["--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty", "--relative"];

/// A run of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The words after `git`.
    pub(super) words: Vec<String>,
    /// Those of them that a person would write.
    told: Vec<String>,
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
        let how = ["--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"];
        Self::looks(&["status"], "").hidden(how)
    }

    /// The names of what is staged, in the whole repository.
    pub(super) fn staged_names() -> Self {
        Self::looks(&["diff", "--cached"], "").hidden([
            "--name-only",
            "--no-relative",
            "--ignore-submodules=dirty",
            "-z",
        ])
    }

    /// Which of some files git sees, be they tracked or not.
    pub(super) fn seen(names: &[String]) -> Self {
        Self::looks(&["ls-files"], "").hidden(["-z", "--cached", "--others", "--exclude-standard"]).on(names)
    }

    /// As a person would write it.
    pub(super) fn line(&self) -> String {
        let words: Vec<String> = self.told.iter().map(|word| quoted(word)).collect();
        format!("git {}", words.join(" "))
    }

    /// What git is told to do, in one word or two.
    pub(super) fn name(&self) -> String {
        format!("git {}", self.told.first().map(String::as_str).unwrap_or_default())
    }

    fn looks(words: &[&str], silence: &'static str) -> Self {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Self { told: words.clone(), words, changes: false, risk: Risk::Safe, leaves_box: false, silence }
    }

    fn changes(words: &[&str], risk: Risk, silence: &'static str) -> Self {
        Self { changes: true, risk, ..Self::looks(words, silence) }
    }

    fn with(mut self, words: impl IntoIterator<Item = String>) -> Self {
        for word in words {
            self.told.push(word.clone());
            self.words.push(word);
        }
        self
    }

    /// Words that only say how the result is written.
    fn hidden<'w>(mut self, words: impl IntoIterator<Item = &'w str>) -> Self {
        self.words.extend(words.into_iter().map(str::to_owned));
        self
    }

    /// A commit or a range of them. What is no commit has no names that could be judged.
    fn of(mut self, rev: Option<&str>) -> Self {
        if let Some(rev) = rev {
            self.told.push(rev.to_owned());
            self.words.push(commits(rev));
        }
        self
    }

    /// Paths come last, after a sign that no option follows.
    fn on(mut self, paths: &[String]) -> Self {
        if !paths.is_empty() {
            self = self.with(["--".to_owned()]).with(paths.iter().cloned());
        }
        self
    }

    /// The same for what would otherwise be about all of a repository that the workspace is a part of.
    fn on_or_here(self, paths: &[String]) -> Self {
        match paths {
            [] => self.hidden(["--", "."]),
            paths => self.on(paths),
        }
    }
}

/// What git is told; `whole` says whether the workspace is all of the repository.
/// Fails when arguments are missing or are none.
pub(super) fn order(args: &GitArgs, op: Op, whole: bool) -> Result<Order, ToolError> {
    let rev = args.rev.as_deref().map(str::trim).filter(|rev| !rev.is_empty());
    if let Some(rev) = rev.filter(|rev| rev.starts_with('-') || rev.contains(char::is_whitespace)) {
        return Err(invalid(format!("rev: {rev:?} is no commit, branch or range")));
    }
    // A path in there would be one that nobody judged.
    if let Some(rev) = rev.filter(|rev| rev.contains(':')) {
        return Err(invalid(format!("rev: {rev:?} names a file; give it in paths")));
    }
    match args.action {
        Action::Status => Ok(Order::status().on_or_here(&args.paths)),
        Action::Diff => {
            let staged = args.staged.unwrap_or(false).then(|| "--cached".to_owned());
            let diff = Order::looks(&["diff"], "").hidden(SHOWING);
            Ok(diff.with(staged).of(rev).on(&args.paths))
        }
        Action::Log => {
            let count = args.limit.unwrap_or(LOGGED).clamp(1, MOST_LOGGED);
            let log = Order::looks(&["log"], "(no commits)").hidden(["--no-color", "--date=short", LOG_FORMAT]);
            let log = log.hidden([format!("--max-count={count}").as_str()]);
            Ok(log.with(rev.map(str::to_owned)).on(&args.paths))
        }
        Action::Blame => blame(args, rev),
        Action::Show => show(args, rev),
        Action::Add => add(args),
        Action::Commit => commit(args, whole),
        Action::Branch => branch(args, op, rev),
        Action::Worktree => worktree(args, op, rev),
    }
}

/// A name or range with its ends read as commits. A blob could be named by its hash as well, and its content
/// would come without the name of its file.
fn commits(rev: &str) -> String {
    let one = |side: &str| match side {
        "" => String::new(),
        // These are of a commit and its parents anyway.
        side if side.ends_with("^!") || side.ends_with("^@") => side.to_owned(),
        side => format!("{side}^{{commit}}"),
    };
    for dots in ["...", ".."] {
        if let Some((from, to)) = rev.split_once(dots) {
            return format!("{}{dots}{}", one(from), one(to));
        }
    }
    one(rev)
}

fn blame(args: &GitArgs, rev: Option<&str>) -> Result<Order, ToolError> {
    let [path] = args.paths.as_slice() else { return Err(invalid("paths: blame is of one file")) };
    let lines = args.lines.as_deref().map(line_range).transpose()?;
    let blame = Order::looks(&["blame"], "(an empty file)").hidden(["--no-textconv", "--date=short", "--abbrev=8"]);
    let blame = blame.with(lines.map(|lines| format!("-L{lines}")));
    Ok(blame.with(rev.map(str::to_owned)).on(std::slice::from_ref(path)))
}

fn line_range(text: &str) -> Result<String, ToolError> {
    let (first, last) = text.split_once(['-', ',', '–']).unwrap_or((text, text));
    // Whoever counts from zero means the first, and a stretch has two ends whichever comes first.
    let number = |text: &str| text.trim().parse::<u32>().ok().map(|number| number.max(1));
    match (number(first), number(last)) {
        (Some(one), Some(other)) => Ok(format!("{},{}", one.min(other), one.max(other))),
        _ => Err(invalid(format!("lines: {text:?} is no stretch of lines; write 10-20"))),
    }
}

fn show(args: &GitArgs, rev: Option<&str>) -> Result<Order, ToolError> {
    let rev = rev.unwrap_or("HEAD");
    // Settings of the repository could ask for a format that runs a program.
    let show = Order::looks(&["show"], "(an empty file)").hidden(SHOWING).hidden(["--format=medium"]);
    match args.paths.as_slice() {
        [] => Ok(show.hidden(["--date=iso"]).of(Some(rev))),
        // With `./` the path is one from where git stands, not from the root of the repository.
        [path] => Ok(show.with([format!("{rev}:./{}", path.trim_start_matches("./"))])),
        _ => Err(invalid("paths: show gives a commit, or one file of it")),
    }
}

fn add(args: &GitArgs) -> Result<Order, ToolError> {
    match (args.paths.as_slice(), args.all.unwrap_or(false)) {
        ([], true) => {
            Ok(Order::changes(&["add", "--all"], Risk::Low, "(staged)").with(["--".to_owned(), ".".to_owned()]))
        }
        ([], false) => Err(invalid("paths: say what to stage, or all: true")),
        (paths, _) => Ok(Order::changes(&["add"], Risk::Low, "(staged)").on(paths)),
    }
}

fn commit(args: &GitArgs, whole: bool) -> Result<Order, ToolError> {
    let message = args.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
    let Some(message) = message else { return Err(invalid("message: say what the commit does")) };
    let all = args.all.unwrap_or(false);
    if all && !args.paths.is_empty() {
        return Err(invalid("paths: all: true takes every tracked change; give one of the two"));
    }
    let commit = Order::changes(&["commit"], Risk::Medium, "(committed)");
    let commit = commit.with((all && whole).then(|| "--all".to_owned()));
    let commit = commit.with(["-m".to_owned(), message.to_owned()]);
    // `--all` is all of the repository.
    Ok(if all && !whole { commit.on(&[".".to_owned()]) } else { commit.on(&args.paths) })
}

fn branch(args: &GitArgs, op: Op, rev: Option<&str>) -> Result<Order, ToolError> {
    const FORMAT: &str =
        "--format=%(HEAD) %(refname:short) %(objectname:short) %(upstream:short) %(upstream:track) %(subject)";
    match op {
        Op::List => {
            let list = Order::looks(&["branch"], "(no branches)");
            Ok(list.hidden(["--no-color", "--list", "--sort=-committerdate", FORMAT]))
        }
        Op::Create => {
            let create = Order::changes(&["branch"], Risk::Low, "(created)").with([name(args)?]);
            Ok(create.with(rev.map(str::to_owned)))
        }
        Op::Switch => Ok(Order::changes(&["switch"], Risk::Medium, "(switched)").with([name(args)?])),
        Op::Delete => Ok(Order::changes(&["branch", "--delete"], Risk::High, "(deleted)").with([name(args)?])),
    }
}

fn worktree(args: &GitArgs, op: Op, rev: Option<&str>) -> Result<Order, ToolError> {
    match op {
        Op::List => Ok(Order::looks(&["worktree", "list"], "")),
        Op::Create => {
            let create = Order::changes(&["worktree", "add"], Risk::Medium, "(created)").with([name(args)?]);
            Ok(create.with(rev.map(str::to_owned)))
        }
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
        order(&args, op, true).map(|order| order.line()).map_err(|error| error.message)
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
            (json!({"action": "blame", "paths": ["a"], "lines": "x-2"}), "lines"),
            (json!({"action": "branch", "op": "delete"}), "name"),
            (json!({"action": "worktree", "op": "switch", "name": "x"}), "op"),
            (json!({"action": "commit", "message": "x", "all": true, "paths": ["a"]}), "paths"),
        ] {
            assert!(line(args.clone()).unwrap_err().starts_with(words), "{args}");
        }
    }

    #[test]
    fn what_only_looks_is_told_as_a_command_that_is_known_to_look() {
        let place = neco_safety::command::Place::new("/w");
        for (args, expected) in [
            (json!({"action": "status"}), "git status"),
            (
                json!({"action": "diff", "staged": true, "rev": "main", "paths": ["a b"]}),
                "git diff --cached main -- 'a b'",
            ),
            (json!({"action": "log", "limit": 5, "rev": "main..HEAD"}), "git log main..HEAD"),
            (json!({"action": "blame", "paths": ["a"], "lines": "1-2"}), "git blame -L1,2 -- a"),
            (json!({"action": "blame", "paths": ["a"], "lines": "9-0"}), "git blame -L1,9 -- a"),
            (json!({"action": "show", "rev": "HEAD~1"}), "git show HEAD~1"),
            (json!({"action": "show", "paths": ["./a"]}), "git show HEAD:./a"),
            (json!({"action": "show", "rev": "HEAD@{1}"}), "git show 'HEAD@{1}'"),
            (json!({"action": "log", "paths": ["~x"]}), "git log -- '~x'"),
            (json!({"action": "branch"}), "git branch"),
            (json!({"action": "worktree"}), "git worktree list"),
        ] {
            let line = line(args).unwrap();
            assert_eq!(line, expected);
            let examined = neco_safety::command::examine(&line, &place);
            assert!(examined.risk == Risk::Safe && examined.clean, "{line}: {examined:?}");
        }
    }

    #[test]
    fn revisions_are_commits() {
        for (rev, expected) in [
            ("main", "main^{commit}"),
            ("a..b", "a^{commit}..b^{commit}"),
            ("a...", "a^{commit}..."),
            ("HEAD^!", "HEAD^!"),
        ] {
            assert_eq!(commits(rev), expected);
        }
    }

    #[test]
    fn in_a_part_of_a_repository_all_is_what_lies_below() {
        let args: GitArgs = serde_json::from_value(json!({"action": "commit", "message": "x", "all": true})).unwrap();
        assert_eq!(order(&args, Op::List, false).unwrap().line(), "git commit -m x -- .");
        assert_eq!(order(&args, Op::List, true).unwrap().line(), "git commit --all -m x");
    }
}
