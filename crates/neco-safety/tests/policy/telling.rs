//! Files that are told without a call are judged as reading them would be.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use neco_safety::path::Access;
use neco_safety::policy::Source;
use neco_safety::world::Files;

use crate::support::{WORKSPACE, policy};

fn refused(rules: &str, path: &str) -> bool {
    policy(&[(Source::User, rules)]).telling().refuses_path(&Path::new(WORKSPACE).join(path)).is_some()
}

fn rule(fields: &str) -> String {
    format!("[[rule]]\n{fields}\n")
}

#[test]
fn a_rule_against_reading_holds_in_whatever_mode_and_for_whomever_it_does() {
    let on_secrets = "tool = \"read_file\"\npath = \"secrets/**\"";
    for (fields, closed) in [
        ("decision = \"deny\"", true),
        ("decision = \"ask\"", true),
        ("decision = \"deny\"\nmode = \"plan\"", true),
        ("decision = \"deny\"\nrole = \"reviewer\"", true),
        ("decision = \"ask\"\napproval = \"manual\"", true),
        ("decision = \"ask\"\nperson = true", true),
        ("decision = \"ask\"\nperson = false", true),
        ("decision = \"allow\"", false),
    ] {
        let rules = rule(&format!("{on_secrets}\n{fields}"));
        assert_eq!(refused(&rules, "secrets/a.txt"), closed, "{fields}");
        assert!(!refused(&rules, "src/a.txt"), "{fields}");
    }
    let every_tool = rule("tool = \"*\"\npath = \"secrets/**\"\ndecision = \"deny\"");
    assert!(refused(&every_tool, "secrets/a.txt"));
    let arguments = rule("tool = \"read_file\"\nargs = \"secrets/\"\ndecision = \"deny\"");
    assert!(refused(&arguments, "secrets/a.txt") && !refused(&arguments, "src/a.txt"));
    let writing = rule("tool = \"write_file\"\npath = \"secrets/**\"\ndecision = \"deny\"");
    assert!(!refused(&writing, "secrets/a.txt"));
}

#[test]
fn a_rule_against_a_tool_is_not_about_files() {
    let tool = rule("tool = \"read_file\"\ndecision = \"deny\"\npriority = 100");
    assert!(!refused(&tool, "src/a.txt"));
    let both = format!("{tool}{}", rule("tool = \"read_file\"\npath = \"secrets/**\"\ndecision = \"deny\""));
    assert!(refused(&both, "secrets/a.txt"), "it hides no other");
    let project = policy(&[(Source::Project, &rule("tool = \"*\"\npath = \"docs/**\"\ndecision = \"deny\""))]);
    assert!(project.telling().refuses_path(&Path::new(WORKSPACE).join("docs/a.md")).is_some());
}

#[test]
fn what_is_told_in_place_of_reading_is_closed_by_a_rule_against_the_tool_too() {
    let path = Path::new(WORKSPACE).join("src/a.txt");
    let closes = |rules: &str| policy(&[(Source::User, rules)]).telling_as_read().refuses_path(&path).is_some();
    for (fields, closed) in [
        ("tool = \"read_file\"\ndecision = \"deny\"", true),
        ("tool = \"read_file\"\ndecision = \"ask\"", true),
        ("tool = \"*\"\ndecision = \"ask\"", true),
        ("tool = \"read_file\"\npath = \"src/**\"\ndecision = \"deny\"", true),
        ("tool = \"write_file\"\ndecision = \"deny\"", false),
        ("tool = \"read_file\"\ndecision = \"allow\"", false),
    ] {
        assert_eq!(closes(&rule(fields)), closed, "{fields}");
    }
    assert!(!closes(""));
}

#[test]
fn the_reason_names_the_rule() {
    let rules = policy(&[(Source::User, &rule("tool = \"read_file\"\npath = \"a/**\"\ndecision = \"deny\""))]);
    let why = rules.telling().refuses_path(&Path::new(WORKSPACE).join("a/b")).unwrap();
    assert_eq!(why, "a rule denies reading it (user rules.toml:1:1)");
}

#[test]
fn sensitive_files_and_what_is_gits_are_told_to_nobody_whatever_leads_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, text) in [(".env", "KEY=x"), (".git/logs/HEAD", "x"), ("deploy.pem", "x"), ("plain.md", "x")] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    symlink(".env", root.join("env.md")).unwrap();
    symlink(".git", root.join("history")).unwrap();
    let files = Files::new(root, Vec::new()).unwrap();
    let telling = policy(&[]).telling();
    for (name, closed) in [
        (".env", true),
        ("env.md", true),
        ("deploy.pem", true),
        (".git/logs/HEAD", true),
        ("history/logs/HEAD", true),
        ("plain.md", false),
    ] {
        let located = files.locate(name, Access::Read).unwrap();
        assert_eq!(telling.refuses(&located).is_some(), closed, "{name}");
    }
}
