//! Commands: the only way into a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{RewindWhat, SubtreeBudget};
use crate::ide::IdeContext;
use crate::ids::{AgentId, CallId, MessageId, QuestionId, WorkflowId};
use crate::mode::{ApprovalMode, Mode};
use crate::question::Reply;

/// What a window can ask of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(clippy::enum_variant_names, reason = "a command to an agent is called so in the protocol")]
pub enum Command {
    /// Says something to the root agent. While the agent works it is queued for after its turn.
    UserMessage {
        /// What is said.
        content: String,
        /// What is shown with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// Says something that the working agent sees at its next turn boundary.
    Steer {
        /// What is said.
        text: String,
    },
    /// Says what a command of the person's own says, with what that wants while it is done.
    CommandMessage {
        /// What is said.
        pieces: Vec<MessagePiece>,
        /// What is shown with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Whether a working agent sees it at its next turn boundary, as with [`Command::Steer`]; else it is queued.
        #[serde(default)]
        steers: bool,
        /// What the root agent is allowed while it does that, as rules such as `Bash(git add:*)`; what denies it counts
        /// all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        allow: Vec<String>,
        /// The model that is asked for it, `provider/model` or the name of a group, unless one was chosen for the
        /// session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Takes back what was said and waits for its turn; what was given to the agent already stays said. Each
    /// message that is taken back is told as one that is withdrawn.
    Withdraw {
        /// The messages.
        message_ids: Vec<MessageId>,
    },
    /// Answers a `permission_request`.
    Approve {
        /// The call that waits.
        call_id: CallId,
        /// What the person decided.
        decision: Decision,
    },
    /// Makes the conversation shorter that the model has; at once, or before the next turn of a working agent.
    Compact {
        /// What the summary should pay attention to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        focus: Option<String>,
    },
    /// Tells what the person has open in an editor; the model is told of changes with the next message.
    SetIdeContext {
        /// All that is open now.
        context: IdeContext,
    },
    /// Answers a `question`.
    Answer {
        /// The question.
        question_id: QuestionId,
        /// What the person says.
        reply: Reply,
    },
    /// Stops the current work of the root agent; what is finished stays. Its agents go on, those of calls of this
    /// very turn excepted, and do not wake it: [`Command::StopAll`] stops them too.
    Cancel,
    /// Stops everything: the current work, all agents, all workflows, and whatever else asks a model. Agents are
    /// paused with what they did and can be resumed, told or cancelled; workflows can be resumed. Taken when no model
    /// is asked any more, and none is until the person acts.
    StopAll,
    /// Lets a command that a call of the root agent runs go on in the background; the call ends with what it has
    /// printed so far, and the agent goes on.
    Background {
        /// The call.
        call_id: CallId,
    },
    /// Ends a command in the background of an agent, with everything that it started; taken when it is over.
    StopBackground {
        /// The agent that started it.
        agent_id: AgentId,
        /// What it is called there.
        name: String,
    },
    /// Changes the mode from the next turn on.
    SetMode {
        /// The new mode.
        mode: Mode,
    },
    /// Changes the model or model group from the next turn on.
    SetModel {
        /// `provider/model`, or the name of a group.
        model: String,
    },
    /// Changes the generation, and with it the tools, from the next turn on.
    SetGeneration {
        /// From 1 to the highest.
        generation: u8,
    },
    /// Changes when the person is asked.
    SetApproval {
        /// The new approval mode.
        approval: ApprovalMode,
    },
    /// Rewinds to the point before a message of the person; refused while the agent works. Nothing
    /// is lost by it: [`Command::UndoRewind`] undoes it.
    Rewind {
        /// The message.
        message_id: MessageId,
        /// What is rewound.
        what: RewindWhat,
    },
    /// Restores the files of a checkpoint; the conversation stays. Refused while the agent works;
    /// [`Command::UndoRewind`] undoes it.
    RestoreCheckpoint {
        /// The name of the checkpoint, or the beginning of it.
        rev: String,
    },
    /// Undoes the last rewind, or an undo of one when there is no other; refused while the agent works. What was
    /// said or done since then is removed too: that is refused until a `undo_preview`, or
    /// the same command before, has shown it.
    UndoRewind,
    /// Redoes the last undo, as [`Command::UndoRewind`] does with a rewind.
    RedoRewind,
    /// Puts changes of files back as they were, exactly as they were shown; what else is different stays. Refused while
    /// the agent works, and where a file is no longer as it was shown; [`Command::UndoRewind`] undoes it.
    RevertFiles {
        /// The point that they were compared with, as `sessions.changes` names it; the first message when it is empty.
        #[serde(default)]
        from: String,
        /// What is put back.
        changes: Vec<RevertedFile>,
    },
    /// Runs a call that failed once more with the same arguments; it is judged anew, and the model is told of it.
    /// Refused while the agent works.
    RetryCall {
        /// The call.
        call_id: CallId,
    },
    /// Gives the session a title, which no model replaces.
    Rename {
        /// The title.
        title: String,
    },
    /// Tells any agent of the tree what to do.
    AgentCommand {
        /// The agent.
        agent_id: AgentId,
        /// What to do.
        order: AgentOrder,
    },
    /// Runs a workflow; its agents are children of the root.
    RunWorkflow {
        /// The workflow, as a file would have it.
        definition: Value,
        /// What it is started with.
        #[serde(default)]
        inputs: Value,
    },
    /// Tells a workflow of this session what to do.
    WorkflowCommand {
        /// The workflow.
        workflow_id: WorkflowId,
        /// What to do.
        order: WorkflowOrder,
    },
    /// Ends the session's actor after everything is written.
    Shutdown,
}

/// What of a file is put back as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevertedFile {
    /// The file, relative to the workspace.
    pub path: String,
    /// The mark of its change as it was shown.
    pub mark: String,
    /// The ids of the changes in it; all of the file when none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<String>,
}

/// What an agent of the tree is told to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentOrder {
    /// Something more to do, after what it does now.
    Task {
        /// What.
        text: String,
    },
    /// A correction, which it sees at its next turn.
    Redirect {
        /// What to do otherwise.
        text: String,
    },
    /// The answer to its question.
    Answer {
        /// The answer.
        text: String,
    },
    /// It and everybody below it does nothing for now.
    Pause,
    /// It goes on, and so does everybody below it that its pause stopped.
    Resume,
    /// It and everybody below it ends, with every process they started.
    Cancel,
    /// Everybody below it ends, and it begins its first task anew, with an empty conversation; also when it has failed
    /// or was ended.
    Retry,
    /// Other parameters hold from its next turn on.
    UpdateParameters(AgentParameters),
}

