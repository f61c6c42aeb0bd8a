//! The workspace's part of going back. Checkpoints block, so they are asked aside.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use neco_proto::event::{Checkpoint, CheckpointWhen, FileChange, FileChangeKind, FilesBack, LeftOut, Rewind};
use neco_proto::{Actor, AgentId, EventBody, FilePreview, LineCount, RewindPreview, SessionId};
use neco_workspace::checkpoint::{
    Agreed, Change, CheckpointError, Checkpoints, FileDiff, Kept, LeftOut as LeftOutFile, Progress, RestoreOptions,
    Snapshot, is_newer,
};

use super::error::RewindError;
use super::plan::{RewindPlan, rewind_event, told};
use crate::journal::Journal;

/// Most changed files that an event names.
pub(super) const NAMED: usize = 200;
/// Most files that were left out which an event names.
const NAMED_LEFT_OUT: usize = 50;

/// Most files whose lines are compared before going back.
const COMPARED: usize = 100;

/// Most of what is no part of states that is named before going back.
const NAMED_STAYING: usize = 8;

/// How often it is told how far putting files back is.
const TOLD_EVERY: Duration = Duration::from_millis(150);

/// What going back did to the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Went {
    /// The state before, as an event.
    pub before: Option<Checkpoint>,
    /// The state that the files are in now.
    pub now: Option<String>,
    /// What was done.
    pub changes: Vec<FileChange>,
    /// Whether that took something that somebody else than the session had changed.
    pub over_others: bool,
    /// What was left alone although it is different, and why; and what else a person should know.
    pub kept: Vec<String>,
}

/// A way back that is gone.
pub struct Going<'a> {
    pub way: &'a RewindPlan,
    pub by: Actor,
    pub session: SessionId,
    pub agent: AgentId,
    pub journal: &'a Arc<Journal>,
    /// The states of the workspace, if there are any.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    /// What of others' work, or of what may be theirs, a person agreed to have overwritten.
    pub agreed: Agreed,
}

/// What a way back would do. `checkpoints` are those of the workspace, if there are any.
pub async fn preview(
    way: &RewindPlan,
    session: SessionId,
    checkpoints: Option<Arc<dyn Checkpoints>>,
) -> Result<RewindPreview, RewindError> {
    let mut shown = way.shown.clone();
    let Some(rev) = way.rev.clone() else { return Ok(shown) };
    let options = options(way, session, Agreed::Nothing);
    let since_ms = way.since_ms;
    let (planned, lines) = aside(checkpoints, move |checkpoints| {
        let mut planned = checkpoints.preview(&rev, &options)?;
        // What has not changed since then is as it was then.
        planned.left_out.retain(|left| changed_since(&checkpoints.root().join(&left.path), since_ms));
        let is_compared = planned.changes.len() <= COMPARED;
        let lines = if is_compared { lines_back(checkpoints.diff(&rev, None)) } else { HashMap::new() };
        Ok((planned, lines))
    })
    .await?;
    shown.files = planned
        .changes
        .iter()
        .map(|planned| FilePreview {
            path: shown_path(&planned.change.path),
            kind: planned.change.kind.into(),
            by_others: planned.by_others,
            unsure: planned.unsure,
            lines: lines.get(&planned.change.path).copied(),
        })
        .collect();
    shown.notes.extend(told_of(&planned.lost, &planned.kept));
    shown.notes.extend(left_to_others(&planned.theirs));
    let is_lost = |left: &&LeftOutFile| planned.lost.iter().any(|lost| lost.path == left.path);
    shown.notes.extend(staying(planned.left_out.iter().filter(|left| !is_lost(left)).collect()));
    Ok(shown)
}

/// What a way back would do to files that are as in the state `left`, where they are not there to be looked at.
pub async fn preview_from(
    way: &RewindPlan,
    left: &str,
    checkpoints: Option<Arc<dyn Checkpoints>>,
) -> Result<RewindPreview, RewindError> {
    let mut shown = way.shown.clone();
    let Some(rev) = way.rev.clone() else { return Ok(shown) };
    let left = left.to_owned();
    let changed = aside(checkpoints, move |checkpoints| checkpoints.diff(&left, Some(&rev))).await?;
    let preview = |diff: FileDiff| FilePreview {
        path: shown_path(&diff.change.path),
        kind: diff.change.kind.into(),
        by_others: false,
        unsure: false,
        lines: counted(&diff),
    };
    shown.files = changed.into_iter().map(preview).collect();
    Ok(shown)
}

/// The lines that come and go when files go back, by their differences since. What can't be compared is not counted.
fn lines_back(since: Result<Vec<FileDiff>, CheckpointError>) -> HashMap<PathBuf, LineCount> {
    let back = |diff: FileDiff| {
        let LineCount { added, removed } = counted(&diff)?;
        Some((diff.change.path, LineCount { added: removed, removed: added }))
    };
    since.unwrap_or_default().into_iter().filter_map(back).collect()
}

