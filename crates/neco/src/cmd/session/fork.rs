//! `neco session fork`.

use neco_proto::app::sessions::ForkSession;
use neco_proto::app::{App, Caller};
use serde_json::json;

use super::desk::Desk;
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
    let app: &dyn App = &desk.app();
    let folder = desk.folder(args.id.is_none())?;
    let request = ForkSession { session: args.id.clone(), folder, at: args.at.clone(), title: args.name.clone() };
    let fork = app.ask(&Caller::person(), &request).await?;
    if fork.in_a_turn {
        say::note("the session is in the middle of a turn: the fork begins there, without what comes of it");
    }
    let text = match args.json {
        true => format!("{:#}\n", json!(fork.session)),
        false => {
            let id = short_id(fork.session.id);
            let place = fork.before.as_ref().map_or_else(
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
