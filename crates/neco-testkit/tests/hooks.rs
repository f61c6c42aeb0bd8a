//! Hooks in a real session: what failed is told, questions that nobody is there for are answered, and what starts
//! agents has the name that a hook knows.

#![allow(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

use neco_testkit::Scenario;
use neco_testkit::scenario::play;
use serde_json::json;

/// Writes down these fields of what a hook is told, one a line.
fn told(fields: &str, file: &str) -> String {
    format!(r#"tr ',' '\n' | tr -d '{{}}' | grep -E '^"({fields})"' | sort >> {file}"#)
}

fn hooks(event: &str, matcher: &str, command: &str) -> String {
    let hook = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
    let settings = json!({ "hooks": { event: [hook] } });
    format!("```file .claude/settings.json\n{settings}\n```\n")
}

async fn plays(text: &str) {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Err(error) = play(&scenario).await {
        panic!("{error}");
    }
}

#[tokio::test]
async fn a_model_that_fails_is_told_and_the_hook_outlives_the_work() {
    let hook = hooks("Error", "model", &format!("sleep 0.5; {}", told("error_source|error_code|retryable", "seen")));
    plays(&format!(
        r#"# The model is gone
{hook}```script
fault 500
fault 500
fault 500
fault 500
```
> user: hello
```events
error 4005
agent_complete failed 4005
```
```expect seen
"error_code":4005
"error_source":"model"
"retryable":true
```
"#
    ))
    .await;
}

#[tokio::test]
async fn a_call_that_fails_is_told_with_its_tool_and_code_and_one_that_is_rejected_is_not() {
    let hook = hooks("Error", "", &told("error_source|error_code|tool_name", "seen"));
    plays(&format!(
        r#"# A file that is not there
{hook}```script
call read_file {{"path":"nowhere.txt"}}
call bash {{"command":"touch b"}}
say There is no such file.
```
> user: read it
> reject: no
```events
tool_call_end read_file error 2001
tool_call_end bash error 1006
agent_complete natural
```
```expect seen
"error_code":2001
"error_source":"tool"
"tool_name":"Read"
```
"#
    ))
    .await;
}

#[tokio::test]
async fn what_a_hook_is_told_of_a_call_that_fails_holds_no_secret() {
    let hook = hooks("Error", "tool", &told("tool_summary", "seen"));
    plays(&format!(
        r#"# A name that is a key
{hook}```script
call read_file {{"path":"ghp_nobodymayseethis0123456789abcdefghij.txt"}}
say There is no such file.
```
> user: read it
```events
tool_call_end read_file error 2001
agent_complete natural
```
```expect seen
"tool_summary":"Read [redacted: GitHub token].txt"
```
"#
    ))
    .await;
}

#[tokio::test]
async fn a_session_that_reaches_its_limit_is_told() {
    let hook = hooks("Error", "session|5001", &told("error_source|error_code", "seen"));
    plays(&format!(
        r#"# One turn only
{hook}```file a.txt
x
```
```script
call read_file {{"path":"a.txt"}}
say Done.
```
```setup
max_turns = 1
```
> user: go
```events
agent_complete iteration_limit 5001
```
```expect seen
"error_code":5001
"error_source":"session"
```
"#
    ))
    .await;
}

const ALONE: &str = "```setup\nperson = false\n```\n";

fn answers(behaviour: &str) -> String {
    let decision = json!({"behavior": behaviour, "message": "not at night"});
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    hooks("PermissionRequest", "Bash", &format!("echo '{answer}'"))
}

#[tokio::test]
async fn with_nobody_there_a_hook_says_yes() {
    plays(&format!(
        r#"# Yes
{}{ALONE}```script
call bash {{"command":"echo ran > ran.txt"}}
say Done.
```
> user: run it
```events
hook_run PermissionRequest allowed
tool_call_end bash success
! permission_request
agent_complete natural
```
```expect ran.txt
ran
```
"#,
        answers("allow")
    ))
    .await;
}

#[tokio::test]
async fn with_nobody_there_a_hook_says_no_in_its_own_words() {
    plays(&format!(
        r#"# No
{}{ALONE}```script
call bash {{"command":"touch ran.txt"}}
say It is not allowed.
expect {{"last_tool_contains":"not at night"}}
```
> user: run it
```events
hook_run PermissionRequest blocked
tool_call_end bash error 1003
agent_complete natural
```
"#,
        answers("deny")
    ))
    .await;
}

#[tokio::test]
async fn with_nobody_there_a_hook_that_says_nothing_or_may_not_leaves_it_refused() {
    let silent = hooks("PermissionRequest", "Bash", "true");
    for (hook, command) in [(silent, "touch ran.txt"), (answers("allow"), "sudo rm -rf /")] {
        plays(&format!(
            r#"# Refused all the same
{hook}{ALONE}```script
call bash {{"command":"{command}"}}
say I could not run it.
```
> user: run it
```events
! permission_request
tool_call_end bash error 3001
agent_complete natural
```
"#
        ))
        .await;
    }
}

/// A rule of the user's for runs without a person.
fn alone_rule(decision: &str) -> String {
    let rule = format!("[[rule]]\ntool = \"bash\"\nargs = \"ran\"\nperson = false\ndecision = \"{decision}\"");
    format!("```file .neco/policy.toml\n{rule}\n```\n")
}

#[tokio::test]
async fn with_nobody_there_a_hook_opens_nothing_that_a_rule_closes_for_such_runs() {
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let before = hooks("PreToolUse", "Bash", &format!("echo '{allow}'"));
    for (hook, runs) in [(answers("allow"), "PermissionRequest"), (before, "PreToolUse")] {
        for decision in ["deny", "ask"] {
            // Who may only answer questions is not heard where there is none.
            let heard = if (runs, decision) == ("PermissionRequest", "deny") { "! hook_run" } else { "hook_run" };
            let rule = alone_rule(decision);
            plays(&format!(
                r#"# A rule for nobody
{hook}{rule}{ALONE}```script
call bash {{"command":"touch ran.txt"}}
say I could not run it.
```
> user: run it
```events
{heard} {runs}
tool_call_end bash error 3001
agent_complete natural
```
"#
            ))
            .await;
        }
    }
}

#[tokio::test]
async fn what_starts_agents_is_told_by_the_name_that_the_matcher_has() {
    for name in ["Task", "Agent"] {
        let hook = hooks("PreToolUse", name, &told("tool_name|subagent_type", "seen"));
        plays(&format!(
            r#"# Delegated
{hook}```script
call task {{"description":"Look around","prompt":"Look around","agent":"explore"}}
say Looked.
agent explore
say Nothing there.
```
> user: have somebody look
```events
hook_run PreToolUse passed
tool_call_end task success
```
```expect seen
"subagent_type":"explore"
"tool_name":"{name}"
```
"#
        ))
        .await;
    }
}
