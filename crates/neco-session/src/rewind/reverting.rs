//! Putting changes of files back, exactly as a person was shown them, while everything else stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_proto::event::{Checkpoint, CheckpointWhen, FileChangeKind, FileReverted, Rewind};
use neco_proto::{Actor, AgentId, EventBody, RevertedFile, SessionId};
use neco_workspace::checkpoint::{Agreed, CheckpointError, Checkpoints, FileSides, PutBack};
use neco_workspace::review::Review;

use super::error::RewindError;
use super::files::{NAMED, Went, aside, change_of, event_of, options, told_of};
use super::plan::{RewindPlan, rewind_event};
use crate::journal::Journal;

/// Most files that the model is told of by their names.
const TOLD: usize = 20;

/// Changes that are put back.
pub struct Reverting<'a> {
    /// The way to the state that they were compared with.
    pub way: &'a RewindPlan,
    pub changes: Vec<RevertedFile>,
    pub by: Actor,
    pub session: SessionId,
    pub agent: AgentId,
    pub journal: &'a Arc<Journal>,
    /// The states of the workspace, if there are any.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
}

/// Puts changes back. What the files were before is in the log before any of them is touched, so that this can be undone
/// as a rewind is. Gives what was done, and what the model is to be told of it.
/// Fails when a file is not as it was shown; nothing is changed then.
pub async fn revert(reverting: Reverting<'_>) -> Result<(Went, String), RewindError> {
    let Reverting { way, changes, by, session, agent, journal, checkpoints } = reverting;
    let Some(rev) = way.rev.clone() else { return Err(RewindError::NoCheckpoint) };
    let wanted: BTreeMap<PathBuf, RevertedFile> =
        changes.into_iter().map(|change| (PathBuf::from(&change.path), change)).collect();
    let files: Vec<PathBuf> = wanted.keys().cloned().collect();
    let options = options(way, session, Agreed::Anything);
    let (writes, runtime) = (Arc::clone(journal), tokio::runtime::Handle::current());
    let (restored, before, reverted) = aside(checkpoints, move |checkpoints| {
        let (mut failed, mut before, mut reverted) = (None, None, Vec::new());
        let mut decides = |sides: &FileSides| match decide(sides, &wanted) {
            Some((back, told)) => {
                reverted.push(told);
                Ok(back)
            }
            None => {
                let path = sides.change.path.display();
                Err(CheckpointError::Refused(format!("{path} is no longer as it was shown: look at it again")))
            }
        };
        let restored = checkpoints.put_back(&rev, &files, &options, &mut decides, &mut |undo| {
            let kept = event_of(undo, CheckpointWhen::Restore, "before changes were put back");
            before = Some(kept.clone());
            let written = runtime.block_on(writes.commit(agent, None, EventBody::Checkpoint(kept)));
            written.map_err(|error| {
                let words = error.to_string();
                failed = Some(error);
                CheckpointError::Refused(words)
            })
        });
        Ok(match restored {
            Ok(restored) => Ok((restored, before, reverted)),
            Err(error) => Err(match (failed, error) {
                (Some(error), _) => RewindError::from(error),
                (None, CheckpointError::Refused(words)) => RewindError::NotPutBack(words),
                (None, error) => RewindError::from(error),
            }),
        })
    })
    .await??;
    let went = Went {
        before,
        now: Some(restored.now.rev.clone()),
        changes: restored.changes.iter().map(change_of).collect(),
        over_others: restored.over_others,
        kept: told_of(&restored.lost, &restored.kept),
    };
    let is_done = |told: &FileReverted| went.changes.iter().any(|change| change.path == told.path);
    let reverted: Vec<FileReverted> = reverted.into_iter().filter(is_done).collect();
    let told = told(&reverted);
    let event = event(way, by, &went, reverted);
    journal.commit(agent, None, EventBody::Rewind(event)).await.map_err(RewindError::NotWritten)?;
    Ok((went, told))
}

fn event(way: &RewindPlan, by: Actor, went: &Went, reverted: Vec<FileReverted>) -> Rewind {
    let undo = went.before.as_ref().map(|Checkpoint { rev, .. }| rev.clone());
    let deleted = went.changes.iter().filter(|change| change.kind == FileChangeKind::Deleted).count() as u64;
    Rewind {
        by: Some(by),
        deleted,
        // The state that was aimed at is the one that came of it.
        files: went.now.clone(),
        now: went.now.clone(),
        over_others: went.over_others,
        reverted: reverted.into_iter().take(NAMED).collect(),
        ..rewind_event(way, undo, went.changes.len() as u64)
    }
}

/// How much of a file is put back, and how that is told; nothing where it is not as it was shown.
fn decide(sides: &FileSides, wanted: &BTreeMap<PathBuf, RevertedFile>) -> Option<(PutBack, FileReverted)> {
    let review = Review::of(sides);
    let shown = wanted.get(Path::new(&sides.change.path)).filter(|shown| shown.mark == review.mark())?;
    let told = |changes| FileReverted { path: shown.path.clone(), changes };
    // Of a file that came or went all its changes are all of it.
    let is_all = review.changes.iter().all(|change| shown.hunks.contains(&change.id));
    let is_there_once = sides.before.is_none() || sides.after.is_none();
    if shown.hunks.is_empty() || is_all && is_there_once {
        return Some((PutBack::Whole, told(None)));
    }
    let content = review.without(&shown.hunks)?;
    Some((PutBack::Content(content), told(Some(shown.hunks.len() as u64))))
}

/// What the model is told.
fn told(reverted: &[FileReverted]) -> String {
    let one = |file: &FileReverted| match file.changes {
        None => file.path.clone(),
        Some(1) => format!("{} (1 change)", file.path),
        Some(many) => format!("{} ({many} changes)", file.path),
    };
    let mut names: Vec<String> = reverted.iter().take(TOLD).map(one).collect();
    if reverted.len() > names.len() {
        names.push(format!("{} more files", reverted.len() - names.len()));
    }
    format!(
        "The user put changes of files back as they were before: {}. That was meant, so do not make these changes again \
         unless you are asked to. What you know of these files may be out of date: look before you rely on it.",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_of_files_by_name_up_to_some() {
        let file =
            |number: u64| FileReverted { path: format!("{number}.rs"), changes: Some(number).filter(|n| *n > 0) };
        assert!(told(&[file(0), file(1), file(2)]).contains("before: 0.rs, 1.rs (1 change), 2.rs (2 changes). "));
        let many: Vec<FileReverted> = (0..25).map(file).collect();
        assert!(told(&many).contains("19.rs (19 changes), 5 more files. "));
    }
}
