//! Lines that begin with a slash: what an editor can offer, and what each of them does.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::app::commands::{ExpandCommand, ListCommands};
use neco_proto::app::mcp_use::FillPrompt;
use neco_proto::app::{App, Caller};
use neco_proto::{Answer, Attachment, Client, Command, MessagePiece, Query, RewindKind, RewindPreview};
use neco_view::slash::{self, Outside, Slash};
use neco_view::wording::{prompts, rewind};

use crate::failure;
use crate::prompt::Said;

/// The commands of ours that mean the same in an editor.
const OURS: &[&str] = &["compact", "undo", "redo", "rename", "init", "review"];

/// What a prompt comes to.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// Something is said to the agent, which works on it.
    Work(Command),
    /// The session does something by itself.
    Act(Command),
}

/// The commands that can be used in a folder.
pub(crate) async fn offered(app: &dyn App, caller: &Caller, folder: &str) -> Vec<acp::AvailableCommand> {
    let ours = slash::TABLE.iter().filter(|row| OURS.contains(&row.name));
    let ours = ours.map(|row| command(row.name, row.help, row.argument));
    let own = app.ask(caller, &ListCommands { folder: folder.to_owned() }).await;
    let own = own.map(|list| list.commands).unwrap_or_default();
    let own = own.iter().filter(|row| row.trusted).map(|row| command(&row.name, &row.help, &row.argument));
    ours.chain(own).collect()
}

fn command(name: &str, help: &str, argument: &str) -> acp::AvailableCommand {
    let input = (!argument.is_empty())
        .then(|| acp::AvailableCommandInput::Unstructured(acp::UnstructuredCommandInput::new(argument)));
    acp::AvailableCommand::new(name, help).input(input)
}

/// What is wanted where `said` is said. What is no command is said to the agent as it is.
pub(crate) async fn read(
    app: &dyn App,
    client: &dyn Client,
    caller: &Caller,
    folder: &str,
    said: Said,
) -> Result<Wanted, Error> {
    let Some((name, argument)) = parts(&said.words) else { return Ok(Wanted::Work(message(said))) };
    if OURS.contains(&name.as_str()) {
        return match slash::parse(said.words.trim(), &[]) {
            Ok(Slash::Compact(focus)) => Ok(Wanted::Act(Command::Compact { focus })),
            Ok(Slash::Undo) => going_back(client, Query::BackPreview).await,
            Ok(Slash::Redo) => going_back(client, Query::ForthPreview).await,
            Ok(Slash::Rename(title)) => Ok(Wanted::Act(Command::Rename { title })),
            Ok(Slash::Outside(Outside::Init, what)) => Ok(Wanted::Work(message(worded(prompts::init(&what), said)))),
            Ok(Slash::Outside(Outside::Review, what)) => {
                Ok(Wanted::Work(message(worded(prompts::review(&what), said))))
            }
            Ok(_) => Ok(Wanted::Work(message(said))),
            Err(error) => Err(failure::invalid(error.to_string())),
        };
    }
    let list = app.ask(caller, &ListCommands { folder: folder.to_owned() }).await.map_err(failure::of_app)?;
    if list.commands.iter().any(|command| command.name == name) {
        let expand = ExpandCommand { folder: folder.to_owned(), name, argument };
        let expanded = app.ask(caller, &expand).await.map_err(failure::of_app)?;
        if expanded.parts.iter().any(|part| part.run.is_some()) {
            let words = format!("/{} runs command lines of its own, which only Neco's window does", expand.name);
            return Err(failure::invalid(words));
        }
        let pieces = vec![MessagePiece::said(expanded.text), MessagePiece::said(said.along)];
        let (allow, model) = (expanded.allowed_tools, expanded.model);
        let attachments = said.pictures;
        return Ok(Wanted::Work(Command::CommandMessage { pieces, attachments, steers: false, allow, model }));
    }
    if slash::is_prompt(&name) {
        let prompt = FillPrompt { folder: folder.to_owned(), name, argument };
        let filled = app.ask(caller, &prompt).await.map_err(failure::of_app)?;
        return Ok(Wanted::Work(message(worded(filled.text, said))));
    }
    Ok(Wanted::Work(message(said)))
}

/// One step back, or forth again.
async fn going_back(client: &dyn Client, step: Query) -> Result<Wanted, Error> {
    let Answer::RewindPreview(preview) = client.ask(step).await.map_err(failure::of_client)? else {
        return Err(failure::invalid("the session does not tell what would go back"));
    };
    if rewind::is_asked(&preview) {
        let words = "this would also change what others did to files since; `neco session rewind` shows it and asks";
        return Err(failure::invalid(words));
    }
    let RewindPreview { kind, message_id, what, rev, .. } = preview;
    Ok(Wanted::Act(match (kind, rev) {
        (RewindKind::Checkpoint, Some(rev)) => Command::RestoreCheckpoint { rev },
        (RewindKind::Message | RewindKind::Checkpoint, _) => Command::Rewind { message_id, what },
        (RewindKind::Undo, _) => Command::UndoRewind,
        (RewindKind::Redo, _) => Command::RedoRewind,
    }))
}

/// The name of a command and what follows it; nothing where the words are none.
fn parts(words: &str) -> Option<(String, String)> {
    let rest = words.trim().strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | ':');
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name.to_owned(), argument.trim().to_owned()))
}

fn worded(words: String, said: Said) -> Said {
    Said { words, ..said }
}

fn message(said: Said) -> Command {
    let content = said.whole();
    let attachments: Vec<Attachment> = said.pictures;
    Command::UserMessage { content, attachments }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_command() {
        assert_eq!(parts("/compact the tests"), Some(("compact".to_owned(), "the tests".to_owned())));
        assert_eq!(parts("/etc/hosts is wrong"), None);
        assert_eq!(parts("what is /compact?"), None);
    }

    #[test]
    fn every_command_that_is_offered_exists() {
        for name in OURS {
            assert!(slash::TABLE.iter().any(|row| row.name == *name), "{name}");
        }
    }
}
