//! The judgement of one simple command.

use neco_proto::Risk;

use super::environment::{self, Effect};
use super::examined::{Reasons, Word};
use super::finding::{Command, Finding, Inner, Input};
use super::ground::Ground;
use super::named::{program_name, usual_name};
use super::program::{self, Case};
use super::{known_safe, option};

/// More words that a command is handed by another are not looked at.
const MOST_HANDED: usize = 1024;

pub(crate) fn judge(command: &Command, ground: &Ground<'_>) -> Finding {
    let mut finding = Finding::new();
    let mut harmless = true;
    for (name, value) in &command.environment {
        harmless &= environment::judge(name, value, ground, &mut finding) == Effect::Harmless;
    }
    finding.uncoverable |= !harmless;
    let Some((program, arguments)) = command.words.split_first() else {
        finding.risk = if harmless && finding.risk < Risk::Critical { Risk::Safe } else { finding.risk };
        return finding;
    };
    if let Some(why) = unclear(program) {
        finding.critical(why);
    }
    let name = program_name(&program.text);
    let case = Case { name: &name, arguments, command, ground };
    program::look(&case, &mut finding);
    secrets(&case, program, &mut finding);
    let is_usual = usual_name(program).is_some();
    let mut leads_out = arguments.iter().chain([program].into_iter().filter(|_| !is_usual));
    let outside = leads_out.find(|word| ground.looks_outside(word));
    if outside.is_some() || !ground.is_home_ground() {
        finding.uncoverable();
    }
    let starts_nothing = finding.inner.iter().all(Inner::is_hunch);
    let untouched = finding.risk == Risk::High && finding.never.is_none() && starts_nothing && !finding.network;
    let looks = is_usual && untouched && known_safe::check(&case);
    let only_wraps = is_usual && finding.wrapper && !finding.uncoverable && finding.risk == Risk::High;
    if harmless && (looks || only_wraps) {
        finding.risk = Risk::Safe;
    }
    if let Some(word) = outside.filter(|_| finding.risk == Risk::High) {
        finding.because.add(&Reasons::of(&format!("{} is outside the workspace", word.text)));
    }
    finding
}

/// Why nobody can tell which program is meant.
fn unclear(program: &Word) -> Option<&'static str> {
    if !program.exact {
        Some("which program is run can't be told from the line")
    } else if !program.text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Some("the name of the program has characters that look like others, or like nothing")
    } else {
        None
    }
}

/// Names of sensitive files and variables, wherever they stand.
fn secrets(case: &Case<'_>, program: &Word, finding: &mut Finding) {
    let prints = matches!(case.name, "echo" | "printf");
    let names_only = prints && !case.command.captured || tells_names_only(case);
    let skipped = usize::from(takes_pattern(case.name, case.arguments));
    let files = case
        .arguments
        .iter()
        .filter(|word| !word.text.starts_with('-') || word.text.contains(['=', '.']))
        .skip(skipped);
    // Looking at every word costs more than all the rest; what only tells names is not looked at.
    let named = files.chain([program]).filter(|_| !names_only);
    for word in named {
        let sent = sent_file(case.name, word).filter(|file| case.ground.sensitive(file).is_some());
        let word = sent.as_ref().unwrap_or(word);
        if let Some(why) = case.ground.sensitive(word) {
            finding.asks_for(word, why, case.ground.read_by(word));
        }
    }
    let globs = [option::values(case.arguments, Some('g'), "--glob"), option::values(case.arguments, None, "--iglob")];
    if case.name == "rg"
        && let Some(word) = globs.iter().flatten().find(|word| case.ground.sensitive(word).is_some())
    {
        finding.critical(format!("it looks into {}", word.text));
        finding.opens.extend(case.ground.read_by(word));
    }
    if let Some(word) = case.arguments.iter().find(|word| !word.exact && names_secret_variable(&word.text)) {
        finding.critical(format!("{} may hold a secret", word.text));
    }
    if let Input::Pipe(Some(said)) = &case.command.input
        && !takes_pattern(case.name, case.arguments)
    {
        let handed: Vec<Word> = said.split_whitespace().take(MOST_HANDED).map(Word::guess).collect();
        if let Some(word) = handed.iter().find(|word| case.ground.sensitive(word).is_some()) {
            finding.critical(format!("{} is handed to it", word.text));
            finding.opens.extend(case.ground.read_by(word));
        }
        finding.names.extend(handed);
    }
}

/// The file that curl is told to send, as in `@file`, `-d@file` and `part=@file`.
fn sent_file(program: &str, word: &Word) -> Option<Word> {
    let (before, file) = word.text.split_once('@').filter(|_| program == "curl")?;
    let is_mark = before.is_empty() || before.ends_with('=') || before.starts_with('-');
    (is_mark && !word.text.contains("://")).then(|| Word::of(file, word.exact))
}

/// Programs that tell of a file no more than that it is there.
fn tells_names_only(case: &Case<'_>) -> bool {
    let subcommand = case.arguments.first().map_or("", |word| word.text.as_str());
    is_about_names(case.name, subcommand)
}

/// Whether a program, called with this as its first argument, tells of files no more than that they are there.
pub(super) fn is_about_names(program: &str, argument: &str) -> bool {
    match program {
        "ls" | "stat" | "tree" | "basename" | "dirname" | "realpath" | "readlink" | "test" | "[" | "[[" | "du"
        | "find" | "cd" | "fd" | "which" => true,
        "git" => matches!(argument, "check-ignore" | "ls-files" | "status"),
        _ => false,
    }
}

/// Whether the first word that is no option is a pattern or a program rather than a file.
pub(super) fn takes_pattern(program: &str, arguments: &[Word]) -> bool {
    matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "sed" | "awk" | "gawk" | "jq" | "tr")
        && !arguments
            .iter()
            .any(|word| word.text.starts_with("-e") || word.text.starts_with("-f") || word.text.starts_with("--file"))
}

fn names_secret_variable(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    text.contains('$')
        && ["_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"].iter().any(|name| upper.contains(name))
}
