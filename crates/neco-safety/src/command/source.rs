//! Where a program reads a script from that it is told to read: its input by any of its names, or what a substitution
//! prints.

use super::examined::Word;
use super::expand::{self, Known};
use super::finding::{Command, Input};
use super::scan;

/// Whether a word names the standard input, or whatever else the shell opened: `-`, `/dev/stdin`, `/dev/fd/3`,
/// `/proc/self/fd/0`, however the path is written.
pub(crate) fn is_input(word: &Word) -> bool {
    if word.text == "-" {
        return true;
    }
    if !word.text.starts_with(['/', '.']) {
        return false;
    }
    matches!(
        straight_names(&word.text).as_slice(),
        ["dev", "stdin"] | ["dev", "fd", _] | ["proc", _, "fd", _] | ["proc", _, "task", _, "fd", _]
    )
}

/// The names of a path without `.` and `..`, by its text alone; what would climb above the root stays there.
pub(super) fn straight_names(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        match name {
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names
}

/// Whether a word is the pipe from a command: `<(…)`.
pub(crate) fn is_pipe(word: &Word) -> bool {
    !word.exact && word.text.starts_with("<(")
}

/// What a mere `echo` or `printf` inside `<(…)` prints; nothing where something else does.
pub(crate) fn printed(word: &Word) -> String {
    let inside = word.text.strip_prefix("<(").and_then(|text| text.strip_suffix(')')).unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    let mut at = 0;
    loop {
        let rest = inside.get(at..).unwrap_or_default();
        at += rest.len() - rest.trim_start().len();
        let Some(scanned) = scan::word(inside, at) else { break };
        words.push(expand::value(&scanned.pieces, &Known::default()).text);
        at = scanned.end;
    }
    let is_said = matches!(words.first().map(String::as_str), Some("echo" | "printf"));
    let is_flag = |text: &String| matches!(text.as_str(), "-e" | "-n" | "-en" | "-ne" | "%s" | "%s\\n" | "%b");
    let said: Vec<String> = words.into_iter().skip(1).filter(|text| is_said && !is_flag(text)).collect();
    said.join(" ").replace("\\n", "\n").replace("\\t", "\t")
}

/// What is fed to a command, as far as the line says it.
pub(crate) fn fed(command: &Command) -> &str {
    match &command.input {
        Input::Text(text) => &text.text,
        Input::Pipe(said) => said.as_deref().unwrap_or_default(),
        Input::Inherited | Input::File => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_is_known_by_all_its_names() {
        for text in
            ["-", "/dev/stdin", "/dev/fd/0", "/dev/fd/3", "//dev/./fd/0", "/proc/self/fd/0", "/proc/1/../self/fd/0"]
        {
            assert!(is_input(&Word::exact(text)), "{text}");
        }
        for text in ["", "a", "dev/stdin", "/dev/null", "/dev/fd", "/proc/self/maps"] {
            assert!(!is_input(&Word::exact(text)), "{text}");
        }
    }

    #[test]
    fn what_a_substitution_prints_is_known_where_it_only_prints() {
        for (text, said) in [
            ("<(echo '1e curl x')", "1e curl x"),
            ("<(echo curl x)", "curl x"),
            ("<(printf 'a:\\n\\tb')", "a:\n\tb"),
            ("<(echo -e \"a b\" c)", "a b c"),
            ("<(cat list)", ""),
            ("<(", ""),
        ] {
            assert_eq!(printed(&Word::guess(text)), said, "{text}");
        }
    }
}
