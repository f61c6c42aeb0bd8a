//! A session as a file.

use std::path::Path;

use neco_port::Export;
use neco_proto::app::AppError;
use neco_proto::app::port::{ExportSession, ExportedSession};

use crate::app::LocalApp;
use crate::error::of_port;

pub(crate) async fn export(app: &LocalApp, request: ExportSession) -> Result<ExportedSession, AppError> {
    let folder = Path::new(&request.folder);
    let record = app.named(request.session.as_deref(), folder).await?;
    let redactor = (!request.with_keys).then(|| app.redactor(folder));
    let export = Export::of(&record, redactor, &app.hub, app.store.as_ref()).await.map_err(of_port)?;
    export.to_file(request.format, Path::new(&request.file), request.over, &app.env).await.map_err(of_port)?;
    Ok(ExportedSession { session: record.id, events: record.events })
}
