//! A call, as an enum by state whose variants hold only what that state has.

use std::path::PathBuf;
use std::time::Duration;

use neco_proto::event::{CallStatus, KnownFile, ToolCallEnd, ToolCallUpdate};
use neco_proto::{CallId, Display, ErrorCode, EventBody, ResultPart, ToolOrigin, ToolResult};
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::{SideEffect, Verdict, untrusted};
use neco_toolkit::{ActingFile, Intent, PreparedCall, ToBackground, ToolError};
use serde_json::Value;
use tokio::time::Instant;

use super::approve::Offer;
use crate::gate::GateRuling;

/// One call of the present turn.
pub(super) struct Call {
    pub id: CallId,
    /// The tool's own name; what the model wrote when there is no such tool.
    pub tool: String,
    /// Where the tool comes from.
    pub origin: ToolOrigin,
    pub summary: String,
    /// What the model must be told besides the result, such as that its arguments were mended.
    pub notes: Vec<String>,
    /// What a person changed in its arguments, for the model.
    pub changed: Option<String>,
    /// What the gate said of it before it is judged.
    pub ruling: Option<GateRuling>,
    /// Whether the gate made another call of it in the person's place.
    pub answered: bool,
    /// Whether a person was asked about it as it is and said yes.
    pub approved: bool,
    /// The way of what it runs to the background.
    pub background: ToBackground,
    /// What the person who was asked about it was told.
    pub told: Option<Verdict>,
    /// The files and folders that it touches when it runs.
    pub touches: Vec<PathBuf>,
    /// Takes secrets out of its result.
    pub redactor: Redactor,
    pub phase: Phase,
}

/// Where a call is in its life.
pub(super) enum Phase {
    /// Checked; waits for its turn. `approved` after a person changed the arguments, `gated` after
    /// the gate has seen them.
    Scheduled { prepared: Box<dyn PreparedCall>, approved: bool, gated: bool },
    /// The gate looks at it.
    AtGate { touch: SideEffect },
    /// The tool looks at what the call would do.
    Planning { touch: SideEffect, approved: bool },
    /// A person decides, until then if there is an end to it.
    AwaitingApproval { prepared: Box<dyn PreparedCall>, offer: Offer, until: Option<Instant> },
    /// May run; starts when its mark is recorded.
    Cleared(Box<dyn PreparedCall>),
    /// Runs; with its arguments where the gate wants to know them afterwards.
    Executing { touch: SideEffect, arguments: Option<Value> },
    /// Has run; a person's answer is its result.
    AwaitingAnswer { touch: SideEffect, arguments: Option<Value>, outcome: Box<Outcome> },
    /// Has run; the gate looks at what came of it.
    Finishing { touch: SideEffect, outcome: Box<Outcome> },
    /// Has its result.
    Done(Box<Outcome>),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// `success`, `error` or `cancelled`.
    pub status: CallStatus,
    /// The text for the model.
    pub output: String,
    /// What it gave that is more than text.
    pub parts: Vec<ResultPart>,
    /// Why it failed.
    pub error_code: Option<ErrorCode>,
    /// What the output advises the model alone to do.
    pub advice: Option<&'static str>,
    /// The agent that it started, by its name.
    pub agent: Option<String>,
    /// How long it ran.
    pub duration: Duration,
    /// The picture for the person.
    pub display: Option<Display>,
    /// The file with all of an output that was too big.
    pub spilled_to: Option<String>,
    /// What the model knows of files by it.
    pub known: Vec<KnownFile>,
    /// Files that it changed and that act later.
    pub acting: Vec<ActingFile>,
    /// Files of which it showed something besides those that its plan names.
    pub touched: Vec<PathBuf>,
    /// What it wants of the agent.
    pub intents: Vec<Intent>,
    /// Whether its result is what a person answers.
    pub waits: bool,
}

impl Outcome {
    /// The outcome of a call that failed.
    pub fn error(error: &ToolError, duration: Duration) -> Self {
        let code = error.code;
        // It may quote what a file or a command said.
        let output = format!("Error {code}: {}\n{}", untrusted::neutral(&error.message), code.for_model());
        Self { error_code: Some(code), advice: error.advice, duration, ..Self::new(CallStatus::Error, output) }
    }

    /// The outcome that has nothing but a text for the model.
    pub(super) fn new(status: CallStatus, output: String) -> Self {
        Self {
            status,
            output,
            parts: Vec::new(),
            error_code: None,
            advice: None,
            agent: None,
            duration: Duration::ZERO,
            display: None,
            spilled_to: None,
            known: Vec::new(),
            acting: Vec::new(),
            touched: Vec::new(),
            intents: Vec::new(),
            waits: false,
        }
    }

    /// The outcome of a call whose tool panicked.
    pub fn crashed() -> Self {
        Self::error(&ToolError::failed("the tool crashed; this is a bug in Neco"), Duration::ZERO)
    }

