//! The blocks that a person sees, as data. A kind with the name of an event holds what that event holds.

use neco_proto::event::{
    Admission, AgentNode, BudgetReached, CallStatus, Compaction, CompleteReason, ErrorEvent, HookRun, Imported, Letter,
    ModeChange, ModelRetry, ModelSwitch, Notification, PermissionRequest, PiecesGiven, Rewind, RulesTold, SessionStart,
    SessionStop, SkillUsed, TodoUpdate, ToolCallEnd, WorkflowState, WorkflowTask,
};
use neco_proto::{AgentId, CallId, Decision, ErrorCode, MessageId, Plan, Question, Reply, Seq, Usage, WorkflowId};
use serde::Serialize;
use serde_json::Value;

/// Bytes that are kept of what a running call prints.
const PRINTED: usize = 16 * 1024;

/// The number of a block in its view, from 1.
pub type BlockId = u64;

/// One thing that a person sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// Its number, which never changes.
    pub id: BlockId,
    /// The event that it began with.
    pub seq: Seq,
    /// When that happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether it no longer counts because the session went back to before it.
    #[serde(skip_serializing_if = "is_false")]
    pub void: bool,
    /// What it is.
    #[serde(flatten)]
    pub body: BlockBody,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum BlockBody {
    /// The session was created or opened again.
    SessionStart(SessionStart),
    /// A person said something.
    Message(Said),
    /// The model thinks aloud.
    Thinking(Written),
    /// The model answers, or says something on its way.
    Answer(Written),
    /// A call.
    Call(Box<Call>),
    /// A person is asked whether a call may run.
    Approval(Box<Approval>),
    /// A person is asked something.
    Question(Asked),
    /// The todo list is another one now.
    Todos(TodoUpdate),
    /// The plan, or what was found out, is another one now.
    Plan(Planned),
    /// Something the person should know.
    Notification(Notification),
    /// A model call failed and is tried again.
    ModelRetry(ModelRetry),
    /// Another key or another model takes over.
    ModelSwitch(ModelSwitch),
    /// Mode, approval mode, model or generation changed.
    ModeChange(ModeChange),
    /// A hook objected, failed or had something to say.
    HookRun(HookRun),
    /// The model was told rules files.
    RulesTold(RulesTold),
    /// A skill was brought in.
    SkillUsed(SkillUsed),
    /// The model was given pieces of files.
    PiecesGiven(PiecesGiven),
    /// The conversation was made shorter.
    Compaction(Box<Compaction>),
    /// The session went back, or took that back.
    Rewind(Box<WentBack>),
    /// What follows comes from another program.
    Imported(Imported),
    /// Something went wrong.
    Error(ErrorEvent),
    /// The person stopped everybody below the root.
    Stop(SessionStop),
    /// An agent below the root began, paused, went on or ended.
    Agent(Box<AgentStep>),
    /// An agent said something to its parent, or was told something.
    Letter(AgentLetter),
    /// A workflow began or went on.
    Workflow(WorkflowStep),
    /// The agent is done with what it was asked.
    End(Box<WorkEnd>),
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Said {
    /// Its id.
    pub message_id: MessageId,
    /// The words.
    pub text: String,
    /// How many pictures go with them.
    #[serde(skip_serializing_if = "is_zero")]
    pub pictures: usize,
    /// When the agent reads it, while it waits; `withdrawn` when it was taken back; absent once it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Admission>,
    /// The event with which the agent read it, when it had waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Seq>,
}

/// Words of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Written {
    /// The words so far.
    pub text: String,
    /// Whether no more come.
    pub over: bool,
}

/// A call, from its first letter to its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Call {
    /// Its id.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// The call in one line; the tool's name until that is known.
    pub summary: String,
    /// The arguments as the model wrote them; a string when that is no JSON, absent until they are whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Bytes of the arguments that are written.
    #[serde(skip_serializing_if = "is_zero")]
    pub written: usize,
    /// Where it is in its life; `cancelled` also when the work ended without a word about it.
    pub status: CallStatus,
    /// When it began to run, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<i64>,
    /// Whether it goes on in the background.
    #[serde(skip_serializing_if = "is_false")]
    pub background: bool,
    /// Whether the person has seen its change when they were asked about it.
    #[serde(skip_serializing_if = "is_false")]
    pub change_seen: bool,
    /// Whether the person left something without an answer that it asked them.
    #[serde(skip_serializing_if = "is_false")]
    pub unanswered: bool,
    /// The end of what it printed so far; empty when it is over.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub printed: String,
    /// Its end as the event tells it, without what the model knows of files by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<ToolCallEnd>,
}

/// A person is asked whether a call may run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Approval {
    /// Whose call it is, when it is not the root's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What is asked.
    pub request: PermissionRequest,
    /// What was decided; absent while it is open, and when the call ended otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Whether it waits for an answer.
    pub open: bool,
}

/// A person is asked something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// Who asks, when it is not the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What is asked.
    pub question: Question,
    /// The answer; absent while it is open, and when the work ended before there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Whether it waits for an answer.
    pub open: bool,
}

/// The plan as it is now, and what is new of what was found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Planned {
    /// The plan, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was found out since the last block of this kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
}

