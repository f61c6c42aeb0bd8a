//! Hooks as processes: what they are told, and that nothing they do harms anybody.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "tests")]

mod support;

use std::time::{Duration, Instant};

use neco_agent::gate::{FailedPart, Failure, Gate, GateRuling, GatedAgent, HookPoint};
use neco_ext::hooks::Origin;
use neco_proto::event::{HookEvent, HookOutcome};
use neco_proto::{AgentId, ErrorCode, MessageId};
use serde_json::{Value, json};
use support::{Place, alive, bash, call, scene};
use tokio_util::sync::CancellationToken;

const PRE: HookEvent = HookEvent::PreToolUse;

#[tokio::test]
async fn a_hook_is_told_what_it_knows_from_other_agents() {
    let place =
        Place::new().with(PRE, "Edit", "cat > told.json; echo \"$OPENAI_API_KEY|$CLAUDE_PROJECT_DIR|$PWD\" > env");
    let edit = call("edit_file", json!({"path": "a.rs", "old_string": "x", "new_string": "y"}));
    let word = place.ask(HookPoint::BeforeCall(edit.clone())).await;
    assert_eq!((word.runs[0].outcome, word.ruling), (HookOutcome::Passed, None));
    assert_eq!(word.runs[0].call_id, Some(edit.id.clone()));
    let told: Value = serde_json::from_slice(&std::fs::read(place.path("told.json")).unwrap()).unwrap();
    assert_eq!(told["hook_event_name"], "PreToolUse");
    assert_eq!(told["tool_name"], "Edit");
    assert_eq!(told["tool_input"]["file_path"], place.path("a.rs").to_str().unwrap());
    assert_eq!(told["tool_use_id"], edit.id.to_string());
    assert_eq!(told["cwd"], place.folder.path().to_str().unwrap());
    assert_eq!(told["permission_mode"], "default");
    let env = std::fs::read_to_string(place.path("env")).unwrap();
    let folder = place.folder.path().display();
    assert_eq!(env.trim(), format!("|{folder}|{folder}"), "the key is hidden, the folder is told");
}

#[tokio::test]
async fn the_strictest_word_wins_and_all_run_at_the_same_time() {
    let say = |decision: &str| {
        let word = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
            "permissionDecisionReason": format!("{decision} it"), "additionalContext": decision}});
        format!("sleep 0.3; echo '{word}'")
    };
    let place = Place::new().with(PRE, "Bash", &say("allow")).with(PRE, "bash", &say("ask"));
    assert_eq!(place.ask(bash()).await.ruling, Some(GateRuling::Ask("ask it".to_owned())));
    let place = place.with(PRE, "*", &say("deny")).with(PRE, "Write", &say("never asked"));
    let began = Instant::now();
    let word = place.ask(bash()).await;
    assert!(began.elapsed() < Duration::from_millis(850), "one after the other takes 900 ms: {:?}", began.elapsed());
    assert_eq!(word.ruling, Some(GateRuling::Block("deny it".to_owned())));
    assert_eq!(word.context, ["allow", "ask", "deny"]);
    assert_eq!(word.runs.len(), 3);
}

#[tokio::test]
async fn exit_two_blocks_and_other_codes_are_failures() {
    for (command, outcome, message) in [
        ("echo not here >&2; exit 2", HookOutcome::Blocked, "not here"),
        ("echo oops >&2; exit 1", HookOutcome::Failed, "exit code 1: oops"),
        ("exec ./missing", HookOutcome::Failed, "exit code 127"),
        ("touch plain; ./plain", HookOutcome::Failed, "exit code 126"),
        ("kill -SEGV $$", HookOutcome::Failed, "killed by signal 11"),
        ("echo '{\"decision\":'", HookOutcome::Failed, "JSON that can't be read"),
        ("printf '\\xff\\xfe{'; printf '\\xff' >&2; exit 2", HookOutcome::Blocked, "\u{fffd}"),
        ("if then", HookOutcome::Blocked, "syntax error"),
    ] {
        let word = Place::new().with(PRE, "", command).ask(bash()).await;
        let run = &word.runs[0];
        assert_eq!(run.outcome, outcome, "{command}: {run:?}");
        assert!(run.message.as_deref().unwrap().contains(message), "{command}: {run:?}");
        assert_eq!(word.ruling.is_some(), outcome == HookOutcome::Blocked, "{command}");
    }
}

#[tokio::test]
async fn a_hook_that_hangs_is_killed_with_all_it_started() {
    let place = Place::new().with(PRE, "", "sleep 7301 & sleep 7302").within(Duration::from_millis(300));
    let began = Instant::now();
    let word = place.ask(bash()).await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!((word.runs[0].outcome, word.ruling), (HookOutcome::TimedOut, None));
    gone("sleep 7301").await;
    gone("sleep 7302").await;
}

