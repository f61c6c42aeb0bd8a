//! Questions a window can ask a session without changing it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::background::BackgroundCommand;
use crate::context::{ContextReport, PromptReport};
use crate::event::{
    AgentNode, AgentState, CheckpointWhen, FileChangeKind, PermissionRequest, RewindWhat, SharedStateUpdate,
    WorkflowGraph,
};
use crate::ids::{AgentId, MessageId, Seq, SessionId};
use crate::line_count::LineCount;
use crate::message::Message;
use crate::mode::{ApprovalMode, Mode};
use crate::plan::{Plan, Todo};
use crate::question::Question;
use crate::usage::Usage;

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Query {
    /// How the session stands now.
    Snapshot,
    /// The conversation as the model has it.
    Messages,
    /// How much room everything takes that the model is told.
    Context,
    /// Exactly what the model would be told now.
    Prompt,
    /// The states of the workspace that were kept, oldest first.
    Checkpoints,
    /// The messages that the session can go back to, oldest first.
    RewindPoints,
    /// What going back to the point before a message would change.
    RewindPreview {
        /// The message.
        message_id: MessageId,
        /// What would go back.
        what: RewindWhat,
    },
    /// What putting the files into a state that was kept would change.
    CheckpointPreview {
        /// The name of the state, or the beginning of it.
        rev: String,
    },
    /// What taking the last rewind back would change.
    UndoPreview,
    /// What taking the last undo back would change.
    RedoPreview,
    /// What taking the last turn back would change: the last undo of a rewind if nothing was said since, otherwise the
    /// last message with everything that came of it.
    BackPreview,
    /// What bringing forth again would change that was taken back last. Unlike [`Query::UndoPreview`] it never takes the
    /// undo of a rewind back; like that it removes what was said since.
    ForthPreview,
    /// The agents of the session.
    Tree,
    /// The workflows of the session.
    Workflows,
    /// What its agents do without asking because of rules.
    Rules,
    /// The commands in the background of its agents.
    Background,
    /// The end of what one of them printed.
    BackgroundOutput {
        /// The agent that started it.
        agent_id: AgentId,
        /// What it is called there.
        name: String,
    },
}

/// The answer to a [`Query`], variant for variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// To [`Query::Snapshot`].
    Snapshot(SessionSnapshot),
    /// To [`Query::Messages`].
    Messages {
        /// Oldest first.
        messages: Vec<Message>,
    },
    /// To [`Query::Context`].
    Context(ContextReport),
    /// To [`Query::Prompt`].
    Prompt(PromptReport),
    /// To [`Query::Checkpoints`].
    Checkpoints {
        /// Oldest first.
        checkpoints: Vec<CheckpointInfo>,
    },
    /// To [`Query::RewindPoints`].
    RewindPoints {
        /// Oldest first.
        points: Vec<RewindPoint>,
    },
    /// To [`Query::RewindPreview`], [`Query::CheckpointPreview`], [`Query::UndoPreview`], [`Query::RedoPreview`],
    /// [`Query::BackPreview`] and [`Query::ForthPreview`].
    RewindPreview(RewindPreview),
    /// To [`Query::Tree`].
    Tree {
        /// The root first, parents before their children.
        nodes: Vec<AgentNode>,
    },
    /// To [`Query::Workflows`].
    Workflows {
        /// Oldest first, each with all its tasks.
        workflows: Vec<WorkflowGraph>,
    },
    /// To [`Query::Rules`].
    Rules(SessionRules),
    /// To [`Query::Background`].
    Background {
        /// Those of the root first, each agent's oldest first; some that are over are among them.
        commands: Vec<BackgroundCommand>,
    },
    /// To [`Query::BackgroundOutput`].
    BackgroundOutput {
        /// The command, as it stands.
        command: BackgroundCommand,
        /// The last lines that it printed, as plain text.
        tail: String,
    },
}

/// What is done in a session without asking because of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionRules {
    /// What the person allowed for this session: the root's first, each agent's oldest first.
    pub granted: Vec<GrantedRule>,
    /// How many rules of files, flags and answers allow the root something here.
    pub allowing: u64,
    /// Whether the root edits ordinary files of the workspace without asking.
    pub edits: bool,
}

