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
    match first_line(text).next() {
        Some(_) => first_line(text).any(|word| Path::new(word).file_name().is_some_and(|name| name == "bash")),
        None => Path::new(called).extension().is_some_and(|ending| ending == "bash"),
    }
}

/// The words behind `#!`.
fn first_line(text: &str) -> impl Iterator<Item = &str> {
    let first = text.lines().next().filter(|first| first.len() < FIRST_LINE).unwrap_or_default();
    first.strip_prefix("#!").into_iter().flat_map(str::split_ascii_whitespace)
}

/// What the first line of a script for a shell tells that shell besides: `-eu` of `#!/bin/bash -eu`.
fn switches(text: &str) -> impl Iterator<Item = OsString> {
    let is_shell = |word: &&str| Path::new(word).file_name().is_some_and(|name| name == "bash" || name == "sh");
    first_line(text).skip_while(move |word| !is_shell(word)).skip(1).map(OsString::from)
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
        ScriptType::Shell => switches(text).chain(["-c".into(), text.into(), called.to_owned()]).collect(),
        ScriptType::Python => vec!["-c".into(), START_PYTHON.into(), called.to_owned(), text.into()],
        ScriptType::Javascript => {
            vec!["-e".into(), START_JAVASCRIPT.into(), "--".into(), called.to_owned(), text.into()]
        }
        ScriptType::Wasm => {
            vec!["--timeout".into(), (limit.as_secs() + 1).to_string().into(), called.to_owned()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_which_shell_and_how_it_is_started() {
        for (text, called, shell, switches) in [
            ("#!/bin/bash\n", "a", "bash", &[][..]),
            ("#!/bin/bash -eu\n", "a", "bash", &["-eu"]),
            ("#!/usr/bin/env -S bash -e -u\n", "a", "bash", &["-e", "-u"]),
            ("#!/bin/sh -e\n", "a.bash", "sh", &["-e"]),
            ("echo\n", "a.bash", "bash", &[]),
            ("echo\n", "a", "sh", &[]),
        ] {
            assert_eq!(programs(ScriptType::Shell, text, OsStr::new(called))[0], shell, "{text}");
            let given = given(ScriptType::Shell, text, OsStr::new(called), Duration::ZERO);
            let expected = switches.iter().copied().chain(["-c", text, called]).map(OsString::from);
            assert_eq!(given, expected.collect::<Vec<_>>(), "{text}");
        }
    }
}
