//! The files that a command gives to a script and does not run: they may change, and the hook is still the same.
//!
//! Whoever trusts a script trusts what it does with its arguments. So this is about the plain case only: the command is
//! a script by its path, or an interpreter right before one, and a file behind it has an ending of data. Wherever else
//! the same name stands in the command, it counts.

use std::collections::BTreeSet;

use neco_safety::command::{Part, Word};

/// Programs that run the file that is their first argument.
const INTERPRETERS: [&str; 13] =
    ["sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "bun", "ruby", "perl", "php", "lua"];

/// Endings of files that hold data.
const DATA: [&str; 11] = ["csv", "db", "ini", "json", "jsonl", "md", "toml", "txt", "xml", "yaml", "yml"];

/// The names of such files in a command that was taken apart.
pub(super) fn of(command: &str, parts: &[Part]) -> BTreeSet<String> {
    let given = parts.iter().flat_map(|part| behind_script(&part.words)).filter(|word| word.exact);
    let names = given.map(|word| name(&word.text)).filter(|name| is_data(name));
    // One that is named twice may be run where it stands elsewhere.
    names.filter(|name| command.matches(*name).count() == 1).map(str::to_owned).collect()
}

/// The arguments of the script that a command runs.
fn behind_script(words: &[Word]) -> &[Word] {
    let [program, rest @ ..] = words else { return &[] };
    if !program.exact || is_data(&program.text) {
        return &[];
    }
    let is_interpreter = program.text.rsplit('/').next().is_some_and(|name| INTERPRETERS.contains(&name));
    match rest {
        [script, given @ ..] if is_interpreter && is_script(script) => given,
        _ if is_interpreter => &[],
        _ if program.text.contains('/') && !program.text.starts_with('/') => rest,
        _ => &[],
    }
}

fn is_script(word: &Word) -> bool {
    word.exact && !word.text.starts_with('-') && !is_data(&word.text)
}

/// What a word names: `data.json`, also in `--file=data.json`.
fn name(word: &str) -> &str {
    word.rsplit('=').next().unwrap_or(word)
}

fn is_data(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| DATA.contains(&ending.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use neco_safety::command::{Place, examine};

    fn given(command: &str) -> Vec<String> {
        super::of(command, &examine(command, &Place::new("/")).parts).into_iter().collect()
    }

    #[test]
    fn what_a_script_is_given_is_told_from_what_is_run() {
        for command in [
            "hooks/check.sh data.json",
            "./check.sh --fast --file=data.json",
            "python3 hooks/check.py data.json",
            "/bin/sh hooks/check.sh data.json | cat",
        ] {
            assert_eq!(given(command), ["data.json"], "{command}");
        }
        for command in [
            "sh data.json",
            "sh -x data.json",
            "python3 -m tool data.json",
            "/usr/bin/odd data.json",
            "make data.json",
            "hooks/check.sh data.json; sh data.json",
            "hooks/check.sh other.sh",
            "hooks/check.sh $FILE.json",
            "cat data.json | hooks/check.sh",
        ] {
            assert!(given(command).is_empty(), "{command}: {:?}", given(command));
        }
    }
}
