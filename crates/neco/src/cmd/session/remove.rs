//! Removing sessions: some that are named, or all that are old.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use neco_store::{Prune, SessionRecord};
use serde_json::json;

use super::confirm::is_meant;
use super::desk::Desk;
use super::list::{Shape, as_lines};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::figures;
use crate::say;
use crate::session_args::PruneArgs;

/// Removes sessions, after asking. All of them must be there: half of what was asked is not done.
pub(super) async fn rm(ids: &[String], yes: bool, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut records: Vec<SessionRecord> = Vec::new();
    for id in ids {
        let found = desk.hub.find(id).await?;
        if records.iter().all(|record| record.id != found.id) {
            records.push(found);
        }
    }
    if !yes && !agreed(&records, desk).await? {
        say::out("nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    for record in &records {
        desk.hub.remove(record).await?;
    }
    tell(&records, 0, json, "removed")
}

/// Removes sessions that nobody used for long, after asking.
pub(super) async fn prune(args: &PruneArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let prune = Prune { unused_since_ms: args.older_than, keep_newest: args.keep, spare: Vec::new(), dry_run: true };
    let wanted = desk.hub.prune(prune.clone()).await?.sessions;
    if args.dry_run {
        if args.json || wanted.is_empty() {
            return tell(&wanted, 0, args.json, "would be removed");
        }
        say::out(&shown(&wanted, desk).await?)?;
        return tell(&wanted, 0, false, "would be removed");
    }
    if !args.yes && !wanted.is_empty() && !agreed(&wanted, desk).await? {
        say::out("nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    let folders = folders(desk).await?;
    let pruned = desk.hub.prune(Prune { dry_run: false, ..prune }).await?;
    let states = forget_states(folders, desk).await;
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

async fn agreed(records: &[SessionRecord], desk: &Desk<'_>) -> Result<bool, Failure> {
    let these = if records.len() == 1 { "it" } else { "them" };
    let question = format!("Remove {these} for good?");
    is_meant(&shown(records, desk).await?, &question, "Pass --yes to remove without asking.", desk.env)
}

async fn shown(records: &[SessionRecord], desk: &Desk<'_>) -> Result<String, Failure> {
    let shape = Shape { all: true, home: desk.env.home(), width: desk.width() };
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
