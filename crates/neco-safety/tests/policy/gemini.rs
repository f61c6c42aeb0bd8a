//! Policy files in the format of Gemini CLI.

use neco_proto::{ApprovalMode, Mode};
use neco_safety::policy::Source;
use neco_safety::{Ruling, Who};
use serde_json::json;

use crate::support::{Call, judge, read, ruling, user, who};

#[test]
fn names_decisions_and_priorities_are_theirs() {
    let policy = user(
        "[[rule]]\ntoolName = ['replace', 'run_shell_command']\ndecision = 'deny'\npriority = 20\ndenyMessage = 'not here'\n\
         [[rule]]\ntoolName = 'write_file'\ndecision = 'allow'\npriority = 30\n\
         [[rule]]\ntoolName = 'write_file'\nargsPattern = '\"file_path\":\"[^\"]*\\.lock\"'\ndecision = 'ask_user'\npriority = 31\n",
    );
    assert_eq!(ruling(&policy, &Call::write("a.rs")), Ruling::Allow);
    assert_eq!(ruling(&policy, &Call::write("Cargo.lock")), Ruling::Ask, "their name of the argument");
    let patch = Call { tool: "apply_patch".into(), ..Call::write("a.rs") };
    assert_eq!(ruling(&policy, &patch), Ruling::Deny, "it does the same as what is denied");
    let verdict = judge(&policy, &Call::bash("make"), &who());
    assert_eq!(verdict.ruling, Ruling::Deny);
    assert!(verdict.reason.starts_with("not here"), "{}", verdict.reason);
}

#[test]
fn commands_are_parsed_here_too() {
    let policy = user(
        "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = ['git status', 'make']\ndecision = 'allow'\npriority = 5\n\
         [[rule]]\ntoolName = 'run_shell_command'\ncommandRegex = 'npm (run|test)'\ndecision = 'allow'\npriority = 5\n\
         [[rule]]\ncommandPrefix = 'make install'\ndecision = 'deny'\npriority = 6\n",
    );
    for (command, expected) in [
        ("make all", Ruling::Allow),
        ("makefile", Ruling::Ask),
        ("make; curl x", Ruling::Ask),
        ("npm test", Ruling::Allow),
        ("sudo npm test", Ruling::Ask),
        ("npm test && rm x", Ruling::Ask),
        ("make install", Ruling::Deny),
    ] {
        let verdict = judge(&policy, &Call::bash(command), &who());
        assert_eq!(verdict.ruling, expected, "{command}: {}", verdict.reason);
    }
}

#[test]
fn modes_are_both_ours() {
    let text = |modes: &str| {
        format!("[[rule]]\ntoolName = 'write_file'\ndecision = 'deny'\npriority = 1\nmodes = [{modes}]\n")
    };
    let denied = |modes: &str, mode: Mode, approval: ApprovalMode| {
        let verdict = judge(&user(&text(modes)), &Call::write("a"), &Who { mode, approval, ..who() });
        verdict.rule.source == Source::User
    };
    assert!(
        denied("'yolo'", Mode::Agent, ApprovalMode::Auto) && !denied("'yolo'", Mode::Agent, ApprovalMode::AskFirst)
    );
    assert!(
        denied("'default'", Mode::Agent, ApprovalMode::Manual)
            && !denied("'default'", Mode::Plan, ApprovalMode::AskFirst)
    );
    assert!(
        denied("'plan', 'yolo'", Mode::Plan, ApprovalMode::AskFirst)
            && !denied("'plan', 'yolo'", Mode::Agent, ApprovalMode::Manual)
    );
}

