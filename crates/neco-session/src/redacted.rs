//! Events without secrets: what enters the log holds no key that is known or can be nothing else.
//!
//! Results of tools come here without secrets already; this is the last look at everything else:
//! what people and the model write, what the model asks for, what errors and hooks say. Words that
//! come in pieces are held back as long as they may be the beginning of a key, and no longer.

use std::collections::HashMap;

use neco_proto::event::{
    AgentComplete, AgentUpdate, Compaction, ContextTrim, Down, ErrorEvent, HookRun, Letter, MemoryUpdate,
    MessageQueued, ModelRetry, ModelSwitch, NodeResult, Notification, PermissionDecision, PermissionRequest, RulesTold,
    StreamChunk, ToolCallDelta, ToolCallEnd, ToolCallUpdate, ToolOutputChunk, Up,
};
use neco_proto::{
    AgentId, CallId, Decision, Diff, Display, Event, EventBody, IdeContext, Message, Part, Reply, Subject, TurnId,
};
use neco_safety::secrets::{RedactedStream, Redactor, Scope};
use serde_json::Value;

/// Takes secrets out of the events of one session, in their order.
pub struct Redactions {
    redactor: Redactor,
    /// What an agent is saying.
    open: HashMap<AgentId, Open>,
}

struct Open {
    kind: Kind,
    turn: Option<TurnId>,
    stream: RedactedStream,
}

/// What comes in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Words,
    Thoughts,
    Arguments(CallId),
}

impl Redactions {
    /// Nothing was said yet.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, open: HashMap::new() }
    }

    /// The events to record for the next one: what was held back, and the event itself.
    pub fn of(
        &mut self,
        agent: AgentId,
        turn: Option<TurnId>,
        mut body: EventBody,
    ) -> Vec<(Option<TurnId>, EventBody)> {
        let mut events = Vec::new();
        match take_piece(&mut body) {
            Some((kind, text)) => {
                if self.open.get(&agent).is_some_and(|open| open.kind != kind) {
                    events.extend(self.close(agent));
                }
                let redactor = &self.redactor;
                let fresh = || Open { kind, turn, stream: redactor.stream(Scope::Said) };
                let open = self.open.entry(agent).or_insert_with(fresh);
                events.extend(event_of(&open.kind, open.stream.push_str(&text)).map(|body| (turn, body)));
            }
            None => {
                events.extend(self.close(agent));
                redact_body(&mut body, &self.redactor);
                events.push((turn, body));
            }
        }
        events
    }

    fn close(&mut self, agent: AgentId) -> Option<(Option<TurnId>, EventBody)> {
        let mut open = self.open.remove(&agent)?;
        event_of(&open.kind, open.stream.finish_str()).map(|body| (open.turn, body))
    }
}

/// The piece of what is being said that an event carries, taken out of it.
fn take_piece(body: &mut EventBody) -> Option<(Kind, String)> {
    let (kind, text) = match body {
        EventBody::StreamChunk(chunk) => (Kind::Words, &mut chunk.text),
        EventBody::ReasoningChunk(chunk) => (Kind::Thoughts, &mut chunk.text),
        EventBody::StreamToolCallDelta(ToolCallDelta { call_id, partial_args }) => {
            (Kind::Arguments(call_id.clone()), partial_args)
        }
        _ => return None,
    };
    Some((kind, std::mem::take(text)))
}

fn event_of(kind: &Kind, text: String) -> Option<EventBody> {
    (!text.is_empty()).then(|| match kind {
        Kind::Words => EventBody::StreamChunk(StreamChunk { text }),
        Kind::Thoughts => EventBody::ReasoningChunk(StreamChunk { text }),
        Kind::Arguments(call_id) => {
            EventBody::StreamToolCallDelta(ToolCallDelta { call_id: call_id.clone(), partial_args: text })
        }
    })
}

/// Takes secrets out of every text of an event. What only a vendor can read stays as it is, and so do
/// pictures. A secret that is spread over several events is found by [`Redactions`] alone.
pub fn redact(event: &mut Event, redactor: &Redactor) {
    event.more.values_mut().for_each(|value| redact_value(value, redactor));
    redact_body(&mut event.body, redactor);
}

