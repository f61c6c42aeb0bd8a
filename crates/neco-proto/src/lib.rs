//! The words everybody speaks: ids, messages, commands, events, error codes and the [`Client`] trait.
//!
//! Data only: nothing here opens a file, starts a task or knows another crate of the product.
//! What is serialised here is what the event log keeps and what `--output-format stream-json`
//! prints, so a change of a name here is a change of a file format.
//!
//! Reading order: [`ids`], [`actor`], [`message`], [`event`], [`command`], [`error_code`], [`client`]; [`mod@clean`] is for whoever shows any of it, [`key_kind`] and [`secret_file`] for whoever must not.

pub mod actor;
pub mod agent_ask;
pub mod app;
pub mod background;
pub mod clean;
pub mod client;
pub mod command;
pub mod context;
pub mod display;
pub mod error_code;
pub mod event;
pub mod ide;
pub mod ids;
pub mod key_kind;
pub mod line_count;
pub mod message;
pub mod mode;
pub mod origin;
pub mod plan;
pub mod query;
pub mod question;
pub mod result_part;
pub mod rewinds;
pub mod secret_file;
pub mod usage;
pub mod visible;

/// The version of commands, events and frames that this build speaks. It grows when a session holds something that older
/// versions must not write after, or two processes could not understand each other; what they may pass over, refuse or read
/// as something newer needs no new one.
pub const PROTOCOL: u32 = 1;

pub use actor::Actor;
pub use background::{BackgroundCommand, BackgroundEnd};
pub use client::{Client, ClientError, EventStream, Receipt};
pub use command::{
    AgentOrder, AgentParameters, Attachment, Command, Decision, MessagePiece, RevertedFile, WorkflowOrder,
};
pub use context::{
    ContextReport, GivenUse, Layer, LayerSize, LayerText, MessageSize, PromptReport, ServerToolsSize, ToolText,
    ToolsSize,
};
pub use display::{Diff, Display};
pub use error_code::ErrorCode;
pub use event::{Event, EventBody};
pub use ide::{IdeContext, Selection};
pub use ids::{AgentId, CallId, MessageId, QuestionId, Seq, SessionId, TurnId, WorkflowId};
pub use line_count::LineCount;
pub use message::{Author, CommandWants, Message, Part, Role, StandsFor, ToolCall, ToolResult};
pub use mode::{ApprovalMode, Mode, Risk, RuleSource, Ruling};
pub use origin::ToolOrigin;
pub use plan::{Plan, PlanStatus, PlanStep, Todo, TodoStatus};
pub use query::{
    Answer, ChangedFiles, CheckpointInfo, FilePreview, GrantedRule, Query, RewindKind, RewindPoint, RewindPreview,
    SessionRules, SessionSnapshot,
};
pub use question::{EmptyAnswer, FormField, ItemAnswer, Question, QuestionItem, QuestionOption, Reply, Subject};
pub use result_part::ResultPart;
pub use usage::Usage;
