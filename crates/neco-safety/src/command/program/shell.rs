//! Shells, and the builtins that make them run text.

use super::Case;
use crate::command::environment::{self, Effect};
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner, Input};
use crate::command::option;
use crate::command::scan::is_name;
use crate::command::source::{is_input, is_pipe, printed};
use crate::listed::is_listed;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    match case.name {
        "sh" | "bash" | "dash" | "ash" | "rbash" | "bash-static" => shell(case, finding, true),
        "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "elvish" | "nu" | "xonsh" | "yash" | "posh" | "ksh93"
        | "lksh" | "oksh" | "rksh" | "osh" | "hush" | "sash" | "rc" | "zsh-static" => shell(case, finding, false),
        "eval" => eval(case, finding),
        "source" | "." => source(case, finding),
        "trap" => trap(case, finding),
        "alias" => alias(case, finding),
        "bind" | "complete" | "compgen" | "enable" | "hash" | "fc" | "mapfile" | "readarray"
            if !case.arguments.is_empty() =>
        {
            finding.critical("it changes what the shell runs");
        }
        "let" | "getopts" => finding.uncoverable(),
        "printf" if prints_into_variable(case) => finding.uncoverable(),
        "set" | "shopt" | "unset" | "history" | "export" | "declare" | "typeset" => settings(case, finding),
        _ => {}
    }
    if is_listed(case.name, TAKE_NAMES) {
        names(case, finding);
    }
    if sets_variables(case.name) && sets(case, finding) == Effect::Unknown || looks_up(case) {
        finding.uncoverable();
    }
}

/// Builtins that set the variables they name.
fn sets_variables(name: &str) -> bool {
    matches!(name, "export" | "declare" | "typeset" | "local" | "readonly" | "read")
}

/// What setting the variables that a builtin names does; a name that only the shell will know may be any.
pub(crate) fn sets(case: &Case<'_>, finding: &mut Finding) -> Effect {
    let mut effect = Effect::Harmless;
    for word in case.arguments {
        let one = match word.text.strip_prefix(['-', '+']) {
            // A number that is declared is worked out, with the commands in it; a reference is another's name.
            Some(letters) if word.exact && !letters.contains(['i', 'n']) => Effect::Harmless,
            Some(_) => Effect::Unknown,
            None => environment::declared(word, case.ground, finding),
        };
        if one == Effect::Unknown {
            effect = one;
        }
    }
    effect
}

/// Whether `printf` may set a variable: by `-v`, by `%n`, or by what only the shell will know.
pub(crate) fn prints_into_variable(case: &Case<'_>) -> bool {
    let Some(format) = case.arguments.first() else { return false };
    let counts = format.text.split('%').skip(1).any(|rest| {
        rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || "-+ #'.*hlLqjzt".contains(letter))
            .starts_with('n')
    });
    !format.exact || format.text.starts_with('-') || counts
}