fn redact_body(body: &mut EventBody, redactor: &Redactor) {
    let said = |text: &mut String| redactor.redact_in(text, Scope::Said);
    match body {
        EventBody::Message(message) | EventBody::MessageQueued(MessageQueued { message, .. }) => {
            redact_message(message, redactor);
        }
        EventBody::ToolCallUpdate(ToolCallUpdate { summary, .. }) => said(summary),
        EventBody::ToolOutputChunk(ToolOutputChunk { text, .. }) => said(text),
        EventBody::ToolCallEnd(ToolCallEnd { summary, output, parts, display, known, .. }) => {
            said(summary);
            said(output);
            parts.iter_mut().for_each(|part| part.each_text(&mut |text| said(text)));
            display.iter_mut().for_each(|display| redact_display(display, redactor));
            // A file whose name can't be told is one that has to be read again.
            known.retain(|file| redactor.redact(&file.path, Scope::Said) == file.path);
        }
        EventBody::PermissionRequest(request) => redact_request(request, redactor),
        EventBody::PermissionDecision(PermissionDecision { decision, .. }) => match decision {
            Decision::Edit { arguments } => redact_value(arguments, redactor),
            Decision::Reject { reason } => reason.iter_mut().for_each(said),
            Decision::Once | Decision::Session | Decision::Always => {}
        },
        EventBody::HookRun(HookRun { hook, message, .. }) => {
            said(hook);
            message.iter_mut().for_each(said);
        }
        EventBody::Question(question) => redact_subject(&mut question.subject, redactor),
        EventBody::QuestionAnswer(answer) => answer.reply.iter_mut().for_each(|reply| redact_reply(reply, redactor)),
        EventBody::TodoUpdate(update) => update.todos.iter_mut().for_each(|todo| said(&mut todo.text)),
        EventBody::PlanUpdate(update) => {
            if let Some(plan) = &mut update.plan {
                said(&mut plan.text);
                plan.steps.iter_mut().for_each(|step| said(&mut step.text));
            }
            update.findings.iter_mut().for_each(said);
        }
        EventBody::SharedState(update) => update.value.iter_mut().for_each(|value| redact_value(value, redactor)),
        EventBody::ModeChange(change) => change.reason.iter_mut().for_each(said),
        EventBody::MemoryUpdate(MemoryUpdate { entries, text, .. }) => {
            entries.iter_mut().map(|entry| &mut entry.title).chain(text).for_each(said);
        }
        EventBody::ModelRetry(ModelRetry { message, .. })
        | EventBody::ModelSwitch(ModelSwitch { message, .. })
        | EventBody::Error(ErrorEvent { message, .. })
        | EventBody::Notification(Notification { text: message, .. }) => said(message),
        EventBody::AgentComplete(AgentComplete { final_text, .. }) => said(final_text),
        EventBody::Environment(environment) => {
            std::iter::once(&mut environment.text).chain(&mut environment.repo_map).for_each(said);
        }
        EventBody::IdeContext(IdeContext { selection, .. }) => {
            selection.iter_mut().for_each(|selection| said(&mut selection.text));
        }
        EventBody::PiecesGiven(given) => given.pieces.iter_mut().for_each(|piece| said(&mut piece.path)),
        EventBody::SkillUsed(used) => said(&mut used.file),
        EventBody::RulesTold(RulesTold { files, unread }) => files.iter_mut().chain(unread).for_each(said),
        EventBody::ContextTrim(ContextTrim { outputs, arguments, .. }) => {
            outputs.iter_mut().for_each(|trimmed| said(&mut trimmed.output));
            arguments.iter_mut().for_each(|trimmed| said(&mut trimmed.arguments));
        }
        EventBody::Compaction(Compaction { focus, summary, outputs, arguments, notes, .. }) => {
            arguments.iter_mut().for_each(|trimmed| said(&mut trimmed.arguments));
            focus.iter_mut().chain(notes).chain(outputs.iter_mut().map(|trimmed| &mut trimmed.output)).for_each(said);
            summary.iter_mut().for_each(|summary| redact_message(summary, redactor));
        }
        EventBody::Checkpoint(kept) => said(&mut kept.label),
        EventBody::Title(title) => said(&mut title.title),
        EventBody::AgentUpdate(update) => redact_node(update, redactor),
        EventBody::AgentMessage(message) => redact_letter(&mut message.letter, redactor),
        EventBody::WorkflowUpdate(update) => {
            for task in &mut update.tasks {
                task.error.iter_mut().for_each(said);
                task.output.iter_mut().for_each(|output| redact_value(output, redactor));
            }
            update.definition.iter_mut().chain(&mut update.inputs).for_each(|value| redact_value(value, redactor));
        }
        EventBody::StreamChunk(chunk) | EventBody::ReasoningChunk(chunk) => said(&mut chunk.text),
        EventBody::StreamToolCallDelta(delta) => said(&mut delta.partial_args),
        EventBody::Unknown(unknown) => unknown.fields.values_mut().for_each(|value| redact_value(value, redactor)),
        EventBody::StreamToolCallStart(_)
        | EventBody::SessionStart(_)
        | EventBody::StateChange(_)
        | EventBody::TurnStart(_)
        | EventBody::Usage(_)
        | EventBody::FilesBack(_)
        | EventBody::SideCall(_)
        | EventBody::Rewind(_)
        | EventBody::Stop(_)
        | EventBody::Imported(_)
        | EventBody::TurnEnd(_) => {}
    }
}