#[tokio::test]
async fn a_cancel_kills_a_hook() {
    let place = Place::new().with(PRE, "", "trap '' INT TERM; sleep 7311");
    let cancel = CancellationToken::new();
    let asked = tokio::spawn(place.gate().ask(bash(), scene(), cancel.clone()));
    while alive("sleep 7311").is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    cancel.cancel();
    assert_eq!(asked.await.unwrap().runs[0].outcome, HookOutcome::Cancelled);
    gone("sleep 7311").await;
    // Dropping the question does the same.
    let asked = tokio::spawn(place.gate().ask(bash(), scene(), CancellationToken::new()));
    while alive("sleep 7311").is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    asked.abort();
    gone("sleep 7311").await;
}

#[tokio::test]
async fn a_flood_does_no_harm() {
    let place = Place::new()
        .with(PRE, "", "head -c 100000000 /dev/zero; exit 0")
        .with(PRE, "", "head -c 100000000 /dev/zero >&2; exit 2")
        .with(PRE, "", "yes")
        .within(Duration::from_millis(500))
        .with(HookEvent::UserPromptSubmit, "", "head -c 5000000 /dev/zero | tr '\\0' x");
    let word = place.ask(bash()).await;
    let outcomes: Vec<_> = word.runs.iter().map(|run| run.outcome).collect();
    assert_eq!(outcomes, [HookOutcome::Passed, HookOutcome::Blocked, HookOutcome::TimedOut]);
    assert!(word.runs.iter().all(|run| run.message.as_deref().unwrap_or_default().len() < 4000));
    let prompt = HookPoint::Prompt { message_id: MessageId::new(), text: "hello".to_owned() };
    let word = place.ask(prompt).await;
    assert!(word.context[0].len() < 20_000, "{}", word.context[0].len());
}

#[tokio::test]
async fn a_hook_need_not_read_and_may_leave_something_running() {
    let big = call("write_file", json!({"path": "a", "content": "x".repeat(3_000_000)}));
    let place = Place::new()
        .with(PRE, "", "exec <&-; true")
        .with(PRE, "", "head -c 1 > /dev/null; echo '{\"systemMessage\":\"read one\"}'")
        .with(PRE, "", "sleep 7321 & disown; exit 0");
    let began = Instant::now();
    let word = place.ask(HookPoint::BeforeCall(big)).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(word.runs.iter().all(|run| run.outcome == HookOutcome::Passed), "{:?}", word.runs);
    assert_eq!(word.runs[1].message.as_deref(), Some("read one"));
    gone("sleep 7321").await;
}

#[tokio::test]
async fn other_arguments_come_back_by_our_own_names() {
    let said = json!({"hookSpecificOutput": {"permissionDecision": "allow",
        "updatedInput": {"file_path": "/elsewhere/b", "content": "x"}}});
    let place = Place::new().with(PRE, "Write", &format!("echo '{said}'"));
    let word = place.ask(HookPoint::BeforeCall(call("write_file", json!({"path": "a", "content": "x"})))).await;
    assert_eq!(word.arguments, Some(json!({"path": "/elsewhere/b", "content": "x"})));
    assert_eq!(word.ruling, Some(GateRuling::Allow));
    let echo = Place::new().with(PRE, "Write", r#"jq -c '{hookSpecificOutput: {updatedInput: .tool_input}}' 2>/dev/null ||
        python3 -c 'import json,sys; print(json.dumps({"hookSpecificOutput": {"updatedInput": json.load(sys.stdin)["tool_input"]}}))'"#);
    let word = echo.ask(HookPoint::BeforeCall(call("write_file", json!({"path": "a", "content": "x"})))).await;
    assert_eq!(word.arguments, None, "what comes back unchanged is no change");
}

#[tokio::test]
async fn a_repositorys_hook_runs_only_as_it_was_trusted() {
    let mut place = Place::new();
    std::fs::write(place.path("check.sh"), "echo ran >> ran").unwrap();
    let mut hook = place.hook(PRE, "", "sh ./check.sh");
    hook.origin = Origin::Repository { file: place.path("x"), folder: place.folder.path().to_owned() };
    place.hooks = vec![hook.clone()];
    assert_eq!(place.ask(bash()).await.runs[0].outcome, HookOutcome::Failed);
    assert!(!place.path("ran").exists(), "nobody trusted it");
    hook.trusted_as = Some(hook.fingerprint().unwrap().hash);
    place.hooks = vec![hook];
    assert_eq!(place.ask(bash()).await.runs[0].outcome, HookOutcome::Passed);
    assert!(place.path("ran").exists());
    std::fs::remove_file(place.path("ran")).unwrap();
    std::fs::write(place.path("check.sh"), "echo evil >> ran").unwrap();
    let word = place.ask(bash()).await;
    assert!(word.runs[0].message.as_deref().unwrap().contains("changed since it was trusted"), "{:?}", word.runs);
    assert!(
        matches!(word.ruling, Some(GateRuling::Ask(_))),
        "who changes a guard has not switched it off: {:?}",
        word.ruling
    );
    assert!(!place.path("ran").exists(), "its script is another one now");
}

#[tokio::test]
async fn a_repositorys_hook_runs_in_its_own_folder_wherever_in_it_is_worked() {
    let mut place = Place::new();
    let root = place.folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("sub")).unwrap();
    std::fs::write(root.join("check.sh"), "echo \"$CLAUDE_PROJECT_DIR|$NECO_PROJECT_DIR|$PWD\" > ran").unwrap();
    std::fs::write(root.join("sub/check.sh"), "touch ../evil evil").unwrap();
    for command in ["sh ./check.sh", "sh \"$CLAUDE_PROJECT_DIR\"/check.sh"] {
        let mut hook = place.hook(PRE, "", command);
        hook.origin = Origin::Repository { file: root.join("x"), folder: root.clone() };
        hook.trusted_as = Some(hook.fingerprint().unwrap().hash);
        place.hooks = vec![hook];
        place.cwd = Some(root.join("sub"));
        let word = place.ask(bash()).await;
        assert_eq!(word.runs[0].outcome, HookOutcome::Passed, "{:?}", word.runs);
        let folder = root.display();
        let said = std::fs::read_to_string(root.join("ran")).unwrap();
        assert_eq!(said.trim(), format!("{folder}|{folder}|{folder}"));
        std::fs::remove_file(root.join("ran")).unwrap();
        assert!(!root.join("evil").exists(), "the script that was not trusted ran");
    }
}

