//! `neco session fork`.

use serde_json::json;

use super::desk::Desk;
use super::list::record_json;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::wrap::fitting;
use crate::say;
use crate::session_args::ForkArgs;
use crate::short_id::short_id;

/// Columns of a message that is named.
const SHOWN: usize = 60;

/// Makes a second session out of one.
pub(super) async fn run(args: &ForkArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let parent = desk.hub.find(&args.id).await?;
    let course = desk.hub.course(parent.id).await?;
    // What no longer counts can be had again in a session of its own.
    let find = |at: &str| course.find(at).or_else(|error| course.ever_said(at).ok_or(error)).cloned();
    let before = args.at.as_deref().map(find).transpose().map_err(neco_session::SessionError::from)?;
    let at = before.as_ref().map_or(course.last_seq, |point| point.seq.saturating_sub(1));
    let fork = desk.hub.fork(&parent, at, args.name.as_deref()).await?;
    if before.is_none() && course.working {
        say::note("the session is in the middle of a turn: the fork begins there, without what comes of it");
    }
    let text = match args.json {
        true => format!("{:#}\n", json!(record_json(&fork))),
        false => {
            let id = short_id(fork.id);
            let place = before.as_ref().map_or_else(
                || "after everything that was said".to_owned(),
                |point| match point.number {
                    0 => format!("before: {}", fitting(&clean_line(&point.text), SHOWN)),
                    number => format!("before message {number}: {}", fitting(&clean_line(&point.text), SHOWN)),
                },
            );
            format!("forked {place}\ngo on with it: neco --session {id} -m \"…\"\n")
        }
    };
    say::out(&text)?;
    Ok(Exit::Done)
}
