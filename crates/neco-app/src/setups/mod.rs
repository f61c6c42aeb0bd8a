//! Set-ups of other agents: which there are, and taking them over.
//!
//! Invariants: what is set here already stays as it is, and a second time changes nothing; a preview says what an import
//! would say, and writes nothing; what a project brings is written into that project, where trust is asked for as for
//! everything it brings; no link is followed on the way there.
//!
//! Reading order: [`take`] (one piece after the other), [`written`] (settings, servers, hooks and rules), [`copied`]
//! (files), [`kept`] (memory and sessions).

mod copied;
mod kept;
mod plugin;
mod take;
mod written;

use std::path::{Path, PathBuf};

use neco_port::setups;
pub use neco_port::setups::places::of_person;
use neco_proto::app::AppError;
use neco_proto::app::setups::{
    FindSetups, FoundSetup, FoundSetups, ImportSetup, PreviewSetup, SetupAgent, SetupReport,
};
use tokio::runtime::Handle;

use crate::app::{LocalApp, StorelessApp};
use crate::opening::on_thread;
use take::{Taking, Wanted};

pub(crate) async fn find(app: &StorelessApp, request: FindSetups) -> Result<FoundSetups, AppError> {
    let env = app.env.clone();
    on_thread(move || {
        let setup = |(agent, places): (SetupAgent, Vec<PathBuf>)| FoundSetup {
            agent: agent.into(),
            title: agent.title().to_owned(),
            places: places.iter().map(|place| env.shown(place)).collect(),
        };
        let found = setups::found(&env, Path::new(&request.folder));
        Ok(FoundSetups { setups: found.into_iter().map(setup).collect() })
    })
    .await
}

pub(crate) async fn preview(app: &LocalApp, request: PreviewSetup) -> Result<SetupReport, AppError> {
    let PreviewSetup { agent, folder, sessions } = request;
    report(app, Wanted { agent, folder, sessions, writes: false }).await
}

pub(crate) async fn import(app: &LocalApp, request: ImportSetup) -> Result<SetupReport, AppError> {
    let ImportSetup { agent, folder, sessions } = request;
    report(app, Wanted { agent, folder, sessions, writes: true }).await
}

/// Takes over a set-up, or says what that would do. Nearly all of it is work on files, so all of it is done on a thread
/// of its own.
async fn report(app: &LocalApp, wanted: Wanted) -> Result<SetupReport, AppError> {
    let (app, runtime) = (app.clone(), Handle::current());
    on_thread(move || runtime.block_on(taken(&Taking::new(&app, wanted)))).await
}

async fn taken(taking: &Taking<'_>) -> Result<SetupReport, AppError> {
    let Wanted { agent, folder, writes, .. } = &taking.wanted;
    let folder = Path::new(folder);
    // Nothing is written beside settings that can't be read.
    taking.app.settings(folder)?;
    let pieces = setups::read(*agent, &taking.app.env, folder);
    let mut rows = Vec::with_capacity(pieces.len());
    for piece in pieces {
        rows.push(taking.take(piece).await);
    }
    Ok(SetupReport { agent: (*agent).into(), preview: !writes, rows })
}
