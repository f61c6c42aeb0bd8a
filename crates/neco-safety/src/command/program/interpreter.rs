//! Interpreters of other languages with code on the line.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner, Input};
use crate::command::ground::Ground;
use crate::command::option;
use crate::command::source::{fed, is_input, is_pipe, printed};

/// Words of code that starts programs, in one language or another.
const STARTS: &str = "system popen Popen subprocess exec spawn fork child_process shell qx %x passthru proc_open \
    .Command os.execute";

/// Words behind which editors, debuggers and their like take the rest for a command.
const TOLD: [&str; 7] = ["shell ", "system ", "syscmd(", "spawn ", "exec ", "terminal ", "term "];

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
        "ruby" | "perl" | "lua" | "luajit" | "osascript" | "rscript" | "julia" | "elixir" | "groovy" | "raku"
        | "racket" | "gnuplot" | "octave" => {
            let upper = option::values(case.arguments, Some('E'), "--eval");
            [option::values(case.arguments, Some('e'), "--eval"), upper].concat()
        }
        "php" => [('r', "--run"), ('B', "--process-begin"), ('R', "--process-code"), ('E', "--process-end")]
            .map(|(letter, long)| option::values(case.arguments, Some(letter), long))
            .concat(),
        "deno" if option::has_word(case.arguments, "eval") => case.arguments.to_vec(),
        "pwsh" | "powershell" => {
            let words = case.arguments.iter().map(|word| word.text.as_str());
            let line: Vec<&str> = words.skip_while(|text| text.starts_with('-')).collect();
            finding.inner.push(Inner::Guess(line.join(" ")));
            case.arguments.to_vec()
        }
        "guile" => option::values(case.arguments, Some('c'), "--command"),
        "expect" | "tclsh" | "wish" => {
            let code = option::values(case.arguments, Some('c'), "--command");
            code.iter().for_each(|code| told(&code.text, finding));
            code
        }
        "sqlite" | "psql" | "mysql" | "mariadb" => {
            database(case, finding);
            return;
        }
        "vim" | "vi" | "nvim" | "ex" | "view" | "emacs" | "ed" | "gdb" | "lldb" | "dc" | "m4" | "gvim" | "vimdiff"
        | "vim.basic" | "vim.tiny" | "emacsclient" | "lftp" | "ftp" => {
            editor(case, finding);
            return;
        }
        _ => return,
    };
    for word in &code {
        judge_code(word, case, finding);
    }
    if code.iter().any(|word| starts_programs(&word.text, name)) {
        let last = case.arguments.iter().rposition(|word| code.contains(word)).map_or(0, |at| at + 1);
        handed(case.arguments.get(last..).unwrap_or_default(), case, finding);
    }
    let file = option::operands(case.arguments).next();
    match file.filter(|_| code.is_empty()) {
        Some(file) if is_pipe(file) => {
            finding.critical("an interpreter runs what another command prints");
            judge_code(&Word::exact(printed(file)), case, finding);
        }
        Some(file) if is_input(file) => from_input(case, finding),
        Some(file) => finding.names_file(case.arguments.iter().skip_while(|word| *word != file)),
        None if code.is_empty() => from_input(case, finding),
        None => {}
    }
}

/// What code that starts programs is handed may be what it starts: the words behind it, its input, its variables.
pub(super) fn handed(behind: &[Word], case: &Case<'_>, finding: &mut Finding) {
    for start in 0..behind.len().min(8) {
        finding.may_start(behind.get(start..).unwrap_or_default());
    }
    let lines = behind.iter().filter(|word| word.text.contains(' ')).map(|word| word.text.as_str());
    let variables = case.command.environment.iter().map(|(_, value)| value.text.as_str());
    let fed = fed(case.command).lines();
    let texts: Vec<&str> = lines.take(8).chain(variables.take(8)).chain(fed.take(16)).collect();
    texts.into_iter().for_each(|text| finding.may_run(text));
}

fn from_input(case: &Case<'_>, finding: &mut Finding) {
    match &case.command.input {
        Input::Text(code) => judge_code(code, case, finding),
        Input::Pipe(said) => {
            finding.critical("an interpreter runs what another command prints");
            judge_code(&Word::guess(said.clone().unwrap_or_default()), case, finding);
        }
        Input::Inherited | Input::File => {}
    }
    finding.uncoverable();
}

/// Editors and debuggers that can run commands from their options or their input.
fn editor(case: &Case<'_>, finding: &mut Finding) {
    let runs = |text: &str| {
        let opens_terminal = case.name.contains("vi") && (text.contains("terminal ") || text.contains("term "));
        ["!", "system", "shell", "syscmd"].iter().any(|word| text.contains(word)) || opens_terminal
    };
    let input = fed(case.command);
    if case.arguments.iter().any(|word| runs(&word.text)) || runs(input) {
        finding.critical("it is told to run a command");
        for text in case.arguments.iter().map(|word| word.text.as_str()).chain([input]) {
            strings(text, finding);
            told(text, finding);
            if let Some((_, command)) = text.split_once('!') {
                finding.inner.push(Inner::Script { text: command.to_owned(), input: Input::Inherited });
            }
        }
    }
    finding.uncoverable |= option::has(case.arguments, 'c', "--cmd") || option::has_word(case.arguments, "-ex --eval");
}

