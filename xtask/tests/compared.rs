//! What the code compares texts with: a vendor's words, a file's syntax, and none of our own sentences.
//!
//! `compared.txt` lists every text of several words with the file that looks for it, below the reason. Single words and
//! signs are syntax; a folder or a file of them has one line.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the repository and may panic")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use support::{crates, files, none, read, short, stem};

/// Methods that look for a text in another.
const METHODS: [&str; 9] = [
    ".contains(",
    ".starts_with(",
    ".ends_with(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".split_once(",
    ".rsplit_once(",
    ".find(",
    ".eq_ignore_ascii_case(",
];

#[test]
fn every_text_that_is_compared_is_listed_with_its_reason() {
    let list = List::read(&read("xtask/tests/compared.txt"));
    let found = found();
    let sentences: BTreeSet<String> = found.iter().filter(|(_, text)| is_sentence(text)).map(line).collect();
    let unlisted = sentences.difference(&list.sentences).cloned().collect::<Vec<_>>();
    none("texts that are compared and not listed in xtask/tests/compared.txt with a reason", &unlisted);
    let gone = list.sentences.difference(&sentences).cloned().collect::<Vec<_>>();
    none("texts in xtask/tests/compared.txt that nothing is compared with any more", &gone);

    let words: BTreeSet<&String> = found.iter().filter(|(_, text)| !is_sentence(text)).map(|(path, _)| path).collect();
    let covers =
        |place: &String, path: &str| path == place || (place.ends_with('/') && path.starts_with(place.as_str()));
    let uncovered = words.iter().filter(|path| !list.places.iter().any(|place| covers(place, path)));
    none(
        "files that compare words and are in no place of xtask/tests/compared.txt",
        &uncovered.map(ToString::to_string).collect::<Vec<_>>(),
    );
    let needless = list.places.iter().filter(|place| !words.iter().any(|path| covers(place, path)));
    none(
        "places in xtask/tests/compared.txt where no word is compared any more",
        &needless.cloned().collect::<Vec<_>>(),
    );
}

#[test]
fn the_rules_can_fail() {
    let constants = BTreeMap::from([("TOLD".to_owned(), "we said so".to_owned())]);
    let text = "//! x.contains(\"no\")\nif a.contains(\"two words\") || b.find(Words::TOLD) == \"c\" {}\n\
                let d = e.strip_prefix(\n    b\"f \\\" g\",\n);\nlet h = i.contains('j') != k;\n\
                #[cfg(test)]\nmod tests {\n    x.contains(\"a test\");\n}\n";
    assert_eq!(compared(text, &constants), ["two words", "f \\\" g", "we said so", "c"]);
    assert!(is_sentence("two words") && is_sentence("Run ") && !is_sentence("word") && !is_sentence("- "));
    assert_eq!(test_modules("mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)]\n#[path = \"x\"]\nmod c;\n"), ["b", "c"]);
    let list = List::read("# A reason\na/b.rs: \"two words\"\nc/\n");
    assert_eq!((list.sentences.len(), list.places), (1, BTreeSet::from(["c/".to_owned()])));
}

#[test]
#[should_panic(expected = "no reason")]
fn a_list_without_reasons_is_none() {
    List::read("a/b.rs: \"two words\"\n");
}

/// What `compared.txt` says.
struct List {
    sentences: BTreeSet<String>,
    places: BTreeSet<String>,
}

impl List {
    fn read(text: &str) -> Self {
        let (mut sentences, mut places) = (BTreeSet::new(), BTreeSet::new());
        let mut reason = "";
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("# ") {
                Some(words) => reason = words,
                None => {
                    assert!(!reason.is_empty(), "no reason for {line}");
                    let list = if line.contains(".rs: \"") { &mut sentences } else { &mut places };
                    assert!(list.insert(line.to_owned()), "{line} is there twice");
                }
            }
        }
        Self { sentences, places }
    }
}

fn line((path, text): &(String, String)) -> String {
    format!("{path}: \"{text}\"")
}

