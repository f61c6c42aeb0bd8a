//! Events: the only way out of a session, and the only thing its log keeps.
//!
//! Invariants: `seq` is gapless in a session; an event never changes once it has a `seq`; what a
//! window draws, what `stream-json` prints and what the log holds are the same bytes.
//!
//! Reading order: [`body`] (the one list), then the payloads: [`session`], [`turn`], [`tool`], [`ask`], [`hook`], [`memory`], [`plan`], [`agent`], [`tree`], [`workflow`], [`checkpoint`]; [`read`] (also what another version wrote).

mod agent;
mod ask;
mod body;
mod checkpoint;
mod context;
mod hook;
mod memory;
mod plan;
mod read;
mod session;
mod shared;
mod tool;
mod tree;
mod turn;
mod workflow;

pub use agent::{AgentComplete, AgentState, BudgetReached, CompleteReason, StateChange};
pub use ask::{AskedAhead, PermissionDecision, PermissionRequest, Says};
pub use body::{Event, EventBody};
pub use checkpoint::{
    Checkpoint, CheckpointWhen, FileChange, FileChangeKind, FileReverted, FilesBack, LeftOut, LeftOutWhy, Rewind,
    RewindWhat,
};
pub use context::{
    Compaction, CompactionCause, CompactionStrategy, ContextTrim, EnvironmentTold, GivenPiece, PiecesGiven, RulesTold,
    SkillCause, SkillUsed, TrimmedArguments, TrimmedOutput,
};
pub use hook::{HookEvent, HookOutcome, HookRun};
pub use memory::{MemoryAction, MemoryNote, MemoryScope, MemoryUpdate};
pub use plan::{PlanUpdate, QuestionAnswer, TodoUpdate};
pub use read::UnknownEvent;
pub use session::{
    ActingChange, ActsLater, ErrorEvent, ForkedFrom, Imported, ModeChange, Notification, NotificationLevel,
    NotificationTopic, SessionStart, SessionTitle, TitleSource,
};
pub use shared::SharedStateUpdate;
pub use tool::{CallStatus, KnownFile, OutputStream, ToolCallEnd, ToolCallUpdate, ToolOutputChunk};
pub use tree::{
    AgentMessage, AgentNode, AgentUpdate, Down, Letter, NodeResult, NodeState, NodeType, SessionStop, SubtreeBudget, Up,
};
pub use turn::{
    Admission, MessageQueued, ModelRetry, ModelSwitch, SideCall, SidePurpose, StreamChunk, ToolCallDelta,
    ToolCallStart, TurnEnd, TurnStart, UsageEvent,
};
pub use workflow::{TaskKind, TaskState, WorkflowGraph, WorkflowState, WorkflowTask, WorkflowUpdate};
