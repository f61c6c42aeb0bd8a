//! What runs a script: a program of the machine, and how it is given a text.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_config::section::ScriptType;
use neco_safety::world::Processes;

/// What runs WASM.
const WASM: &str = "neco-wasm";

/// How many of the bytes at the beginning of a script tell which shell it is for.
const FIRST_LINE: usize = 200;

/// Run the text that follows, with its name and its words, as a file of it would be. What lies in the folder that is
/// worked in is no module of it: that may be anybody's, and has none of the trust in the script.
const START_PYTHON: &str = include_str!("start.py");
const START_JAVASCRIPT: &str = include_str!("start.js");

/// What runs a kind of script, the first that is there.
fn programs(kind: ScriptType, text: &str, called: &OsStr) -> &'static [&'static str] {
    match kind {
        ScriptType::Shell if is_for_bash(text, called) => &["bash", "sh"],
        ScriptType::Shell => &["sh", "bash"],
        ScriptType::Python => &["python3", "python"],
        ScriptType::Javascript => &["node"],
        ScriptType::Wasm => &[WASM],
    }
}

/// What runs it, as people are told of it.
pub(super) fn named(kind: ScriptType) -> &'static str {
    programs(kind, "", OsStr::new("")).first().copied().unwrap_or_default()
}

/// The first line says so, or the ending where it says nothing.
fn is_for_bash(text: &str, called: &OsStr) -> bool {
    let first = text.lines().next().filter(|first| first.len() < FIRST_LINE).unwrap_or_default();
    let says = first.strip_prefix("#!").map(|program| program.trim_end().ends_with("bash"));
    says.unwrap_or_else(|| Path::new(called).extension().is_some_and(|ending| ending == "bash"))
}

/// The program that runs a script; nothing where there is none. What runs WASM may lie beside this program.
pub(super) fn program(
    kind: ScriptType,
    text: &str,
    called: &OsStr,
    processes: &dyn Processes,
    beside: Option<&Path>,
) -> Option<PathBuf> {
    let beside = beside.filter(|_| kind == ScriptType::Wasm).map(|folder| folder.join(WASM));
    let found = beside.and_then(|program| processes.find_program(program.as_os_str()));
    found.or_else(|| programs(kind, text, called).iter().find_map(|name| processes.find_program(OsStr::new(name))))
}

/// What an interpreter is given before the words of a call: the text and what the script is called, or its file. What
/// runs it knows its limit; it is ended before that.
pub(super) fn given(kind: ScriptType, text: &str, called: &OsStr, limit: Duration) -> Vec<OsString> {
    match kind {
        ScriptType::Shell => vec!["-c".into(), text.into(), called.to_owned()],
        ScriptType::Python => vec!["-c".into(), START_PYTHON.into(), called.to_owned(), text.into()],
        ScriptType::Javascript => {
            vec!["-e".into(), START_JAVASCRIPT.into(), "--".into(), called.to_owned(), text.into()]
        }
        ScriptType::Wasm => {
            vec!["--timeout".into(), (limit.as_secs() + 1).to_string().into(), called.to_owned()]
        }
    }
}
