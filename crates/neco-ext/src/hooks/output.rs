//! What a hook said: its exit code, its standard output and its standard error, understood.

use neco_agent::gate::GateRuling;
use neco_proto::event::{HookEvent, HookOutcome};
use neco_safety::world::Exit;
use serde_json::Value;

/// Most bytes of a hook's words that the model gets.
const MOST_CONTEXT: usize = 16 * 1024;

/// Most bytes of a hook's words that the person gets.
const MOST_MESSAGE: usize = 2 * 1024;

/// What a hook printed.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
    /// Whether standard output went on beyond what is kept.
    pub cut: bool,
}

/// What a hook wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What it came to.
    pub outcome: HookOutcome,
    /// Its ruling, where it has one.
    pub ruling: Option<GateRuling>,
    /// Other arguments, as hooks know them.
    pub updated_input: Option<Value>,
    /// What the model is to be told.
    pub context: Option<String>,
    /// The work ends, for this reason.
    pub stop: Option<String>,
    /// What the person should read.
    pub message: Option<String>,
}

impl Answer {
    /// A hook that has nothing to say.
    pub fn passed() -> Self {
        Self {
            outcome: HookOutcome::Passed,
            ruling: None,
            updated_input: None,
            context: None,
            stop: None,
            message: None,
        }
    }

    /// A hook that counts for nothing, and why.
    pub fn failed(words: impl Into<String>) -> Self {
        Self { outcome: HookOutcome::Failed, message: Some(shortened(&words.into(), MOST_MESSAGE)), ..Self::passed() }
    }

    fn blocked(reason: String) -> Self {
        let message = Some(shortened(&reason, MOST_MESSAGE));
        Self { outcome: HookOutcome::Blocked, ruling: Some(GateRuling::Block(reason)), message, ..Self::passed() }
    }
}

/// Understands what a hook of `event` printed and how it ended. Never fails: what can't be
/// understood is an answer that counts for nothing.
pub fn read(event: HookEvent, exit: Exit, printed: &Printed) -> Answer {
    let errors = text(&printed.stderr);
    match exit {
        Exit::Code(0) => read_stdout(event, printed),
        Exit::Code(2) if can_block(event) => {
            let reason = if errors.is_empty() { "it gave no reason".to_owned() } else { errors };
            Answer::blocked(shortened(&reason, MOST_CONTEXT))
        }
        Exit::Code(code) => Answer::failed(with_words(&format!("exit code {code}"), &errors)),
        Exit::Signal(signal) => Answer::failed(with_words(&format!("killed by signal {signal}"), &errors)),
        Exit::Unknown => Answer::failed("how it ended is not known"),
    }
}

fn with_words(what: &str, words: &str) -> String {
    if words.is_empty() { what.to_owned() } else { format!("{what}: {words}") }
}

/// Whether a hook can stand in the way of what happens at this moment.
fn can_block(event: HookEvent) -> bool {
    match event {
        HookEvent::UserPromptSubmit
        | HookEvent::PreToolUse
        | HookEvent::PermissionRequest
        | HookEvent::PostToolUse
        | HookEvent::PostToolUseFailure
        | HookEvent::Stop
        | HookEvent::SubagentStop => true,
        HookEvent::SessionStart
        | HookEvent::SessionEnd
        | HookEvent::SubagentStart
        | HookEvent::PreCompact
        | HookEvent::PostCompact
        | HookEvent::Notification
        | HookEvent::Error => false,
    }
}

fn read_stdout(event: HookEvent, printed: &Printed) -> Answer {
    let said = text(&printed.stdout);
    if !said.starts_with('{') {
        let context = adds_plain_text(event).then(|| shortened(&said, MOST_CONTEXT)).filter(|said| !said.is_empty());
        return Answer { context, ..Answer::passed() };
    }
    if printed.cut {
        return Answer::failed("it printed more than can be read");
    }
    match serde_json::from_slice::<Value>(&printed.stdout) {
        Ok(Value::Object(object)) => read_object(event, &Value::Object(object)),
        Ok(_) => Answer::failed("it printed JSON that is no object"),
        Err(error) => Answer::failed(format!("it printed JSON that can't be read: {error}")),
    }
}

/// Moments at which plain words are for the model.
fn adds_plain_text(event: HookEvent) -> bool {
    matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit)
}