/// Clients of databases run the rest of a line that begins with a mark of theirs, and what a table is read from.
fn database(case: &Case<'_>, finding: &mut Finding) {
    let texts = case.arguments.iter().map(|word| word.text.as_str()).chain([fed(case.command)]);
    let statements = texts.flat_map(|text| text.split(['\n', ';'])).map(str::trim_start).take(256);
    for statement in statements {
        let marks = [".shell ", ".system ", "\\!", "!", "system ", "\\setenv PAGER "];
        let marked = marks.iter().find_map(|mark| statement.strip_prefix(*mark));
        let piped = statement.split_once('|').filter(|_| statement.starts_with(['.', '\\'])).map(|(_, rest)| rest);
        let lower = statement.to_ascii_lowercase();
        let is_program =
            lower.split_once("program").is_some_and(|(_, rest)| rest.trim_start().starts_with(['\'', '$']));
        let read = statement.split('\'').nth(1).filter(|_| lower.contains("copy") && is_program);
        for command in [marked, piped, read].into_iter().flatten() {
            finding.critical("it is told to run a command");
            finding.inner.push(Inner::Guess(command.trim_matches([' ', '"', '\'']).to_owned()));
        }
    }
    finding.uncoverable |= option::has(case.arguments, 'c', "--cmd") || option::has_word(case.arguments, "-ex --eval");
}

/// What stands behind words that run the rest of a line.
fn told(text: &str, finding: &mut Finding) {
    for line in text.lines().take(64) {
        for word in TOLD {
            if let Some((_, command)) = line.split_once(word).filter(|_| finding.inner.len() < MOST_COMMANDS) {
                let command = command.trim_start_matches(['`', ' ']).trim_end_matches(['\'', ')', ';']);
                finding.inner.push(Inner::Guess(command.to_owned()));
            }
        }
    }
}

/// Judges code in a language that is not read here. What it does is held by the box as it is for the same code in a
/// file; what is told apart is that it names sensitive files, and what its strings would be if a shell got them.
pub(super) fn judge_code(code: &Word, case: &Case<'_>, finding: &mut Finding) {
    let ground = case.ground;
    if !code.exact {
        finding.critical("it runs code that only the shell will know");
    }
    finding.names.extend(words_of(&code.text).map(Word::guess));
    if let Some(why) = mentions_sensitive(&code.text, ground) {
        finding.critical(format!("the code names a sensitive file: {why}"));
        finding.opens.extend(words_of(&code.text).flat_map(|word| ground.read_by(&Word::guess(word))));
    }
    if starts_programs(&code.text, case.name) {
        strings(&code.text, finding);
        unquoted(&code.text, finding);
    }
}

/// Whether code has a word in it that starts programs. In some languages, a stroke in what is opened does.
fn starts_programs(code: &str, language: &str) -> bool {
    let opens = ["perl", "ruby", "raku", "tclsh", "expect", "wish"].iter().any(|own| language.starts_with(own));
    let reads_from = || code.split_once("open").is_some_and(|(_, behind)| behind.contains('|'));
    STARTS.split_whitespace().any(|word| code.contains(word)) || code.contains('`') || opens && reads_from()
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
    for word in STARTS.split_whitespace() {
        code.split(word).skip(1).for_each(|behind| called_with(behind, finding));
    }
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

/// Strings that other marks stand around than quotes: `qx(…)`, `qw{…}`, `%x[…]`, `[[…]]`.
fn unquoted(code: &str, finding: &mut Finding) {
    let mut found: Vec<&str> =
        code.split("[[").skip(1).filter_map(|behind| behind.split("]]").next()).take(16).collect();
    for (at, mark) in code.match_indices(['q', '%']).take(64) {
        let before = code.get(..at).and_then(|before| before.chars().next_back());
        let behind = code.get(at + mark.len()..).unwrap_or_default();
        let behind = behind.strip_prefix(['x', 'w', 'q', 'r', 'W', 'Q', 'i']).unwrap_or(behind).trim_start();
        let Some(open) = behind.chars().next() else { continue };
        let close = match open {
            '(' => ')',
            '{' => '}',
            '[' => ']',
            '<' => '>',
            '/' | '|' | '!' | '#' | '~' | ',' => open,
            _ => continue,
        };
        if !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            found.extend(behind.strip_prefix(open).and_then(|inside| inside.split(close).next()));
        }
    }
    for text in found {
        let text = text.trim().trim_matches(['|', '-', ' ']);
        if !text.is_empty() && finding.inner.len() < MOST_COMMANDS {
            finding.inner.push(Inner::Guess(text.to_owned()));
        }
    }
}

/// The one string that a call which starts programs is given: there, one word alone is a program.
fn called_with(behind: &str, finding: &mut Finding) {
    let rest = behind.trim_start_matches(|letter: char| letter.is_alphanumeric() || "_.".contains(letter));
    let rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || "([{".contains(letter));
    let Some(quote) = rest.chars().next().filter(|letter| matches!(letter, '\'' | '"' | '`')) else { return };
    let Some(text) = rest.split(quote).nth(1).filter(|text| !text.is_empty()) else { return };
    if !text.contains(char::is_whitespace) && finding.inner.len() < MOST_COMMANDS {
        finding.inner.push(Inner::Guess(text.to_owned()));
    }
}

fn starts(command: &mut String, finding: &mut Finding) {
    let text = std::mem::take(command);
    // A stroke before or behind it says that it is read from or written to.
    let text = text.trim().trim_matches(['|', '-', ' ']);
    if text.contains(' ') && finding.inner.len() < MOST_COMMANDS {
        finding.inner.push(Inner::Guess(text.to_owned()));
    }
}
