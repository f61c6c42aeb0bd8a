//! A type lives in one place: its `impl` blocks lie in at most two files.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the repository and may panic")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::{crates, files, none, short};

/// In more files a type is scattered: there are several types in it.
const MOST_FILES: usize = 2;

/// Types that are still scattered, by crate, each with the reason.
const SCATTERED: &[(&str, &str, &str)] = &[
    ("neco-agent", "Scheduler", "one file for each step in the life of a call, over one list of calls"),
    ("neco-sandbox", "Drawing", "the layout of a box is drawn from three kinds of places"),
    ("neco-safety", "Policy", "one file for each question that rules answer, over one set of rules"),
    ("neco-session", "AgentSupervisor", "one file for each thing that happens in the tree, all of it under one lock"),
];

#[test]
fn the_impl_blocks_of_a_type_lie_in_at_most_two_files() {
    let excepted = |name: &str, of: &str| SCATTERED.iter().any(|(krate, known, _)| *krate == of && *known == name);
    let violations: Vec<String> = scattered()
        .into_iter()
        .filter(|(of, name, _)| !excepted(name, of))
        .map(|(of, name, files)| format!("{of}: {name} in {}", files.into_iter().collect::<Vec<_>>().join(", ")))
        .collect();
    none("types whose impl blocks lie in more than two files: find the types in them", &violations);
}

#[test]
fn exceptions_are_still_needed() {
    let scattered = scattered();
    for (of, name, reason) in SCATTERED {
        assert!(!reason.is_empty(), "{of}: {name} needs a reason");
        let found = scattered.iter().any(|(krate, known, _)| krate == of && known == name);
        assert!(found, "{of}: {name} is in one place; take it off the list");
    }
}

#[test]
fn the_rule_can_fail() {
    assert_eq!(implemented("impl Agent {"), Some("Agent"));
    assert_eq!(implemented("impl<'a, T: Into<Vec<u8>>> Talk<'a, T> {"), Some("Talk"));
    assert_eq!(implemented("impl super::Agent {"), Some("Agent"));
    assert_eq!(implemented("impl Drop for Agent {"), None);
    assert_eq!(implemented("    impl Agent {"), None);
    assert_eq!(defined("pub(super) struct Talk<'a> {"), Some("Talk"));
    assert_eq!(defined("enum Making {"), Some("Making"));
    assert_eq!(defined("fn make() {"), None);
}

/// The types of each crate whose impl blocks lie in too many files, where types of the same name share theirs.
fn scattered() -> Vec<(String, String, BTreeSet<String>)> {
    let mut found = Vec::new();
    for each in crates() {
        let mut blocks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut types: BTreeMap<String, usize> = BTreeMap::new();
        for path in files(&each.folder.join("src"), "rs") {
            let name = short(&path);
            if name.ends_with("tests.rs") || name.contains("/tests/") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            for line in code.lines() {
                if let Some(of) = implemented(line) {
                    blocks.entry(of.to_owned()).or_default().insert(name.clone());
                }
                if let Some(of) = defined(line) {
                    *types.entry(of.to_owned()).or_default() += 1;
                }
            }
        }
        let too_many =
            |(of, files): &(String, BTreeSet<String>)| files.len() > MOST_FILES * types.get(of).copied().unwrap_or(1);
        found.extend(blocks.into_iter().filter(too_many).map(|(of, files)| (each.name.clone(), of, files)));
    }
    found
}

/// The type that a line opens an inherent impl block of.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let head = rest.split('{').next()?;
    if head.contains(" for ") {
        return None;
    }
    let mut depth = 0;
    let after_generics = head.find(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c == ' '
    })?;
    let path = head.get(after_generics..)?.trim();
    let path = path.split(['<', ' ']).next()?;
    path.rsplit("::").next().filter(|name| !name.is_empty())
}

/// The type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1,
        None => line,
    };
    let rest = line.strip_prefix("struct ").or_else(|| line.strip_prefix("enum "))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}
