//! Whether a command is on the list, with options on the list, and paths it may look at.

use super::git;
use super::table::{self, Operands, Safe};
use crate::command::environment::Effect;
use crate::command::examined::Word;
use crate::command::finding::{Finding, Input};
use crate::command::ground::Ground;
use crate::command::pattern;
use crate::command::program::{Case, is_harmless_script, looks_up, prints_into_variable, sets};
use crate::listed::is_listed;

/// Whether a command only looks, at what it may look at.
pub(crate) fn check(case: &Case<'_>) -> bool {
    match case.name {
        "git" => git::check(case),
        "find" => find(case),
        "sed" => sed(case),
        "awk" | "gawk" | "mawk" => awk(case),
        "test" | "[" | "[[" => {
            !looks_up(case) && case.arguments.iter().all(|word| !word.text.contains(['`']) && !word.text.contains("$("))
        }
        "printf" => !case.arguments.is_empty() && !prints_into_variable(case),
        "command" => matches!(case.arguments, [option, _] if matches!(option.text.as_str(), "-v" | "-V")),
        "cd" => moves(case),
        "set" => {
            const HARMLESS: &str = "-e -u -x -o -eu -ex -eux -euo -euxo pipefail +e +x errexit \
                nounset";
            !case.arguments.is_empty() && case.arguments.iter().all(|word| is_listed(&word.text, HARMLESS))
        }
        "export" | "local" | "declare" | "readonly" | "typeset" => declares(case),
        // Without a dash, `e` shows the environment of every process.
        "ps" if case
            .arguments
            .iter()
            .any(|word| !word.exact || !word.text.starts_with('-') && word.text.contains('e')) =>
        {
            false
        }
        // It takes the name of a variable, too.
        "wait" if case.arguments.iter().any(|word| !word.exact) => false,
        "jq" if case.arguments.iter().any(|word| reads_more(&word.text)) => false,
        "read" => {
            case.arguments.iter().all(|word| word.text == "-r" || !word.text.starts_with('-')) && sets_harmless(case)
        }
        "date" if case.arguments.iter().any(|word| !word.text.starts_with(['-', '+']) || may_split(word)) => false,
        _ if asks_version(case) => true,
        name => table::find(name).is_some_and(|safe| listed(&safe, case)),
    }
}

/// `cargo --version` and its like, for programs known to answer it and nothing else.
fn asks_version(case: &Case<'_>) -> bool {
    const PROGRAMS: &str = "cargo rustc node npm yarn pnpm python python3 pip pip3 go java ruby gcc clang make cmake \
        docker bash git rustup tsc";
    let asks = matches!(case.arguments, [word] if word.exact && matches!(word.text.as_str(), "--version" | "-V"));
    let java = case.name == "java" && matches!(case.arguments, [word] if word.text == "-version");
    let go = case.name == "go" && matches!(case.arguments, [word] if word.text == "version");
    is_listed(case.name, PROGRAMS)
        && (asks || java || go)
        && (case.name != "bash" || case.arguments.iter().all(|word| word.text == "--version"))
}

fn moves(case: &Case<'_>) -> bool {
    let mut operands = case.arguments.iter().filter(|word| !matches!(word.text.as_str(), "--" | "-L"));
    let target = operands.next();
    operands.next().is_none() && target.is_none_or(|word| !word.text.starts_with('-') || word.text == "-")
}

/// Whether a program for jq may read the environment or other files.
fn reads_more(program: &str) -> bool {
    ["env", "ENV", "import", "include", "input_filename", "getpath", "debug", "halt"]
        .iter()
        .any(|word| program.contains(word))
}

/// Setting harmless variables; printing all of them is not harmless.
fn declares(case: &Case<'_>) -> bool {
    let is_name = |word: &Word| !word.text.starts_with(['-', '+']);
    case.arguments.iter().all(|word| matches!(word.text.as_str(), "-x" | "-r" | "-g" | "-a" | "-A") || is_name(word))
        && case.arguments.iter().any(is_name)
        && sets_harmless(case)
}