/// Every text that the crates compare something with outside of tests, with the file.
fn found() -> Vec<(String, String)> {
    let product = crates().into_iter().filter(|each| each.name != "neco-testkit");
    let sources: Vec<PathBuf> = product.flat_map(|each| files(&each.folder.join("src"), "rs")).collect();
    let texts: Vec<(&PathBuf, String)> =
        sources.iter().map(|path| (path, std::fs::read_to_string(path).unwrap())).collect();
    let tests: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| test_files(path, text)).collect();
    let named = |(path, text): &(&PathBuf, String)| (owner(path), constants(text).into_iter().collect());
    let mut by_crate: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (owner, constants) in texts.iter().map(named) {
        by_crate.entry(owner).or_default().extend::<BTreeMap<_, _>>(constants);
    }
    let all: BTreeMap<String, String> =
        by_crate.values().flatten().map(|(name, text)| (name.clone(), text.clone())).collect();
    let mut found = Vec::new();
    let is_test = |path: &Path| stem(path).ends_with("tests") || tests.iter().any(|test| path.starts_with(test));
    for (path, text) in texts.iter().filter(|(path, _)| !is_test(path)) {
        let near = by_crate.get(&owner(path)).cloned().unwrap_or_default();
        let known = all.clone().into_iter().chain(near).chain(constants(text)).collect();
        found.extend(compared(text, &known).into_iter().map(|text| (short(path), text)));
    }
    assert!(found.len() > 100, "the comparisons were not found");
    found
}

/// The crate of a file.
fn owner(path: &Path) -> String {
    short(path).split('/').nth(1).unwrap_or_default().to_owned()
}

/// The files and folders of the modules that a file has for its tests only.
fn test_files(path: &Path, text: &str) -> Vec<PathBuf> {
    let is_heading = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| path.ends_with(name));
    let folder = if is_heading { path.parent().unwrap().to_path_buf() } else { path.with_extension("") };
    let both = |name: &str| [folder.join(name), folder.join(format!("{name}.rs"))];
    test_modules(text).into_iter().flat_map(both).collect()
}

fn test_modules(text: &str) -> Vec<&str> {
    let mut lines = text.lines().map(str::trim);
    let mut found = Vec::new();
    while lines.by_ref().any(|line| line == "#[cfg(test)]") {
        let item = lines.by_ref().find(|line| !line.starts_with("#[")).unwrap_or_default();
        found.extend(item.rsplit_once("mod ").and_then(|(_, name)| name.strip_suffix(';')));
    }
    found
}

/// The texts that a file gives a name to.
fn constants(text: &str) -> Vec<(String, String)> {
    let constant = |line: &str| {
        let (head, value) = line.split_once(" = ")?;
        let (name, kind) = head.split_once("const ")?.1.split_once(": ")?;
        kind.contains("str").then_some((name.to_owned(), literal(value)?))
    };
    text.lines().filter_map(constant).collect()
}

/// What a file compares something with, outside of its tests.
fn compared(text: &str, constants: &BTreeMap<String, String>) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    // A bare name is one of the file, or one that it says to use.
    let is_known = |name: &str| {
        let says = |line: &str| line.starts_with("use ") || line.contains("const ");
        text.lines().any(|line| says(line) && line.contains(name))
    };
    let mut found = Vec::new();
    for sign in METHODS.iter().copied().chain(["== ", "!= "]) {
        let arguments = code.match_indices(sign).map(|(at, sign)| code.get(at + sign.len()..).unwrap().trim_start());
        found.extend(arguments.filter_map(|rest| {
            let named = || {
                let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_' && char != ':')?;
                let path = rest.get(..end)?;
                let name = path.rsplit("::").next()?;
                constants.get(name).filter(|_| path != name || is_known(name)).cloned()
            };
            literal(rest.strip_prefix('&').unwrap_or(rest)).or_else(named)
        }));
    }
    found
}

/// The text that some code begins with, as it is written.
fn literal(code: &str) -> Option<String> {
    let inner = code.strip_prefix('b').unwrap_or(code).strip_prefix('"')?;
    let mut escaped = false;
    let end = inner.find(|char| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends
    })?;
    inner.get(..end).map(str::to_owned)
}

fn is_sentence(text: &str) -> bool {
    text.contains(char::is_alphabetic) && text.contains(' ')
}
