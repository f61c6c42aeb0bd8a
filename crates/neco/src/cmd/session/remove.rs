//! Removing sessions: some that are named, or all that are old.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use neco_session::SessionError;
use neco_store::{Prune, SessionRecord, StoreError};
use neco_workspace::checkpoint::{bytes_on_disk, workspace_of};
use serde_json::json;

use super::confirm::is_meant;
use super::desk::{Desk, NO_ROOM};
use super::list::{Shape, as_lines};
use crate::checkpoints;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::figures;
use crate::say;
use crate::session_args::PruneArgs;
use crate::short_id::short_id;
use crate::wire;

/// Removes sessions, after asking. All of them must be there: half of what was asked is not done.
pub(super) async fn rm(ids: &[String], yes: bool, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut records: Vec<SessionRecord> = Vec::new();
    for id in ids {
        let found = desk.hub.find(id).await?;
        if records.iter().all(|record| record.id != found.id) {
            records.push(found);
        }
    }
    if !yes && !agreed(&records, false, desk).await? {
        say::out("nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    desk.hub.remove(&records).await.map_err(|error| in_use(error, desk))?;
    tell(&records, 0, json, "removed")?;
    if !json {
        say::out("states of files that were kept for them stay until `neco session prune` finds them old\n")?;
    }
    Ok(Exit::Done)
}

/// What is open is not removed, and what goes on with it has its own way.
fn in_use(error: SessionError, desk: &Desk<'_>) -> Failure {
    let open = match &error {
        SessionError::Store(StoreError::InUse { session, .. }) => Some(short_id(*session)),
        _ => None,
    };
    let failure = Failure::from(error);
    let is_full = !wire::has_room(desk.env.data_dir());
    match open {
        None if is_full => failure.hint(NO_ROOM),
        Some(id) => failure.hint(format!("Nothing was removed. `neco session attach {id}` shows what it does.")),
        None => failure,
    }
}

/// Removes sessions that nobody used for long, after asking.
pub(super) async fn prune(args: &PruneArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let here = args.here.then(|| crate::folder(desk.everywhere)).transpose()?;
    let prune = Prune {
        unused_since_ms: args.older_than,
        keep_newest: args.keep,
        cwd: here.map(|folder| folder.display().to_string()),
        dry_run: true,
        ..Prune::default()
    };
    let wanted = desk.hub.prune(prune.clone()).await?.sessions;
    if args.dry_run {
        if args.json || wanted.is_empty() {
            return tell(&wanted, 0, args.json, "would be removed");
        }
        say::out(&shown(&wanted, desk).await?)?;
        return tell(&wanted, 0, false, "would be removed");
    }
    if !args.yes && !wanted.is_empty() && !agreed(&wanted, true, desk).await? {
        say::out("nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    let folders = folders(desk).await?;
    let only = Some(wanted.iter().map(|record| record.id).collect());
    let named = if args.yes && !args.json && !wanted.is_empty() { shown(&wanted, desk).await? } else { String::new() };
    let pruned = desk.hub.prune(Prune { dry_run: false, only, ..prune }).await?;
    let states = forget_states(folders, desk).await.saturating_add(forget_orphans(desk).await?);
    say::out(&named)?;
    tell(&pruned.sessions, pruned.freed_bytes.saturating_add(states), args.json, "removed")
}

/// The folders of all sessions, those included that go.
async fn folders(desk: &Desk<'_>) -> Result<BTreeSet<PathBuf>, Failure> {
    let all = desk.hub.list(None, usize::MAX >> 1).await?;
    Ok(all.into_iter().map(|record| PathBuf::from(record.cwd)).filter(|folder| folder.is_dir()).collect())
}

/// Removes states of files that are older than they need to be kept; how many bytes that frees. What fails
/// is tried again the next time.
async fn forget_states(folders: BTreeSet<PathBuf>, desk: &Desk<'_>) -> u64 {
    let kept_ms = i64::from(desk.config.checkpoints.keep_days).saturating_mul(86_400_000);
    let before = Timestamp::now().as_millisecond().saturating_sub(kept_ms);
    let mut freed: u64 = 0;
    for folder in folders {
        let Some(checkpoints) = desk.hub.checkpoints(&folder).await else { continue };
        match tokio::task::spawn_blocking(move || checkpoints.prune(before)).await {
            Ok(Ok(pruned)) => freed = freed.saturating_add(pruned.bytes),
            Ok(Err(error)) => tracing::warn!(%error, folder = %folder.display(), "old checkpoints are left"),
            Err(error) => tracing::warn!(%error, "old checkpoints are left"),
        }
    }
    freed
}

/// Removes states of folders that are gone and that no session works in any more; how many bytes that frees.
async fn forget_orphans(desk: &Desk<'_>) -> Result<u64, Failure> {
    let all = desk.hub.list(None, usize::MAX >> 1).await?;
    let named: BTreeSet<PathBuf> = all.into_iter().map(|record| PathBuf::from(record.cwd)).collect();
    let stores = checkpoints::stores(desk.env.data_dir());
    let forgotten = tokio::task::spawn_blocking(move || {
        let entries = std::fs::read_dir(&stores).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_nobodys = |root: PathBuf| !root.exists() && !named.contains(&root);
        let orphans = entries.filter(|store| workspace_of(store).is_some_and(is_nobodys));
        let freed = |store: PathBuf| {
            let bytes = bytes_on_disk(&store).unwrap_or(0);
            if std::fs::remove_dir_all(&store).is_ok() { bytes } else { 0 }
        };
        orphans.map(freed).sum()
    });
    Ok(forgotten.await.unwrap_or(0))
}

async fn agreed(records: &[SessionRecord], prunes: bool, desk: &Desk<'_>) -> Result<bool, Failure> {
    let these = if records.len() == 1 { "it" } else { "them" };
    let days = desk.config.checkpoints.keep_days;
    let question = format!("Remove {these} for good? (prune also removes states of files older than {days} days)");
    let question = if prunes { question } else { format!("Remove {these} for good?") };
    is_meant(&shown(records, desk).await?, &question, "Pass --yes to remove without asking.", desk.env)
}

async fn shown(records: &[SessionRecord], desk: &Desk<'_>) -> Result<String, Failure> {
    let shape = Shape { all: true, home: desk.env.home(), width: desk.width(), stages: &[] };
    Ok(as_lines(records, &desk.short_ids().await?, &shape))
}

fn tell(records: &[SessionRecord], freed: u64, json: bool, done: &str) -> Result<Exit, Failure> {
    let text = match json {
        true => {
            let ids: Vec<_> = records.iter().map(|record| record.id).collect();
            format!("{:#}\n", json!({ "sessions": ids, "freed_bytes": freed, "what": done }))
        }
        false => {
            let freed = if freed == 0 { String::new() } else { format!(", {} freed", figures::bytes(freed)) };
            format!("{} {done}{freed}\n", figures::count(records.len() as u64, "session"))
        }
    };
    say::out(&text)?;
    Ok(Exit::Done)
}
