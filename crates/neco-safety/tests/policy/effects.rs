//! A rule names an effect, whatever tool has it: every tool, by every spelling, in every format.

use std::path::Path;

use neco_proto::{Risk, ToolOrigin};
use neco_safety::policy::{ReadRules, RuleReader, Source};
use neco_safety::tools::{self, Effects, KnownTool};
use neco_safety::{Policy, Ruling, SideEffect};
use serde_json::json;

use crate::support::{Call, WORKSPACE, place, ruling};

/// How a rule about a tool is written, alone and with a file.
const FORMATS: [&str; 4] = ["toml", "flag", "claude", "gemini"];

/// What stands for the file in rules that have one.
const FILE: &str = "a.txt";

/// Every spelling of a tool's name.
fn spellings(tool: &KnownTool) -> Vec<String> {
    let names = [tool.name].into_iter().chain(tool.others.iter().copied()).chain(tool.common.iter().copied());
    // What hooks call a patch besides are names of other tools.
    let names = names.filter(|name| tools::own_name(name) == Some(tool.name));
    names.flat_map(|name| [name.to_owned(), name.to_uppercase(), format!(" {name}\t")]).collect()
}

fn rule(format: &str, decision: Ruling, tool: &str, file: Option<&str>) -> ReadRules {
    let place = place();
    let reader = RuleReader { place: &place };
    let brackets = file.map(|file| format!("({file})")).unwrap_or_default();
    match format {
        "toml" => {
            let path = file.map(|file| format!("path = '{file}'\n")).unwrap_or_default();
            let text = format!("[[rule]]\ntool = {}\ndecision = '{decision}'\n{path}", json!(tool));
            reader.file(&text, "r", Source::User)
        }
        "flag" => reader.flag(decision, &format!("{}{brackets}", tool.trim())),
        "claude" => {
            let text = json!({ "permissions": { decision.name(): [format!("{}{brackets}", tool.trim())] } });
            reader.claude_settings(&text.to_string(), "s", Source::User, Path::new(WORKSPACE))
        }
        _ => {
            let word = if decision == Ruling::Ask { "ask_user" } else { decision.name() };
            let pattern =
                file.map(|file| format!("argsPattern = '\"file_path\":\"[^\"]*{file}\"'\n")).unwrap_or_default();
            let text = format!("[[rule]]\ntoolName = {}\ndecision = '{word}'\npriority = 5\n{pattern}", json!(tool));
            reader.file(&text, "r", Source::User)
        }
    }
}

fn policy(format: &str, decision: Ruling, tool: &str, file: Option<&str>) -> Policy {
    let read = rule(format, decision, tool, file);
    assert_eq!(read.problems, [], "{format} {tool:?}");
    Policy::new(place(), read.rules)
}

/// A call of each tool that would be allowed, on a file where the tool has one.
fn call(tool: &KnownTool, file: &str) -> Call {
    let path = Path::new(WORKSPACE).join(file);
    let reads = tool.has.overlap(Effects::READS);
    let command = match tool.name {
        "bash" => Some(format!("cat {file}")),
        "git" => Some(format!("git show HEAD -- {file}")),
        "diagnostics" => Some("cargo --version".to_owned()),
        _ => None,
    };
    let is_about_files = reads || tool.has.overlap(Effects::WRITES) || tool.name == "git";
    let paths = if is_about_files { vec![path] } else { Vec::new() };
    let touch = if tool.has.overlap(Effects::WRITES) { SideEffect::Writes } else { SideEffect::Reads };
    let arguments = if reads { json!({ "path": file }) } else { json!({ "patch": "x" }) };
    Call { command, paths, touch, risk: Risk::Safe, ..Call::other(tool.name, arguments) }
}

#[test]
fn who_denies_or_asks_about_a_tool_means_all_that_do_the_same() {
    for tool in tools::TABLE {
        for (spelling, format) in spellings(tool).iter().flat_map(|name| FORMATS.map(|format| (name.clone(), format))) {
            for decision in [Ruling::Deny, Ruling::Ask] {
                let policy = policy(format, decision, &spelling, None);
                for other in tools::TABLE {
                    let meant = other.name == tool.name || other.has.overlap(tool.meant);
                    let found = ruling(&policy, &call(other, "b.txt"));
                    let expected = if meant { decision } else { Ruling::Allow };
                    assert_eq!(found, expected, "{decision} {spelling:?} as {format}, {}", other.name);
                }
            }
        }
    }
}

