//! What is to be done outside of the window's state, and what came of it.

use neco_proto::slash::{Custom, Outside};
use neco_proto::{Answer, Attachment, CallId, ClientError, Command, Query};
use serde_json::Value;

use crate::host::{CommandOutcome, ImageSource, ModelEntry, RuleEntry, SessionEntry, Wanted};

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell the session.
    Send(Command),
    /// Ask the session.
    Ask(Query),
    /// Find the files of the workspace.
    Files,
    /// Find the branch.
    Branch,
    /// List the commands that the person or the folder brought along.
    Commands,
    /// List the sessions.
    Sessions,
    /// List the models.
    Models,
    /// List the permission rules.
    Rules,
    /// Add a permission rule.
    AddRule(String),
    /// Take a permission rule away.
    DropRule(String),
    /// Open another session.
    Open(Wanted),
    /// Let the host carry out a command after a slash.
    Outside(Outside, String),
    /// Find out what a command of the person's own says.
    Custom(String, String),
    /// Run a command line of the person.
    Shell(String),
    /// Stop it.
    StopShell,
    /// Keep a note for later sessions.
    Keep(String),
    /// Find a picture.
    Image(ImageSource),
    /// Let the person write in their editor.
    EditPrompt(String),
    /// Let the person change the arguments of a call that waits.
    EditCall(CallId, Value),
    /// Keep what was sent for later windows.
    Remember(String),
    /// Put a text into the clipboard.
    Copy(String),
    /// Tell somebody who looks elsewhere.
    Notify(String),
    /// Draw everything anew.
    Redraw,
    /// Stop the process until the shell goes on with it.
    Suspend,
    /// End.
    Quit,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum News {
    /// The session did not do it; what was to be said comes back.
    Refused(ClientError, Option<String>),
    /// The session answered.
    Answered(Answer),
    /// The files of the workspace.
    Files(Vec<String>),
    /// The branch.
    Branch(Option<String>),
    /// The commands that the person or the folder brought along.
    Commands(Vec<Custom>),
    /// The sessions.
    Sessions(Result<Vec<SessionEntry>, String>),
    /// The models.
    Models(Result<Vec<ModelEntry>, String>),
    /// The permission rules.
    Rules(Result<Vec<RuleEntry>, String>),
    /// A permission rule was added or taken away.
    RuleChanged(Result<String, String>),
    /// The host carried something out.
    Outside(Result<CommandOutcome, String>),
    /// What a command of the person's own says.
    Custom(Result<String, String>),
    /// The person's command printed something.
    Printed(String),
    /// The person's command is over.
    ShellEnded(Result<Option<i32>, String>),
    /// A note was kept.
    Kept(Result<String, String>),
    /// A picture, and what to write when there is none.
    Image(Result<Option<Attachment>, String>, Option<String>),
    /// What was written in the editor.
    Prompt(Result<Option<String>, String>),
    /// The arguments of a call that were written in the editor.
    Call(CallId, Result<Option<Value>, String>),
    /// What the status line says.
    Status(Option<String>),
}
