//! What we send and what we take, held against the published schemas of the common hook format.
//! They are not part of the repository: where they are not there, this says so and checks nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, missing_docs, reason = "tests")]

mod support;

use std::path::PathBuf;

use neco_agent::gate::{GatedAgent, HookPoint};
use neco_ext::hooks::{Printed, read};
use neco_proto::event::{HookEvent, HookOutcome};
use neco_proto::{AgentId, MessageId};
use neco_safety::world::Exit;
use serde_json::{Value, json};
use support::{Place, call};

/// The folder with the schemas: `NECO_HOOK_SCHEMAS`, or `shared/outside/hooks-schema` beside the repository.
fn folder() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/outside/hooks-schema");
    let named = std::env::var_os("NECO_HOOK_SCHEMAS").map(PathBuf::from);
    let folder = named.into_iter().chain([beside]).find(|folder| folder.is_dir());
    if folder.is_none() {
        println!("SKIPPED: the schemas are not there; set NECO_HOOK_SCHEMAS to their folder");
    }
    folder
}

fn schema(folder: &std::path::Path, event: HookEvent, side: &str) -> Option<jsonschema::Validator> {
    let name: String = event.name().chars().enumerate().fold(String::new(), |mut name, (at, char)| {
        if at > 0 && char.is_uppercase() {
            name.push('-');
        }
        name.extend(char.to_lowercase());
        name
    });
    let text = std::fs::read(folder.join(format!("{name}.command.{side}.schema.json"))).ok()?;
    Some(jsonschema::validator_for(&serde_json::from_slice(&text).unwrap()).unwrap())
}

#[tokio::test]
async fn what_hooks_are_told_fits_the_schemas() {
    let Some(folder) = folder() else { return };
    let bash = call("bash", json!({"command": "ls", "timeout": 3}));
    let agent = || GatedAgent { id: AgentId::new(), role: "coder".to_owned() };
    let moments = [
        HookPoint::SessionStart { resumed: true },
        HookPoint::SessionEnd,
        HookPoint::Prompt { message_id: MessageId::new(), text: "hello".to_owned() },
        HookPoint::BeforeCall(bash.clone()),
        HookPoint::Permission(bash.clone()),
        HookPoint::AfterCall { call: bash, output: "a\nb".to_owned(), succeeded: true },
        HookPoint::Stop { last_words: String::new(), held: true },
        HookPoint::Stop { last_words: "done".to_owned(), held: false },
        HookPoint::Compaction { done: false, asked: true },
        HookPoint::Compaction { done: true, asked: false },
        HookPoint::AgentStart(agent()),
        HookPoint::AgentStop { agent: agent(), last_words: "done".to_owned(), held: true },
    ];
    let mut checked = 0;
    for moment in moments {
        let event = moment.event();
        let place = Place::new().with(event, "", "cat > told.json");
        assert_eq!(place.ask(moment).await.runs[0].outcome, HookOutcome::Passed);
        let told: Value = serde_json::from_slice(&std::fs::read(place.path("told.json")).unwrap()).unwrap();
        let schema = schema(&folder, event, "input").unwrap_or_else(|| panic!("no schema for {event}"));
        let errors: Vec<String> = schema.iter_errors(&told).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{event}: {errors:?}\n{told:#}");
        checked += 1;
    }
    println!("{checked} inputs checked");
}

#[test]
fn what_the_schemas_allow_is_understood() {
    let Some(folder) = folder() else { return };
    let pre = |specific: Value| json!({ "hookSpecificOutput": specific });
    let table = [
        (
            HookEvent::PreToolUse,
            pre(json!({"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "r"})),
            HookOutcome::Blocked,
        ),
        (
            HookEvent::PreToolUse,
            pre(json!({"hookEventName": "PreToolUse", "permissionDecision": "allow",
            "updatedInput": {"command": "ls"}, "additionalContext": "c"})),
            HookOutcome::Allowed,
        ),
        (
            HookEvent::PreToolUse,
            json!({"decision": "block", "reason": "r", "suppressOutput": true}),
            HookOutcome::Blocked,
        ),
        (
            HookEvent::PermissionRequest,
            pre(json!({"hookEventName": "PermissionRequest",
            "decision": {"behavior": "allow"}})),
            HookOutcome::Allowed,
        ),
        (
            HookEvent::PermissionRequest,
            pre(json!({"hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "m"}})),
            HookOutcome::Blocked,
        ),
        (HookEvent::PostToolUse, json!({"decision": "block", "reason": "r"}), HookOutcome::Blocked),
        (
            HookEvent::UserPromptSubmit,
            pre(json!({"hookEventName": "UserPromptSubmit",
            "additionalContext": "c"})),
            HookOutcome::Passed,
        ),
        (HookEvent::Stop, json!({"decision": "block", "reason": "r"}), HookOutcome::Blocked),
        (HookEvent::Stop, json!({"continue": false, "stopReason": "s", "systemMessage": "m"}), HookOutcome::Stopped),
        (
            HookEvent::SessionStart,
            pre(json!({"hookEventName": "SessionStart", "additionalContext": "c"})),
            HookOutcome::Passed,
        ),
        (
            HookEvent::SubagentStart,
            pre(json!({"hookEventName": "SubagentStart", "additionalContext": "c"})),
            HookOutcome::Passed,
        ),
        (HookEvent::SubagentStop, json!({"decision": "block", "reason": "r"}), HookOutcome::Blocked),
    ];
    for (event, said, outcome) in table {
        let schema = schema(&folder, event, "output").unwrap_or_else(|| panic!("no schema for {event}"));
        let errors: Vec<String> = schema.iter_errors(&said).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{event}: {errors:?}");
        let answer = read(event, Exit::Code(0), &Printed { stdout: said.to_string().into(), ..Printed::default() });
        assert_eq!(answer.outcome, outcome, "{event}: {said}");
    }
}
