//! What a person is asked, whoever shows it: a call as it is or as they changed it, a plan; and what their answers send.

use neco_proto::event::PermissionRequest;
use neco_proto::{ApprovalMode, Command, Decision, Diff, Reply};
use serde_json::Value;

/// What a call comes to that the person changed is found out when it is judged: whatever was not told yet is asked about
/// then.
pub const CHECKED_AGAIN: &str = "Checked again after your change; asked again if it is riskier";

/// What is said of a command that no sandbox holds.
pub const NO_SANDBOX: &str = "no sandbox";

/// A call that a person is asked about.
#[derive(Clone, Debug)]
pub struct Approval {
    /// What is asked; once they changed it, what they made of it.
    pub request: PermissionRequest,
    /// Whether the person changed it.
    pub revised: bool,
}

impl Approval {
    /// The call as it was asked about.
    pub fn new(request: PermissionRequest) -> Self {
        Self { request, revised: false }
    }

    /// The person made this of it: no rule is made of that, and it is asked about as it is now.
    pub fn revise(&mut self, arguments: Value, diff: Vec<Diff>) {
        let request = &mut self.request;
        let verb = request.summary.split([' ', ',']).next().unwrap_or_default();
        request.summary = format!("{verb}, as you changed it");
        request.reason = CHECKED_AGAIN.to_owned();
        let command = arguments.get("command").and_then(Value::as_str).map(str::to_owned);
        request.command = request.command.take().and(command);
        (request.args, request.diff) = (arguments, diff);
        (request.session_rule, request.always_rule) = (None, None);
        self.revised = true;
    }

    /// How the sandbox holds it once it is allowed, in words; none for what runs nothing, and while nobody has looked
    /// at what the person made of it.
    pub fn held(&self) -> Option<&'static str> {
        let request = &self.request;
        Some(match (request.sandboxed.filter(|_| !self.revised)?, request.network, request.opens) {
            (false, ..) => NO_SANDBOX,
            (true, false, false) => "sandboxed · writes here, no network",
            (true, true, false) => "sandboxed · with network",
            (true, false, true) => "sandboxed · opens closed files",
            (true, true, true) => "sandboxed · with network, opens closed files",
        })
    }

    /// Yes to what is shown.
    pub fn yes(&self) -> Decision {
        if self.revised { Decision::Edit { arguments: self.request.args.clone() } } else { Decision::Once }
    }

    /// What tells the session of a decision.
    pub fn decide(&self, decision: Decision) -> Command {
        Command::Approve { call_id: self.request.call_id.clone(), decision }
    }
}

/// An answer to a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanAnswer {
    /// The key that gives it where keys do.
    pub key: char,
    /// What stands beside that key.
    pub label: &'static str,
    /// What it is called in a list of answers; none where the list does not have it.
    pub listed: Option<&'static str>,
    /// What is said once it was given.
    pub said: &'static str,
    /// What comes of it.
    pub means: PlanMeans,
}

/// What comes of an answer to a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanMeans {
    /// It is sent.
    Send(Reply),
    /// The person says first what should be different.
    Revise,
    /// The person changes the plan themselves, and what they made of it is carried out.
    Edit,
}

/// The answers to a plan, in the order in which they are offered.
pub const PLAN_ANSWERS: &[PlanAnswer] = &[
    accepts(None, 'y', "carry it out", Some("Yes, ask before edits and commands"), "accepted"),
    accepts(
        Some(ApprovalMode::AcceptEdits),
        'a',
        "… accepting edits",
        Some("Yes, accept edits, ask before commands"),
        "accepted, approval accept_edits",
    ),
    accepts(Some(ApprovalMode::Auto), 'u', "… auto", None, "accepted, approval auto"),
    accepts(Some(ApprovalMode::AskFirst), 'f', "… ask_first", None, "accepted, approval ask_first"),
    accepts(Some(ApprovalMode::Manual), 'm', "… manual", None, "accepted, approval manual"),
    PlanAnswer {
        key: 'r',
        label: "send it back",
        listed: Some("Change the plan: say what should be different"),
        said: "send it back",
        means: PlanMeans::Revise,
    },
    PlanAnswer {
        key: 'e',
        label: "edit it",
        listed: Some("Edit the plan in the editor, then carry it out"),
        said: "edit it",
        means: PlanMeans::Edit,
    },
    PlanAnswer {
        key: 'n',
        label: "drop it",
        listed: Some("No, stay in plan mode"),
        said: "dropped",
        means: PlanMeans::Send(Reply::DropPlan),
    },
];

/// What was said to a plan that is carried out; none for every other answer.
pub fn accepted_plan(reply: &Reply) -> Option<String> {
    Some(match reply {
        Reply::AcceptPlan { approval: None, .. } => "Yes".to_owned(),
        Reply::AcceptPlan { approval: Some(ApprovalMode::AcceptEdits), .. } => {
            "Yes, accept edits, ask before commands".to_owned()
        }
        Reply::AcceptPlan { approval: Some(approval), .. } => format!("Yes, approval {approval}"),
        Reply::AcceptChangedPlan { .. } => "Yes, as you changed it".to_owned(),
        _ => return None,
    })
}

const fn accepts(
    approval: Option<ApprovalMode>,
    key: char,
    label: &'static str,
    listed: Option<&'static str>,
    said: &'static str,
) -> PlanAnswer {
    let means = PlanMeans::Send(Reply::AcceptPlan { approval, comments: None });
    PlanAnswer { key, label, listed, said, means }
}