/// Something that a person allowed for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantedRule {
    /// What it allows, in the words of the question that it answered.
    pub allows: String,
    /// The agent that it holds for, by name; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A state of the workspace that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointInfo {
    /// Its name.
    pub rev: String,
    /// The event that tells of it.
    pub seq: Seq,
    /// When it was kept.
    #[schemars(with = "String")]
    pub ts: Timestamp,
    /// What was going on, in a few words.
    pub label: String,
    /// Before or after a turn, or before another state was put in its place.
    pub when: CheckpointWhen,
    /// How many files are different from the state before it.
    pub changed: u64,
}

/// A message that a session can go back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewindPoint {
    /// Its number among the messages of the person, from 1.
    pub number: u64,
    /// The message.
    pub message_id: MessageId,
    /// Its event.
    pub seq: Seq,
    /// When it was said.
    #[schemars(with = "String")]
    pub ts: Timestamp,
    /// What was said.
    pub text: String,
    /// How many calls were made because of it, until the next one.
    pub calls: u64,
    /// Whether files were changed since, as far as checkpoints know.
    pub files: bool,
    /// What was changed because of it, until the next one, as far as edits and checkpoints tell.
    #[serde(default, skip_serializing_if = "ChangedFiles::is_none")]
    pub changed: ChangedFiles,
}

/// How much was changed in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFiles {
    /// How many files.
    pub files: u64,
    /// Lines that edits added.
    pub added: u64,
    /// Lines that edits removed.
    pub removed: u64,
}

impl ChangedFiles {
    /// Whether nothing was changed.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.files == 0
    }
}

/// What is gone back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RewindKind {
    /// The point before a message.
    #[default]
    Message,
    /// A state of the files.
    Checkpoint,
    /// What was before the last rewind.
    Undo,
    /// What was before the last undo.
    Redo,
}

/// What going back would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewindPreview {
    /// What is gone back to.
    #[serde(default)]
    pub kind: RewindKind,
    /// The first words of the message, or what was going on when the state was kept.
    #[serde(default)]
    pub about: String,
    /// The message that it goes back to before.
    pub message_id: MessageId,
    /// What would go back.
    pub what: RewindWhat,
    /// The last event that would still count.
    pub to: Seq,
    /// The messages of the person that would no longer count, oldest first; empty when the conversation stays.
    pub messages: Vec<RewindPoint>,
    /// Those that would count again, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<RewindPoint>,
    /// The state that the files would be put into; absent when they would stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    /// What would happen to files.
    pub files: Vec<FilePreview>,
    /// Whether files were worked on since the rewind that it takes back: what was done to them goes too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_work: bool,
    /// What a person should know before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Commands and calls since then that reached beyond the workspace, oldest first: what they did there stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_undone: Vec<String>,
}

/// What would happen to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilePreview {
    /// Its path, relative to the workspace.
    pub path: String,
    /// What would be done to it: `added` comes back, `deleted` goes.
    pub kind: FileChangeKind,
    /// Whether somebody else changed it since the session last knew it: that change would be lost.
    pub by_others: bool,
    /// Whether it was changed while a call ran that may change any file, and no file tool wrote it so: the call may have
    /// done it, or somebody else meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
    /// The lines that would come and go; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineCount>,
}

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSnapshot {
    /// Which session.
    pub session_id: SessionId,
    /// Its root agent.
    pub root_agent: AgentId,
    /// The last event's position.
    pub last_seq: Seq,
    /// The workspace.
    pub cwd: String,
    /// The title that a model or a person gave it last; empty when none did.
    #[serde(default)]
    pub title: String,
    /// The model or group the root agent asks.
    pub model: String,
    /// The mode.
    pub mode: Mode,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// What the root agent is doing.
    pub state: AgentState,
    /// Used so far.
    pub usage: Usage,
    /// Of that, what the session itself asked models for: its title, what is worth remembering.
    #[serde(default)]
    pub aside: Usage,
    /// Approvals that wait for a person.
    pub pending: Vec<PermissionRequest>,
    /// Questions that wait for a person.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// The generation.
    #[serde(default)]
    pub generation: u8,
    /// The todo list.
    #[serde(default)]
    pub todos: Vec<Todo>,
    /// The plan, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was found out and is worth keeping.
    #[serde(default)]
    pub findings: Vec<String>,
    /// The values that all agents share, by key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedStateUpdate>,
    /// Live agents besides the root.
    #[serde(default)]
    pub agents: u32,
}
