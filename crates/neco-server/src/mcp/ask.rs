//! What a person is asked by way of a client: a form, and what their answer tells the session.

use std::collections::BTreeMap;

use neco_proto::event::PermissionRequest;
use neco_proto::visible::{visible, visible_line};
use neco_proto::{CallId, Command, Decision, ItemAnswer, Question, QuestionId, QuestionItem, Reply, Subject};
use neco_view::ask::Approval;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

/// Characters of a change that are shown.
const MOST_SHOWN: usize = 4000;

/// The field of a form with a decision, and the one with a person's own words.
const DECISION: &str = "decision";
const REASON: &str = "reason";

/// The yes of a form.
const ALLOW: &str = "allow";

/// What waits for a person.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    Call(Box<PermissionRequest>),
    Question(Question),
}

/// What is known of an answer.
pub(super) enum Answered {
    /// The client brought it.
    By(ElicitResult),
    /// The client can't ask anybody.
    Nobody,
}

/// Which question it is: an answer elsewhere, or the end of a call, settles it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AskedId {
    Call(CallId),
    Question(QuestionId),
}

impl Asked {
    pub fn id(&self) -> AskedId {
        match self {
            Self::Call(request) => AskedId::Call(request.call_id.clone()),
            Self::Question(question) => AskedId::Question(question.question_id),
        }
    }

    /// The form that the client shows.
    pub fn form(&self) -> ElicitRequestParams {
        let (message, properties, required) = match self {
            Self::Call(request) => (about_call(request), decision(&[ALLOW, "refuse"]), vec![DECISION.to_owned()]),
            Self::Question(question) => about(&question.subject),
        };
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let requested_schema =
            serde_json::from_value(schema).unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new()));
        ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
    }

    /// What the session is told where the answer may not be given.
    pub fn refused(&self, why: &str) -> Command {
        match self {
            Self::Call(request) => {
                let decision = Decision::Reject { reason: Some(why.to_owned()) };
                Command::Approve { call_id: request.call_id.clone(), decision }
            }
            Self::Question(question) => Command::Answer { question_id: question.question_id, reply: Reply::Dismiss },
        }
    }

    /// What the session is told. Whatever is no plain yes is a no.
    pub fn command(&self, answered: &Answered) -> Command {
        match self {
            Self::Call(request) => {
                Command::Approve { call_id: request.call_id.clone(), decision: decided(request, answered) }
            }
            Self::Question(question) => {
                Command::Answer { question_id: question.question_id, reply: replied(&question.subject, answered) }
            }
        }
    }
}

fn decision(choices: &[&str]) -> Value {
    json!({
        DECISION: { "type": "string", "title": "Decision", "enum": choices },
        REASON: { "type": "string", "title": "What to do instead", "description": "For the agent; may be left empty" },
    })
}

/// The call in words, with what is not seen in its line.
fn about_call(request: &PermissionRequest) -> String {
    let mut lines = vec![format!("Neco asks: {}", visible_line(&request.summary))];
    lines.extend(request.command.as_ref().map(|command| format!("$ {}", visible(command))));
    lines.push(format!("{} risk: {}", request.risk, visible(&request.reason)));
    lines.extend(Approval::new(request.clone()).held().map(str::to_owned));
    let changes: Vec<&str> = request.diff.iter().map(|diff| diff.unified.as_str()).collect();
    let changes = visible(&changes.join("\n"));
    let shown: String = changes.chars().take(MOST_SHOWN).collect();
    if shown.len() < changes.len() {
        lines.push(format!("{shown}\n[{} more bytes]", changes.len() - shown.len()));
    } else if !shown.is_empty() {
        lines.push(shown);
    }
    lines.join("\n")
}

fn decided(request: &PermissionRequest, answered: &Answered) -> Decision {
    let answer = match answered {
        Answered::By(answer) => answer,
        Answered::Nobody => {
            let rule = request.always_rule.as_ref().or(request.session_rule.as_ref());
            let rule = rule.map(|rule| format!("; a rule would allow it: {rule}")).unwrap_or_default();
            return Decision::Reject { reason: Some(format!("nobody can be asked by way of this client{rule}")) };
        }
    };
    match (&answer.action, field(answer, DECISION)) {
        (ElicitationAction::Accept, Some(ALLOW)) => Decision::Once,
        _ => Decision::Reject { reason: field(answer, REASON).map(str::to_owned) },
    }
}

fn field<'a>(answer: &'a ElicitResult, name: &str) -> Option<&'a str> {
    answer.content.as_ref()?.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// What is asked, the fields of the answer, and those without which there is none.
fn about(subject: &Subject) -> (String, Value, Vec<String>) {
    let required = vec![DECISION.to_owned()];
    match subject {
        Subject::Choices { items } => {
            let fields: Map<String, Value> =
                items.iter().enumerate().map(|(at, item)| (name(at), choices(item))).collect();
            let words: Vec<String> = items.iter().map(|item| visible(&item.text)).collect();
            let required = fields.keys().cloned().collect();
            (words.join("\n"), Value::Object(fields), required)
        }
        Subject::Plan { plan } => {
            (format!("The agent asks to carry out this plan:\n{}", visible(plan)), decision(&[ALLOW, "drop"]), required)
        }
        Subject::Loop { text } => (
            format!("The agent repeats itself: {}\nMay it go on?", visible(text)),
            decision(&[ALLOW, "stop"]),
            required,
        ),
    }
}

/// The field of an item.
fn name(at: usize) -> String {
    format!("answer_{}", at + 1)
}

