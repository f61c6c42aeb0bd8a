//! Every command line in the documents is one that Neco reads.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::args::CommandLine;

#[test]
fn every_line_in_the_documents_can_be_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut read_ones = 0;
    for file in documents(&root) {
        let text = fs::read_to_string(&file).unwrap();
        for line in lines_of(&text) {
            let words: Vec<OsString> = shell_words(&line).into_iter().map(OsString::from).collect();
            if let Err(error) = CommandLine::read(words) {
                assert_eq!(error.exit_code(), 0, "{}: {line}\n{error}", file.display());
            }
            read_ones += 1;
        }
    }
    assert!(read_ones > 30, "only {read_ones} lines were found");
}

#[test]
fn lines_are_found_in_documents() {
    let text = "`neco a b`\n```\nneco run TEXT\nneco -m \"x y\"   says so\ngit diff | neco -p z # ok\nls\n```\n";
    assert_eq!(lines_of(text), ["neco -m \"x y\"", "neco -p z"]);
    assert_eq!(shell_words("neco -m \"x y\" 'a \"b'"), ["neco", "-m", "x y", "a \"b"]);
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.join("README.md")];
    for folder in ["docs", "docs/reference", "docs/safety"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    found
}

/// The command lines in the code blocks of a document; what stands between backticks is named, not run.
fn lines_of(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim_start().starts_with("```") {
            true => in_code = !in_code,
            false if in_code => lines.extend(line_in(line)),
            false => {}
        }
    }
    lines
}

/// The command line of Neco in a line, without what is said of it; none where something stands for something else.
fn line_in(text: &str) -> Option<String> {
    let text = text.trim_start().rsplit("| ").find(|part| part.starts_with("neco "))?;
    let text = ["  ", " #", " > ", " | ", " <", " && ", "; "]
        .iter()
        .fold(text, |text, end| text.split(end).next().unwrap_or(text));
    let stands_for = |word: &str| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        let is_name = word.len() > 1 && word.chars().all(|char| char.is_ascii_uppercase());
        is_name || (word.len() == 1 && word.chars().all(|char| char.is_ascii_uppercase()))
    };
    let plain = !text.contains(['…', '[', '\\']) && !text.split([' ', '=']).any(stands_for);
    plain.then(|| text.trim_end().to_owned())
}

fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for char in line.chars() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}
