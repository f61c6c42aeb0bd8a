//! Variables that are set for a command: most are harmless, some decide what is run.

use super::examined::Word;
use super::expansion::is_number;
use super::finding::{Finding, Inner, Input};
use super::ground::Ground;
use super::scan::is_name;
use crate::listed::is_listed;

/// What setting a variable does to what is run after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing but words, colours and sizes.
    Harmless,
    /// Nobody can tell: no rule covers it.
    Unknown,
}

/// Judges one variable; the finding gathers what is worse than unknown.
pub(crate) fn judge(name: &str, value: &Word, ground: &Ground<'_>, finding: &mut Finding) -> Effect {
    if let Some(why) = ground.sensitive(value) {
        finding.critical(format!("{} is used in it: {why}", value.text));
        finding.opens.extend(ground.read_by(value));
    }
    if matches!(name, "HISTFILE" | "HISTSIZE" | "HISTFILESIZE" | "HISTCONTROL" | "HISTIGNORE") {
        finding.never("it tampers with the history of the shell");
    }
    if is_injector(name) {
        finding.critical(format!("{name} changes what programs run"));
    }
    if takes_options(name) && runs_by_option(name, value) {
        finding.critical(format!("{name} makes it run a command"));
        return Effect::Unknown;
    }
    if is_command(name) && !is_plain_pager(&value.text) {
        finding.runs(value);
        return Effect::Unknown;
    }
    let is_hidden = value.text.contains("$(") || value.text.contains('`') || !shell_calls(&value.text).is_empty();
    if value.exact && is_hidden {
        hidden(value, finding);
        return Effect::Unknown;
    }
    if is_harmless(name, &value.text) { Effect::Harmless } else { Effect::Unknown }
}

/// Judges an operand of `export` and its like: `NAME=value`, or a name whose value is from elsewhere.
pub(crate) fn declared(word: &Word, ground: &Ground<'_>, finding: &mut Finding) -> Effect {
    let (name, value) = match word.text.split_once('=') {
        Some((name, value)) => (name.strip_suffix('+').unwrap_or(name), Word::of(value, word.exact)),
        None => (word.text.as_str(), Word::guess(format!("${}", word.text))),
    };
    let effect = judge(name, &value, ground, finding);
    if word.exact && is_name(name) { effect } else { Effect::Unknown }
}

/// Arithmetic and prompts run the commands in a value, though it was quoted.
fn hidden(value: &Word, finding: &mut Finding) {
    finding.critical("a value holds a command that the shell may run later");
    let text = format!(": \"{}\"", value.text.replace('"', ""));
    finding.inner.push(Inner::Script { text, input: Input::Inherited });
    finding.inner.extend(shell_calls(&value.text).into_iter().map(Inner::Guess));
}

/// What make gives to a shell while it works out a text: the inside of `$(shell …)` and `${shell …}`.
pub(crate) fn shell_calls(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (call, open, close) in [("$(shell", '(', ')'), ("${shell", '{', '}')] {
        let behind = text.split(call).skip(1).filter(|behind| behind.starts_with(char::is_whitespace));
        found.extend(behind.take(16).map(|behind| up_to(close, open, behind).trim().to_owned()));
    }
    found
}

/// A text up to the bracket that closes what it stands in.
fn up_to(close: char, open: char, text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == close && depth == 0 {
            return text.get(..at).unwrap_or_default();
        }
        depth += usize::from(letter == open);
        depth -= usize::from(letter == close);
    }
    text
}

/// Whether options in a variable make a program run a command.
fn runs_by_option(name: &str, value: &Word) -> bool {
    // What the line itself works out is judged where it stands.
    let works_out = value.exact && (value.text.contains("$(") || value.text.contains('`'));
    let runs = |option: &str| match name {
        "GOFLAGS" => {
            let option = option.trim_start_matches(['-', '\'', '"']);
            ["exec", "toolexec", "vettool"].contains(&option.split('=').next().unwrap_or_default())
        }
        "FZF_DEFAULT_OPTS" => option.contains("exec") || option.contains("preview"),
        _ => option.starts_with("--ev") || option.starts_with("-E"),
    };
    works_out || value.text.split_whitespace().any(runs)
}

fn is_plain_pager(value: &str) -> bool {
    matches!(value, "" | "cat" | "true" | ":" | "less" | "more" | "/bin/cat" | "/bin/true")
}

/// Variables by which programs load code without being told on their own line.
const INJECTORS: &str = "LD_PRELOAD LD_AUDIT BASH_ENV ENV ZDOTDIR PS4 PS1 SHELLOPTS BASHOPTS PERL5OPT PERL5DB \
    RUBYOPT PYTHONSTARTUP PYTHONHOME GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_PARAMETERS \
    GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GCONV_PATH CDPATH GLOBIGNORE HOME XDG_CONFIG_HOME";

/// Code that other programs load without being told on their own line.
fn is_injector(name: &str) -> bool {
    is_listed(name, INJECTORS)
        || ["DYLD_", "BASH_FUNC_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"].iter().any(|start| name.starts_with(start))
}

/// Variables whose value is options of a program that runs commands.
fn takes_options(name: &str) -> bool {
    matches!(name, "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" | "GOFLAGS" | "FZF_DEFAULT_OPTS")
}

/// Variables whose value is itself a command.
const COMMANDS: &str = "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH \
    GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_FSMONITOR LESSOPEN \
    LESSCLOSE PROMPT_COMMAND BROWSER RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC CARGO CC CXX LD AR SHELL \
    MAKESHELL RSYNC_RSH CVS_RSH SVN_SSH TAR_OPTIONS FCEDIT RSYNC_CONNECT_PROG FZF_DEFAULT_COMMAND \
    npm_config_script_shell npm_config_shell NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_SHELL";

/// Variables whose value is itself a command.
pub(crate) fn is_command(name: &str) -> bool {
    let is_suffix = ["PAGER", "EDITOR", "BROWSER"].iter().any(|end| name.ends_with(end));
    let of_cargo = name.starts_with("CARGO_")
        && ["_RUNNER", "_LINKER", "_RUSTC", "_RUSTC_WRAPPER"].iter().any(|end| name.ends_with(end));
    is_suffix || of_cargo || is_listed(name, COMMANDS)
}

fn is_harmless(name: &str, value: &str) -> bool {
    // By convention no program looks at variables in small letters, except for proxies and zsh's paths.
    let is_local = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.ends_with("proxy")
        && !name.starts_with("npm_")
        && !name.starts_with("pip_")
        && !name.ends_with("path");
    let heap = || name == "NODE_OPTIONS" && value.strip_prefix("--max-old-space-size=").is_some_and(is_number);
    is_local
        || heap()
        || is_plain_pager(value) && is_command(name)
        || is_listed(name, HARMLESS)
        || name.starts_with("LC_")
}

/// Names that only change words, colours, sizes and how much is told.
const HARMLESS: &str = "LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES \
    CI DEBUG VERBOSE V LOG_LEVEL LOGLEVEL RUST_LOG RUST_BACKTRACE RUST_LIB_BACKTRACE RUST_TEST_THREADS \
    RUST_TEST_NOCAPTURE RUST_MIN_STACK CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN CARGO_INCREMENTAL CARGO_BUILD_JOBS \
    CARGO_NET_OFFLINE NODE_ENV BABEL_ENV RAILS_ENV RACK_ENV FLASK_ENV DJANGO_DEBUG PYTHONUNBUFFERED \
    PYTHONDONTWRITEBYTECODE PYTHONHASHSEED GOOS GOARCH CGO_ENABLED GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS \
    INSTA_UPDATE PROPTEST_CASES PORT";
