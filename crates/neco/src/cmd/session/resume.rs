//! `neco session attach` and `neco session resume`: a session that another process has open is watched, any other one is
//! gone on with.

use std::path::Path;

use neco_app::sessions::each_event;
use neco_config::Env;
use neco_proto::app::opening::WhichSession;
use neco_proto::event::{Admission, CompleteReason};
use neco_proto::{Event, EventBody, Role};

use super::desk::Desk;
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::cmd::confirm::person;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::request::take_seat;
use crate::run::{self, guest};
use crate::short_id::short_id;
use crate::tui;

/// What is said when nobody says anything.
const GO_ON: &str = "Go on where you stopped.";

/// The fewest characters that are a part of an id rather than a word.
const FEWEST: usize = 4;

/// Watches the session until it is closed, and answers what is asked. `None` when no process has it open.
pub(super) fn watch(
    which: &WhichSession,
    folder: &Path,
    format: OutputFormat,
    env: &Env,
) -> Result<Option<Exit>, Failure> {
    let runtime = compose::runtime()?;
    let Some(begun) = runtime.block_on(guest::begin(which, folder, env))? else { return Ok(None) };
    let tty = (format == OutputFormat::Text).then(|| person(env)).flatten();
    let seat = take_seat(format, env, tty, begun.folder(), begun.id());
    let seen = guest::follow(&runtime, begun, seat);
    runtime.shutdown_background();
    seen.map(Some)
}

/// Continues a session, or the last one of this folder: in a window where there is a terminal. Elsewhere, without words, one that is at work in another process
/// is watched, and one that is done has nothing to go on with.
pub(super) fn run(id: Option<&str>, words: &[String], everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let Some(word) = id.filter(|id| !reads_as_id(id)) {
        let said: Vec<&str> = std::iter::once(word).chain(words.iter().map(String::as_str)).collect();
        let said = said.join(" ");
        let hint =
            format!("`neco session list` shows them. To say it to the last session here: neco --continue -m {said:?}");
        return Err(Failure::usage(format!("{word} is not the id of a session")).hint(hint));
    }
    let session = id.map(str::to_owned);
    let args = RunArgs { words: words.to_vec(), continue_latest: session.is_none(), session, ..RunArgs::default() };
    if tui::is_wanted(&args, env) {
        return tui::run(&args, everywhere, env);
    }
    let session = args.session.clone();
    if words.is_empty() {
        let folder = crate::folder(everywhere)?;
        let which = session.clone().map_or(WhichSession::Latest, WhichSession::Id);
        if let Some(exit) = watch(&which, &folder, OutputFormat::Text, env)? {
            return Ok(exit);
        }
        compose::runtime()?.block_on(check_unfinished(session.as_deref(), everywhere, env))?;
    }
    let message = if words.is_empty() { GO_ON.to_owned() } else { words.join(" ") };
    let args = RunArgs { message: Some(message), words: Vec::new(), ..args };
    run::run(&args, everywhere, env)
}

/// Refuses to ask a model for nothing.
async fn check_unfinished(session: Option<&str>, everywhere: &EverywhereArgs, env: &Env) -> Result<(), Failure> {
    let desk = Desk::open(everywhere, env).await?;
    let looked = async {
        let id = desk.named(session).await?.id;
        let mut unfinished = false;
        each_event(desk.app(), id, |event, _| unfinished = goes_on(event).unwrap_or(unfinished)).await?;
        Ok::<_, Failure>((short_id(id), unfinished))
    };
    let looked = looked.await;
    desk.close().await?;
    match looked? {
        (_, true) => Ok(()),
        (id, false) => Err(Failure::usage(format!("session {id} has nothing left to continue"))
            .hint(format!("Say what comes next: neco resume {id} -m \"…\""))),
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

/// Whether a word can be a part of an id.
pub fn reads_as_id(word: &str) -> bool {
    word.chars().count() >= FEWEST && word.chars().all(|char| char.is_ascii_hexdigit() || char == '-')
}
