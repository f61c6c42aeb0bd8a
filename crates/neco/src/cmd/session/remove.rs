//! Removing sessions: some that are named, or all that are old.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use neco_app::disk;
use neco_app::sessions::row;
use neco_app::workspace::checkpoints;
use neco_proto::SessionId;
use neco_proto::app::sessions::SessionRow;
use neco_session::SessionError;
use neco_store::{Prune, SessionRecord, StoreError};
use neco_workspace::checkpoint::{bytes_on_disk, workspace_of};
use serde_json::json;

use super::confirm::is_meant;
use super::desk::Desk;
use super::list::{Shape, as_lines, title};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::figures;
use crate::run::worktree;
use crate::say;
use crate::session_args::PruneArgs;
use crate::short_id::short_id;

/// Sessions of each kind that are shown when nobody said which ones go.
const SHOWN: usize = 5;
/// Most sessions that are named with a failure.
const NAMED: usize = 10;

/// How much room sessions take.
type Bytes = HashMap<SessionId, u64>;

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
    let bytes = desk.bytes_of(&records).await.map_or(0, |bytes| bytes.values().sum());
    if let Err(error) = desk.hub.remove(&records).await {
        let mut gone = Vec::new();
        for record in records {
            if matches!(desk.hub.find(&record.id.to_string()).await, Err(SessionError::NotFound(_))) {
                gone.push(record);
            }
        }
        return Err(stopped(&gone, in_use(error, desk)));
    }
    tell(&records, Freed::About(bytes), json, "removed")?;
    if !json {
        say::out(
            "states of files that were kept for them stay until `neco session prune --older-than …` removes them\n",
        )?;
    }
    Ok(Exit::Done)
}

/// What is open is not removed, and what goes on with it has its own way. What just failed is no advice.
fn in_use(error: SessionError, desk: &Desk<'_>) -> Failure {
    let open = match &error {
        SessionError::Store(StoreError::InUse { session, .. }) => Some(short_id(*session)),
        _ => None,
    };
    let failure = Failure::from(error);
    match open {
        None if disk::is_full(desk.env.data_dir()) => failure.hint(disk::NO_ROOM),
        Some(id) => failure.hint(format!("Nothing was removed. `neco session attach {id}` shows what it does.")),
        None => failure,
    }
}

/// What went before something failed is told with it.
fn stopped(gone: &[SessionRecord], failure: Failure) -> Failure {
    if gone.is_empty() {
        return failure;
    }
    let names: Vec<String> = gone
        .iter()
        .take(NAMED)
        .map(|record| format!("{} {}", short_id(record.id), title(&record.title, record.parent.is_some())))
        .collect();
    let more = if gone.len() > NAMED { ", …" } else { "" };
    let removed = figures::count(gone.len() as u64, "session");
    let message = format!("{removed} removed ({}{more}), then: {}", names.join(", "), failure.message);
    Failure { message, ..failure }
}

