//! The event and the one list of what can happen.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize as _, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::read::unknown;
use super::{
    AgentComplete, AgentMessage, AgentUpdate, Checkpoint, Compaction, ContextTrim, EnvironmentTold, ErrorEvent,
    FilesBack, HookRun, Imported, MemoryUpdate, MessageQueued, ModeChange, ModelRetry, ModelSwitch, Notification,
    PermissionDecision, PermissionRequest, PiecesGiven, PlanUpdate, QuestionAnswer, Rewind, RulesTold, SessionStart,
    SessionStop, SessionTitle, SharedStateUpdate, SideCall, SkillUsed, StateChange, StreamChunk, TodoUpdate,
    ToolCallDelta, ToolCallEnd, ToolCallStart, ToolCallUpdate, ToolOutputChunk, TurnEnd, TurnStart, UnknownEvent,
    UsageEvent, WorkflowUpdate,
};
use crate::ide::IdeContext;
use crate::ids::{AgentId, Seq, SessionId, TurnId};
use crate::message::Message;
use crate::question::Question;

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// Position in the session's log, from 1, without gaps.
    pub seq: Seq,
    /// When it happened, in UTC, always with three digits after the second.
    #[serde(serialize_with = "timestamp")]
    #[schemars(with = "String")]
    pub ts: Timestamp,
    /// The session.
    pub session_id: SessionId,
    /// The agent it happened to.
    pub agent_id: AgentId,
    /// The turn it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The version of the protocol that whoever goes on with the session has to know, when that is not the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<u32>,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
    /// Fields that only another version knows, beside those of a body that this one can read; what is new within
    /// them is lost when the event is written again.
    #[serde(flatten)]
    #[schemars(skip)]
    pub more: Map<String, Value>,
}

impl Event {
    /// An event that this version wrote.
    #[must_use]
    pub fn new(
        seq: Seq,
        ts: Timestamp,
        session_id: SessionId,
        agent_id: AgentId,
        turn_id: Option<TurnId>,
        body: EventBody,
    ) -> Self {
        Self { seq, ts, session_id, agent_id, turn_id, needs: None, body, more: Map::new() }
    }
}

/// Writes a fixed number of digits, so that sorting the text is sorting the time.
fn timestamp<S: Serializer>(ts: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{ts:.3}"))
}

