//! A title that a person gives.

use neco_proto::app::AppError;
use neco_proto::app::sessions::{RenameSession, SessionRow};
use neco_proto::event::TitleSource;
use neco_store::SessionRecord;

use super::list::row;
use crate::app::LocalApp;
use crate::error::of_session;

pub(crate) async fn rename(app: &LocalApp, request: RenameSession) -> Result<SessionRow, AppError> {
    let record = app.hub.find(&request.session).await.map_err(of_session)?;
    let title = app.hub.rename(&record, &request.title).await.map_err(of_session)?;
    Ok(row(SessionRecord { title, title_by: Some(TitleSource::Person), ..record }))
}
