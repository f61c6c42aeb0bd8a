//! A person's answer to a call that waits.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::{CallStatus, PermissionDecision, PermissionRequest, ToolCallEnd};
use neco_proto::{Actor, CallId, Decision, ErrorCode, EventBody, ToolOrigin};
use neco_safety::{Action, Grant, Policy, Verdict};
use neco_toolkit::{Plan, PreparedCall, Registry, ToolError};

use super::call::{Call, Outcome, Phase};
use super::changes::changes;

/// The call, as the policy is asked about it.
pub fn action<'a>(
    (tool, origin): (&'a str, &'a ToolOrigin),
    prepared: &'a dyn PreparedCall,
    plan: &'a Plan,
) -> Action<'a> {
    Action {
        tool,
        origin,
        arguments: prepared.arguments(),
        touch: prepared.touch(),
        risk: plan.risk,
        command: plan.command.as_deref(),
        folder: plan.folder.as_deref(),
        paths: &plan.paths,
        because: plan.because.as_deref(),
        freedom: plan.freedom,
    }
}

/// What a person can allow beyond the one call.
pub(super) struct Offer {
    pub grant: Option<Box<Grant>>,
    /// Where it would be kept for good, if it can be.
    pub file: Option<String>,
}

impl Offer {
    /// The rule that would be kept for good, in words, and the file that it would be kept in.
    fn always(&self) -> Option<(String, String)> {
        self.grant.as_ref()?.describe_always().zip(self.file.clone())
    }
}

/// What was allowed beyond the one call.
pub(super) struct Granted {
    pub grant: Box<Grant>,
    /// Whether it is to be kept for good.
    pub always: bool,
}

impl Granted {
    /// It holds from now on; gives what is to be kept.
    pub fn take_effect(self, policy: &mut Policy) -> Option<Box<Grant>> {
        if !self.always {
            policy.grant(&self.grant);
            return None;
        }
        policy.grant_for_good(&self.grant);
        Some(self.grant)
    }
}

/// The question that the person is asked.
pub(super) fn request(
    call: &mut Call,
    prepared: &dyn PreparedCall,
    plan: &Plan,
    offer: &Offer,
    verdict: Verdict,
) -> PermissionRequest {
    call.told = Some(verdict.clone());
    let (always_rule, always_file) = offer.always().unzip();
    let held = verdict.held.filter(|_| !plan.elsewhere);
    let reason: Vec<String> = [verdict.reason].into_iter().chain(plan.remarks.iter().cloned()).collect();
    PermissionRequest {
        call_id: call.id.clone(),
        tool: call.tool.clone(),
        origin: call.origin.clone(),
        summary: call.summary.clone(),
        args: prepared.arguments().clone(),
        command: plan.command.clone(),
        risk: verdict.risk,
        reason: reason.join("\n"),
        diff: plan.diff.clone(),
        session_rule: offer.grant.as_deref().map(Grant::describe),
        always_rule,
        always_file,
        sandboxed: held.map(|held| held.sandboxed),
        network: plan.elsewhere || held.is_some_and(|held| held.network),
        opens: held.is_some_and(|held| held.opens),
        ahead: Vec::new(),
    }
}

/// What follows from a decision.
pub(super) struct Decided {
    /// The event of the decision, and of the end of a rejected call.
    pub events: Vec<EventBody>,
    /// What is allowed from now on.
    pub granted: Option<Granted>,
    /// The call with other arguments, to be looked at anew.
    pub changed: Option<Box<dyn PreparedCall>>,
}