#[test]
fn tools_of_servers_and_what_they_say_of_themselves() {
    let policy = user(
        "[[rule]]\nmcpName = 'files'\ndecision = 'deny'\npriority = 1\n\
         [[rule]]\ntoolName = 'create'\nmcpName = 'tracker'\ndecision = 'allow'\npriority = 1\n\
         [[rule]]\ntoolName = '*'\nmcpName = '*'\ntoolAnnotations = { readOnlyHint = true }\ndecision = 'ask_user'\npriority = 0\n",
    );
    let call = |tool: &str| Call::other(tool, json!({}));
    assert_eq!(ruling(&policy, &call("mcp__files__read")), Ruling::Deny);
    assert_eq!(ruling(&policy, &call("mcp__tracker__create")), Ruling::Allow);
    assert_eq!(ruling(&policy, &call("mcp__other__x").reads()), Ruling::Ask);
    assert_eq!(ruling(&policy, &Call::read("a")), Ruling::Allow, "no tool of a server");
}

#[test]
fn what_does_not_exist_here_never_widens() {
    let checked = read(
        "[[rule]]\ntoolName = 'write_file'\ndecision = 'allow'\npriority = 1\n[rule.safety_checker]\ntype = 'external'\nname = 'mine'\n",
        Source::User,
    );
    assert_eq!(checked.rules[0].decision, Ruling::Ask);
    assert!(checked.warnings[0].to_string().starts_with("rules.toml:1:1: asks instead of allowing"));
    let hinted = read(
        "[[rule]]\ntoolName = '*'\ntoolAnnotations = { destructiveHint = false }\ndecision = 'allow'\npriority = 1\n",
        Source::User,
    );
    assert!(hinted.rules.is_empty() && hinted.warnings.len() == 1);
    let broken = read("[[rule]]\ntoolName = 'x'\ndecision = 'ask'\npriority = 1\n", Source::User);
    assert_eq!(
        broken.problems[0].to_string(),
        "rules.toml:3:1: decision: there is no \"ask\"; there are allow, ask_user, deny"
    );
}

#[test]
fn what_they_have_more_of_is_warned_about_and_never_widens() {
    let denies = read(
        "[[rule]]\ntoolName = 'write_file'\ndeny_message = 'no'\ncolour = 'red'\ndecision = 'deny'\n[extras]\nx = 1\n",
        Source::User,
    );
    assert_eq!((denies.problems.as_slice(), denies.rules.len()), ([].as_slice(), 1));
    let told: Vec<String> = denies.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told[0], "rules.toml:3:1: left out: there is no field \"deny_message\"; did you mean \"denyMessage\"?");
    assert!(told[1].starts_with("rules.toml:4:1: left out: there is no field \"colour\""), "{told:?}");
    assert!(told[2].starts_with("rules.toml:6:2: there is no section \"extras\""), "{told:?}");
    let allows = read("[[rule]]\ntoolName = 'write_file'\nonlyOn = 'x'\ndecision = 'allow'\n", Source::User);
    assert_eq!(allows.rules[0].decision, Ruling::Ask, "it may be a condition");
    assert!(allows.warnings[0].message.starts_with("asks instead of allowing: "), "{}", allows.warnings[0]);
}

#[test]
fn a_server_is_named_in_their_ways_too() {
    for rule in [
        "toolName = 'mcp_files_*'",
        "toolName = 'mcp_files_read'",
        "mcpName = 'files'",
        "mcpName = 'files'\ntoolName = 'read'",
        "mcpName = 'files'\ntoolName = 'mcp_files_read'",
        "mcpName = 'files'\ntoolName = 'files__read'",
        "toolName = 'files__read'",
        "toolName = 'mcp_*'",
        "mcpName = '*'",
    ] {
        let policy = user(&format!("[[rule]]\n{rule}\ndecision = 'deny'\n"));
        assert_eq!(ruling(&policy, &Call::other("mcp__files__read", json!({}))), Ruling::Deny, "{rule}");
        let other = ruling(&policy, &Call::other("mcp__other__read", json!({})));
        assert_eq!(other == Ruling::Deny, rule.contains('*') && !rule.contains("files"), "{rule}");
        assert_eq!(ruling(&policy, &Call::bash("ls")), Ruling::Allow, "{rule}");
    }
}
