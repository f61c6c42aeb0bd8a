//! `neco session attach` and `neco session resume`: a session that another process has open is watched, any other one is
//! gone on with.

use std::path::Path;

use neco_config::Env;
use neco_proto::app::opening::WhichSession;
use neco_tui::line::run::attached;

use super::args::ResumeArgs;
use super::desk::Desk;
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::cmd::confirm::person;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::request::take_seat;
use crate::run::{self, attach};
use crate::server;
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
    let Some(begun) = runtime.block_on(attach::begin(which, folder, env))? else { return Ok(None) };
    let tty = (format == OutputFormat::Text).then(|| person(env)).flatten();
    let seat = take_seat(format, env, tty, begun.folder(), Some(begun.id()));
    let seen = attached::follow(&runtime, begun, seat);
    runtime.shutdown_background();
    Ok(Some(seen?))
}

/// Continues a session, or the last one of this folder: in a window where there is a terminal. Elsewhere, without words, one that is at work in another process
/// is watched, and one that is done has nothing to go on with.
pub(super) fn run(wanted: &ResumeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let id = wanted.id.as_deref().or(wanted.run.session.as_deref());
    if let Some(word) = id.filter(|id| !reads_as_id(id)) {
        let said: Vec<&str> = std::iter::once(word).chain(wanted.run.words.iter().map(String::as_str)).collect();
        let said = said.join(" ");
        // With a message of its own, the word was meant as an id.
        let instead = match wanted.run.message {
            None => format!(" To say it to the last session here: neco --continue -m {said:?}"),
            Some(_) => String::new(),
        };
        let hint = format!("`neco session list` shows them; four characters or more of one will do.{instead}");
        return Err(Failure::usage(format!("{word} is not the id of a session")).hint(hint));
    }
    let session = id.map(str::to_owned);
    let args = RunArgs { continue_latest: session.is_none(), session, resume: None, ..wanted.run.clone() };
    let args = run::agent::taken(&args, everywhere, env)?;
    if tui::is_wanted(&args, env) {
        return tui::run(&args, everywhere, env);
    }
    let session = args.session.clone();
    let said = args.message();
    if said.is_none() && server::named(everywhere, env).is_none() {
        let folder = crate::folder(everywhere)?;
        let which = session.clone().map_or(WhichSession::Latest, WhichSession::Id);
        if let Some(exit) = watch(&which, &folder, args.output_format, env)? {
            return Ok(exit);
        }
        compose::runtime()?.block_on(check_unfinished(session.as_deref(), everywhere, env))?;
    }
    let message = said.unwrap_or_else(|| GO_ON.to_owned());
    let args = RunArgs { message: Some(message), words: Vec::new(), ..args };
    run::run(&args, everywhere, env)
}

/// Refuses to ask a model for nothing.
async fn check_unfinished(session: Option<&str>, everywhere: &EverywhereArgs, env: &Env) -> Result<(), Failure> {
    let desk = Desk::open(everywhere, env).await?;
    let looked = async {
        let id = desk.named(session).await?.id;
        Ok::<_, Failure>((short_id(id), desk.is_unfinished(id).await?))
    };
    let looked = looked.await;
    desk.close().await?;
    match looked? {
        (_, true) => Ok(()),
        (id, false) => Err(Failure::usage(format!("session {id} has nothing left to continue"))
            .hint(format!("Say what comes next: neco resume {id} -m \"…\""))),
    }
}

/// Whether a word can be a part of an id.
pub fn reads_as_id(word: &str) -> bool {
    word.chars().count() >= FEWEST && word.chars().all(|char| char.is_ascii_hexdigit() || char == '-')
}