/// What of an agent can be changed while it works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentParameters {
    /// Another model or model group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_group: Option<String>,
    /// Another budget for it and everybody below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<SubtreeBudget>,
    /// Only these tools, of those it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

/// What a workflow is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowOrder {
    /// It ends, with everything it started.
    Cancel,
    /// It goes on after an interruption: what is completed stays so.
    Resume,
}

/// A piece of what a command of the person's own says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagePiece {
    /// What is said.
    pub text: String,
    /// Whether a command line printed it: it holds no secret then, names no file and calls up no skill.
    #[serde(default)]
    pub printed: bool,
}

impl MessagePiece {
    /// What is said in the person's name.
    #[must_use]
    pub fn said(text: impl Into<String>) -> Self {
        Self { text: text.into(), printed: false }
    }

    /// All of them, one behind the other.
    #[must_use]
    pub fn joined(pieces: &[Self]) -> String {
        pieces.iter().map(|piece| piece.text.as_str()).collect()
    }
}

/// What is shown with a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Attachment {
    /// A picture.
    Image {
        /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
        media_type: String,
        /// The file's bytes in base64.
        data: String,
    },
}

/// A person's answer to a permission request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// This call only.
    Once,
    /// This call and others like it until the session ends.
    Session,
    /// This call and others like it from now on: the rule of the request is kept.
    Always,
    /// This call with other arguments.
    Edit {
        /// The arguments to run with.
        arguments: Value,
    },
    /// Not this call.
    Reject {
        /// The person's words; the model reads them.
        reason: Option<String>,
    },
}
