//! `/ps`: the commands that go on in the background, what one of them printed, and its end.

use jiff::Timestamp;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Answer, BackgroundCommand, ClientError, Command, Query};
use neco_view::wording::background;

use crate::host::CommandOutcome;
use crate::outside::{Beyond, print, usage};

/// `/ps`, `/ps NUMBER` and `/ps stop NUMBER`.
pub(crate) async fn ps(beyond: &Beyond<'_>, text: &str) -> Result<CommandOutcome, AppError> {
    let Answer::Background { commands } = beyond.client.ask(Query::Background).await.map_err(refused)? else {
        return Ok(none());
    };
    if commands.is_empty() {
        return Ok(none());
    }
    if text.is_empty() {
        return Ok(list(beyond, &commands).await);
    }
    let (stops, which) = match text.strip_prefix("stop").filter(|rest| rest.starts_with(char::is_whitespace)) {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    let number = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let found = number.and_then(|at| commands.get(at)).or_else(|| commands.iter().find(|one| one.name == which));
    match found {
        Some(found) if stops => stop(beyond, found).await,
        Some(found) => output(beyond, found).await,
        None => Err(usage(format!("There is no {which} in the background; /ps lists them"))),
    }
}

/// All of them, with the agent that started each where that is not the root.
async fn list(beyond: &Beyond<'_>, commands: &[BackgroundCommand]) -> CommandOutcome {
    let agents = match beyond.client.ask(Query::Tree).await {
        Ok(Answer::Tree { nodes }) => nodes,
        Ok(_) | Err(_) => Vec::new(),
    };
    let by = |command: &BackgroundCommand| {
        let node = agents.iter().find(|node| node.id == command.agent_id && node.parent.is_some());
        node.map(|node| node.name.clone())
    };
    CommandOutcome::Show(background::list(commands, by, Timestamp::now()))
}

async fn stop(beyond: &Beyond<'_>, found: &BackgroundCommand) -> Result<CommandOutcome, AppError> {
    if !found.runs() {
        return Ok(CommandOutcome::Say(format!("It has ended: {}", background::line(found))));
    }
    let (agent_id, name) = (found.agent_id, found.name.clone());
    beyond.client.send(Command::StopBackground { agent_id, name }).await.map_err(refused)?;
    Ok(CommandOutcome::Say(format!("Stopped: {}", background::line(found))))
}

/// The end of what one printed.
async fn output(beyond: &Beyond<'_>, found: &BackgroundCommand) -> Result<CommandOutcome, AppError> {
    let (agent_id, name) = (found.agent_id, found.name.clone());
    match beyond.client.ask(Query::BackgroundOutput { agent_id, name }).await.map_err(refused)? {
        Answer::BackgroundOutput { command, tail } => {
            let head =
                format!("$ {}  ({})", background::line(&command), background::stands(&command, Timestamp::now()));
            Ok(print(&format!("{head}\n{tail}")))
        }
        _ => Ok(none()),
    }
}

fn none() -> CommandOutcome {
    CommandOutcome::Say(background::NONE.to_owned())
}

fn refused(error: ClientError) -> AppError {
    AppError::new(Trouble::Failed, error.to_string())
}