fn sets_harmless(case: &Case<'_>) -> bool {
    sets(case, &mut Finding::new()) == Effect::Harmless
}

/// Whether the shell may make other words of it than the one that stands there.
fn may_split(word: &Word) -> bool {
    !word.exact && word.splits
}

fn listed(safe: &Safe, case: &Case<'_>) -> bool {
    let Some(split) = split(safe, case) else { return false };
    let ground = case.ground;
    if split.operands.iter().any(|word| may_be_option(word)) && has_reaching_options(case.name) {
        return false;
    }
    match safe.operands {
        Operands::None => split.operands.is_empty(),
        Operands::Text => !split.operands.iter().any(|word| word.pattern && ground.is_outside(word)),
        Operands::Names => ground.is_home_ground() && split.operands.iter().all(|word| may_name(word, ground)),
        Operands::Contents => ground.is_home_ground() && split.operands.iter().all(|word| may_read(word, ground)),
        Operands::OneContents => {
            ground.is_home_ground()
                && split.operands.len() <= 1
                && split.operands.iter().all(|word| may_read(word, ground))
        }
        Operands::PatternThenContents => {
            let skipped = usize::from(!split.gives_pattern);
            let files = split.operands.get(skipped..).unwrap_or_default();
            // What only the shell will know may turn out to be an option.
            if split.operands.iter().take(skipped).any(|word| !word.exact && !split.ended) {
                return false;
            }
            // Without files it reads its input, or the folder: `rg` leaves hidden files out, `grep` has no `-r` here.
            let folder_ok =
                case.name == "rg" || !files.is_empty() || case.command.input != Input::Inherited || case.name == "jq";
            ground.is_home_ground() && folder_ok && files.iter().all(|word| may_read(word, ground))
        }
    }
}

struct Split<'a> {
    operands: Vec<&'a Word>,
    /// Whether an option already gave the pattern.
    gives_pattern: bool,
    /// Whether `--` stands before the first operand.
    ended: bool,
}

/// Tells options from operands; none when an option is not on the list.
fn split<'a>(safe: &Safe, case: &Case<'a>) -> Option<Split<'a>> {
    let mut split = Split { operands: Vec::new(), gives_pattern: false, ended: false };
    let mut rest = case.arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if safe.operands == Operands::Text && safe.letters.is_empty() {
            split.operands.push(word);
        } else if text == "--" {
            split.ended = split.operands.is_empty();
            split.operands.extend(rest.by_ref());
            split.ended &= !split.operands.iter().any(|word| may_split(word));
        } else if let Some(long) = text.strip_prefix("--") {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            (word.exact && is_listed(name, safe.long)).then_some(())?;
            (!matches!(name, "glob" | "iglob") || long.split_once('=').is_some_and(|(_, glob)| is_plain_glob(glob)))
                .then_some(())?;
            split.gives_pattern |= matches!(name, "regexp" | "files" | "type-list");
        } else if case.name == "rg" && text == "-g" {
            rest.next().filter(|glob| glob.exact && is_plain_glob(&glob.text))?;
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            // `echo` prints what it does not know, and `ps` and `tr` take anything that looks like one.
            if !word.exact && safe.operands != Operands::Text {
                return None;
            }
            split.gives_pattern |= letters.contains('e') && case.name != "jq";
            match value_letter(safe, letters) {
                None if safe.operands == Operands::Text && matches!(case.name, "echo" | "tr" | "expr") => {}
                None => return None,
                Some(takes_next) if takes_next => {
                    rest.next().filter(|value| !may_split(value))?;
                }
                Some(_) => {}
            }
        } else {
            split.operands.push(word);
        }
    }
    Some(split)
}

/// Globs for `rg` that find no hidden file: what one of them finds is read though it is hidden.
fn is_plain_glob(glob: &str) -> bool {
    const KINDS: &str =
        "rs toml py js mjs ts tsx jsx go java kt swift c h cc cpp hpp cs rb php html css scss md txt sql sh";
    glob.starts_with('!') || glob.strip_prefix("*.").is_some_and(|kind| is_listed(kind, KINDS))
}

