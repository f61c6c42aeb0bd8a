//! Interpreters of other languages with code on the line.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner, Input};
use crate::command::ground::Ground;
use crate::command::option;

/// Words of code that starts programs, in one language or another.
const STARTS: [&str; 14] = [
    "system",
    "popen",
    "Popen",
    "subprocess",
    "exec",
    "spawn",
    "fork",
    "child_process",
    "shell",
    "qx",
    "%x",
    "passthru",
    "proc_open",
    ".Command",
];

/// How many commands are looked for in one piece of code.
const MOST_COMMANDS: usize = 32;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    let name = case.name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let code = match name {
        "python" | "pypy" | "ipython" => option::values(case.arguments, Some('c'), "--command"),
        "node" | "nodejs" | "bun" => {
            [option::values(case.arguments, Some('e'), "--eval"), option::values(case.arguments, Some('p'), "--print")]
                .concat()
        }
        "ruby" | "perl" | "lua" | "luajit" | "osascript" | "rscript" | "julia" | "elixir" | "groovy" | "raku" => {
            let upper = option::values(case.arguments, Some('E'), "--eval");
            [option::values(case.arguments, Some('e'), "--eval"), upper].concat()
        }
        "php" => {
            [option::values(case.arguments, Some('r'), "--run"), option::values(case.arguments, Some('B'), "--begin")]
                .concat()
        }
        "deno" if option::has_word(case.arguments, &["eval"]) => case.arguments.to_vec(),
        "pwsh" | "powershell" => case.arguments.to_vec(),
        "expect" | "tclsh" | "wish" => option::values(case.arguments, Some('c'), "--command"),
        "vim" | "vi" | "nvim" | "ex" | "view" | "emacs" | "ed" | "gdb" | "lldb" | "dc" | "m4" | "sqlite" | "psql"
        | "mysql" => {
            editor(case, finding);
            return;
        }
        _ => return,
    };
    for word in &code {
        judge_code(word, case.ground, finding);
    }
    let reads_input = |word: &Word| matches!(word.text.as_str(), "-" | "/dev/stdin");
    let file = option::operands(case.arguments).next();
    if code.is_empty() && file.is_none_or(reads_input) {
        from_input(case, finding);
    } else if code.is_empty() {
        finding.names_file(case.arguments.iter().skip_while(|word| Some(*word) != file));
    }
}

fn from_input(case: &Case<'_>, finding: &mut Finding) {
    match &case.command.input {
        Input::Text(code) => judge_code(code, case.ground, finding),
        Input::Pipe(said) => {
            finding.critical("an interpreter runs what another command prints");
            judge_code(&Word::guess(said.clone().unwrap_or_default()), case.ground, finding);
        }
        Input::Inherited | Input::File => {}
    }
    finding.uncoverable();
}

/// Editors and debuggers that can run commands from their options or their input.
fn editor(case: &Case<'_>, finding: &mut Finding) {
    let runs =
        |text: &str| text.contains('!') || text.contains("system") || text.contains("shell") || text.contains("syscmd");
    let input = match &case.command.input {
        Input::Text(word) => word.text.clone(),
        Input::Pipe(said) => said.clone().unwrap_or_default(),
        Input::Inherited | Input::File => String::new(),
    };
    if case.arguments.iter().any(|word| runs(&word.text)) || runs(&input) {
        finding.critical("it is told to run a command");
        for text in case.arguments.iter().map(|word| word.text.as_str()).chain([input.as_str()]) {
            strings(text, finding);
            if let Some((_, command)) = text.split_once('!') {
                finding.inner.push(Inner::Script { text: command.to_owned(), input: Input::Inherited });
            }
        }
    }
    finding.uncoverable |=
        option::has(case.arguments, 'c', "--cmd") || option::has_word(case.arguments, &["-ex", "--eval"]);
}

/// Judges code in a language that is not read here. What it does is held by the box as it is for the same code in a
/// file; what is told apart is that it names sensitive files, and what its strings would be if a shell got them.
pub(super) fn judge_code(code: &Word, ground: &Ground<'_>, finding: &mut Finding) {
    if !code.exact {
        finding.critical("it runs code that only the shell will know");
    }
    finding.names.extend(words_of(&code.text).map(Word::guess));
    if let Some(why) = mentions_sensitive(&code.text, ground) {
        finding.critical(format!("the code names a sensitive file: {why}"));
        finding.opens.extend(words_of(&code.text).flat_map(|word| ground.read_by(&Word::guess(word))));
    }
    if STARTS.iter().any(|word| code.text.contains(word)) || code.text.contains('`') {
        strings(&code.text, finding);
    }
}

/// Why a text names a sensitive file, word by word.
pub(super) fn mentions_sensitive(text: &str, ground: &Ground<'_>) -> Option<&'static str> {
    words_of(text).find_map(|word| ground.sensitive(&Word::guess(word)))
}

/// What in a text may be a path.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |letter: char| letter.is_alphanumeric() || "._~/-$*?[]".contains(letter);
    text.split(move |letter| !is_path(letter)).filter(|word| word.len() > 2).take(4096)
}

/// Every string in code is read as a command, and so are strings that follow one another in a list: what it would start
/// decides no less than if it stood here. One word alone is as likely to be anything else.
fn strings(code: &str, finding: &mut Finding) {
    for quote in ['\'', '"', '`'] {
        let mut command = String::new();
        for (index, text) in code.split(quote).enumerate() {
            let is_string = index % 2 == 1;
            let goes_on = text.chars().all(|letter| letter.is_whitespace() || ",[](".contains(letter));
            if is_string {
                command.push_str(text);
                command.push(' ');
            } else if !goes_on {
                starts(&mut command, finding);
            }
        }
        starts(&mut command, finding);
    }
}

fn starts(command: &mut String, finding: &mut Finding) {
    let text = std::mem::take(command);
    if text.trim().contains(' ') && finding.inner.len() < MOST_COMMANDS {
        finding.inner.push(Inner::Guess(text.trim().to_owned()));
    }
}
