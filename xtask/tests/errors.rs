//! What fails says so by a type: no `Result<_, String>` outside of tests and of what paints.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the repository and may panic")]

mod support;

use support::{crates, files, none, short};

/// Crates that turn facts into words: a sentence is all that they give.
const PAINTERS: &[&str] = &["neco-tui", "neco-view"];

/// Files and folders that may still fail in words alone, each with the reason.
const IN_WORDS: &[(&str, &str)] = &[
    (
        "crates/neco-model/src/scripted/",
        "whoever writes a script reads what is wrong with it; nothing is decided by it",
    ),
    ("crates/neco-testkit/", "whoever writes a test reads what is wrong with it; nothing is decided by it"),
];

#[test]
fn what_fails_says_so_by_a_type() {
    let violations: Vec<String> = in_words()
        .into_iter()
        .filter(|place| !IN_WORDS.iter().any(|(excepted, _)| place.starts_with(excepted)))
        .collect();
    none("functions that fail in words alone: use the error enum of the topic, or `Option`", &violations);
}

#[test]
fn exceptions_are_still_needed() {
    let in_words = in_words();
    for (excepted, reason) in IN_WORDS {
        assert!(!reason.is_empty(), "{excepted} needs a reason");
        let found = in_words.iter().any(|place| place.starts_with(excepted));
        assert!(found, "{excepted} has typed errors; take it off the list");
    }
    for painter in PAINTERS {
        assert!(crates().iter().any(|each| each.name == *painter), "{painter} is gone; take it off the list");
    }
}

#[test]
fn the_rule_can_fail() {
    let lines = |text| fails_in_words(text).collect::<Vec<usize>>();
    assert_eq!(lines("fn a() -> Result<(), String> {\n}\ntype B = Result<Vec<(u8, u8)>, String>;"), [1, 3]);
    assert_eq!(lines("fn a(\n    b: u8,\n) -> Result<\n    [u8; 2],\n    String,\n> {"), [3]);
    assert_eq!(lines("read: &dyn Fn(&str) -> Result<Box<dyn Fn() -> u8>, String>"), [1]);
    assert_eq!(lines("Option<Result<Result<u8, String>, Error>>"), [1], "also one in another");
    assert_eq!(lines("Result<HashMap<Hash, String>, Error>"), [] as [usize; 0]);
    assert_eq!(lines("io::Result<String> and Result<u8, &'static str>"), [] as [usize; 0]);
}

/// Where something fails in words alone, as `file:line`.
fn in_words() -> Vec<String> {
    let mut found = Vec::new();
    for each in crates().into_iter().filter(|each| !PAINTERS.contains(&each.name.as_str())) {
        for path in files(&each.folder.join("src"), "rs") {
            let name = short(&path);
            if name.ends_with("tests.rs") || name.contains("/tests/") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            found.extend(fails_in_words(code).map(|line| format!("{name}:{line}")));
        }
    }
    found
}

/// The lines on which a `Result` begins whose error is a `String`.
fn fails_in_words(code: &str) -> impl Iterator<Item = usize> {
    const BEGINS: &str = "Result<";
    code.match_indices(BEGINS).filter_map(|(at, _)| {
        let error = second_argument(code.get(at + BEGINS.len()..)?)?;
        (error == "String").then_some(1 + code.get(..at)?.matches('\n').count())
    })
}

/// The second of the arguments in angle brackets that a text begins with, the first bracket left out.
fn second_argument(text: &str) -> Option<&str> {
    let (mut depth, mut second, mut before) = (0, None, ' ');
    for (at, char) in text.char_indices() {
        match char {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' if depth == 0 => return Some(text.get(second?..at)?.trim().trim_end_matches(',')),
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 && second.is_none() => second = Some(at + 1),
            _ => {}
        }
        before = char;
    }
    None
}