/// The lines of a difference; none where there are none to compare.
fn counted(diff: &FileDiff) -> Option<LineCount> {
    Some(LineCount::of(&diff.text)).filter(|lines| *lines != LineCount::default())
}

/// What a person agrees to who was shown `preview`.
pub fn agreed_to(preview: &RewindPreview) -> Agreed {
    let asked = preview.files.iter().filter(|file| file.by_others || file.unsure);
    Agreed::Files(asked.map(|file| file.path.clone()).collect())
}

/// That `preview` has files that somebody else changed, or may have, and that nobody agreed to have overwritten.
pub fn not_agreed(preview: &RewindPreview, agreed: &Agreed) -> Option<CheckpointError> {
    let paths = |is_asked: fn(&FilePreview) -> bool| -> Vec<PathBuf> {
        let asked = preview.files.iter().filter(|file| is_asked(file)).map(|file| PathBuf::from(&file.path));
        asked.filter(|path| !agreed.covers(path)).collect()
    };
    CheckpointError::not_agreed(paths(|file| file.by_others), paths(|file| file.unsure))
}

/// Goes a way back. What the files were before is in the log before any of them is touched: whoever is killed
/// in the middle can have it back.
/// Fails when that can't be done; the files are as before then, as far as the error does not say otherwise.
pub async fn go_back(going: Going<'_>) -> Result<Went, RewindError> {
    let Going { way, by, agent, journal, .. } = &going;
    let (way, by, agent, journal) = (*way, by.clone(), *agent, Arc::clone(journal));
    let went = put_back(going).await?;
    let undo = went.before.as_ref().map(|before| before.rev.clone());
    let changed = went.changes.len() as u64;
    let went_back = went.before.is_some();
    let deleted = went.changes.iter().filter(|change| change.kind == FileChangeKind::Deleted).count() as u64;
    let (now, over_others) = (went.now.clone(), went.over_others);
    let rewind = Rewind { by: Some(by), deleted, now, over_others, ..rewind_event(way, undo, changed) };
    let written = journal.commit(agent, None, EventBody::Rewind(rewind)).await;
    written.map_err(|error| if went_back { RewindError::NotWritten(error) } else { error.into() })?;
    if let Some(told) = told(way) {
        journal.commit(agent, None, EventBody::Message(told)).await?;
    }
    Ok(went)
}

/// Puts the files into the state of a way back; nothing when it has none.
async fn put_back(going: Going<'_>) -> Result<Went, RewindError> {
    let Going { way, session, agent, journal, checkpoints, agreed, .. } = going;
    let Some(rev) = way.rev.clone() else { return Ok(Went::default()) };
    let label = match (way.is_over_half, way.undoes) {
        (true, _) => "after an interrupted rewind",
        (false, Some(_)) => "before an undo",
        (false, None) => "before going back",
    };
    let (journal, runtime) = (Arc::clone(journal), tokio::runtime::Handle::current());
    let options = RestoreOptions { progress: told_from_time_to_time(&journal, agent), ..options(way, session, agreed) };
    let (restored, before) = aside(checkpoints, move |checkpoints| {
        let (mut failed, mut before) = (None, None);
        let restored = checkpoints.restore(&rev, &options, &mut |undo| {
            let kept = Checkpoint { to: Some(rev.clone()), ..event_of(undo, CheckpointWhen::Restore, label) };
            before = Some(kept.clone());
            let written = runtime.block_on(journal.commit(agent, None, EventBody::Checkpoint(kept)));
            written.map_err(|error| {
                let words = error.to_string();
                failed = Some(error);
                CheckpointError::Refused(words)
            })
        });
        let restored = restored.map(|restored| (restored, before));
        Ok(restored.map_err(|error| failed.take().map_or_else(|| RewindError::from(error), RewindError::from)))
    })
    .await??;
    let mut kept = told_of(&restored.lost, &restored.kept);
    kept.extend(left_to_others(&restored.theirs));
    kept.extend(restored.undo.notices.iter().cloned());
    Ok(Went {
        before,
        now: Some(restored.now.rev),
        changes: restored.changes.iter().map(change_of).collect(),
        over_others: restored.over_others,
        kept,
    })
}

pub(super) fn options(way: &RewindPlan, session: SessionId, agreed: Agreed) -> RestoreOptions {
    let (session, since_ms) = (session.to_string(), Some(way.since_ms));
    RestoreOptions {
        session,
        unfinished: way.unfinished.clone(),
        turns: way.turns.clone(),
        work: way.work.clone(),
        leave_theirs: !way.takes_theirs,
        agreed,
        since_ms,
        progress: Progress::default(),
    }
}

