//! Rules for commands that begin with certain words: which one a line suggests, and what none of them covers.

use neco_proto::Risk;

use super::examined::{Part, Word};
use super::named::{program_name, usual_name};
use super::scan::is_name;
use super::{allowed, reaching};
use crate::listed::is_listed;

/// A rule of more words would not be read before it is given.
const MOST_WORDS: usize = 12;

/// The words of the rule that would cover a part and its like.
pub(crate) fn for_part(part: &Part) -> Option<Vec<String>> {
    let words: Vec<&str> = part.words.iter().take_while(|word| word.exact).map(|word| word.text.as_str()).collect();
    let name = program_name(words.first()?);
    let name = name.as_ref();
    if part.risk != Risk::High || part.uncoverable || is_listed(name, WITHOUT_RULES) {
        return None;
    }
    let length = rule_length(name, words.get(1..).unwrap_or_default())?;
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    if let (Some(program), Some(usual)) = (words.first_mut(), part.words.first().and_then(usual_name)) {
        usual.clone_into(program);
    }
    let start = words.get(..length)?;
    if rest_is_harmless(start, &part.words) && uncovered(start, &part.words).is_none() {
        return Some(start.to_vec());
    }
    // Options that only this line was approved with stay a part of the rule.
    (words.len() == part.words.len() && words.len() <= MOST_WORDS).then_some(words)
}

/// Programs whose first words say nothing about what they will do.
const WITHOUT_RULES: &str = "sh bash zsh dash ash ksh fish node ruby perl php lua osascript awk gawk sed xargs \
    parallel env find fd ssh scp sftp rsync nc socat curl wget rm rmdir mv cp ln chmod chown kill pkill killall dd \
    tee tar truncate eval source . trap alias exec vim vi nvim emacs ed psql mysql sqlite3 printenv busybox watch \
    script nohup install gdb strace cat grep ls cd neco history read export declare set unset sort head tail date \
    hostname let local readonly typeset getopts printf echo test [ [[ wait";

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
        // Whom it talks to is a part of what was approved.
        ("git", "push" | "pull" | "fetch") => is_subcommand(second).then_some(3),
        ("docker" | "podman", "run" | "exec") => None,
        ("cmake", "--build") => Some(2),
        _ if is_listed(name, TOOLS_FOR_FILES) => Some(1),
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
const TOOLS_FOR_FILES: &str = "mkdir touch pytest eslint prettier tsc jest vitest ruff black mypy gofmt rustfmt \
    clang-format shellcheck gcc g++ clang rustc javac ninja biome flake8 isort stylelint markdownlint unzip zip \
    patch open rspec phpunit golangci-lint";

/// Whether a rule for the words of `prefix` covers what follows them: operands, and options known to
/// change only how much is done and told.
pub(crate) fn rest_is_harmless(prefix: &[String], words: &[Word]) -> bool {
    let before = prefix.len().saturating_sub(1);
    let rest = words.get(before..).unwrap_or_default();
    let program = told_program(prefix);
    rest.windows(2).all(|pair| matches!(pair, [previous, word] if is_harmless(program, previous, word)))
}

/// Why a rule that a person wrote for the words of `prefix` does not mean what follows them in a command.
pub(crate) fn uncovered(prefix: &[String], words: &[Word]) -> Option<String> {
    let program = program_name(told_program(prefix));
    let arguments = words.get(1..).unwrap_or_default();
    let rest = words.get(prefix.len().saturating_sub(1)..).unwrap_or_default();
    rest.windows(2).find_map(|pair| match pair {
        [previous, word] => reaches_by(&program, arguments, previous, word),
        _ => None,
    })
}

fn reaches_by(program: &str, arguments: &[Word], previous: &Word, word: &Word) -> Option<String> {
    let text = word.text.as_str();
    if !word.exact && !is_harmless(program, previous, word) {
        return Some(format!("only the shell will know what {text} is"));
    }
    if !text.starts_with('-') && allowed::is_known(program) && !is_harmless(program, previous, word) {
        return Some(format!("{text} changes what it runs"));
    }
    reaching::reaches(program, arguments, word)
}

/// The program whose options follow: the one that a runner or `python -m` is told to start.
fn told_program(prefix: &[String]) -> &str {
    let words: Vec<&str> = prefix.iter().map(String::as_str).collect();
    match words.as_slice() {
        [python, "-m", module, ..] if python.starts_with("python") => module,
        ["uv" | "poetry" | "pipenv" | "bundle" | "mise", "run" | "exec", program, ..]
        | ["npx" | "bunx" | "uvx", program, ..] => program,
        [program, ..] => program,
        [] => "",
    }
}

fn is_harmless(program: &str, previous: &Word, word: &Word) -> bool {
    if !word.exact {
        return is_message(program, previous, word)
            || word.pattern && !word.text.starts_with(['*', '?', '[', '-', '@', '+']);
    }
    match word.text.as_str() {
        option if option.starts_with('-') => allowed::is_allowed(program, option),
        // A file of further options, or a toolchain.
        operand if operand.starts_with(['@', '+']) => is_package(program, operand),
        operand => !sets_variable(program, operand),
    }
}

/// `@scope/name`, to those who fetch packages.
fn is_package(program: &str, operand: &str) -> bool {
    matches!(program, "npm" | "pnpm" | "yarn" | "bun") && operand.starts_with('@') && operand.contains('/')
}

/// `NAME=value`: make and its like change what they run by it. To pip it is a version.
fn sets_variable(program: &str, operand: &str) -> bool {
    let name = operand.split_once('=').map(|(name, _)| name.trim_end_matches([':', '+', '?', '!']));
    name.is_some_and(is_name) && !matches!(program, "pip" | "pip3" | "uv" | "poetry")
}

/// Whether the word is text for people, whatever it turns out to be: one word, behind the option for it.
fn is_message(program: &str, option: &Word, word: &Word) -> bool {
    let takes_text = match program {
        "git" => matches!(option.text.as_str(), "-m" | "-am" | "--message"),
        "gh" => matches!(option.text.as_str(), "--body" | "--title" | "-b" | "-t"),
        _ => false,
    };
    takes_text && option.exact && !word.splits
}
