//! `neco session resume`: a run of a session that is there.

use std::path::Path;

use neco_config::Env;
use neco_proto::event::{Admission, CompleteReason};
use neco_proto::{Event, EventBody, Role};

use super::attach;
use super::desk::Desk;
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run;
use crate::run::attach::Which;
use crate::short_id::short_id;

/// What is said when nobody says anything.
const GO_ON: &str = "Go on where you stopped.";

/// The fewest characters that are the beginning of an id rather than a word.
const FEWEST: usize = 4;

/// Goes on with a session, or with the last one of this folder. Without words one that is at work elsewhere is
/// watched, and one that is done has nothing to go on with.
pub(super) fn run(id: Option<&str>, words: &[String], everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let Some(word) = id.filter(|id| !reads_as_id(id)) {
        let said: Vec<&str> = std::iter::once(word).chain(words.iter().map(String::as_str)).collect();
        let said = said.join(" ");
        let hint =
            format!("`neco session list` shows them. To say it to the last session here: neco --continue -m {said:?}");
        return Err(Failure::usage(format!("{word} is no beginning of a session's id")).hint(hint));
    }
    let session = id.map(str::to_owned);
    if words.is_empty() {
        let folder = crate::folder(everywhere)?;
        let which = session.as_deref().map_or(Which::Latest(&folder), Which::Id);
        if let Some(exit) = attach::watch(which, OutputFormat::Text, env)? {
            return Ok(exit);
        }
        compose::runtime()?.block_on(check_unfinished(session.as_deref(), &folder, everywhere, env))?;
    }
    let message = if words.is_empty() { GO_ON.to_owned() } else { words.join(" ") };
    let args = RunArgs { message: Some(message), continue_latest: session.is_none(), session, ..RunArgs::default() };
    run::run(&args, everywhere, env)
}

/// Refuses to ask a model for nothing.
async fn check_unfinished(
    session: Option<&str>,
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<(), Failure> {
    let desk = Desk::open(everywhere, env).await?;
    let looked = async {
        let record = match session {
            Some(id) => desk.hub.find(id).await?,
            None => desk.hub.latest(folder).await?.record,
        };
        let mut unfinished = false;
        desk.hub.each_event(record.id, |event| unfinished = goes_on(event).unwrap_or(unfinished)).await?;
        Ok::<_, Failure>((record.id, unfinished))
    };
    let looked = looked.await;
    desk.close().await?;
    match looked? {
        (_, true) => Ok(()),
        (id, false) => {
            let id = short_id(id);
            let words = format!("session {id} is done with what it was asked");
            Err(Failure::usage(words).hint(format!("Say what comes next: neco session resume {id} \"…\"")))
        }
    }
}

/// Whether there is something to go on with after an event; `None` when it does not matter.
fn goes_on(event: &Event) -> Option<bool> {
    match &event.body {
        EventBody::Message(message) if message.role == Role::User && !message.is_neco() => Some(true),
        EventBody::MessageQueued(queued) => (queued.when != Admission::Withdrawn).then_some(true),
        EventBody::AgentComplete(complete) => Some(complete.reason != CompleteReason::Natural),
        EventBody::Rewind(rewind) if rewind.conversation => Some(false),
        _ => None,
    }
}

fn reads_as_id(word: &str) -> bool {
    word.chars().count() >= FEWEST && word.chars().all(|char| char.is_ascii_hexdigit() || char == '-')
}