/// Whether a test may look a name up: bash works out what stands between its brackets, commands included.
pub(crate) fn looks_up(case: &Case<'_>) -> bool {
    let words = case.arguments;
    let is_number = |word: &Word| {
        let digits = word.text.strip_prefix('-').unwrap_or(&word.text);
        word.exact && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let behind = |index: usize| index.checked_sub(1).and_then(|before| words.get(before));
    words.iter().enumerate().any(|(index, word)| match (case.name, word.text.as_str()) {
        ("[[", "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
            ![behind(index), words.get(index + 1)].into_iter().all(|side| side.is_some_and(is_number))
        }
        ("test" | "[" | "[[", "-v" | "-R") => {
            !words.get(index + 1).is_some_and(|name| name.exact && is_name(&name.text))
        }
        // What is empty or more than one word may turn into an operator and its operand.
        ("test" | "[", _) => {
            !word.exact && (word.splits || !is_operand(behind(index), words.get(index + 1), words.len()))
        }
        _ => false,
    })
}

/// Whether a word beside an operator can only be its operand, or stands alone.
fn is_operand(before: Option<&Word>, after: Option<&Word>, count: usize) -> bool {
    let is = |side: Option<&Word>, operators: &[&str]| {
        side.is_some_and(|side| side.exact && operators.contains(&side.text.as_str()))
    };
    let compares = ["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];
    let asks = ["-n", "-z", "-f", "-d", "-e", "-s", "-r", "-w", "-x", "-L", "-h"];
    let alone = count == 1 || count == 2 && is(after, &["]"]);
    alone || is(before, &compares) || is(after, &compares) || is(before, &asks)
}

fn shell(case: &Case<'_>, finding: &mut Finding, same_grammar: bool) {
    let (script, rest, sure) = split_options(case.arguments);
    if !sure {
        finding.uncoverable();
        case.arguments.iter().filter(|word| !word.text.starts_with('-')).for_each(|word| finding.runs(word));
    }
    first_files(case, finding);
    attached_commands(case.arguments).iter().for_each(|text| finding.runs(text));
    let first = match case.name {
        "fish" => option::values(case.arguments, Some('C'), "--init-command"),
        "nu" => {
            let apart = option::values(case.arguments, None, "--commands");
            [option::values(case.arguments, Some('e'), "--execute"), apart].concat()
        }
        _ => Vec::new(),
    };
    first.iter().for_each(|text| finding.runs(text));
    if !script && reads_input(case.arguments, rest) {
        return from_input(case, finding);
    }
    match (script, rest.first()) {
        (true, Some(text)) => {
            finding.wrapper = sure && same_grammar && text.exact && rest.len() == 1;
            finding.runs(text);
            if !same_grammar {
                finding.uncoverable();
            }
        }
        (true, None) => finding.critical("it runs text that is not on the line"),
        (false, Some(file)) if is_stream(file) => streamed(file, case, finding),
        (false, Some(_)) => finding.names_file(rest.iter()),
        (false, None) => from_input(case, finding),
    }
}

/// Files that an interactive shell runs first.
fn first_files(case: &Case<'_>, finding: &mut Finding) {
    let files = [option::values(case.arguments, None, "--rcfile"), option::values(case.arguments, None, "--init-file")]
        .concat();
    finding.uncoverable |= !files.is_empty();
    for file in files.iter().filter(|file| is_input(file) || is_pipe(file)) {
        streamed(file, case, finding);
    }
}

/// It runs what it is fed, by a name for its input or by what another command prints.
fn streamed(file: &Word, case: &Case<'_>, finding: &mut Finding) {
    finding.critical("it runs what it is fed");
    if is_pipe(file) {
        finding.inner.push(Inner::Guess(printed(file)));
    }
    from_input(case, finding);
}

/// Lines behind `--command=`, however it is abbreviated, in one word.
fn attached_commands(arguments: &[Word]) -> Vec<Word> {
    let attached = |word: &Word| {
        let (name, line) = word.text.split_once('=')?;
        (name.len() > 3 && "--commands".starts_with(name)).then(|| Word::of(line, word.exact))
    };
    arguments.iter().filter_map(attached).collect()
}

/// Whether `-s` is among the options, so that what follows them is no file.
fn reads_input(arguments: &[Word], rest: &[Word]) -> bool {
    let options = arguments.get(..arguments.len().saturating_sub(rest.len())).unwrap_or_default();
    let gives = |word: &Word| word.text.strip_prefix('-').is_some_and(|own| !own.starts_with('-') && own.contains('s'));
    options.iter().any(gives)
}

/// Whether `-c` is among the options, what follows them, and whether that is sure: shells do not
/// agree on where the names of options stand that `o` and `O` take from among other letters.
fn split_options(arguments: &[Word]) -> (bool, &[Word], bool) {
    let mut at = 0;
    let mut script = false;
    let mut sure = true;
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
                let named = short.matches(['o', 'O']).count();
                sure &= word.exact && (named == 0 || named == 1 && short.ends_with('o') && !short.contains('c'));
                at += 1 + named;
            }
            _ => break,
        }
    }
    (script, arguments.get(at..).unwrap_or_default(), sure)
}

fn is_stream(word: &Word) -> bool {
    !word.exact && word.text.starts_with(['<', '>', '$', '`'])
        || word.text.starts_with("/dev/")
        || word.text.starts_with("/proc/")
        || word.text != "-" && is_input(word)
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
    match case.arguments.first() {
        Some(file) if is_stream(file) => streamed(file, case, finding),
        Some(_) => finding.names_file(case.arguments.iter()),
        None => {
            finding.critical("it runs what it is fed");
            from_input(case, finding);
        }
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
        "history" => option::has(case.arguments, 'c', "--clear") || option::has_word(case.arguments, "-w -d -r -n"),
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
const TAKE_NAMES: &str = "unset read declare typeset local export readonly let printf test [ [[ wait getopts";

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
