//! Shells, and the builtins that make them run text.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner, Input};
use crate::command::option;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    match case.name {
        "sh" | "bash" | "dash" | "ash" | "rbash" => shell(case, finding, true),
        "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "elvish" | "nu" | "xonsh" => shell(case, finding, false),
        "eval" => eval(case, finding),
        "source" | "." => source(case, finding),
        "trap" => trap(case, finding),
        "alias" => alias(case, finding),
        "bind" | "complete" | "compgen" | "enable" | "hash" | "fc" | "mapfile" | "readarray"
            if !case.arguments.is_empty() =>
        {
            finding.critical("it changes what the shell runs");
        }
        "set" | "shopt" | "unset" | "history" | "export" | "declare" | "typeset" => settings(case, finding),
        _ => {}
    }
    if takes_names(case.name) {
        names(case, finding);
    }
}

fn shell(case: &Case<'_>, finding: &mut Finding, same_grammar: bool) {
    let (script, rest) = split_options(case.arguments);
    finding.uncoverable |=
        option::has_long(case.arguments, "--rcfile") || option::has_long(case.arguments, "--init-file");
    match (script, rest.first()) {
        (true, Some(text)) => {
            finding.wrapper = same_grammar && text.exact && rest.len() == 1;
            finding.runs(text);
            if !same_grammar {
                finding.uncoverable();
            }
        }
        (true, None) => finding.critical("it runs text that is not on the line"),
        (false, Some(file)) if is_stream(file) => finding.critical("it runs what it is fed"),
        (false, Some(_)) => {}
        (false, None) => from_input(case, finding),
    }
}

/// Whether `-c` is among the options, and what follows them.
fn split_options(arguments: &[Word]) -> (bool, &[Word]) {
    let mut at = 0;
    let mut script = false;
    while let Some(word) = arguments.get(at) {
        match word.text.as_str() {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => at += 2,
            long if long.starts_with("--") => {
                script |= long == "--command";
                at += 1;
            }
            short if short.starts_with(['-', '+']) => {
                script |= short.contains('c');
                at += 1 + usize::from(short.ends_with('o'));
            }
            _ => break,
        }
    }
    (script, arguments.get(at..).unwrap_or_default())
}

fn is_stream(word: &Word) -> bool {
    !word.exact && word.text.starts_with(['<', '>', '$', '`'])
        || word.text.starts_with("/dev/")
        || word.text.starts_with("/proc/")
}

fn from_input(case: &Case<'_>, finding: &mut Finding) {
    match &case.command.input {
        Input::Inherited | Input::File => {}
        Input::Text(text) => finding.runs(text),
        Input::Pipe(said) => {
            finding.critical("a shell runs what another command prints");
            let text = said.clone().unwrap_or_default();
            finding.inner.push(Inner::Script { text, input: Input::Inherited });
        }
    }
}

fn eval(case: &Case<'_>, finding: &mut Finding) {
    let texts: Vec<&str> = case.arguments.iter().map(|word| word.text.as_str()).collect();
    finding.runs(&Word::of(texts.join(" "), case.arguments.iter().all(|word| word.exact)));
    finding.uncoverable();
}

fn source(case: &Case<'_>, finding: &mut Finding) {
    finding.uncoverable();
    if case.arguments.first().is_none_or(is_stream) {
        finding.critical("it runs what it is fed");
    }
}

fn trap(case: &Case<'_>, finding: &mut Finding) {
    let first = option::operands(case.arguments).find(|word| word.text != "-");
    if let Some(script) = first.filter(|_| case.arguments.len() > 1) {
        finding.runs(script);
    }
    finding.uncoverable();
}

fn alias(case: &Case<'_>, finding: &mut Finding) {
    for word in case.arguments {
        if let Some((_, value)) = word.text.split_once('=') {
            finding.runs(&Word::of(value.to_owned(), word.exact));
        }
    }
    finding.uncoverable();
}

fn settings(case: &Case<'_>, finding: &mut Finding) {
    let history = |word: &Word| word.text.starts_with("HIST") || word.text == "history";
    let tampers = match case.name {
        "history" => {
            option::has(case.arguments, 'c', "--clear") || option::has_word(case.arguments, &["-w", "-d", "-r", "-n"])
        }
        "set" | "shopt" => {
            case.arguments.iter().any(|word| matches!(word.text.as_str(), "history" | "cmdhist" | "histappend"))
        }
        _ => case.arguments.iter().any(history),
    };
    if tampers {
        finding.never("it tampers with the history of the shell");
    }
}

/// Builtins that take names of variables work out what stands between brackets, commands included.
fn takes_names(name: &str) -> bool {
    matches!(
        name,
        "unset"
            | "read"
            | "declare"
            | "typeset"
            | "local"
            | "export"
            | "readonly"
            | "let"
            | "printf"
            | "test"
            | "["
            | "[["
            | "wait"
            | "getopts"
    )
}

fn names(case: &Case<'_>, finding: &mut Finding) {
    for word in case.arguments.iter().filter(|word| word.exact) {
        let hidden = word.text.contains("$(") || word.text.contains('`');
        if hidden && (case.name != "printf" || word.text.contains('[')) {
            finding.critical("a name holds a command that the shell runs");
            let text = format!(": \"{}\"", word.text.replace('"', ""));
            finding.inner.push(Inner::Script { text, input: Input::Inherited });
        }
    }
}
