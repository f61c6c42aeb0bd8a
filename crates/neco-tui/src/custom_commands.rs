//! The commands of the person's own, of the folder and of MCP servers: which there are, and what one says to the agent.

use neco_proto::app::commands::{CommandRow, ExpandCommand, ListCommands};
use neco_proto::app::mcp_use::{FillPrompt, ListPromptCommands, PromptCommand};
use neco_proto::app::{App, AppError, Caller, Trouble};
use neco_proto::{Answer, Client, Command, CommandWants, MessagePiece, Mode, Query};
use neco_view::slash::{self, Custom};

use crate::command_lines::{self, Watch};
use crate::host::{Host, LineOf};

/// The commands that the person and the folder bring along, of which those that are not trusted say so; and the prompts
/// of MCP servers.
pub(crate) async fn all(app: &dyn App, host: &dyn Host) -> Vec<Custom> {
    let custom = |row: CommandRow| {
        let mark = if row.trusted { "" } else { "(not trusted: /trust) " };
        let help = format!("{mark}{}", row.help);
        Custom { name: row.name, argument: row.argument, help, is_skill: row.is_skill, also: row.also }
    };
    let found = app.ask(&Caller::person(), &ListCommands { folder: host.folder() }).await.unwrap_or_default();
    // One that a built-in command stands before is never run.
    let mut all: Vec<Custom> =
        found.commands.into_iter().filter(|row| !slash::is_known(&row.name)).map(custom).collect();
    let found = app
        .ask(&Caller::person(), &ListPromptCommands { folder: host.folder(), session: None })
        .await
        .unwrap_or_default();
    let prompt = |PromptCommand { name, server, argument, help }: PromptCommand| Custom {
        name,
        argument,
        help: format!("{help} (MCP {server})").trim_start().to_owned(),
        is_skill: false,
        also: None,
    };
    // What the person wrote themselves is meant.
    let prompts: Vec<Custom> =
        found.prompts.into_iter().map(prompt).filter(|prompt| all.iter().all(|own| own.name != prompt.name)).collect();
    all.extend(prompts);
    all
}

/// What a command of the person's own says to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidByCommand {
    /// What it says.
    pub pieces: Vec<MessagePiece>,
    /// What the person should know: of its file, and of its lines that failed.
    pub notes: Vec<String>,
    /// What its file wants while it is done.
    pub wants: CommandWants,
}

impl From<String> for SaidByCommand {
    fn from(text: String) -> Self {
        Self { pieces: vec![MessagePiece::said(text)], ..Self::default() }
    }
}

impl SaidByCommand {
    /// How it is said to an agent; `steers` where that works and is to see it at its next turn.
    pub fn command(self, steers: bool) -> Command {
        let content = MessagePiece::joined(&self.pieces);
        // Words alone are a message like others.
        match self.wants == CommandWants::default() && self.pieces.iter().all(|piece| !piece.printed) {
            true if steers => Command::Steer { text: content },
            true => Command::UserMessage { content, attachments: Vec::new() },
            false => {
                let CommandWants { allow, model } = self.wants;
                Command::CommandMessage { pieces: self.pieces, attachments: Vec::new(), steers, allow, model }
            }
        }
    }
}

/// What such a command says to the agent; the server of a prompt is started for it, and `watch` sees its lines run.
///
/// # Errors
/// When it is gone or not trusted, lacks an argument, or its server can't be reached.
pub(crate) async fn said_by(
    app: &dyn App,
    host: &dyn Host,
    client: Option<&dyn Client>,
    name: String,
    argument: String,
    watch: &Watch,
) -> Result<SaidByCommand, AppError> {
    let (folder, person) = (host.folder(), Caller::person());
    let own = ExpandCommand { folder: folder.clone(), name: name.clone(), argument: argument.clone() };
    let expanded = match app.ask(&person, &own).await {
        Err(error) if error.trouble == Trouble::NotFound && name.starts_with("mcp__") => {
            return Ok(app.ask(&person, &FillPrompt { folder, session: None, name, argument }).await?.text.into());
        }
        expanded => expanded?,
    };
    let wants = CommandWants { allow: expanded.allowed_tools, model: expanded.model };
    let mut said = SaidByCommand { notes: expanded.notes, wants, ..SaidByCommand::from(expanded.text) };
    if !expanded.parts.is_empty() {
        let of = LineOf::File(mode_of(client).await);
        let filled =
            command_lines::filled(expanded.parts, watch, |line, printed| host.shell(line, of, printed)).await?;
        said.pieces = filled.pieces;
        said.notes.extend(filled.failed);
    }
    Ok(said)
}

/// The mode of a session. Where nobody says, the one in which nothing is changed.
async fn mode_of(client: Option<&dyn Client>) -> Mode {
    let Some(client) = client else { return Mode::Plan };
    match client.ask(Query::Snapshot).await {
        Ok(Answer::Snapshot(snapshot)) => snapshot.mode,
        Ok(_) | Err(_) => Mode::Plan,
    }
}