#[test]
fn who_names_a_file_means_commands_too() {
    let files = Effects::READS.and(Effects::WRITES);
    for tool in tools::TABLE.iter().filter(|tool| tool.meant.overlap(files)) {
        for (spelling, format) in spellings(tool).iter().flat_map(|name| FORMATS.map(|format| (name.clone(), format))) {
            let policy = policy(format, Ruling::Deny, &spelling, Some(FILE));
            for other in tools::TABLE.iter().filter(|other| other.has.overlap(tool.meant)) {
                let told = format!("{spelling:?} as {format}, {}", other.name);
                assert_eq!(ruling(&policy, &call(other, FILE)), Ruling::Deny, "{told}");
                assert_ne!(ruling(&policy, &call(other, "b.txt")), Ruling::Deny, "{told}");
            }
            let line = if tool.meant.overlap(Effects::READS) { "cat a.txt" } else { "cp b.txt a.txt" };
            for (line, denied) in [(line, true), ("make b.txt", false)] {
                let found = ruling(&policy, &Call::bash(line)) == Ruling::Deny;
                assert_eq!(found, denied, "{spelling:?} as {format}: {line}");
            }
        }
    }
    let writes = policy("flag", Ruling::Deny, "Edit", Some(FILE));
    assert_eq!(ruling(&writes, &Call::bash("cat a.txt")), Ruling::Allow, "looking is no writing");
    assert_eq!(ruling(&writes, &Call::read(FILE)), Ruling::Allow);
}

#[test]
fn who_allows_a_tool_means_no_more_than_others_mean_by_that_name() {
    for tool in tools::TABLE {
        for (spelling, format) in spellings(tool).iter().flat_map(|name| FORMATS.map(|format| (name.clone(), format))) {
            let policy = policy(format, Ruling::Allow, &spelling, None);
            let kind = tools::kind(spelling.trim());
            for other in tools::TABLE {
                let risky = Call { touch: SideEffect::Writes, ..call(other, "b.txt") }.risky(Risk::High);
                let meant = kind.map_or(other.name == tool.name, |kind| kind.contains(&other.name));
                let expected = if meant { Ruling::Allow } else { Ruling::Ask };
                assert_eq!(ruling(&policy, &risky), expected, "{spelling:?} as {format}, {}", other.name);
            }
        }
    }
}

#[test]
fn git_is_git_whoever_runs_it() {
    let command = |tool: &str, line: &str| Call { tool: tool.to_owned(), ..Call::bash(line) };
    for rule in ["bash(git add *)", "Bash(git add:*)", "run_shell_command(git add *)", "git(git add *)", "git", "bash"]
    {
        let policy = policy("flag", Ruling::Deny, rule, None);
        for (tool, line) in [("git", "git add x"), ("bash", "git add x"), ("bash", "make; /usr/bin/git add x")] {
            assert_eq!(ruling(&policy, &command(tool, line)), Ruling::Deny, "{rule}: {tool} {line}");
        }
        let typed = Call { tool: "process".to_owned(), ..Call::bash("git add x") };
        assert_eq!(ruling(&policy, &typed), Ruling::Deny, "{rule}");
        let other = ruling(&policy, &command("bash", "ls")) == Ruling::Deny;
        assert_eq!(other, rule == "bash", "{rule}");
    }
    let toml = "[[rule]]\ntool = 'bash'\ncommand = 'git add'\ndecision = 'deny'\n";
    assert_eq!(ruling(&crate::support::user(toml), &command("git", "git add x")), Ruling::Deny);
}

#[test]
fn a_tool_that_is_denied_by_another_does_not_exist_for_the_model() {
    let who = crate::support::who();
    let denied = policy("flag", Ruling::Deny, "edit_file", None);
    let refuses = |tool, touch| denied.refuses(tool, ToolOrigin::BUILT_IN, touch, &who);
    for tool in ["edit_file", "write_file", "apply_patch"] {
        assert!(refuses(tool, SideEffect::Writes), "{tool}");
    }
    assert!(!refuses("read_file", SideEffect::Reads) && !refuses("bash", SideEffect::Runs));
    let closed = policy("flag", Ruling::Deny, "grep", Some("secrets")).closed();
    assert!(closed.holds(&Path::new(WORKSPACE).join("secrets/a")), "searches leave it out, whichever tool was named");
}
