//! `neco session resume`: a run of a session that is there.

use neco_config::Env;

use crate::args::{EverywhereArgs, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run;

/// What is said when nobody says anything.
const GO_ON: &str = "Go on where you stopped.";

/// The fewest characters that are the beginning of an id rather than a word.
const FEWEST: usize = 4;

/// Goes on with a session, or with the last one of this folder.
pub(super) fn run(id: Option<&str>, words: &[String], everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let (session, first) = match id {
        Some(id) if reads_as_id(id) => (Some(id.to_owned()), None),
        Some(word) => (None, Some(word.to_owned())),
        None => (None, None),
    };
    let said: Vec<String> = first.into_iter().chain(words.iter().cloned()).collect();
    let message = if said.is_empty() { GO_ON.to_owned() } else { said.join(" ") };
    let args = RunArgs { message: Some(message), continue_latest: session.is_none(), session, ..RunArgs::default() };
    run::run(&args, everywhere, env)
}

fn reads_as_id(word: &str) -> bool {
    word.chars().count() >= FEWEST && word.chars().all(|char| char.is_ascii_hexdigit() || char == '-')
}
