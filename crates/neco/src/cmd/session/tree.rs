//! `neco session tree`: the agents of a session.

use neco_proto::app::history::ListSessionAgents;
use neco_proto::app::{App, Caller};
use serde_json::json;

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::agents;
use crate::say;
use crate::terminal::Terminal;

/// Shows the agents of a session; of the last one of this folder when none is named.
///
/// # Errors
/// When there is no such session or the store can't be read.
pub(super) async fn run(id: Option<&str>, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let request = ListSessionAgents { session: id.map(str::to_owned), folder: desk.folder(id.is_none())? };
    let app: &dyn App = &desk.app();
    let agents = app.ask(&Caller::person(), &request).await?;
    let text = match json {
        true => format!("{:#}\n", json!(agents)),
        false => agents::tree(&agents.nodes, desk.width(), Terminal::look_at(desk.env).stdout_paint()),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}
