//! Sessions that go to files and come from them: what Neco exported, and what other programs keep.

use std::path::Path;

use neco_port::Export;
use neco_port::import::{Keeper, Taken, found};
use neco_proto::app::AppError;
use neco_proto::app::port::{
    ExportSession, ExportedSession, FindForeignSessions, ForeignSessions, ImportSession, ImportedSession, Program,
};

use crate::app::LocalApp;
use crate::error::of_port;

pub(crate) async fn export(app: &LocalApp, request: ExportSession) -> Result<ExportedSession, AppError> {
    let folder = Path::new(&request.folder);
    let record = app.named(request.session.as_deref(), folder).await?;
    let redactor = (!request.with_keys).then(|| app.redactor(Path::new(&record.cwd)));
    let export = Export::of(&record, redactor, &app.hub, app.store.as_ref()).await.map_err(of_port)?;
    export.to_file(request.format, Path::new(&request.file), request.over, &app.env).await.map_err(of_port)?;
    Ok(ExportedSession { session: record.id, events: record.events })
}

pub(crate) async fn find_foreign(app: &LocalApp, request: FindForeignSessions) -> Result<ForeignSessions, AppError> {
    let folder = Path::new(&request.folder);
    let sessions = found(request.program, folder, request.limit, &app.store, &app.env).await.map_err(of_port)?;
    Ok(ForeignSessions { sessions })
}

pub(crate) async fn import(app: &LocalApp, request: ImportSession) -> Result<ImportedSession, AppError> {
    let folder = Path::new(&request.folder);
    let keeper = keeper(app, folder, request.again, request.moves)?;
    let path = Path::new(&request.file);
    let taken = Taken { path, name: request.name.as_deref(), program: request.program };
    match (request.program, &request.entry) {
        (Some(program @ (Program::Opencode | Program::Openclaw)), Some(entry)) => {
            keeper.entry(program, path, entry).await
        }
        _ => keeper.file(taken).await,
    }
    .map_err(of_port)
}

/// Takes sessions in. Nobody took secrets out of what others wrote, so all that are known must be: settings that can't
/// be read are an error.
pub(crate) fn keeper<'a>(
    app: &'a LocalApp,
    folder: &'a Path,
    again: bool,
    moves: bool,
) -> Result<Keeper<'a>, AppError> {
    app.settings(folder)?;
    let redactor = app.redactor(folder);
    Ok(Keeper { store: &app.store, hub: &app.hub, env: &app.env, redactor, again, folder, moves })
}
