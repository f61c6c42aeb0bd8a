//! What a person is asked by way of an editor: whether a call may run, and what an agent wants to know.

use std::path::Path;

use agent_client_protocol::v1::schema as acp;
use neco_proto::event::PermissionRequest;
use neco_proto::visible::{visible, visible_line};
use neco_proto::{
    ApprovalMode, CallId, Command, Decision, ItemAnswer, Question, QuestionId, QuestionItem, Reply, Risk, Subject,
};
use neco_view::ask::{Approval, Means, Offered, Rule};

use crate::calls::{changes, kind, text};
use crate::updates::fenced_as;

/// What waits for a person.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Call(Box<PermissionRequest>),
    Question(Question),
}

/// Which question it is: an answer elsewhere, or the end of a call, settles it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AskedId {
    Call(CallId),
    Question(QuestionId),
}

/// The option that leaves the answer to the person's next message.
pub(crate) const LATER: &str = "later";

impl Asked {
    pub fn id(&self) -> AskedId {
        match self {
            Self::Call(request) => AskedId::Call(request.call_id.clone()),
            Self::Question(question) => AskedId::Question(question.question_id),
        }
    }

    /// The call that an editor shows the question with.
    pub fn call(&self) -> acp::ToolCallId {
        match self {
            Self::Call(request) => acp::ToolCallId::new(request.call_id.as_str()),
            Self::Question(question) => match &question.call_id {
                Some(call) => acp::ToolCallId::new(call.as_str()),
                None => acp::ToolCallId::new(question.question_id.to_string()),
            },
        }
    }

    /// What it is about, as a call.
    pub fn about(&self, folder: &Path) -> acp::ToolCallUpdateFields {
        let fields = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Pending);
        match self {
            Self::Call(request) => {
                let mut content = vec![text(about_call(request))];
                content.extend(changes(&request.diff, folder));
                fields
                    .title(visible_line(&request.summary))
                    .kind(kind(&request.tool))
                    .raw_input(request.args.clone())
                    .content(content)
            }
            Self::Question(question) => {
                let (title, words) = match &question.subject {
                    Subject::Choices { items } => {
                        let words: Vec<String> = items.iter().map(asked).collect();
                        let title = items.first().map(|item| visible_line(&item.text)).unwrap_or_default();
                        (title, words.join("\n\n"))
                    }
                    Subject::Plan { plan } => ("Carry out this plan?".to_owned(), visible(plan)),
                    Subject::Loop { text } => ("The agent repeats itself. May it go on?".to_owned(), visible(text)),
                };
                fields.title(title).kind(acp::ToolKind::Think).content(vec![text(words)])
            }
        }
    }

    /// What is asked with a form, where the editor has `forms`.
    pub fn form(&self, forms: bool) -> Option<(&Question, &[QuestionItem])> {
        match self {
            Self::Question(question) => match &question.subject {
                Subject::Choices { items } if forms => Some((question, items.as_slice())),
                Subject::Choices { .. } | Subject::Plan { .. } | Subject::Loop { .. } => None,
            },
            Self::Call(_) => None,
        }
    }

    /// The rounds in which it is asked where only choices can be shown: one for each thing that is to be known. One
    /// without choices is never brought: it is left to the person's next message.
    pub fn rounds(&self) -> Vec<Vec<acp::PermissionOption>> {
        match self {
            Self::Call(request) => vec![of_call(request)],
            Self::Question(question) => match &question.subject {
                Subject::Choices { items } => items.iter().map(of_item).collect(),
                Subject::Plan { .. } => vec![vec![
                    option("accept", "Yes, and ask as before", acp::PermissionOptionKind::AllowOnce),
                    option("accept_edits", "Yes, and accept edits from now on", acp::PermissionOptionKind::AllowAlways),
                    option("drop", "No, nothing is to come of it", acp::PermissionOptionKind::RejectOnce),
                    option(LATER, "I say what to change, in my next message", acp::PermissionOptionKind::RejectOnce),
                ]],
                Subject::Loop { .. } => vec![vec![
                    option("go_on", "Yes, it may go on", acp::PermissionOptionKind::AllowOnce),
                    option("stop", "No, it stops here", acp::PermissionOptionKind::RejectOnce),
                ]],
            },
        }
    }

    /// What is asked in a round, where there are several.
    pub fn title(&self, round: usize) -> Option<String> {
        let Self::Question(Question { subject: Subject::Choices { items }, .. }) = self else { return None };
        items.get(round).map(|item| visible_line(&item.text))
    }

    /// What the session is told: the option that was chosen in each round; none where the person chose nothing.
    pub fn command(&self, chosen: &[Option<String>]) -> Command {
        let first = chosen.first().and_then(Option::as_deref);
        match self {
            Self::Call(request) => {
                Command::Approve { call_id: request.call_id.clone(), decision: decided(request, first) }
            }
            Self::Question(question) => {
                let reply = replied(&question.subject, first, chosen);
                Command::Answer { question_id: question.question_id, reply }
            }
        }
    }

    /// What the session is told where the editor can't ask.
    pub fn unasked(&self, why: &str) -> Command {
        match self {
            Self::Call(request) => {
                let rule = request.always_rule.as_ref().or(request.session_rule.as_ref());
                let rule = rule.map(|rule| format!("; a rule would allow it: {rule}")).unwrap_or_default();
                let decision = Decision::Reject { reason: Some(format!("the editor could not ask: {why}{rule}")) };
                Command::Approve { call_id: request.call_id.clone(), decision }
            }
            Self::Question(_) => self.command(&[]),
        }
    }
}

