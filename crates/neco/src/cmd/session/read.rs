//! `neco session show` and `neco session log`: what was said in a session, and all that its log holds.

use jiff::tz::TimeZone;
use neco_proto::app::history::ListSessionAgents;
use neco_proto::{Event, Seq, SessionId, visible};
use neco_view::agent_ask;
use neco_view::paint::lists::log::LogLines;
use neco_view::paint::text::conversation::{Conversation, heading};

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::agents;
use crate::say;
use crate::short_id::short_id;

/// Shows the conversation of a session, or what an agent below its root said and did.
pub(super) async fn show(id: Option<&str>, agent: Option<&str>, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (session, paint) = (desk.named(id).await?, desk.paint());
    let (mut only, mut about) = (None, String::new());
    if let Some(agent) = agent {
        let request = ListSessionAgents { session: Some(session.id.to_string()), ..ListSessionAgents::default() };
        let nodes = desk.ask(&request).await?.nodes;
        let node = agent_ask::find(&nodes, agent).map_err(|_| {
            let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            let words = format!("there is no agent {agent} in this session; it has {}", names.join(", "));
            Failure::usage(words).hint(format!("`neco session tree {}` shows them.", short_id(session.id)))
        })?;
        (only, about) = (Some(node.id), agents::one(node, &nodes));
    }
    let mut conversation = Conversation::of(session.id, only, TimeZone::system(), paint);
    if !json {
        say::out(&format!("{}{about}", heading(&session, paint)))?;
    }
    each_written(session.id, desk, |event, counts| match json {
        true if only.is_some_and(|agent| agent != event.agent_id) => String::new(),
        true => as_json(event),
        false => conversation.next(event, counts),
    })
    .await?;
    if !json && conversation.has_open() {
        let goes_on = desk.is_open(&session).await?;
        say::out(&conversation.left_open(goes_on))?;
    }
    Ok(Exit::Done)
}

/// Prints the events after `after`.
pub(super) async fn log(id: Option<&str>, after: Seq, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let session = desk.named(id).await?;
    let mut lines = LogLines::new(desk.width(), TimeZone::system());
    each_written(session.id, desk, |event, counts| match json {
        _ if event.seq <= after => String::new(),
        true => as_json(event),
        false => lines.next(event, counts),
    })
    .await?;
    say::out(&lines.rest())?;
    Ok(Exit::Done)
}

fn as_json(event: &Event) -> String {
    visible::json(&serde_json::to_string(event).unwrap_or_default()).into_owned() + "\n"
}

/// Writes what each event is shown as, until that can't be written any more.
async fn each_written(
    session: SessionId,
    desk: &Desk<'_>,
    mut shown: impl FnMut(&Event, bool) -> String,
) -> Result<(), Failure> {
    let mut written = Ok(());
    desk.each_event(session, |event, counts| {
        let text = shown(event, counts);
        if written.is_ok() && !text.is_empty() {
            written = say::out(&text);
        }
    })
    .await?;
    written
}