/// Why a person's word about a call has no effect; the words are for that person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum CallError {
    /// Nothing waits under that id.
    #[error("call {0} does not wait for an approval")]
    NotWaiting(CallId),
    /// No rule could be kept.
    #[error("nothing can be allowed for good here: every such call is asked about")]
    NothingForGood,
    /// New arguments have the mark of a secret that the old ones did not have.
    #[error("{0} stands for a secret that is not shown: write the value itself in its place")]
    HiddenSecret(String),
    /// New arguments do not fit.
    #[error(transparent)]
    Arguments(#[from] ToolError),
    /// No command of that call runs.
    #[error("no command runs that could go on in the background")]
    NothingRuns,
    /// What it runs can't go on in the background.
    #[error("{tool}: {}", why.message)]
    StaysHere {
        /// The tool.
        tool: String,
        /// Why not.
        why: ToolError,
    },
}

/// Applies a decision to a call that waits.
/// Fails when the call does not wait or the new arguments do not fit; the call is then as it was.
pub(super) fn decide(
    call: &mut Call,
    registry: &Registry,
    decision: Decision,
    by: Option<Actor>,
) -> Result<Decided, CallError> {
    if !matches!(call.phase, Phase::AwaitingApproval { .. }) {
        return Err(CallError::NotWaiting(call.id.clone()));
    }
    if let (Decision::Always, Phase::AwaitingApproval { offer, .. }) = (&decision, &call.phase)
        && offer.always().is_none()
    {
        return Err(CallError::NothingForGood);
    }
    let changed = match &decision {
        Decision::Edit { arguments } => Some(changed_call(call, registry, arguments.clone())?),
        Decision::Once | Decision::Session | Decision::Always | Decision::Reject { .. } => None,
    };
    let Phase::AwaitingApproval { prepared, offer, .. } =
        std::mem::replace(&mut call.phase, Phase::Done(Box::new(Outcome::cancelled(false))))
    else {
        return Err(CallError::NotWaiting(call.id.clone()));
    };
    let by_rule = matches!(by, Some(Actor::Rule { .. }));
    let mut events = vec![EventBody::PermissionDecision(PermissionDecision {
        call_id: call.id.clone(),
        decision: decision.clone(),
        by,
    })];
    let mut granted = None;
    let always = decision == Decision::Always;
    match decision {
        Decision::Once => clear(call, prepared),
        Decision::Session | Decision::Always => {
            granted = offer.grant.map(|grant| Granted { grant, always });
            clear(call, prepared);
        }
        Decision::Edit { .. } => {}
        Decision::Reject { reason } => events.push(call.finish(rejected(reason.as_deref(), by_rule))),
    }
    Ok(Decided { events, granted, changed })
}

fn clear(call: &mut Call, prepared: Box<dyn PreparedCall>) {
    call.approved = true;
    call.phase = Phase::Cleared(prepared);
}

fn changed_call(
    call: &mut Call,
    registry: &Registry,
    arguments: serde_json::Value,
) -> Result<Box<dyn PreparedCall>, CallError> {
    let original = call.phase.prepared().map(|prepared| prepared.arguments().to_string()).unwrap_or_default();
    if let Some(mark) = call.redactor.unseen_mark(&arguments.to_string(), &original) {
        return Err(CallError::HiddenSecret(mark.to_owned()));
    }
    let prepared = Arc::clone(registry.find(&call.tool)?).prepare(arguments)?;
    let changes = call.phase.prepared().map(|before| changes(before.arguments(), prepared.arguments()));
    call.changed = changes.map(|changes| format!("the user changed the arguments before it ran: {changes}"));
    call.summary = prepared.summary();
    Ok(prepared)
}

/// The outcome of a call that was refused, by the person or, as nobody answered, by their own rule.
fn rejected(reason: Option<&str>, by_rule: bool) -> Outcome {
    let words = match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) if by_rule => format!("{reason}, so this call was not run: go on without it, or say what is open"),
        Some(reason) => format!("the user rejected this call{}{reason}", ToolCallEnd::SAID),
        None => "the user rejected this call".to_owned(),
    };
    let error = ToolError::new(ErrorCode::RejectedByUser, words);
    Outcome { status: CallStatus::Error, ..Outcome::error(&error, Duration::ZERO) }
}
