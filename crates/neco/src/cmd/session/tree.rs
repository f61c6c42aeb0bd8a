//! `neco session tree`: the agents of a session.

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
    let record = desk.named(id).await?;
    let nodes = desk.hub.agents_of(record.id).await?;
    let text = match json {
        true => format!("{:#}\n", json!({ "session_id": record.id, "nodes": nodes })),
        false => agents::tree(&nodes, desk.width(), Terminal::look_at(desk.env).stdout_paint()),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}
