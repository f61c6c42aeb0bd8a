//! Interpreters of other languages with code on the line.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner, Input};
use crate::command::ground::Ground;
use crate::command::option;

/// Words in code that start programs, delete, or open the net. Rough, and only ever raises the risk.
const DANGEROUS: [&str; 45] = [
    "system",
    "popen",
    "subprocess",
    "exec",
    "spawn",
    "fork",
    "eval",
    "child_process",
    "shell",
    "rmtree",
    "unlink",
    "rmdir",
    "remove(",
    "removedirs",
    "rmSync",
    "fs.rm",
    "rm(",
    "rm_rf",
    "rm_r",
    "delete",
    "truncate",
    "chmod",
    "chown",
    "kill",
    "socket",
    "urllib",
    "requests",
    "http",
    "fetch(",
    "connect",
    "ctypes",
    "__import__",
    "importlib",
    "getattr",
    "base64",
    "decode(",
    "fromCharCode",
    "pickle",
    "marshal",
    "compile(",
    "qx",
    "Deno.run",
    "Deno.Command",
    "os.remove",
    "shutil",
];

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
    finding.uncoverable |= !code.is_empty();
    let reads_input = |word: &Word| matches!(word.text.as_str(), "-" | "/dev/stdin");
    if code.is_empty() && option::operands(case.arguments).next().is_none_or(reads_input) {
        from_input(case, finding);
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

/// Judges code in a language that is not read here: by its words, and by its strings as if a shell got them.
pub(super) fn judge_code(code: &Word, ground: &Ground<'_>, finding: &mut Finding) {
    if !code.exact {
        finding.critical("it runs code that only the shell will know");
    }
    finding.names.extend(words_of(&code.text).map(Word::guess));
    if let Some(why) = mentions_sensitive(&code.text, ground) {
        finding.critical(format!("the code names a sensitive file: {why}"));
        finding.opens.extend(words_of(&code.text).flat_map(|word| ground.read_by(&Word::guess(word))));
    }
    if DANGEROUS.iter().any(|word| code.text.contains(word)) || code.text.contains('`') {
        finding.critical("the code starts programs, deletes, or reaches out");
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

/// Every string in code is read as a command: what it would start decides no less than if it stood here.
fn strings(code: &str, finding: &mut Finding) {
    for quote in ['\'', '"', '`'] {
        for text in code.split(quote).skip(1).step_by(2).filter(|text| text.contains(' ')).take(8) {
            finding.inner.push(Inner::Script { text: text.to_owned(), input: Input::Inherited });
        }
    }
}
