//! Permission strings in the format of Claude Code.

use std::path::Path;

use neco_safety::policy::{ReadRules, RuleReader, Source};
use neco_safety::{Policy, Ruling};
use serde_json::json;

use crate::support::{Call, WORKSPACE, place, ruling};

fn flag(decision: Ruling, text: &str) -> ReadRules {
    let place = place();
    RuleReader { place: &place }.flag(decision, text)
}

fn with(decision: Ruling, text: &str) -> Policy {
    let read = flag(decision, text);
    assert_eq!(read.problems, [], "{text}");
    Policy::new(place(), read.rules)
}

#[test]
fn commands_begin_so_or_are_so() {
    for (text, command, allowed) in [
        ("Bash(make:*)", "make all", true),
        ("Bash(make *)", "make", true),
        ("Bash(npm run test)", "npm run test", true),
        ("Bash(npm run test)", "npm run test --all", false),
        ("Bash(npm run * --quick)", "npm run unit --quick", true),
        ("Bash(npm run * --quick)", "npm run unit; rm x --quick", false),
        ("bash(make *)", "make | tee /etc/x", false),
        ("Bash", "anything at all", true),
        ("Bash(*)", "anything at all", true),
        ("Bash(*)", "git reset --hard", false),
    ] {
        let expected = if allowed { Ruling::Allow } else { Ruling::Ask };
        assert_eq!(ruling(&with(Ruling::Allow, text), &Call::bash(command)), expected, "{text} {command}");
    }
    for command in ["git push", "make && git push -f", "sh -c 'git push'"] {
        assert_eq!(ruling(&with(Ruling::Deny, "Bash(git push *)"), &Call::bash(command)), Ruling::Deny, "{command}");
    }
}

#[test]
fn files_are_meant_by_their_place() {
    for (text, path, denied) in [
        ("Read(./secrets/**)", "secrets/a/b", true),
        ("Read(secrets/**)", "other/secrets/a", false),
        ("Read(.env)", "deep/down/.env", true),
        ("Read(~/.zshrc)", "/home/me/.zshrc", true),
        ("Read(//etc/**)", "/etc/passwd", true),
        ("Read(/docs/*)", "docs/a", true),
        ("Read(/docs/*)", "docs/a/b", true),
        ("Read(/docs/*)", "doc/a", false),
        ("Read", "anything", true),
        ("Edit(src/**)", "src/a", false),
    ] {
        let expected = if denied { Ruling::Deny } else { Ruling::Allow };
        assert_eq!(ruling(&with(Ruling::Deny, text), &Call::read(path)), expected, "{text} {path}");
    }
    assert_eq!(
        ruling(&with(Ruling::Allow, "Edit(src/**)"), &Call::write("src/a")),
        Ruling::Allow,
        "every tool that edits"
    );
    let deny = with(Ruling::Deny, "Read(secrets/**)");
    for tool in ["grep", "glob", "list_directory", "code_search", "code_index", "git", "apply_patch"] {
        let call = Call { tool: tool.into(), ..Call::read("secrets/a") };
        assert_eq!(ruling(&deny, &call), Ruling::Deny, "every tool that reads: {tool}");
    }
    assert_eq!(ruling(&deny, &Call::bash("cat secrets/a")), Ruling::Deny);
    assert_eq!(ruling(&deny, &Call::bash("cat src/a")), Ruling::Allow);
    assert_eq!(ruling(&with(Ruling::Deny, "Read"), &Call::bash("cat src/a")), Ruling::Allow, "other tools stay");
    let patch = Call { tool: "apply_patch".into(), ..Call::write("secrets/a") };
    assert_eq!(ruling(&with(Ruling::Allow, "Read(secrets/**)"), &patch), Ruling::Ask, "reading is not writing");
}

#[test]
fn what_rules_close_to_reading_is_known_beforehand() {
    let closed = with(Ruling::Deny, "Read(secrets/**)").closed();
    let path = |name: &str| Path::new(WORKSPACE).join(name);
    assert!(closed.holds(&path("secrets/a")) && !closed.holds(&path("src/a")) && !closed.is_empty());
    assert!(with(Ruling::Deny, "Edit(secrets/**)").closed().is_empty());
    let sometimes = with(Ruling::Deny, "{ tool = 'read_file', path = 'secrets/**', mode = 'plan' }");
    assert!(sometimes.closed().is_empty());
    let mut rules = flag(Ruling::Deny, "Read(secrets/**)").rules;
    rules.extend(flag(Ruling::Allow, "Read(secrets/open/**)").rules);
    let closed = Policy::new(place(), rules).closed();
    assert!(closed.holds(&path("secrets/a")) && !closed.holds(&path("secrets/open/a")));
}

