//! Rules for commands that begin with certain words: which one a line suggests, and what none of them covers.

use neco_proto::Risk;

use super::examined::{Part, Word};

/// A rule that allows the commands that begin with certain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRule {
    words: Vec<String>,
}

impl CommandRule {
    /// The words a command must begin with.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The rule in words, as it is shown before it is stored.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "run commands that begin with `{}`, with any arguments, but not with options that run or write \
             something else, and not together with commands that are not allowed",
            self.words.join(" ")
        )
    }

    /// The rule that would cover a part and its like.
    pub(crate) fn for_part(part: &Part) -> Option<Self> {
        let words: Vec<&str> = part.words.iter().take_while(|word| word.exact).map(|word| word.text.as_str()).collect();
        let program = *words.first()?;
        let name = program.rsplit('/').next().unwrap_or(program);
        if part.risk != Risk::High || part.uncoverable || has_no_rule(name) {
            return None;
        }
        let length = rule_length(name, words.get(1..).unwrap_or_default())?;
        let words = words.get(..length)?.iter().map(|word| (*word).to_owned()).collect();
        Some(Self { words })
    }
}

/// Programs whose first words say nothing about what they will do.
fn has_no_rule(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ash"
            | "ksh"
            | "fish"
            | "node"
            | "ruby"
            | "perl"
            | "php"
            | "lua"
            | "osascript"
            | "awk"
            | "gawk"
            | "sed"
            | "xargs"
            | "parallel"
            | "env"
            | "find"
            | "fd"
            | "ssh"
            | "scp"
            | "sftp"
            | "rsync"
            | "nc"
            | "socat"
            | "curl"
            | "wget"
            | "rm"
            | "rmdir"
            | "mv"
            | "cp"
            | "ln"
            | "chmod"
            | "chown"
            | "kill"
            | "pkill"
            | "killall"
            | "dd"
            | "tee"
            | "tar"
            | "truncate"
            | "eval"
            | "source"
            | "."
            | "trap"
            | "alias"
            | "exec"
            | "vim"
            | "vi"
            | "nvim"
            | "emacs"
            | "ed"
            | "psql"
            | "mysql"
            | "sqlite3"
            | "printenv"
            | "busybox"
            | "watch"
            | "script"
            | "nohup"
            | "install"
            | "gdb"
            | "strace"
            | "cat"
            | "grep"
            | "ls"
            | "cd"
            | "neco"
            | "history"
            | "read"
            | "export"
            | "declare"
            | "set"
            | "unset"
            | "sort"
            | "head"
            | "tail"
            | "date"
            | "hostname"
    )
}

/// How many words make a rule that says what is done; none where no number does.
fn rule_length(name: &str, arguments: &[&str]) -> Option<usize> {
    let first = arguments.first().copied().unwrap_or_default();
    if name.starts_with("python") {
        return (first == "-m" && arguments.len() > 1).then_some(3);
    }
    let second = arguments.get(1).copied().unwrap_or_default();
    match (name, first) {
        ("npm" | "pnpm" | "yarn" | "bun" | "deno", "run" | "exec" | "dlx" | "x" | "task") if is_subcommand(second) => {
            Some(3)
        }
        ("docker" | "podman", "compose" | "container" | "image") if is_subcommand(second) => Some(3),
        ("uv" | "poetry" | "pipenv" | "bundle" | "rustup" | "mise", "run" | "exec") if is_subcommand(second) => Some(3),
        ("npm" | "pnpm" | "yarn" | "bun" | "deno" | "uv" | "poetry" | "bundle", "run" | "exec" | "x") => None,
        ("go" | "cargo", "run") => Some(2),
        ("docker" | "podman", "run" | "exec") => None,
        ("cmake", "--build") => Some(2),
        _ if is_tool_for_files(name) => Some(1),
        (_, "") => Some(1),
        // A flag before the subcommand: what the subcommand is, can't be told from here.
        ("git" | "cargo" | "npm" | "go" | "docker" | "kubectl" | "pip" | "uv" | "gh", option)
            if option.starts_with(['-', '+']) =>
        {
            None
        }
        _ if is_subcommand(first) => Some(2),
        _ => Some(1),
    }
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_:".contains(&byte))
}

/// Programs whose arguments are files, not things to do.
fn is_tool_for_files(name: &str) -> bool {
    matches!(
        name,
        "mkdir"
            | "touch"
            | "pytest"
            | "eslint"
            | "prettier"
            | "tsc"
            | "jest"
            | "vitest"
            | "ruff"
            | "black"
            | "mypy"
            | "gofmt"
            | "rustfmt"
            | "clang-format"
            | "shellcheck"
            | "gcc"
            | "g++"
            | "clang"
            | "rustc"
            | "javac"
            | "ninja"
            | "biome"
            | "flake8"
            | "isort"
            | "stylelint"
            | "markdownlint"
            | "unzip"
            | "zip"
            | "patch"
            | "open"
            | "rspec"
            | "phpunit"
            | "golangci-lint"
    )
}

/// Options by which programs run or write something else than their first words say.
const REACHING: [&str; 44] = [
    "--exec",
    "--pre",
    "--pager",
    "--open-files-in-pager",
    "--editor",
    "--command",
    "--shell",
    "--script-shell",
    "--rsh",
    "--output",
    "--out",
    "--outfile",
    "--output-file",
    "--config",
    "--config-file",
    "--plugin",
    "--plugins",
    "--require",
    "--import",
    "--loader",
    "--eval",
    "--toolexec",
    "-exec",
    "-toolexec",
    "-overlay",
    "--ext-diff",
    "--extcmd",
    "--upload-pack",
    "--receive-pack",
    "--use-compress-program",
    "--to-command",
    "--checkpoint-action",
    "--rcfile",
    "--init-file",
    "--load",
    "--hook",
    "--git-dir",
    "--work-tree",
    "--runner",
    "--linker",
    "--rulesdir",
    "--resolve-plugins-relative-to",
    "--node-options",
    "--prefix",
];

/// Whether nothing behind the words of a rule runs or writes something else, or could turn out to.
pub(crate) fn rest_is_harmless(prefix: &[String], words: &[Word]) -> bool {
    let before = prefix.len().saturating_sub(1);
    let rest = words.get(before..).unwrap_or_default();
    let program = words.first().map_or("", |word| word.text.as_str());
    rest.windows(2).all(|pair| matches!(pair, [previous, word] if is_harmless(program, previous, word)))
}

fn is_harmless(program: &str, previous: &Word, word: &Word) -> bool {
    if !word.exact {
        return is_message(previous) || word.pattern && !word.text.starts_with(['*', '?', '[', '-']);
    }
    let name = word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name);
    let sets_shell = program == "make"
        && (word.text.contains('=') || matches!(name, "-f" | "-C" | "--file" | "--makefile" | "--eval"));
    !REACHING.contains(&name) && !name.starts_with("--exec") && !sets_shell
}

/// Whether the word behind it is text for people, whatever it turns out to be.
fn is_message(option: &Word) -> bool {
    option.exact && matches!(option.text.as_str(), "-m" | "-am" | "--message" | "--body" | "--title" | "-b" | "-t")
}
