//! What is kept of sessions in the repository of checkpoints: told, and made into sessions again.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use neco_port::import::exchanges::{Kept, restore as take_in};
use neco_proto::SessionId;
use neco_proto::app::exchanges::{
    Exchange, KeptSession, KeptSessions, ListExchanges, ListKeptSessions, RestoreSession, SessionHistory,
};
use neco_proto::app::port::ImportedSession;
use neco_proto::app::{AppError, Trouble};
use neco_session::exchanges::keep_restored;
use neco_workspace::checkpoint::{CheckpointError, Checkpoints, KeptExchange, open_store};

use super::port::keeper;
use crate::app::LocalApp;
use crate::error::{failed, invalid, of_port, of_session};

const LISTED: &str = "`neco session restore` lists the sessions that are kept here; --from names another store.";

pub(crate) async fn exchanges(app: &LocalApp, request: ListExchanges) -> Result<SessionHistory, AppError> {
    let folder = Path::new(&request.folder);
    let record = app.named(request.session.as_deref(), folder).await?;
    let session_id = record.id;
    // A folder that is gone still has its store.
    let found = app.hub.place_of(record.clone(), folder, false).map(|found| found.record);
    let checkpoints = of_folder(app, Path::new(&found.unwrap_or(record).cwd)).await?;
    let repository = checkpoints.repository().display().to_string();
    let kept = aside(checkpoints, move |checkpoints| checkpoints.exchanges(session_id)).await?;
    let shown = |kept: KeptExchange, rewound| Exchange {
        id: kept.rev,
        parent: kept.parent,
        number: kept.number,
        message: kept.message,
        ts: at(kept.time_ms),
        rewound,
        files: kept.files,
    };
    let mut all: Vec<(u64, Exchange)> = kept.present.into_iter().map(|one| (one.events.1, shown(one, false))).collect();
    all.extend(kept.rewound.into_iter().map(|one| (one.events.1, shown(one, true))));
    all.sort_by_key(|(last, _)| *last);
    Ok(SessionHistory { session_id, repository, exchanges: all.into_iter().map(|(_, exchange)| exchange).collect() })
}

pub(crate) async fn kept(app: &LocalApp, request: ListKeptSessions) -> Result<KeptSessions, AppError> {
    let checkpoints = named_store(app, request.from.as_deref(), Path::new(&request.folder)).await?;
    let repository = checkpoints.repository().display().to_string();
    let mut sessions = Vec::new();
    for (session_id, newest) in aside(checkpoints, |checkpoints| checkpoints.sessions()).await? {
        let here = app.hub.find(&session_id.to_string()).await.is_ok();
        let (exchanges, message, ts) = (newest.number, newest.message, at(newest.time_ms));
        sessions.push(KeptSession { session_id, exchanges, message, ts, here });
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.ts));
    Ok(KeptSessions { repository, sessions })
}

pub(crate) async fn restore(app: &LocalApp, request: RestoreSession) -> Result<ImportedSession, AppError> {
    let folder = Path::new(&request.folder);
    let keeper = keeper(app, folder, request.again, request.moves)?;
    let checkpoints = named_store(app, request.from.as_deref(), folder).await?;
    let which = request.which.clone();
    let kept = aside(checkpoints, move |checkpoints| {
        let all = checkpoints.sessions()?;
        let found: Vec<_> = all.into_iter().filter(|(session, _)| is_meant(*session, &which)).collect();
        let (session, rev) = match found.as_slice() {
            [(session, newest)] => (Some(*session), newest.rev.clone()),
            _ => (None, which),
        };
        let (exchange, files) = checkpoints.conversation(&rev).map_err(|error| match error {
            CheckpointError::UnknownExchange(which) if found.len() > 1 => CheckpointError::Ambiguous {
                which,
                matches: found.iter().map(|(session, _)| session.to_string()).collect(),
            },
            error => error,
        })?;
        Ok(Kept { session: session.unwrap_or(exchange.session), is_whole: session.is_some(), files })
    })
    .await?;
    let own = kept.session;
    let restored = take_in(&keeper, kept).await.map_err(of_port)?;
    if restored.session == own && !restored.already {
        let record = app.hub.find(&own.to_string()).await.map_err(of_session)?;
        keep_restored(&app.hub_of(Path::new(&record.cwd))?, &record).await;
    }
    Ok(restored)
}

/// Whether a person means this session: by a part of its id.
fn is_meant(session: SessionId, which: &str) -> bool {
    let (id, part) = (session.to_string().replace('-', ""), which.replace('-', "").to_ascii_lowercase());
    part.len() >= 4 && (id.starts_with(&part) || id.ends_with(&part))
}

/// The store that a person names, of which nothing is changed; else that of the folder.
async fn named_store(app: &LocalApp, from: Option<&str>, folder: &Path) -> Result<Arc<dyn Checkpoints>, AppError> {
    let Some(from) = from.map(str::to_owned) else { return of_folder(app, folder).await };
    let opened = tokio::task::spawn_blocking(move || match open_store(Path::new(&from)) {
        Some(store) => Ok(Arc::new(store) as Arc<dyn Checkpoints>),
        None => Err(invalid(format!("{from} is no store of checkpoints: it has no folder git"))),
    });
    opened.await.map_err(failed)?
}

async fn of_folder(app: &LocalApp, folder: &Path) -> Result<Arc<dyn Checkpoints>, AppError> {
    let off = || failed("checkpoints are off, so nothing that was said is kept with them (checkpoints.enabled)");
    app.hub_of(folder)?.checkpoints(folder).await.ok_or_else(off)
}

fn at(time_ms: i64) -> Timestamp {
    Timestamp::from_millisecond(time_ms).unwrap_or_default()
}

async fn aside<T: Send + 'static>(
    checkpoints: Arc<dyn Checkpoints>,
    work: impl FnOnce(&dyn Checkpoints) -> Result<T, CheckpointError> + Send + 'static,
) -> Result<T, AppError> {
    let done = tokio::task::spawn_blocking(move || work(checkpoints.as_ref())).await.map_err(failed)?;
    done.map_err(|error| match error {
        CheckpointError::UnknownExchange(which) => {
            AppError::new(Trouble::NotFound, format!("no session and no commit of one is called {which} here"))
                .hint(LISTED)
        }
        error @ CheckpointError::Ambiguous { .. } => invalid(error),
        error => failed(error),
    })
}
