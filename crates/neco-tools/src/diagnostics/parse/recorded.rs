//! What real checkers printed, and how it reads. The project was at `/project`.

use std::path::Path;

use proptest::prelude::*;
use regex::Regex;

use super::super::problem::Problem;
use super::Format;

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.shown(Path::new("/project")).to_string()).collect()
}

fn read(format: &Format, output: &str) -> Vec<String> {
    shown(&format.read(output, Path::new("/project")))
}

#[test]
fn cargo() {
    let problems = Format::Cargo.read(include_str!("recorded/cargo.jsonl"), Path::new("/project"));
    let mut lines = shown(&problems);
    lines.sort();
    lines.dedup();
    assert_eq!(
        lines,
        [
            "src/main.rs:3:18: error: mismatched types: expected `i32`, found `&str` [E0308]",
            "src/main.rs:4:5: error: cannot find function `missing` in this scope: not found in this scope [E0425]",
            "src/main.rs:5:20: error: cannot find value `nothing` in this scope: not found in this scope [E0425]",
            "src/main.rs:8:34: warning: unused variable: `y` [unused_variables]",
        ]
    );
    let manifest = read(&Format::Cargo, include_str!("recorded/cargo_manifest.txt"));
    assert_eq!(manifest, ["Cargo.toml:1:9: error: unclosed table, expected `]`"]);
}

#[test]
fn tsc() {
    assert_eq!(
        read(&Format::Tsc, include_str!("recorded/tsc.txt")),
        [
            "src/a.ts:1:7: error: Type 'string' is not assignable to type 'number'. [TS2322]",
            "src/a.ts:3:5: error: Type 'number' is not assignable to type 'string'. [TS2322]",
            "src/a.ts:4:18: error: Cannot find name 'z'. [TS2304]",
            "src/a.ts:6:26: error: Type 'number' is not assignable to type 'string'. [TS2322]",
            "src/a.ts:7:7: error: Type '(x: string) => number' is not assignable to type '(x: number) => string'. \
             Types of parameters 'x' and 'x' are incompatible. Type 'number' is not assignable to type 'string'. [TS2322]",
            "error: The specified path does not exist: '/project/none.json'. [TS5058]",
        ]
    );
}

#[test]
fn eslint() {
    assert_eq!(
        read(&Format::Eslint, include_str!("recorded/eslint.json")),
        [
            "a.js:1:7: error: 'unused' is assigned a value but never used. [no-unused-vars]",
            "a.js:2:7: warning: Expected '===' and instead saw '=='. [eqeqeq]",
            "b.js:1:1: error: Parsing error: The keyword 'let' is reserved",
        ]
    );
}

#[test]
fn ruff() {
    assert_eq!(
        read(&Format::Ruff, include_str!("recorded/ruff.jsonl")),
        [
            "a.py:3:7: error: Expected a parameter or the end of the parameter list [invalid-syntax]",
            "a.py:4:1: error: unexpected EOF while parsing [invalid-syntax]",
            "b.py:1:1: error: Import block is un-sorted or un-formatted [I001]",
            "b.py:1:8: error: `os` imported but unused [F401]",
            "b.py:2:5: error: Undefined name `undefined_name` [F821]",
        ]
    );
}

#[test]
fn go_vet() {
    assert_eq!(
        read(&Format::GoVet, include_str!("recorded/go_vet.txt")),
        [
            "ok/c.go:7:2: warning: unreachable code [unreachable]",
            "sub/b.go:5:12: warning: fmt.Printf format %s has arg 1 of wrong type int [printf]",
            "a.go:7:2: error: x declared but not used",
        ]
    );
}

#[test]
fn lines_as_most_checkers_print_them() {
    for (line, wanted) in [
        ("src/a.c:3:5: warning: unused variable 'x'", Some("src/a.c:3:5: warning: unused variable 'x'")),
        ("./src/a.c:3:5: fatal error: x.h: No such file", Some("src/a.c:3:5: error: x.h: No such file")),
        (
            "a.sh:7:1: note: Double quote to prevent globbing.",
            Some("a.sh:7:1: info: Double quote to prevent globbing."),
        ),
        ("pkg/mod.py:12: error: Missing return statement", Some("pkg/mod.py:12: error: Missing return statement")),
        ("src/main.rs:3:18: error[E0308]: mismatched types", Some("src/main.rs:3:18: error: mismatched types [E0308]")),
        ("a.go:7:2: x declared but not used", Some("a.go:7:2: error: x declared but not used")),
        ("a b/c.c:1:1: error: spaces", Some("a b/c.c:1:1: error: spaces")),
        ("make: *** [all] Error 1", None),
        ("12:30:01: started", None),
        ("http://example.com", None),
        ("", None),
    ] {
        assert_eq!(read(&Format::Usual, line).first().map(String::as_str), wanted, "{line}");
    }
}

#[test]
fn a_pattern_of_the_user() {
    let regex = Regex::new(r"^(?<severity>[EW])(?<code>\d+) (?<file>\S+) @(?<line>\d+) (?<message>.+)$").unwrap();
    let output = "starting\nE12 a/b.x @7 it is wrong\nW3 c.x @0 it may be wrong\n";
    assert_eq!(
        read(&Format::Pattern(regex), output),
        ["a/b.x:7: error: it is wrong [12]", "c.x: warning: it may be wrong [3]"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_output_breaks_a_reader(output in "(\\PC|[\\n{}\\[\\]\":,0-9]|error|message|spans|src/a.rs:1:1: ){0,100}") {
        for format in [Format::Cargo, Format::Tsc, Format::Eslint, Format::Ruff, Format::GoVet, Format::Usual] {
            format.read(&output, Path::new("/project"));
        }
    }
}