fn read_object(event: HookEvent, object: &Value) -> Answer {
    let specific = &object["hookSpecificOutput"];
    if let Some(other) = string(&specific["hookEventName"]).filter(|name| name != event.name()) {
        return Answer::failed(format!("it answered for {other}, not for {event}"));
    }
    let ruling = match ruling(event, object, specific) {
        Ok(ruling) => ruling.filter(|_| can_block(event)),
        Err(unknown) => return Answer::failed(unknown.to_string()),
    };
    let ends = object["continue"] == Value::Bool(false) || specific["decision"]["interrupt"] == Value::Bool(true);
    let stop = ends.then(|| string(&object["stopReason"]).unwrap_or_else(|| "it gave no reason".to_owned()));
    let updated = [&specific["updatedInput"], &specific["decision"]["updatedInput"]];
    let outcome = match (&stop, &ruling) {
        (Some(_), _) => HookOutcome::Stopped,
        (None, Some(GateRuling::Block(_))) => HookOutcome::Blocked,
        (None, Some(GateRuling::Ask(_))) => HookOutcome::Asked,
        (None, Some(GateRuling::Allow)) => HookOutcome::Allowed,
        (None, None) => HookOutcome::Passed,
    };
    let own_words = match (&stop, &ruling) {
        (Some(reason), _) => Some(reason.clone()),
        (None, Some(GateRuling::Block(reason) | GateRuling::Ask(reason))) => Some(reason.clone()),
        (None, Some(GateRuling::Allow) | None) => None,
    };
    let message = string(&object["systemMessage"]).or(own_words);
    Answer {
        outcome,
        ruling,
        updated_input: updated.into_iter().find(|input| !input.is_null()).cloned(),
        context: string(&specific["additionalContext"]).map(|context| shortened(&context, MOST_CONTEXT)),
        stop: stop.map(|reason| shortened(&reason, MOST_MESSAGE)),
        message: message.map(|message| shortened(&message, MOST_MESSAGE)),
    }
}

/// A decision that means nothing here.
#[derive(Debug, thiserror::Error)]
enum UnknownRuling {
    #[error("it decided {0:?}, which is not known")]
    Word(String),
    #[error("its decision is not a word: {0}")]
    NoWord(String),
}