fn option(id: &str, name: impl Into<String>, kind: acp::PermissionOptionKind) -> acp::PermissionOption {
    acp::PermissionOption::new(id.to_owned(), name, kind)
}

/// The call in words, with what is not seen in its line.
fn about_call(request: &PermissionRequest) -> String {
    let mut lines = Vec::new();
    lines.extend(request.command.as_ref().map(|command| fenced_as("sh", &visible(command))));
    // As in the windows, this is what is asked about in every approval mode.
    let risk = if request.risk == Risk::Critical { "High risk: " } else { "" };
    lines.push(format!("{risk}{}", visible(&request.reason)));
    lines.extend(Approval::new(request.clone()).held().map(str::to_owned));
    let file = request.always_file.as_ref().filter(|_| request.always_rule.is_some());
    lines.extend(file.map(|file| format!("What is answered for always is saved in {}", visible_line(file))));
    lines.join("\n")
}

/// What can be answered to a call, each with the rule that it would make.
fn of_call(request: &PermissionRequest) -> Vec<acp::PermissionOption> {
    let approval = Approval::new(request.clone());
    let answers = approval.answers(Offered { rules: true, ..Offered::default() });
    let option_of = |answer: neco_view::ask::CallAnswer| {
        let (id, kind) = match answer.means {
            Means::Yes => ("once", acp::PermissionOptionKind::AllowOnce),
            Means::AcceptEdits | Means::Rule(Rule::Session) => ("session", acp::PermissionOptionKind::AllowAlways),
            Means::Rule(Rule::Always) => ("always", acp::PermissionOptionKind::AllowAlways),
            Means::No => ("reject", acp::PermissionOptionKind::RejectOnce),
            // Several calls at once, and calls that are changed first, have no place in an editor's question.
            Means::YesToNamed | Means::Edit | Means::NoToAll => return None,
        };
        let about = if answer.about.is_empty() { String::new() } else { format!(": {}", answer.about) };
        let name = if id == "reject" { "No".to_owned() } else { format!("{}{about}", answer.words) };
        Some(option(id, name, kind))
    };
    answers.into_iter().filter_map(option_of).collect()
}

/// Whatever is no plain yes is a no.
fn decided(request: &PermissionRequest, chosen: Option<&str>) -> Decision {
    match chosen {
        Some("once") => Decision::Once,
        Some("session") if request.session_rule.is_some() => Decision::Session,
        Some("always") if request.always_rule.is_some() => Decision::Always,
        _ => Decision::Reject { reason: None },
    }
}