/// Says in the log how far it is, where that takes long. A log that can't be written is told by whoever needs it.
fn told_from_time_to_time(journal: &Arc<Journal>, agent: AgentId) -> Progress {
    let (journal, runtime) = (Arc::clone(journal), tokio::runtime::Handle::current());
    let last = Mutex::new(Instant::now());
    Progress::new(move |done, total| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= TOLD_EVERY {
            *last = Instant::now();
            let back = EventBody::FilesBack(FilesBack { done: done as u64, total: total as u64 });
            let _ = runtime.block_on(journal.emit(agent, None, back));
        }
    })
}

/// What a person should know of files: first what can't come back, then what is left alone, each in a line.
pub(super) fn told_of(lost: &[Kept], kept: &[Kept]) -> Vec<String> {
    let lost = lost.iter().map(|lost| format!("{} {}", lost.path.display(), lost.reason));
    lost.chain(kept.iter().map(|kept| format!("{} stays: {}", kept.path.display(), kept.reason))).collect()
}

/// Whether a file was changed since a moment, or a folder got or lost something. When it was changed can't be set back,
/// as when it was written can. What was changed further down in a folder is told as what can't come back.
fn changed_since(path: &Path, since_ms: i64) -> bool {
    path.symlink_metadata().is_ok_and(|facts| is_newer(&facts, since_ms))
}

/// What no way back changes, in a line.
fn staying(left_out: Vec<&LeftOutFile>) -> Option<String> {
    let names = first_names(left_out.into_iter().map(|left| left.path.as_path()))?;
    Some(format!("no part of checkpoints, so they stay as they are now: {names}"))
}

/// What only others changed, in a line.
fn left_to_others(theirs: &[PathBuf]) -> Option<String> {
    let names = first_names(theirs.iter().map(PathBuf::as_path))?;
    Some(format!("changed only by you or another program, so they stay as they are now: {names}"))
}

/// The first of these files, and how many more there are; nothing when there are none.
fn first_names<'a>(paths: impl ExactSizeIterator<Item = &'a Path>) -> Option<String> {
    let count = paths.len();
    let mut names: Vec<String> = paths.take(NAMED_STAYING).map(shown_path).collect();
    if count > names.len() {
        names.push(format!("and {} more", count - names.len()));
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// A state as an event, with no more names than a log should have.
pub fn event_of(snapshot: &Snapshot, when: CheckpointWhen, label: &str) -> Checkpoint {
    let left_out = |left: &LeftOutFile| LeftOut { path: shown_path(&left.path), why: left.why };
    Checkpoint {
        rev: snapshot.rev.clone(),
        parent: snapshot.parent.clone(),
        when,
        to: None,
        label: label.to_owned(),
        changed: snapshot.changed.iter().take(NAMED).map(change_of).collect(),
        more: snapshot.changed.len().saturating_sub(NAMED) as u64,
        left_out: snapshot.left_out.iter().take(NAMED_LEFT_OUT).map(left_out).collect(),
        left_out_more: snapshot.left_out.len().saturating_sub(NAMED_LEFT_OUT) as u64,
    }
}

pub(super) async fn aside<T: Send + 'static>(
    checkpoints: Option<Arc<dyn Checkpoints>>,
    work: impl FnOnce(&dyn Checkpoints) -> Result<T, CheckpointError> + Send + 'static,
) -> Result<T, RewindError> {
    let off = || RewindError::Files("checkpoints are off, or can't be made in this folder".to_owned());
    let checkpoints = checkpoints.ok_or_else(off)?;
    let done = tokio::task::spawn_blocking(move || work(checkpoints.as_ref())).await;
    done.map_err(|error| RewindError::Files(error.to_string()))?.map_err(RewindError::from)
}

pub(super) fn change_of(change: &Change) -> FileChange {
    FileChange { path: shown_path(&change.path), kind: change.kind.into() }
}

fn shown_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::time::SystemTime;

    use jiff::Timestamp;

    use super::*;

    #[test]
    fn what_came_with_an_old_date_has_changed_and_a_folder_that_nobody_touched_has_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        fs::write(&file, "copied with its date").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let now = Timestamp::now().as_millisecond();
        assert!(changed_since(&file, now - 60_000));
        assert!(!changed_since(&file, now + 60_000));
        assert!(changed_since(folder.path(), now - 60_000), "it got a file");
        assert!(!changed_since(folder.path(), now + 60_000));
        assert!(!changed_since(&folder.path().join("none"), 0));
        // The clock of a file system may be a little behind.
        let facts = file.symlink_metadata().unwrap();
        let changed = facts.ctime() * 1000 + facts.ctime_nsec() / 1_000_000;
        assert!(changed_since(&file, changed + 10) && !changed_since(&file, changed + 11));
    }
}