macro_rules! event_bodies {
    ($($(#[$doc:meta])* $variant:ident($payload:ty) = $name:literal,)+) => {
        /// What happened.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "type")]
        #[allow(clippy::large_enum_variant, reason = "events are handed on behind pointers, and the big ones are rare")]
        pub enum EventBody {
            $($(#[$doc])* #[serde(rename = $name)] $variant($payload),)+
            /// Something that only another version knows.
            #[serde(untagged)]
            #[schemars(skip)]
            Unknown(UnknownEvent),
        }

        impl EventBody {
            /// Every value of `type`, in the order of the reference.
            pub const TYPES: &'static [&'static str] = &[$($name,)+];

            /// The value of `type`.
            #[must_use]
            pub fn type_name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Unknown(unknown) => &unknown.name,
                }
            }

            /// Reads the body of an event that has this `type`.
            pub(super) fn read<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Result<Self, D::Error> {
                match name {
                    $($name => <$payload>::deserialize(fields).map(Self::$variant),)+
                    _ => unknown(name, fields),
                }
            }
        }
    };
}

event_bodies! {
    /// A session was created or opened again; its agent is the root of the session's tree.
    SessionStart(SessionStart) = "session_start",
    /// The loop of an agent went from one state to another.
    StateChange(StateChange) = "state_change",
    /// An iteration of the loop begins.
    TurnStart(TurnStart) = "turn_start",
    /// The model wrote text.
    StreamChunk(StreamChunk) = "stream_chunk",
    /// The model thought aloud.
    ReasoningChunk(StreamChunk) = "reasoning_chunk",
    /// The model begins to write a tool call.
    StreamToolCallStart(ToolCallStart) = "stream_tool_call_start",
    /// The model wrote a part of a call's arguments.
    StreamToolCallDelta(ToolCallDelta) = "stream_tool_call_delta",
    /// A model call failed and will be tried again.
    ModelRetry(ModelRetry) = "model_retry",
    /// Another key or another model of the group takes over.
    ModelSwitch(ModelSwitch) = "model_switch",
    /// A call went from one state to another.
    ToolCallUpdate(ToolCallUpdate) = "tool_call_update",
    /// A running tool printed something.
    ToolOutputChunk(ToolOutputChunk) = "tool_output_chunk",
    /// A call is over; the model gets its output.
    ToolCallEnd(ToolCallEnd) = "tool_call_end",
    /// A call waits for a person.
    PermissionRequest(PermissionRequest) = "permission_request",
    /// A person decided.
    PermissionDecision(PermissionDecision) = "permission_decision",
    /// A hook ran.
    HookRun(HookRun) = "hook_run",
    /// The memory was changed, or something of it was put before the model.
    MemoryUpdate(MemoryUpdate) = "memory_update",
    /// The agent asks the person something and waits.
    Question(Question) = "question",
    /// A person answered a question, or the question is void.
    QuestionAnswer(QuestionAnswer) = "question_answer",
    /// The todo list is another one now.
    TodoUpdate(TodoUpdate) = "todo_update",
    /// The plan, or what was found out, is another one now.
    PlanUpdate(PlanUpdate) = "plan_update",
    /// A value that all agents of the session share was set or removed.
    SharedState(SharedStateUpdate) = "shared_state",
    /// Mode, approval mode, model or generation changed.
    ModeChange(ModeChange) = "mode_change",
    /// A model call used tokens.
    Usage(UsageEvent) = "usage",
    /// The session itself asks a model something beside its agents, or is done with that.
    SideCall(SideCall) = "side_call",
    /// Something the person should know.
    Notification(Notification) = "notification",
    /// The person said something while the agent works; a `message` of the same id follows when it is admitted.
    MessageQueued(MessageQueued) = "message_queued",
    /// A whole message entered the conversation.
    Message(Message) = "message",
    /// What the model is told of the place where it works, from now on.
    Environment(EnvironmentTold) = "environment",
    /// What a person has open in an editor, as the model was told with the message that follows.
    IdeContext(IdeContext) = "ide_context",
    /// Rules files of folders that the agent touched for the first time, as it was told with the message that
    /// follows.
    RulesTold(RulesTold) = "rules_told",
    /// A skill was brought into the conversation, with the message that follows or the result of a call.
    SkillUsed(SkillUsed) = "skill_used",
    /// The model was given pieces of files that fit what the person said, with the message before this.
    PiecesGiven(PiecesGiven) = "pieces_given",
    /// Outputs of earlier calls were shortened.
    ContextTrim(ContextTrim) = "context_trim",
    /// The conversation that the model has was made shorter.
    Compaction(Compaction) = "compaction",
    /// The workspace was kept as it is.
    Checkpoint(Checkpoint) = "checkpoint",
    /// Files are being put back into an earlier state; told from time to time while that takes long.
    FilesBack(FilesBack) = "files_back",
    /// The conversation, the files or both went back to an earlier point.
    Rewind(Rewind) = "rewind",
    /// An agent of the tree is new or has changed; it is told of the agent itself.
    AgentUpdate(AgentUpdate) = "agent_update",
    /// An agent, or the person, says something to another agent; it is told of the one it is said to.
    AgentMessage(AgentMessage) = "agent_message",
    /// The person stopped everybody below the root.
    Stop(SessionStop) = "stop",
    /// A workflow began, ended, or tasks of it went on.
    WorkflowUpdate(WorkflowUpdate) = "workflow_update",
    /// The session has another title.
    Title(SessionTitle) = "title",
    /// The events that follow come from a file that another program wrote.
    Imported(Imported) = "imported",
    /// Something went wrong.
    Error(ErrorEvent) = "error",
    /// An iteration of the loop is over.
    TurnEnd(TurnEnd) = "turn_end",
    /// The agent is done with what it was asked.
    AgentComplete(AgentComplete) = "agent_complete",
}

impl EventBody {
    /// Whether it only shows how the work goes on, as text that streams in does: nobody acts on it, so a window may
    /// have it before it is on the disk. Everything else is handed out when it lasts.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::StateChange(change) => change.to.is_at_work(),
            Self::TurnStart(_)
            | Self::StreamChunk(_)
            | Self::ReasoningChunk(_)
            | Self::StreamToolCallStart(_)
            | Self::StreamToolCallDelta(_)
            | Self::ModelRetry(_)
            | Self::ToolOutputChunk(_)
            | Self::SideCall(_)
            | Self::FilesBack(_) => true,
            Self::SessionStart(_)
            | Self::ModelSwitch(_)
            | Self::ToolCallUpdate(_)
            | Self::ToolCallEnd(_)
            | Self::PermissionRequest(_)
            | Self::PermissionDecision(_)
            | Self::HookRun(_)
            | Self::MemoryUpdate(_)
            | Self::Question(_)
            | Self::QuestionAnswer(_)
            | Self::TodoUpdate(_)
            | Self::PlanUpdate(_)
            | Self::SharedState(_)
            | Self::ModeChange(_)
            | Self::Usage(_)
            | Self::Notification(_)
            | Self::MessageQueued(_)
            | Self::Message(_)
            | Self::Environment(_)
            | Self::RulesTold(_)
            | Self::SkillUsed(_)
            | Self::PiecesGiven(_)
            | Self::IdeContext(_)
            | Self::ContextTrim(_)
            | Self::Compaction(_)
            | Self::Checkpoint(_)
            | Self::Rewind(_)
            | Self::AgentUpdate(_)
            | Self::AgentMessage(_)
            | Self::Stop(_)
            | Self::WorkflowUpdate(_)
            | Self::Title(_)
            | Self::Imported(_)
            | Self::Error(_)
            | Self::TurnEnd(_)
            | Self::AgentComplete(_)
            | Self::Unknown(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Part;

    #[test]
    fn an_event_is_one_flat_object_and_reads_back() {
        let event = Event::new(
            7,
            Timestamp::UNIX_EPOCH,
            SessionId::new(),
            AgentId::new(),
            None,
            EventBody::Message(Message::user("hello")),
        );
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["type"], "message");
        assert_eq!(json["role"], "user");
        assert_eq!(json["seq"], 7);
        assert_eq!(json["ts"], "1970-01-01T00:00:00.000Z");
        assert!(json.get("turn_id").is_none());
        let back: Event = serde_json::from_value(json).unwrap();
        assert_eq!(back, event);
        let later = serde_json::to_string(&event).unwrap().replacen('{', r#"{"parts":[],"zeal":{"of":[7,null]},"#, 1);
        let mut later: Value = serde_json::from_str(&later).unwrap();
        later["ahead"] = Value::Null;
        let read: Event = serde_json::from_value(later.clone()).unwrap();
        assert_eq!(read.more.keys().collect::<Vec<_>>(), ["zeal", "ahead"]);
        assert_eq!((&read.body, serde_json::to_value(&read).unwrap()), (&event.body, later.clone()));
        later["role"] = "oracle".into();
        let read: Event = serde_json::from_value(later.clone()).unwrap();
        assert!(read.more.is_empty() && matches!(read.body, EventBody::Unknown(_)));
        assert_eq!(serde_json::to_value(&read).unwrap(), later);
        let EventBody::Message(message) = back.body else { panic!("not a message") };
        assert_eq!(message.parts, [Part::Text { text: "hello".into() }]);
    }
}
