//! Removing sessions, some that are named or all that are old, and what is kept beside them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use neco_proto::SessionId;
use neco_proto::app::sessions::{Kept, MeasureKept, PruneSessions, RemoveSessions, RemovedSessions, SessionRow};
use neco_proto::app::{AppError, Trouble};
use neco_session::SessionError;
use neco_store::{Catalog, Prune, SessionRecord};
use neco_workspace::checkpoint::{bytes_on_disk, workspace_of};

use super::list::{ALL, row};
use super::worktrees::{tidy_worktrees, worktrees};
use crate::app::LocalApp;
use crate::disk;
use crate::error::{of_session, of_store};
use crate::workspace::checkpoints;

/// How much room sessions take.
type Bytes = HashMap<SessionId, u64>;

pub(crate) async fn remove(app: &LocalApp, request: RemoveSessions) -> Result<RemovedSessions, AppError> {
    let mut records: Vec<SessionRecord> = Vec::new();
    for id in &request.sessions {
        let found = app.hub.find(id).await.map_err(of_session)?;
        if records.iter().all(|record| record.id != found.id) {
            records.push(found);
        }
    }
    let bytes = bytes_of(app, &records).await;
    if request.dry_run {
        return Ok(answer(records, &bytes?));
    }
    let bytes = bytes.unwrap_or_default();
    let Err(error) = app.hub.remove(&records).await else { return Ok(answer(records, &bytes)) };
    let error = advised(error, app);
    let mut gone = Vec::new();
    for record in records {
        if matches!(app.hub.find(&record.id.to_string()).await, Err(SessionError::NotFound(_))) {
            gone.push(record);
        }
    }
    if gone.is_empty() {
        return Err(error);
    }
    Ok(RemovedSessions { stopped_by: Some(error), ..answer(gone, &bytes) })
}

pub(crate) async fn prune(app: &LocalApp, request: PruneSessions) -> Result<RemovedSessions, AppError> {
    let prune = Prune {
        unused_since_ms: request.unused_since.map(Timestamp::as_millisecond),
        keep_newest: request.keep,
        cwd: request.here.then(|| request.folder.clone()),
        only: request.only,
        dry_run: true,
        ..Prune::default()
    };
    let wanted = app.hub.prune(prune.clone()).await.map_err(of_session)?.sessions;
    let bytes = bytes_of(app, &wanted).await?;
    let keep_days = app.settings_to_read(Path::new(&request.folder)).checkpoints.keep_days;
    if request.dry_run {
        return Ok(RemovedSessions { keep_days, ..answer(wanted, &bytes) });
    }
    // The folders of all sessions, those included that go.
    let all = app.hub.list(None, ALL).await.map_err(of_session)?;
    let folders: BTreeSet<_> =
        all.into_iter().map(|record| PathBuf::from(record.cwd)).filter(|folder| folder.is_dir()).collect();
    let only = Some(wanted.iter().map(|record| record.id).collect());
    let pruned = app.hub.prune(Prune { dry_run: false, only, ..prune }).await.map_err(|error| advised(error, app))?;
    let data_dir = app.env.data_dir().to_owned();
    let worktrees = tokio::task::spawn_blocking(move || tidy_worktrees(&data_dir)).await.unwrap_or_default();
    let states = forget_states(folders, keep_days, app).await;
    let orphans = forget_orphans(app).await?;
    Ok(RemovedSessions {
        freed_bytes: pruned.freed_bytes.saturating_add(states).saturating_add(orphans),
        keep_days,
        worktrees,
        stopped_by: pruned.stopped_by.map(|error| advised(error.into(), app)),
        ..answer(pruned.sessions, &bytes)
    })
}