    /// The outcome of a call that the person stopped.
    pub fn cancelled(ran: bool) -> Self {
        let output = if ran {
            "Cancelled by the user while it ran; it may have taken effect in part."
        } else {
            "Cancelled by the user before it ran."
        };
        Self::new(CallStatus::Cancelled, output.to_owned())
    }
}

/// How far a call is, for those before and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Does nothing before it is chosen.
    Scheduled,
    /// Is looked at or runs.
    Busy,
    /// Waits for a person.
    Waits,
    Done,
}

impl Phase {
    /// How far the call is.
    pub fn standing(&self) -> Standing {
        match self {
            Self::Scheduled { .. } => Standing::Scheduled,
            Self::AwaitingApproval { .. } | Self::AwaitingAnswer { .. } => Standing::Waits,
            Self::AtGate { .. }
            | Self::Planning { .. }
            | Self::Cleared(_)
            | Self::Executing { .. }
            | Self::Finishing { .. } => Standing::Busy,
            Self::Done(_) => Standing::Done,
        }
    }

    /// The same, with the time that a person has from now on, where one is asked.
    pub fn asked(self, time: Option<Duration>) -> Self {
        match self {
            Self::AwaitingApproval { prepared, offer, .. } => {
                Self::AwaitingApproval { prepared, offer, until: time.map(|time| Instant::now() + time) }
            }
            other => other,
        }
    }

    /// The call that waits, if one does.
    pub fn prepared(&self) -> Option<&dyn PreparedCall> {
        let (Self::Scheduled { prepared, .. } | Self::AwaitingApproval { prepared, .. } | Self::Cleared(prepared)) =
            self
        else {
            return None;
        };
        Some(prepared.as_ref())
    }

    /// The same, taken out.
    pub fn into_prepared(self) -> Option<Box<dyn PreparedCall>> {
        let (Self::Scheduled { prepared, .. } | Self::AwaitingApproval { prepared, .. } | Self::Cleared(prepared)) =
            self
        else {
            return None;
        };
        Some(prepared)
    }
}

impl Call {
    /// A call of a built-in tool that nothing was said or asked about yet; it is called as its tool.
    pub fn new(id: CallId, tool: String, phase: Phase) -> Self {
        Self {
            id,
            summary: tool.clone(),
            tool,
            origin: ToolOrigin::BuiltIn,
            notes: Vec::new(),
            changed: None,
            ruling: None,
            answered: false,
            approved: false,
            background: ToBackground::default(),
            told: None,
            touches: Vec::new(),
            redactor: Redactor::default(),
            phase,
        }
    }

    /// Whether a person who was asked about it was told all of this. Of what they made of it themselves they know the
    /// words, and not what the words come to.
    pub fn was_told(&self, verdict: &Verdict) -> bool {
        self.told.as_ref().is_some_and(|told| {
            let same = told.risk == verdict.risk && told.reason == verdict.reason;
            // Who took the danger out of it need not be asked for that.
            let less = verdict.risk < told.risk && (verdict.opens.is_empty() || verdict.opens == told.opens);
            same || less
        })
    }

    pub fn touch(&self) -> Option<SideEffect> {
        match &self.phase {
            Phase::Planning { touch, .. }
            | Phase::AtGate { touch }
            | Phase::Executing { touch, .. }
            | Phase::AwaitingAnswer { touch, .. }
            | Phase::Finishing { touch, .. } => Some(*touch),
            waits => waits.prepared().map(PreparedCall::touch),
        }
    }

    pub fn update(&self, status: CallStatus) -> EventBody {
        EventBody::ToolCallUpdate(ToolCallUpdate {
            call_id: self.id.clone(),
            tool: self.tool.clone(),
            origin: self.origin.clone(),
            status,
            summary: self.summary.clone(),
        })
    }

    /// Gives the call its result; the notes for the model go with it.
    pub fn finish(&mut self, mut outcome: Outcome) -> EventBody {
        for note in self.notes.drain(..) {
            outcome.output.push_str(&format!("\n[note: {}]", untrusted::neutral(&note)));
        }
        self.redactor.redact_in(&mut outcome.output, Scope::Outside);
        let end = EventBody::ToolCallEnd(ToolCallEnd {
            call_id: self.id.clone(),
            tool: self.tool.clone(),
            origin: self.origin.clone(),
            summary: self.summary.clone(),
            status: outcome.status,
            output: outcome.output.clone(),
            parts: std::mem::take(&mut outcome.parts),
            error_code: outcome.error_code,
            advice: outcome.advice.map(str::to_owned),
            agent: outcome.agent.clone(),
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            display: outcome.display.clone(),
            spilled_to: outcome.spilled_to.clone(),
            known: std::mem::take(&mut outcome.known),
        });
        self.phase = Phase::Done(Box::new(outcome));
        end
    }

    pub fn result(&self) -> Option<ToolResult> {
        let Phase::Done(outcome) = &self.phase else { return None };
        let (output, error_code) = (outcome.output.clone(), outcome.error_code);
        Some(ToolResult { call_id: self.id.clone(), output, error_code })
    }
}