#[tokio::test]
async fn matchers_choose_by_tool_source_and_reason() {
    let gate = Place::new()
        .with(PRE, "Edit|Write", "true")
        .with(HookEvent::SessionStart, "resume", "true")
        .with(HookEvent::Notification, "permission_prompt", "true")
        .with(HookEvent::SubagentStart, "explore|coder", "true")
        .with(HookEvent::SubagentStop, "", "true")
        .with(HookEvent::Error, "session|4001", "true")
        .gate();
    assert!(gate.attends(PRE, Some("edit_file")) && !gate.attends(PRE, Some("bash")));
    assert!(!gate.attends(HookEvent::Stop, None));
    let asked = async |moment: HookPoint| gate.ask(moment, scene(), CancellationToken::new()).await.runs.len();
    assert_eq!(asked(HookPoint::SessionStart { resumed: false }).await, 0);
    assert_eq!(asked(HookPoint::SessionStart { resumed: true }).await, 1);
    assert_eq!(asked(HookPoint::Waiting { tool: "bash".to_owned(), summary: "Run ls".to_owned() }).await, 1);
    assert_eq!(asked(HookPoint::AgentStart(agent("coder"))).await, 1);
    assert_eq!(asked(HookPoint::AgentStart(agent("planner"))).await, 0);
    let stop = |role| HookPoint::AgentStop { agent: agent(role), last_words: String::new(), held: false };
    assert_eq!(asked(stop("planner")).await, 1);
    let failed = |what, code| HookPoint::Failure(Failure { what, code, message: String::new(), retryable: false });
    assert_eq!(asked(failed(FailedPart::Session, ErrorCode::LoopDetected)).await, 1);
    assert_eq!(asked(failed(FailedPart::Model, ErrorCode::ModelTimedOut)).await, 1);
    assert_eq!(asked(failed(FailedPart::Model, ErrorCode::RateLimited)).await, 0);
}

fn agent(role: &str) -> GatedAgent {
    GatedAgent { id: AgentId::new(), role: role.to_owned() }
}

/// The list of events that are never fired is what the agent's moments leave out, no more, no less.
#[test]
fn the_list_of_events_that_are_not_fired_is_honest() {
    let call = call("bash", json!({}));
    let after = |succeeded| HookPoint::AfterCall { call: call.clone(), output: String::new(), succeeded };
    let moments = [
        HookPoint::SessionStart { resumed: false },
        HookPoint::SessionEnd,
        HookPoint::Prompt { message_id: MessageId::new(), text: String::new() },
        HookPoint::BeforeCall(call.clone()),
        HookPoint::Permission(call.clone()),
        after(true),
        after(false),
        HookPoint::Stop { last_words: String::new(), held: false },
        HookPoint::Waiting { tool: String::new(), summary: String::new() },
        HookPoint::Compaction { done: false, asked: false },
        HookPoint::Compaction { done: true, asked: false },
        HookPoint::AgentStart(agent("coder")),
        HookPoint::AgentStop { agent: agent("coder"), last_words: String::new(), held: false },
        HookPoint::Failure(Failure::of_session(ErrorCode::StoreFailed, String::new())),
    ];
    let fired: Vec<HookEvent> = moments.iter().map(HookPoint::event).collect();
    let never: Vec<HookEvent> = HookEvent::ALL.iter().copied().filter(|event| !fired.contains(event)).collect();
    assert_eq!(never, [] as [HookEvent; 0]);
}

async fn gone(word: &str) {
    for _ in 0..200 {
        if alive(word).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("still there: {:?}", alive(word));
}