#[test]
fn commands_are_those_of_every_tool_that_runs_one() {
    let git = |command: &str| {
        let call = Call::other("git", json!({})).reads();
        Call { command: Some(command.to_owned()), ..call }
    };
    assert_eq!(ruling(&with(Ruling::Deny, "Bash(git show:*)"), &git("git show HEAD")), Ruling::Deny);
    assert_eq!(ruling(&with(Ruling::Deny, "Bash(git show:*)"), &git("git log")), Ruling::Allow);
    let check = Call { tool: "diagnostics".into(), ..Call::bash("cargo check") };
    assert_eq!(ruling(&with(Ruling::Deny, "Bash(cargo:*)"), &check), Ruling::Deny);
    // As the flag is told that would allow a call of the git tool.
    let add = Call { touch: neco_safety::SideEffect::Runs, risk: neco_proto::Risk::Low, ..git("git add x") };
    assert_eq!(ruling(&with(Ruling::Allow, "git(git add *)"), &add), Ruling::Allow);
}

#[test]
fn servers_and_domains() {
    let call = |tool: &str| Call::other(tool, json!({ "url": "https://docs.rs/x" }));
    assert_eq!(ruling(&with(Ruling::Allow, "mcp__github"), &call("mcp__github__list")), Ruling::Allow);
    assert_eq!(ruling(&with(Ruling::Allow, "mcp__github__list"), &call("mcp__github__drop")), Ruling::Ask);
    assert_eq!(ruling(&with(Ruling::Allow, "WebFetch(domain:docs.rs)"), &call("WebFetch")), Ruling::Allow);
    assert_eq!(ruling(&with(Ruling::Allow, "WebFetch(domain:docs.io)"), &call("WebFetch")), Ruling::Ask);
}

#[test]
fn a_flag_may_be_a_whole_table() {
    let policy = with(Ruling::Allow, "{ tool = 'bash', line = 'git reset --hard', risk = 'critical' }");
    assert_eq!(ruling(&policy, &Call::bash("git reset --hard")), Ruling::Allow);
    for (text, expected) in [
        ("Bash(git", "--allow 'Bash(git': \"Bash(git\": the closing bracket is missing"),
        ("git log", "--allow 'git log': \"git log\" is no rule; write a tool"),
        ("web_search(cats)", "--allow 'web_search(cats)': \"web_search(cats)\": only commands, files and domains"),
        ("{ tool = 'x', wat = 1 }", "--allow '{ tool = 'x', wat = 1 }': there is no field \"wat\""),
        ("{ tool = ", "--allow '{ tool = ': "),
    ] {
        let read = flag(Ruling::Allow, text);
        assert!(read.problems[0].to_string().starts_with(expected), "{}", read.problems[0]);
    }
}

#[test]
fn settings_are_read_with_their_places_and_the_rest_is_left_alone() {
    let text = r#"{
  "model": "x", "hooks": {},
  "permissions": {
    "allow": ["Bash(make *)", "Bash(git"],
    "deny": ["Read(.env)"],
    "defaultMode": "plan"
  }
}"#;
    let place = place();
    let reader = RuleReader { place: &place };
    let read = reader.claude_settings(text, "settings.json", Source::Project, Path::new(WORKSPACE));
    let rules: Vec<String> = read.rules.iter().map(|rule| format!("{} {}", rule.decision, rule.place)).collect();
    assert_eq!(rules, ["deny settings.json:5:14", "allow settings.json:4:15"]);
    assert!(read.problems.is_empty() && read.warnings[0].to_string().starts_with("settings.json:4:31: "));
    let broken = reader.claude_settings("{", "settings.json", Source::User, Path::new(WORKSPACE));
    assert!(broken.warnings[0].to_string().starts_with("settings.json:1:1: its permissions are not read"));
}