fn redact_subject(subject: &mut Subject, redactor: &Redactor) {
    let said = |text: &mut String| redactor.redact_in(text, Scope::Said);
    match subject {
        Subject::Choices { items } => {
            for item in items {
                said(&mut item.title);
                said(&mut item.text);
                for option in &mut item.options {
                    said(&mut option.label);
                    said(&mut option.description);
                }
            }
        }
        Subject::Plan { plan } => said(plan),
        Subject::Loop { text } => said(text),
    }
}

fn redact_reply(reply: &mut Reply, redactor: &Redactor) {
    let said = |text: &mut String| redactor.redact_in(text, Scope::Said);
    match reply {
        Reply::Choices { answers } => {
            answers.iter_mut().for_each(|answer| answer.chosen.iter_mut().chain(&mut answer.text).for_each(said));
        }
        Reply::RevisePlan { comments } => said(comments),
        Reply::AcceptChangedPlan { plan } => said(plan),
        Reply::AcceptPlan { comments, .. } | Reply::GoOn { comments } => comments.iter_mut().for_each(said),
        Reply::DropPlan | Reply::Dismiss => {}
    }
}

fn redact_node(AgentUpdate { node, setup, .. }: &mut AgentUpdate, redactor: &Redactor) {
    let said = |text: &mut String| redactor.redact_in(text, Scope::Said);
    std::iter::once(&mut node.task).chain(&mut node.last_message).for_each(said);
    node.result.iter_mut().for_each(|result| redact_result(result, redactor));
    setup.iter_mut().for_each(|setup| redact_value(setup, redactor));
}

fn redact_letter(letter: &mut Letter, redactor: &Redactor) {
    let text = match letter {
        Letter::Up(Up::Ended { result }) => return redact_result(result, redactor),
        Letter::Up(Up::Report { message: text, .. } | Up::Question { text } | Up::Stopped { why: text, .. })
        | Letter::Down(Down::Task { text } | Down::Redirect { text } | Down::Answer { text }) => text,
    };
    redactor.redact_in(text, Scope::Said);
}

fn redact_result(result: &mut NodeResult, redactor: &Redactor) {
    match result {
        NodeResult::Output { output } => redact_value(output, redactor),
        NodeResult::Error { message, .. } => redactor.redact_in(message, Scope::Said),
    }
}

fn redact_message(message: &mut Message, redactor: &Redactor) {
    message.said.iter_mut().for_each(|said| redactor.redact_in(said, Scope::Said));
    for part in &mut message.parts {
        let text = match part {
            Part::Text { text } | Part::Reasoning { text, .. } => text,
            Part::ToolCall(call) => &mut call.arguments,
            Part::ToolResult(result) => &mut result.output,
            Part::Image { .. } => continue,
        };
        redactor.redact_in(text, Scope::Said);
    }
}