/// Whether the last letter takes the next word; none when a letter is not on the list.
fn value_letter(safe: &Safe, letters: &str) -> Option<bool> {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        if safe.valued.contains(letter) {
            return Some(rest.as_str().is_empty());
        }
        if !safe.letters.contains(letter) {
            return None;
        }
    }
    Some(false)
}

/// Whether a pattern may find a file whose name reads as an option.
pub(super) fn may_be_option(word: &Word) -> bool {
    word.pattern && word.text.starts_with(['*', '?', '['])
}

/// Programs on the list that have options, not on the list, which write or run.
fn has_reaching_options(name: &str) -> bool {
    matches!(name, "sort" | "rg" | "uniq" | "tree" | "file" | "jq" | "date" | "column" | "diff")
}

/// Whether the names of files there may be told.
pub(super) fn may_name(word: &Word, ground: &Ground<'_>) -> bool {
    (word.exact || word.pattern && !pattern::may_climb(&word.text)) && !ground.is_outside(word)
}

/// Whether the contents of files there may be told.
pub(super) fn may_read(word: &Word, ground: &Ground<'_>) -> bool {
    word.text == "-"
        || may_name(word, ground)
            && ground.unread(word).is_none()
            && !(word.pattern && pattern::may_find_sensitive(&word.text))
}

fn find(case: &Case<'_>) -> bool {
    const TESTS: &str = "-name -iname -path -ipath -wholename -regex -iregex -type -size -mtime -mmin -atime -amin \
        -ctime -cmin -newer -maxdepth -mindepth -empty -not -a -o -and -or -print -print0 -printf -prune -perm -user \
        -group -depth -xdev -mount -ls -quit -readable -executable -writable -links -regextype -daystart -L -H";
    let mut in_tests = false;
    case.ground.is_home_ground()
        && case.arguments.iter().all(|word| {
            let text = word.text.as_str();
            in_tests |= text.starts_with('-') && !matches!(text, "-L" | "-H" | "-P") || matches!(text, "(" | "!");
            if text.starts_with('-')
                && !text.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_digit())
            {
                word.exact && is_listed(text, TESTS)
            } else {
                (word.exact || word.pattern) && !may_be_option(word) && (in_tests || may_name(word, case.ground))
            }
        })
}

fn sed(case: &Case<'_>) -> bool {
    let mut scripts = Vec::new();
    let mut files = Vec::new();
    let mut rest = case.arguments.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-n" | "-E" | "-r" | "-nE" | "-nr" | "-En" | "-u" | "-s" | "-z" | "--quiet" | "--silent"
            | "--regexp-extended" => {}
            "-e" | "-ne" | "-Ee" => scripts.extend(rest.next()),
            text if text.starts_with('-') && text != "-" => return false,
            _ => files.push(word),
        }
    }
    if scripts.is_empty() && !files.is_empty() {
        scripts.push(files.remove(0));
    }
    let harmless = |word: &&Word| word.exact && is_harmless_script(&word.text);
    case.ground.is_home_ground()
        && !scripts.is_empty()
        && scripts.iter().all(harmless)
        && files.iter().all(|word| may_read(word, case.ground) && !may_be_option(word))
}

fn awk(case: &Case<'_>) -> bool {
    let mut operands = Vec::new();
    let mut rest = case.arguments.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-F" | "-v" => drop(rest.next()),
            text if text.starts_with("-F") || text.starts_with("-v") => {}
            text if text.starts_with('-') && text != "-" => return false,
            _ => operands.push(word),
        }
    }
    let Some((program, files)) = operands.split_first() else { return false };
    let reaches_out = [
        "system", "|", ">", "getline", "@", "close", "fflush", "ENVIRON", "<", "ARGV", "ARGC", "ARGIND", "SYMTAB",
        "FUNCTAB", "PROCINFO", "\\\n",
    ];
    program.exact
        && !case.arguments.iter().any(may_split)
        && !reaches_out.iter().any(|word| program.text.contains(word))
        && case.ground.is_home_ground()
        && files.iter().all(|word| may_read(word, case.ground) && !may_be_option(word))
}
