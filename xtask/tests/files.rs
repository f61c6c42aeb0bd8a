//! What every source file must be: one topic, short, with a heading and a name that says something.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the repository and may panic")]

mod support;

use std::path::Path;

use support::{crates, files, none, root, rust_files, short, stem};

/// Past this a file has a second topic.
const MOST_LINES: usize = 800;

/// Files that may be longer, each with the reason.
const LONGER: &[(&str, &str)] = &[];

/// Names of modules that say that a thing has no room yet.
const EMPTY_NAMES: &[&str] =
    &["common", "helper", "helpers", "impl", "legacy", "manager", "misc", "service", "types", "util", "utils", "v2"];

#[test]
fn no_file_is_longer_than_one_topic() {
    let sources = crates().into_iter().flat_map(|each| files(&each.folder.join("src"), "rs"));
    let violations: Vec<String> = sources.filter_map(|path| too_long(&short(&path), &text(&path))).collect();
    none("files over 800 lines: look for the second topic", &violations);
}

#[test]
fn exceptions_are_still_needed() {
    for (path, reason) in LONGER {
        assert!(!reason.is_empty(), "{path} needs a reason");
        assert!(text(&root().join(path)).lines().count() > MOST_LINES, "{path} is short enough; take it off the list");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    let violations: Vec<String> =
        rust_files().iter().filter(|path| !says_its_purpose(&text(path))).map(|path| short(path)).collect();
    none("files whose first line is not `//! purpose`", &violations);
}

#[test]
fn every_module_has_a_name_that_says_something() {
    let violations: Vec<String> =
        rust_files().iter().map(|path| short(path)).filter(|path| has_empty_name(path)).collect();
    none("modules without a name of their own", &violations);
}

#[test]
fn every_queue_has_a_bound_or_a_reason() {
    let sources = crates().into_iter().flat_map(|each| files(&each.folder.join("src"), "rs"));
    let without = sources
        .flat_map(|path| unbounded(&text(&path)).map(|line| format!("{}:{line}", short(&path))).collect::<Vec<_>>());
    none("queues without a bound and without `// Unbounded: why` above them", &without.collect::<Vec<_>>());
}

#[test]
fn the_rules_can_fail() {
    assert_eq!(
        unbounded("// Unbounded: few.\nlet a = unbounded_channel();\nlet b = unbounded_channel::<u8>();\n")
            .collect::<Vec<_>>(),
        [3]
    );
    assert_eq!(too_long("a.rs", &"\n".repeat(800)), None);
    assert_eq!(too_long("a.rs", &"\n".repeat(801)).as_deref(), Some("a.rs has 801 lines"));
    assert!(says_its_purpose("//! Does one thing.\n"));
    assert!(!says_its_purpose("//!\n") && !says_its_purpose("use std;\n//! Late.\n") && !says_its_purpose(""));
    assert!(has_empty_name("crates/neco/src/utils.rs") && has_empty_name("crates/neco/src/common/mod.rs"));
    assert!(!has_empty_name("crates/neco/src/compose.rs"));
}

fn too_long(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let excepted = LONGER.iter().any(|(known, _)| *known == path);
    (lines > MOST_LINES && !excepted).then(|| format!("{path} has {lines} lines"))
}

/// The lines that make a queue without a bound and have no reason above them.
fn unbounded(text: &str) -> impl Iterator<Item = usize> {
    let lines = std::iter::once("").chain(text.lines()).zip(text.lines()).enumerate();
    let is_bare = |(_, (above, line)): &(usize, (&str, &str))| {
        line.contains("unbounded_channel") && line.contains("let ") && !above.trim_start().starts_with("// Unbounded: ")
    };
    lines.filter(is_bare).map(|(index, _)| index + 1)
}

fn says_its_purpose(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    first.is_some_and(|purpose| !purpose.trim().is_empty())
}

fn has_empty_name(path: &str) -> bool {
    Path::new(path)
        .ancestors()
        .filter(|part| part.file_name().is_some())
        .any(|part| EMPTY_NAMES.contains(&stem(part).as_str()))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