/// A question, with what its options mean.
fn asked(item: &QuestionItem) -> String {
    let described = item.options.iter().filter(|option| !option.description.is_empty());
    let described =
        described.map(|option| format!("\n- {}: {}", visible_line(&option.label), visible_line(&option.description)));
    std::iter::once(visible(&item.text)).chain(described).collect()
}

/// What can be chosen for one thing that is to be known; nothing where there are no choices.
fn of_item(item: &QuestionItem) -> Vec<acp::PermissionOption> {
    if item.options.is_empty() {
        return Vec::new();
    }
    let choice = |(at, one): (usize, &neco_proto::QuestionOption)| {
        option(&at.to_string(), visible_line(&one.label), acp::PermissionOptionKind::AllowOnce)
    };
    let later = option(LATER, "I answer in my next message", acp::PermissionOptionKind::AllowOnce);
    item.options.iter().enumerate().map(choice).chain([later]).collect()
}

/// The answer to a question of which this was chosen in each round.
pub(crate) fn replied(subject: &Subject, first: Option<&str>, chosen: &[Option<String>]) -> Reply {
    match subject {
        Subject::Choices { items } => {
            let answers: Vec<ItemAnswer> =
                items.iter().zip(chosen).map(|(item, chosen)| choice(item, chosen.as_deref())).collect();
            let is_answered = answers.iter().any(|answer| !answer.chosen.is_empty());
            if is_answered { Reply::Choices { answers } } else { Reply::Dismiss }
        }
        Subject::Plan { .. } => match first {
            Some("accept") => Reply::AcceptPlan { approval: None, comments: None },
            Some("accept_edits") => Reply::AcceptPlan { approval: Some(ApprovalMode::AcceptEdits), comments: None },
            _ => Reply::DropPlan,
        },
        Subject::Loop { .. } => match first {
            Some("go_on") => Reply::GoOn { comments: None },
            _ => Reply::Dismiss,
        },
    }
}

/// The answer that an option is; none where the person chose nothing.
pub(crate) fn choice(item: &QuestionItem, chosen: Option<&str>) -> ItemAnswer {
    let at = chosen.and_then(|chosen| chosen.parse::<usize>().ok());
    let label = at.and_then(|at| item.options.get(at)).map(|option| option.label.clone());
    ItemAnswer { chosen: label.into_iter().collect(), text: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call() -> Asked {
        let request = json!({
            "call_id": "c1", "tool": "bash", "summary": "Run make", "args": { "command": "make" }, "command": "make",
            "risk": "high", "reason": "it runs a command", "always_rule": "`make`", "always_file": "~/rules.toml",
        });
        Asked::Call(serde_json::from_value(request).unwrap())
    }

    fn decision(chosen: &str) -> Decision {
        let Command::Approve { decision, .. } = call().command(&[Some(chosen.to_owned())]) else {
            panic!("no decision")
        };
        decision
    }

    #[test]
    fn only_what_is_on_offer_is_a_yes() {
        assert_eq!((decision("once"), decision("always")), (Decision::Once, Decision::Always));
        for other in ["session", "allow", "", "reject"] {
            assert_eq!(decision(other), Decision::Reject { reason: None }, "{other}");
        }
        let Command::Approve { decision: Decision::Reject { reason: Some(why) }, .. } =
            call().unasked("it has no such call")
        else {
            panic!("no refusal")
        };
        assert!(why.contains("no such call") && why.contains("`make`"), "{why}");
    }

    #[test]
    fn the_rule_of_always_is_shown() {
        let names: Vec<_> = call().rounds().concat().into_iter().map(|option| option.name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names[1].contains("`make`"), "{names:?}");
        let shown = serde_json::to_string(&call().about(Path::new("/project"))).unwrap();
        assert!(shown.contains("it runs a command") && shown.contains("```sh\\nmake"), "{shown}");
        assert!(shown.contains("saved in ~/rules.toml") && !shown.contains("risk"), "{shown}");
        let Asked::Call(request) = call() else { panic!("no call") };
        let critical = PermissionRequest { risk: Risk::Critical, ..*request };
        assert!(about_call(&critical).contains("High risk: it runs a command"));
    }
}
