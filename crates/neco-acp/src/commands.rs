//! Lines that begin with a slash: what an editor can offer, and what each of them does.

use std::path::Path;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use futures::StreamExt;
use neco_proto::app::commands::{CommandRow, ExpandCommand, ListCommands};
use neco_proto::app::folders::AddFolder;
use neco_proto::app::mcp_use::{FillPrompt, ListPromptCommands};
use neco_proto::clean::clean_line;
use neco_proto::{Attachment, Command, MessagePiece, Query};
use neco_view::slash::{self, Outside, Slash};
use neco_view::wording::prompts;

use crate::prompt::Said;
use crate::updates::aside;
use crate::window::Base;
use crate::{failure, going_back};

/// The commands of ours that mean the same in an editor.
const OURS: &[&str] = &["compact", "undo", "redo", "rename", "init", "review", "add-dir"];

/// What a prompt comes to.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// Something is said to the agent, as it stands.
    Say(Said),
    /// A command is said to the agent, which works on it.
    Work(Command),
    /// The session does something by itself.
    Act(Command),
    /// The person does not want it any more.
    Nothing,
}

/// Tells which commands can be used in a session, now and whenever that changes, until nobody says it any more.
pub(crate) async fn offer(base: &Base, tell: impl Fn(Vec<acp::AvailableCommand>)) {
    let ours = slash::TABLE.iter().filter(|row| OURS.contains(&row.name));
    let ours = ours.map(|row| command(row.name, row.help, row.argument));
    let own = base.app.ask(&base.caller, &ListCommands { folder: base.folder.clone() }).await;
    let own = own.map(|list| list.commands).unwrap_or_default();
    let own = own.iter().filter(|row| row.trusted).map(|row| command(&row.name, &row.help, &row.argument));
    let own: Vec<acp::AvailableCommand> = ours.chain(own).collect();
    let request = ListPromptCommands { folder: base.folder.clone(), session: Some(base.id.0.to_string()) };
    let mut lists = base.app.watch(&base.caller, &request);
    let mut first = lists.next().await;
    if !matches!(first, Some(Ok(_))) {
        return tell(own);
    }
    while let Some(Ok(list)) = first {
        let prompts = list.prompts.iter().map(|prompt| {
            let help = format!("{} (MCP {})", prompt.help, prompt.server);
            command(&prompt.name, help.trim_start(), &prompt.argument)
        });
        // What the person wrote themselves is meant.
        let prompts = prompts.filter(|prompt| own.iter().all(|own| own.name != prompt.name));
        tell(own.iter().cloned().chain(prompts).collect());
        first = lists.next().await;
    }
}

fn command(name: &str, help: &str, argument: &str) -> acp::AvailableCommand {
    let input = (!argument.is_empty())
        .then(|| acp::AvailableCommandInput::Unstructured(acp::UnstructuredCommandInput::new(argument)));
    acp::AvailableCommand::new(name, help).input(input)
}

/// What is wanted where `said` is said. What is no command is said to the agent as it is.
pub(crate) async fn read(base: &Base, said: Said) -> Result<Wanted, Error> {
    let Base { app, caller, folder, .. } = base;
    let Some((name, argument)) = parts(&said.words) else { return Ok(Wanted::Say(said)) };
    if OURS.contains(&name.as_str()) {
        return match slash::parse(said.words.trim(), &[]) {
            Ok(Slash::Compact(focus)) => Ok(Wanted::Act(Command::Compact { focus })),
            Ok(Slash::Undo) => going_back::step(base, Query::BackPreview).await,
            Ok(Slash::Redo) => going_back::step(base, Query::ForthPreview).await,
            Ok(Slash::Rename(title)) => Ok(Wanted::Act(Command::Rename { title })),
            Ok(Slash::Outside(Outside::Init, what)) => Ok(Wanted::Work(message(worded(prompts::init(&what), said)))),
            Ok(Slash::Outside(Outside::Review, what)) => {
                Ok(Wanted::Work(message(worded(prompts::review(&what), said))))
            }
            Ok(Slash::Outside(Outside::AddDir, path)) => add_folder(base, &path).await,
            Ok(_) => Ok(Wanted::Say(said)),
            Err(error) => Err(failure::invalid(error.to_string())),
        };
    }
    let list = app.ask(caller, &ListCommands { folder: folder.clone() }).await.map_err(failure::of_app)?;
    if list.commands.iter().any(|command| command.name == name) {
        let expand = ExpandCommand { folder: folder.clone(), name, argument };
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
        let prompt = FillPrompt { folder: folder.clone(), session: Some(base.id.0.to_string()), name, argument };
        let filled = app.ask(caller, &prompt).await.map_err(failure::of_app)?;
        return Ok(Wanted::Work(message(worded(filled.text, said))));
    }
    // A path begins with a slash, too.
    if Path::new("/").join(&name).exists() {
        return Ok(Wanted::Say(said));
    }
    Err(failure::invalid(unknown(&name, &list.commands)))
}

/// Why a line asks for nothing here, with what may have been meant.
fn unknown(name: &str, own: &[CommandRow]) -> String {
    if slash::is_known(name) {
        return format!("/{name} is a command of Neco's window; what works here the editor lists after a slash");
    }
    let known = OURS.iter().copied().chain(own.iter().map(|row| row.name.as_str()));
    match slash::nearest(name, known) {
        Some(near) => format!("There is no /{name}; did you mean /{near}?"),
        None => format!("There is no /{name}; to say it to the agent, put a word before it"),
    }
}

/// Opens another folder to the session.
async fn add_folder(base: &Base, path: &str) -> Result<Wanted, Error> {
    let folder = Path::new(&base.folder).join(path).display().to_string();
    let add = AddFolder { session: base.id.0.to_string(), folder };
    let open = base.app.ask(&base.caller, &add).await.map_err(failure::of_app)?;
    let added = open.folders.last().map(|folder| clean_line(folder)).unwrap_or_default();
    let words = format!("{added} can be read and written from the next turn on, while this session is open");
    base.room.take().await;
    base.tell(aside(&words));
    Ok(Wanted::Nothing)
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

/// What is said, as a message.
pub(crate) fn message(said: Said) -> Command {
    let (content, attachments) = (said.whole(), said.pictures);
    Command::UserMessage { content: with_words(content), attachments }
}

/// Pictures that came with the answer to a question, which the agent sees with its next turn.
pub(crate) fn along(words: String, pictures: Vec<Attachment>) -> Command {
    let pieces = vec![MessagePiece::said(with_words(words))];
    Command::CommandMessage { pieces, attachments: pictures, steers: true, allow: Vec::new(), model: None }
}

/// A message always has words, also where somebody only sends pictures.
fn with_words(words: String) -> String {
    if words.trim().is_empty() { "(pictures)".to_owned() } else { words }
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
    fn what_is_no_command_here_is_not_said_to_the_agent() {
        assert_eq!(unknown("comapct", &[]), "There is no /comapct; did you mean /compact?");
        assert!(unknown("help", &[]).starts_with("/help is a command of Neco's window"));
        assert!(unknown("xyzzy", &[]).starts_with("There is no /xyzzy; to say it"));
    }

    #[test]
    fn every_command_that_is_offered_exists() {
        for name in OURS {
            assert!(slash::TABLE.iter().any(|row| row.name == *name), "{name}");
        }
    }
}