pub(crate) async fn measure_kept(app: &LocalApp, request: MeasureKept) -> Result<Kept, AppError> {
    let (orphans, state_bytes) = states(app).await?;
    let data_dir = app.env.data_dir().to_owned();
    Ok(Kept {
        state_bytes,
        orphan_bytes: orphans.iter().map(|(_, bytes)| bytes).sum(),
        keep_days: app.settings_to_read(Path::new(&request.folder)).checkpoints.keep_days,
        worktrees: tokio::task::spawn_blocking(move || worktrees(&data_dir)).await.unwrap_or_default(),
    })
}

/// What just failed is no advice: on a full disk not even something can be removed.
fn advised(error: SessionError, app: &LocalApp) -> AppError {
    let error = of_session(error);
    match error.trouble {
        Trouble::InUse => error,
        _ if disk::is_full(app.env.data_dir()) => error.hint(disk::NO_ROOM),
        _ => error,
    }
}

async fn bytes_of(app: &LocalApp, records: &[SessionRecord]) -> Result<Bytes, AppError> {
    app.store.bytes_of(records.iter().map(|record| record.id).collect()).await.map_err(of_store)
}

fn answer(records: Vec<SessionRecord>, bytes: &Bytes) -> RemovedSessions {
    let of = |id: SessionId| bytes.get(&id).copied().unwrap_or(0);
    RemovedSessions {
        freed_bytes: records.iter().map(|record| of(record.id)).sum(),
        sessions: records.into_iter().map(|record| SessionRow { bytes: Some(of(record.id)), ..row(record) }).collect(),
        ..RemovedSessions::default()
    }
}

/// Removes states of files that are older than they need to be kept; how many bytes that frees. What fails
/// is tried again the next time.
async fn forget_states(folders: BTreeSet<PathBuf>, keep_days: u32, app: &LocalApp) -> u64 {
    let kept_ms = i64::from(keep_days).saturating_mul(86_400_000);
    let before = Timestamp::now().as_millisecond().saturating_sub(kept_ms);
    let mut freed: u64 = 0;
    for folder in folders {
        let Some(checkpoints) = app.hub.checkpoints(&folder).await else { continue };
        match tokio::task::spawn_blocking(move || checkpoints.prune(before)).await {
            Ok(Ok(pruned)) => freed = freed.saturating_add(pruned.bytes),
            Ok(Err(error)) => tracing::warn!(%error, folder = %folder.display(), "old checkpoints are left"),
            Err(error) => tracing::warn!(%error, "old checkpoints are left"),
        }
    }
    freed
}

/// Removes states of folders that no session works in any more, so that nobody can go back to them; how many bytes that
/// frees.
async fn forget_orphans(app: &LocalApp) -> Result<u64, AppError> {
    let (orphans, _) = states(app).await?;
    let forgotten = tokio::task::spawn_blocking(move || {
        let removed = orphans.into_iter().filter(|(store, _)| std::fs::remove_dir_all(store).is_ok());
        removed.map(|(_, bytes)| bytes).sum()
    });
    Ok(forgotten.await.unwrap_or(0))
}

/// Where states of files are kept that no session can go back to any more, with their bytes; and the bytes of all others.
async fn states(app: &LocalApp) -> Result<(Vec<(PathBuf, u64)>, u64), AppError> {
    let all = app.hub.list(None, ALL).await.map_err(of_session)?;
    let named: BTreeSet<PathBuf> = all.into_iter().map(|record| PathBuf::from(record.cwd)).collect();
    let stores = checkpoints::stores(app.env.data_dir());
    let looked = tokio::task::spawn_blocking(move || {
        let is_nobodys = |root: PathBuf| !named.iter().any(|cwd| cwd.starts_with(&root) || root.starts_with(cwd));
        let (mut orphans, mut others) = (Vec::new(), 0);
        for store in std::fs::read_dir(&stores).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let bytes = bytes_on_disk(&store).unwrap_or(0);
            match workspace_of(&store).is_some_and(is_nobodys) {
                true => orphans.push((store, bytes)),
                false => others += bytes,
            }
        }
        (orphans, others)
    });
    Ok(looked.await.unwrap_or_default())
}