/// Removes sessions that nobody used for long, after asking.
pub(super) async fn prune(args: &PruneArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let here = args.here.then(|| crate::folder(desk.everywhere)).transpose()?;
    if args.older_than.is_none() && args.keep.is_none() {
        return report(args, here.as_deref(), desk).await;
    }
    let prune = Prune {
        unused_since_ms: args.older_than,
        keep_newest: args.keep,
        cwd: here.map(|folder| folder.display().to_string()),
        dry_run: true,
        ..Prune::default()
    };
    let wanted = desk.hub.prune(prune.clone()).await?.sessions;
    let bytes = desk.bytes_of(&wanted).await?;
    if args.dry_run {
        let freed = Freed::About(bytes.values().sum());
        if !args.json && !wanted.is_empty() {
            say::out(&shown(&wanted, &bytes, desk).await?)?;
        }
        return tell(&wanted, freed, args.json, "would be removed");
    }
    if !args.yes && !wanted.is_empty() && !agreed(&wanted, true, desk).await? {
        say::out("nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    let folders = folders(desk).await?;
    let only = Some(wanted.iter().map(|record| record.id).collect());
    let ids = desk.short_ids().await?;
    let pruned = desk.hub.prune(Prune { dry_run: false, only, ..prune }).await.map_err(|error| in_use(error, desk))?;
    worktree::tidy_up(desk.env);
    let states = forget_states(folders, desk).await.saturating_add(forget_orphans(desk).await?);
    if args.yes && !args.json && !pruned.sessions.is_empty() {
        say::out(&as_lines(&rows(&pruned.sessions, &bytes), &ids, &shape(desk)))?;
    }
    if let Some(error) = pruned.stopped_by {
        return Err(stopped(&pruned.sessions, in_use(error.into(), desk)));
    }
    tell(&pruned.sessions, Freed::Exactly(pruned.freed_bytes.saturating_add(states)), args.json, "removed")
}

/// What there is, when nobody said what may go: the oldest, the biggest, and how to say it.
async fn report(args: &PruneArgs, here: Option<&Path>, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let how = "Say which ones may go: --older-than 90d, --keep 20 (the newest of each folder stay), or both; --here \
        takes only those of this folder, --dry-run only says what would go.";
    if args.yes {
        return Err(Failure::usage("it is not said which sessions may go").hint(how));
    }
    let mut all = desk.hub.list(here, usize::MAX >> 1).await?;
    let bytes = desk.bytes_of(&all).await?;
    if args.json {
        say::out(&format!("{:#}\n", json!(rows(&all, &bytes))))?;
        return Ok(Exit::Done);
    }
    let total = figures::bytes(bytes.values().sum());
    let mut text = match (all.len(), here) {
        (0, _) => "there are no sessions\n".to_owned(),
        (1, _) => format!("1 session, {total}\n"),
        (some, Some(_)) => format!("{some} sessions of this folder, {total} together\n"),
        (some, None) => format!("{some} sessions, {total} together\n"),
    };
    let ids = desk.short_ids().await?;
    let shape = shape(desk);
    let part =
        |name: &str, some: &[SessionRecord]| format!("\n{name}:\n{}", as_lines(&rows(some, &bytes), &ids, &shape));
    if all.len() > SHOWN {
        let oldest: Vec<SessionRecord> = all.iter().rev().take(SHOWN).cloned().collect();
        text += &part("those that nobody used for longest", &oldest);
        all.sort_by_key(|record| Reverse(bytes.get(&record.id).copied()));
        all.truncate(SHOWN);
        text += &part("the biggest", &all);
    } else if !all.is_empty() {
        text += &part("all of them", &all);
    }
    let (orphans, others) = states(desk).await?;
    let left: u64 = orphans.iter().map(|(_, bytes)| bytes).sum();
    if others > 0 {
        let days = desk.config.checkpoints.keep_days;
        text += &format!(
            "\nstates of files (checkpoints): {}; pruning removes those older than {days} days\n",
            figures::bytes(others)
        );
    }
    if left > 0 {
        let bytes = figures::bytes(left);
        text += &format!("\nstates of files of folders without a session: {bytes}; any pruning removes them\n");
    }
    let worktrees = worktree::listed(desk.env);
    if !worktrees.is_empty() {
        text += &format!(
            "\nworktrees of sessions; pruning removes those that are merged or untouched for 30 days:\n{}\n",
            worktrees.join("\n")
        );
    }
    say::out(&text)?;
    say::lines(&format!("\n{how} `neco session rm ID` removes a single one.\n"), 0)?;
    Ok(Exit::Done)
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

/// Removes states of folders that no session works in any more, so that nobody can go back to them; how many bytes that
/// frees.
async fn forget_orphans(desk: &Desk<'_>) -> Result<u64, Failure> {
    let (orphans, _) = states(desk).await?;
    let forgotten = tokio::task::spawn_blocking(move || {
        let removed = orphans.into_iter().filter(|(store, _)| std::fs::remove_dir_all(store).is_ok());
        removed.map(|(_, bytes)| bytes).sum()
    });
    Ok(forgotten.await.unwrap_or(0))
}

/// Where states of files are kept that no session can go back to any more, with their bytes; and the bytes of all others.
async fn states(desk: &Desk<'_>) -> Result<(Vec<(PathBuf, u64)>, u64), Failure> {
    let all = desk.hub.list(None, usize::MAX >> 1).await?;
    let named: BTreeSet<PathBuf> = all.into_iter().map(|record| PathBuf::from(record.cwd)).collect();
    let stores = checkpoints::stores(desk.env.data_dir());
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

async fn agreed(records: &[SessionRecord], prunes: bool, desk: &Desk<'_>) -> Result<bool, Failure> {
    let these = if records.len() == 1 { "it" } else { "them" };
    let days = desk.config.checkpoints.keep_days;
    let question = format!("Remove {these} for good? (prune also removes states of files older than {days} days)");
    let question = if prunes { question } else { format!("Remove {these} for good?") };
    let bytes = desk.bytes_of(records).await?;
    is_meant(&shown(records, &bytes, desk).await?, &question, "Pass --yes to remove without asking.", desk.env)
}

async fn shown(records: &[SessionRecord], bytes: &Bytes, desk: &Desk<'_>) -> Result<String, Failure> {
    Ok(as_lines(&rows(records, bytes), &desk.short_ids().await?, &shape(desk)))
}

fn shape<'a>(desk: &'a Desk<'_>) -> Shape<'a> {
    Shape { all: true, home: desk.env.home(), width: desk.width(), sizes: true }
}

fn rows(records: &[SessionRecord], bytes: &Bytes) -> Vec<SessionRow> {
    let row = |record: &SessionRecord| SessionRow {
        bytes: Some(bytes.get(&record.id).copied().unwrap_or(0)),
        ..row(record.clone())
    };
    records.iter().map(row).collect()
}

/// How much room something makes.
enum Freed {
    /// By what is removed, or would be.
    About(u64),
    /// By how much smaller the files are.
    Exactly(u64),
}

fn tell(records: &[SessionRecord], freed: Freed, json: bool, done: &str) -> Result<Exit, Failure> {
    let (bytes, about) = match freed {
        Freed::About(bytes) => (bytes, "about "),
        Freed::Exactly(bytes) => (bytes, ""),
    };
    let text = match json {
        true => {
            let ids: Vec<_> = records.iter().map(|record| record.id).collect();
            format!("{:#}\n", json!({ "sessions": ids, "freed_bytes": bytes, "what": done }))
        }
        false => {
            let freed = if bytes == 0 { String::new() } else { format!(", {about}{} freed", figures::bytes(bytes)) };
            format!("{} {done}{freed}\n", figures::count(records.len() as u64, "session"))
        }
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_before_something_failed_is_told_with_it() {
        let failed = || Failure::new(Exit::Failed, "the disk is full").hint(disk::NO_ROOM);
        assert_eq!(stopped(&[], failed()), failed());
        let gone: Vec<SessionRecord> = (0..12)
            .map(|number| SessionRecord {
                title: format!("number {number}"),
                ..SessionRecord::new(SessionId::new(), "/", 0)
            })
            .collect();
        let told = stopped(&gone, failed());
        assert!(
            told.message.starts_with("12 sessions removed (") && told.message.ends_with(", …), then: the disk is full")
        );
        assert!(told.message.contains("number 9") && !told.message.contains("number 10"), "{told}");
        assert_eq!((told.exit, told.hint.as_deref()), (Exit::Failed, Some(disk::NO_ROOM)));
    }
}