/// The newer form first: what it says outweighs the older one.
fn ruling(event: HookEvent, object: &Value, specific: &Value) -> Result<Option<GateRuling>, UnknownRuling> {
    let (word, reason) = match event {
        HookEvent::PreToolUse if !specific["permissionDecision"].is_null() => {
            (&specific["permissionDecision"], &specific["permissionDecisionReason"])
        }
        HookEvent::PermissionRequest => (&specific["decision"]["behavior"], &specific["decision"]["message"]),
        _ => (&object["decision"], &object["reason"]),
    };
    let reason = || shortened(&string(reason).unwrap_or_else(|| "it gave no reason".to_owned()), MOST_CONTEXT);
    match word {
        Value::Null => Ok(None),
        Value::String(word) => match word.as_str() {
            "allow" | "approve" => Ok(Some(GateRuling::Allow)),
            "ask" => Ok(Some(GateRuling::Ask(reason()))),
            "deny" | "block" => Ok(Some(GateRuling::Block(reason()))),
            other => Err(UnknownRuling::Word(shortened(other, 100))),
        },
        other => Err(UnknownRuling::NoWord(shortened(&other.to_string(), 100))),
    }
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Bytes as text, whatever they are.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// The beginning of a text, and a word that there was more.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}… [{} bytes more]", text.get(..end).unwrap_or_default(), text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn said(event: HookEvent, code: i32, stdout: &str, stderr: &str) -> Answer {
        let printed = Printed { stdout: stdout.into(), stderr: stderr.into(), cut: false };
        read(event, Exit::Code(code), &printed)
    }

    fn block(reason: &str) -> Option<GateRuling> {
        Some(GateRuling::Block(reason.to_owned()))
    }

    #[test]
    fn exit_codes_mean_what_they_mean_elsewhere() {
        assert_eq!(said(HookEvent::PreToolUse, 0, "", "noise"), Answer::passed());
        assert_eq!(said(HookEvent::PreToolUse, 0, "plain words", ""), Answer::passed());
        assert_eq!(said(HookEvent::PreToolUse, 2, "{\"decision\":\"approve\"}", " no \n").ruling, block("no"));
        assert_eq!(said(HookEvent::Stop, 2, "", "").ruling, block("it gave no reason"));
        let failed = said(HookEvent::PreToolUse, 1, "", "oops");
        assert_eq!((failed.outcome, failed.message.as_deref()), (HookOutcome::Failed, Some("exit code 1: oops")));
        assert_eq!(failed.ruling, None);
        assert_eq!(said(HookEvent::SessionStart, 2, "", "x").outcome, HookOutcome::Failed);
        let killed = read(HookEvent::Stop, Exit::Signal(9), &Printed::default());
        assert_eq!(killed.message.as_deref(), Some("killed by signal 9"));
    }

    #[test]
    fn plain_words_are_context_where_a_session_or_a_message_begins() {
        for event in HookEvent::ALL {
            let context = said(*event, 0, "remember this\n", "").context;
            let expected = matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
            assert_eq!(context.is_some(), expected, "{event}");
        }
    }

    #[test]
    fn json_is_understood_in_both_forms() {
        let pre = |value: Value| said(HookEvent::PreToolUse, 0, &value.to_string(), "");
        let specific = |value: Value| pre(json!({ "hookSpecificOutput": value }));
        let denied = specific(json!({"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "not here"}));
        assert_eq!((denied.outcome, denied.ruling), (HookOutcome::Blocked, block("not here")));
        assert_eq!(specific(json!({"permissionDecision": "allow"})).ruling, Some(GateRuling::Allow));
        assert_eq!(
            specific(json!({"permissionDecision": "ask", "permissionDecisionReason": "look"})).ruling,
            Some(GateRuling::Ask("look".to_owned()))
        );
        assert_eq!(pre(json!({"decision": "block", "reason": "old form"})).ruling, block("old form"));
        assert_eq!(pre(json!({"decision": "approve"})).ruling, Some(GateRuling::Allow));
        let both = pre(json!({"decision": "approve", "hookSpecificOutput": {"permissionDecision": "deny"}}));
        assert_eq!(both.outcome, HookOutcome::Blocked);
        assert_eq!(specific(json!({"permissionDecision": "perhaps"})).outcome, HookOutcome::Failed);
        assert_eq!(
            specific(json!({"hookEventName": "Stop", "permissionDecision": "deny"})).outcome,
            HookOutcome::Failed
        );
        let changed = specific(json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}}));
        assert_eq!(changed.updated_input, Some(json!({"command": "ls"})));
        let ended = pre(json!({"continue": false, "stopReason": "enough", "systemMessage": "hello"}));
        assert_eq!((ended.stop.as_deref(), ended.message.as_deref()), (Some("enough"), Some("hello")));
        let answered = said(
            HookEvent::PermissionRequest,
            0,
            &json!({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "m"}}}).to_string(),
            "",
        );
        assert_eq!(answered.ruling, block("m"));
        let told = said(
            HookEvent::PostToolUse,
            0,
            &json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "c"}}).to_string(),
            "",
        );
        assert_eq!(told.context.as_deref(), Some("c"));
        let powerless = said(HookEvent::SessionStart, 0, "{\"decision\":\"block\"}", "");
        assert_eq!(powerless.ruling, None);
    }

    #[test]
    fn what_is_no_json_or_too_long_counts_for_nothing() {
        for stdout in ["{", "{\"a\":", "{]"] {
            assert_eq!(said(HookEvent::PreToolUse, 0, stdout, "").outcome, HookOutcome::Failed, "{stdout}");
        }
        let printed = Printed { stdout: b"{\"decision\":\"block\"}".to_vec(), cut: true, ..Printed::default() };
        assert_eq!(read(HookEvent::PreToolUse, Exit::Code(0), &printed).outcome, HookOutcome::Failed);
        let long = said(HookEvent::UserPromptSubmit, 0, &"ä".repeat(20_000), "").context.unwrap();
        assert!(long.len() < MOST_CONTEXT + 50 && long.ends_with("bytes more]"));
        let invalid = Printed { stdout: vec![0xff, 0xfe, b'x'], ..Printed::default() };
        assert!(read(HookEvent::UserPromptSubmit, Exit::Code(0), &invalid).context.is_some());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            prop_oneof![Just("block".to_owned()), Just("deny".to_owned()), ".{0,20}"].prop_map(Value::from),
        ];
        let name = prop_oneof![
            Just("decision".to_owned()),
            Just("hookSpecificOutput".to_owned()),
            Just("continue".to_owned()),
            Just("permissionDecision".to_owned()),
            Just("behavior".to_owned()),
            Just("updatedInput".to_owned()),
            Just("additionalContext".to_owned()),
            Just("hookEventName".to_owned()),
            "[a-z]{0,5}"
        ];
        leaf.prop_recursive(4, 32, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer(
            event in prop::sample::select(HookEvent::ALL), code in 0i32..4, cut in any::<bool>(),
            stdout in prop::collection::vec(any::<u8>(), 0..300), stderr in prop::collection::vec(any::<u8>(), 0..50)
        ) {
            let _ = read(event, Exit::Code(code), &Printed { stdout, stderr, cut });
        }

        #[test]
        fn any_object_is_an_answer_and_a_failure_rules_nothing(
            event in prop::sample::select(HookEvent::ALL), object in any_json()
        ) {
            let printed = Printed { stdout: object.to_string().into_bytes(), ..Printed::default() };
            let answer = read(event, Exit::Code(0), &printed);
            if answer.outcome == HookOutcome::Failed {
                prop_assert!(answer.ruling.is_none() && answer.stop.is_none() && answer.updated_input.is_none());
            }
        }
    }
}