fn redact_request(request: &mut PermissionRequest, redactor: &Redactor) {
    let PermissionRequest { summary, args, command, reason, diff, ahead, .. } = request;
    let rules = [&mut request.session_rule, &mut request.always_rule, &mut request.always_file];
    redact_value(args, redactor);
    let texts = [summary, reason].into_iter().chain(command).chain(rules.into_iter().flatten());
    let texts = texts.chain(diff.iter_mut().map(|diff| &mut diff.unified));
    let texts = texts.chain(ahead.iter_mut().map(|ahead| &mut ahead.summary));
    texts.for_each(|text| redactor.redact_in(text, Scope::Said));
}

fn redact_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => redactor.redact_in(text, Scope::Said),
        Value::Array(values) => values.iter_mut().for_each(|value| redact_value(value, redactor)),
        Value::Object(fields) => fields.values_mut().for_each(|value| redact_value(value, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn redact_display(display: &mut Display, redactor: &Redactor) {
    let said = |text: &mut String| redactor.redact_in(text, Scope::Said);
    match display {
        Display::Text { text } => said(text),
        Display::Diff { files } => files.iter_mut().for_each(|Diff { unified, .. }| said(unified)),
        Display::Terminal { command, tail, .. } => [command, tail].into_iter().for_each(said),
        Display::List { title, items, .. } => std::iter::once(title).chain(items).for_each(said),
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::ToolCall;

    use super::*;

    const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const MARK: &str = "[redacted: GitHub token]";

    fn recorded(events: Vec<EventBody>) -> Vec<EventBody> {
        let (agent, mut redactions) = (AgentId::new(), Redactions::new(Redactor::default()));
        events.into_iter().flat_map(|body| redactions.of(agent, None, body)).map(|(_, body)| body).collect()
    }

    fn words(text: &str) -> EventBody {
        EventBody::StreamChunk(StreamChunk { text: text.to_owned() })
    }

    #[test]
    fn a_key_that_comes_in_pieces_is_never_recorded() {
        let arguments = |text: &str| {
            EventBody::StreamToolCallDelta(ToolCallDelta { call_id: "c".into(), partial_args: text.to_owned() })
        };
        let (head, tail) = KEY.split_at(9);
        let events = recorded(vec![
            words("the key is "),
            words(head),
            words(tail),
            arguments(&format!("{{\"command\":\"echo {head}")),
            arguments(&format!("{tail}\"}}")),
            EventBody::TurnEnd(neco_proto::event::TurnEnd { iteration: 1 }),
        ]);
        let json = serde_json::to_string(&events).unwrap();
        assert_eq!(json.matches(MARK).count(), 2, "{json}");
        assert!(!json.contains("abcdefghij"), "{json}");
    }

    #[test]
    fn what_holds_no_key_is_recorded_as_it_comes() {
        let events = vec![words("one "), words("two. "), words("three 4")];
        assert_eq!(recorded(events.clone()), events);
    }

    #[test]
    fn messages_and_questions_lose_keys_and_nothing_else() {
        let call = ToolCall {
            id: "c".into(),
            name: "bash".to_owned(),
            arguments: format!("{{\"command\":\"curl -H 'x: {KEY}' | PASSWORD=Corr3ct-Horse sh\"}}"),
            opaque: Some(Value::String(KEY.to_owned())),
        };
        let mut message = Message { said: Some(format!("use {KEY}")), ..Message::user(format!("use {KEY}")) };
        message.parts.push(Part::ToolCall(call));
        message.parts.push(Part::Image { media_type: "image/png".to_owned(), data: KEY.to_owned() });
        let json = serde_json::to_string(&recorded(vec![EventBody::Message(message)])).unwrap();
        assert_eq!(json.matches(&format!("use {MARK}")).count(), 2, "{json}");
        assert!(json.contains(&format!("x: {MARK}'")), "{json}");
        assert!(json.contains("PASSWORD=Corr3ct-Horse"), "what a person judges is not guessed at: {json}");
        assert_eq!(json.matches(KEY).count(), 2, "{json}");
    }
}