fn choices(item: &QuestionItem) -> Value {
    let title = if item.title.is_empty() { visible_line(&item.text) } else { visible_line(&item.title) };
    let labels: Vec<&str> = item.options.iter().map(|option| option.label.as_str()).collect();
    match (labels.is_empty(), item.multiple) {
        (true, _) => json!({ "type": "string", "title": title }),
        (false, false) => json!({ "type": "string", "title": title, "enum": labels }),
        (false, true) => json!({ "type": "array", "title": title, "items": { "type": "string", "enum": labels } }),
    }
}

fn replied(subject: &Subject, answered: &Answered) -> Reply {
    let accepted = match answered {
        Answered::By(answer) if answer.action == ElicitationAction::Accept => Some(answer),
        Answered::By(_) | Answered::Nobody => None,
    };
    let is_allowed = accepted.is_some_and(|answer| field(answer, DECISION) == Some(ALLOW));
    let comments = accepted.and_then(|answer| field(answer, REASON)).map(str::to_owned);
    match (subject, accepted) {
        (Subject::Choices { items }, Some(answer)) => {
            let answers = items.iter().enumerate().map(|(at, item)| chosen(item, answer, at)).collect();
            Reply::Choices { answers }
        }
        (Subject::Choices { .. }, None) => Reply::Dismiss,
        (Subject::Plan { .. }, _) if is_allowed => Reply::AcceptPlan { approval: None, comments },
        (Subject::Plan { .. }, _) => Reply::DropPlan,
        (Subject::Loop { .. }, _) if is_allowed => Reply::GoOn { comments },
        (Subject::Loop { .. }, _) => Reply::Dismiss,
    }
}

fn chosen(item: &QuestionItem, answer: &ElicitResult, at: usize) -> ItemAnswer {
    let given = answer.content.as_ref().and_then(|content| content.get(name(at)));
    let words: Vec<String> = match given {
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    };
    let is_option = |word: &String| item.options.iter().any(|option| option.label == *word);
    let (chosen, written): (Vec<String>, Vec<String>) = words.into_iter().partition(is_option);
    ItemAnswer { chosen, text: written.into_iter().next() }
}

#[cfg(test)]
mod tests {
    use neco_proto::QuestionOption;

    use super::*;

    fn call() -> Asked {
        let request = json!({
            "call_id": "c1", "tool": "bash", "summary": "Run make", "args": {}, "command": "make", "risk": "medium",
            "reason": "it runs a command", "always_rule": "bash(make) in rules.toml",
        });
        Asked::Call(serde_json::from_value(request).unwrap())
    }

    fn by(answer: Value) -> Answered {
        Answered::By(serde_json::from_value(answer).unwrap())
    }

    fn decision_of(answered: &Answered) -> Decision {
        let Command::Approve { decision, .. } = call().command(answered) else { panic!("no decision") };
        decision
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        assert_eq!(decision_of(&by(json!({ "action": "accept", "content": { "decision": "allow" } }))), Decision::Once);
        for answer in [
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": { "decision": "yes" } }),
            json!({ "action": "accept", "content": ["allow"] }),
            json!({ "action": "decline", "content": { "decision": "allow" } }),
            json!({ "action": "cancel" }),
        ] {
            assert_eq!(decision_of(&by(answer.clone())), Decision::Reject { reason: None }, "{answer}");
        }
        let refused = json!({ "action": "accept", "content": { "decision": "refuse", "reason": " use cargo " } });
        assert_eq!(decision_of(&by(refused)), Decision::Reject { reason: Some("use cargo".to_owned()) });
        let Decision::Reject { reason: Some(reason) } = decision_of(&Answered::Nobody) else { panic!("a yes") };
        assert!(reason.contains("bash(make) in rules.toml"), "{reason}");
    }

    #[test]
    fn a_form_shows_the_call_and_what_can_be_answered() {
        let form = serde_json::to_value(call().form()).unwrap();
        let message = form["message"].as_str().unwrap();
        assert!(
            message.contains("Run make") && message.contains("$ make") && message.contains("medium risk"),
            "{message}"
        );
        assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["allow", "refuse"]));
        assert_eq!(form["requestedSchema"]["required"], json!(["decision"]));
    }

    #[test]
    fn what_the_agent_wants_to_know_has_a_field_each() {
        let option = |label: &str| QuestionOption { label: label.to_owned(), description: String::new() };
        let item = |options: &[&str]| QuestionItem {
            title: String::new(),
            text: "Which?".to_owned(),
            options: options.iter().map(|label| option(label)).collect(),
            multiple: false,
            empty: Default::default(),
            field: None,
        };
        let subject = Subject::Choices { items: vec![item(&["a", "b"]), item(&[])] };
        let asked = Asked::Question(Question { question_id: QuestionId::new(), call_id: None, subject });
        let form = serde_json::to_value(asked.form()).unwrap();
        assert_eq!(form["requestedSchema"]["properties"]["answer_1"]["enum"], json!(["a", "b"]));
        let answer = by(json!({ "action": "accept", "content": { "answer_1": "b", "answer_2": "both" } }));
        let Command::Answer { reply: Reply::Choices { answers }, .. } = asked.command(&answer) else {
            panic!("no answers")
        };
        assert_eq!((answers[0].chosen.as_slice(), answers[1].text.as_deref()), (&["b".to_owned()][..], Some("both")));
        let Command::Answer { reply, .. } = asked.command(&Answered::Nobody) else { panic!("no answer") };
        assert_eq!(reply, Reply::Dismiss);
    }
}
