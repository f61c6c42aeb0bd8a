//! `neco session history` and `neco session restore`: what is kept of sessions in the repository of checkpoints.

use jiff::Timestamp;
use neco_proto::app::exchanges::{ListExchanges, ListKeptSessions, RestoreSession};
use neco_view::paint::lists::exchanges;
use neco_view::paint::lists::imported::{as_json, as_lines};

use super::args::RestoreArgs;
use super::desk::Desk;
use crate::args::JsonArg;
use crate::cmd::program::print;
use crate::exit::Exit;
use crate::failure::Failure;

/// Lists the exchanges of a session.
pub(super) async fn history(id: Option<&str>, json: JsonArg, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let request = ListExchanges { session: id.map(str::to_owned), folder: desk.folder(id.is_none())? };
    let found = desk.ask(&request).await?;
    print(json, &found, || exchanges::history(&found, Timestamp::now(), desk.width()))
}

/// Lists the sessions that are kept, or makes one of them a session again.
pub(super) async fn restore(args: &RestoreArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (folder, from) = (desk.folder(true)?, args.from.as_ref().map(|from| from.display().to_string()));
    let Some(which) = args.id.clone() else {
        let found = desk.ask(&ListKeptSessions { folder, from }).await?;
        return print(args.json, &found, || exchanges::kept(&found, Timestamp::now(), desk.width()));
    };
    let moves = desk.everywhere.cwd.is_some();
    let told = desk.ask(&RestoreSession { which, folder, from, moves, again: args.again }).await?;
    print(args.json, &as_json(&told), || as_lines(&told))
}