/// The session went back, or took that back, and what that did to what was said, each message by its first words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WentBack {
    /// Where to.
    #[serde(flatten)]
    pub rewind: Rewind,
    /// The message that was gone back to before, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What no longer counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// What counts again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<String>,
    /// Whether the files were put into a state that somebody named.
    #[serde(skip_serializing_if = "is_false")]
    pub named: bool,
    /// Whether it takes an undo back.
    #[serde(skip_serializing_if = "is_false")]
    pub redo: bool,
}

/// What an agent below the root did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentMove {
    /// It began.
    Began,
    /// It does nothing for now.
    Paused,
    /// It goes on.
    WentOn,
    /// It is done, failed or was stopped: its state says which.
    Ended,
}

/// An agent below the root began, paused, went on or ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentStep {
    /// What it did.
    pub did: AgentMove,
    /// How many agents stand between it and the root.
    pub depth: usize,
    /// How it is now.
    pub node: AgentNode,
    /// Whether it was seen at work before this, or paused.
    #[serde(skip)]
    pub was_live: bool,
    /// Whether a call waits for it, which tells of it too.
    #[serde(skip)]
    pub in_call: bool,
}

/// Something that an agent below the root said or was told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentLetter {
    /// That agent.
    pub agent_id: AgentId,
    /// Its name.
    pub name: String,
    /// How many agents stand between it and the root.
    pub depth: usize,
    /// What.
    pub letter: Letter,
}

/// A workflow began or went on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkflowStep {
    /// Which one.
    pub workflow_id: WorkflowId,
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: WorkflowState,
    /// Whether it begins with this: then all tasks are here.
    pub began: bool,
    /// The tasks that the update told of.
    pub tasks: Vec<WorkflowTask>,
    /// Those of them, by name, that stand otherwise than before.
    pub moved: Vec<String>,
    /// Whether it ran until this.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
}

/// The agent is done with what it was asked. The figures are those of all work since it was last done for good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkEnd {
    /// Why.
    pub reason: CompleteReason,
    /// What failed, when something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// Whether nobody works any more, so that the agent is not woken by what others give.
    pub over: bool,
    /// Turns of the root.
    pub turns: u32,
    /// How long they took.
    pub duration_ms: u64,
    /// The part of that in which the person was waited for.
    pub waited_ms: u64,
    /// What the root and everybody below it used.
    pub usage: Usage,
    /// What the session used in all.
    pub session_usage: Usage,
    /// The limit that the session has reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReached>,
    /// The models that answered, the last one last.
    pub models: Vec<String>,
    /// What the conversation takes of the model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The calls that were refused, each in one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// What still runs in the background.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
    /// Whether it ended because the person dropped the plan.
    #[serde(skip_serializing_if = "is_false")]
    pub plan_dropped: bool,
}

/// Something that runs in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Background {
    /// The name by which it is read and ended.
    pub name: String,
    /// The call that started it, in one line.
    pub summary: String,
}

/// What the conversation takes of the model's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Tokens of the conversation.
    pub tokens: u64,
    /// Tokens that fit.
    pub window: u64,
}

impl Context {
    /// The part of the window that is filled, in percent.
    pub fn percent(self) -> u64 {
        self.tokens.saturating_mul(100).checked_div(self.window).unwrap_or(100).min(100)
    }
}

impl Block {
    /// The event that decides whether it counts.
    pub(super) fn counts_from(&self) -> Seq {
        match &self.body {
            BlockBody::Message(said) => said.read.unwrap_or(self.seq),
            _ => self.seq,
        }
    }
}

impl BlockBody {
    /// Whether it can't change any more.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Message(said) => said.waits.is_none_or(|waits| waits == Admission::Withdrawn),
            Self::Thinking(written) | Self::Answer(written) => written.over,
            Self::Call(call) => call.is_over(),
            Self::Approval(approval) => !approval.open,
            Self::Question(asked) => !asked.open,
            // The rest is there at once and whole.
            _ => true,
        }
    }
}

impl Call {
    /// A call that the model begins to write.
    pub fn new(call_id: CallId, tool: &str) -> Self {
        Self {
            call_id,
            tool: tool.to_owned(),
            summary: tool.to_owned(),
            arguments: None,
            written: 0,
            status: CallStatus::Validating,
            started_ms: None,
            background: false,
            change_seen: false,
            unanswered: false,
            printed: String::new(),
            end: None,
        }
    }

    /// It printed this.
    pub fn prints(&mut self, text: &str) {
        self.printed.push_str(text);
        if self.printed.len() > 2 * PRINTED {
            let from = self.printed.ceil_char_boundary(self.printed.len() - PRINTED);
            self.printed.drain(..from);
        }
    }

    /// Whether it ran and nobody knows what came of it.
    pub fn is_interrupted(&self) -> bool {
        match &self.end {
            Some(end) => end.status == CallStatus::Error && end.error_code == Some(ErrorCode::Interrupted),
            None => self.is_over() && self.started_ms.is_some(),
        }
    }

    /// Whether nothing more comes of it.
    pub fn is_over(&self) -> bool {
        match self.status {
            CallStatus::Success | CallStatus::Error | CallStatus::Cancelled => true,
            CallStatus::Validating | CallStatus::Scheduled | CallStatus::AwaitingApproval | CallStatus::Executing => {
                false
            }
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
