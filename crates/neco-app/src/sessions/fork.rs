//! A second session that goes on from a point of one.

use std::path::Path;

use neco_proto::app::AppError;
use neco_proto::app::sessions::{ForkPoint, ForkSession, ForkedSession};
use neco_session::SessionError;

use super::list::row;
use crate::app::LocalApp;
use crate::error::of_session;

pub(crate) async fn fork(app: &LocalApp, request: ForkSession) -> Result<ForkedSession, AppError> {
    let parent = app.named(request.session.as_deref(), Path::new(&request.folder)).await?;
    let history = app.hub.course(parent.id).await.map_err(of_session)?;
    // What no longer counts can be had again in a session of its own.
    let find = |at: &str| history.find(at).or_else(|error| history.ever_said(at).ok_or(error)).cloned();
    let before = request.at.as_deref().map(find).transpose().map_err(|error| of_session(SessionError::from(error)))?;
    let at = before.as_ref().map_or(history.last_seq, |point| point.seq.saturating_sub(1));
    let fork = app.hub.fork(&parent, at, request.title.as_deref()).await.map_err(of_session)?;
    Ok(ForkedSession {
        session: row(fork),
        in_a_turn: before.is_none() && history.working,
        before: before.map(|point| ForkPoint { number: point.number, text: point.text }),
    })
}
