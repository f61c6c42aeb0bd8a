//! The workspace's part of going back. Checkpoints block, so they are asked aside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_proto::event::{Checkpoint, CheckpointWhen, FileChange, LeftOut};
use neco_proto::{FilePreview, RewindPreview, SessionId};
use neco_workspace::checkpoint::{Change, CheckpointError, Checkpoints, RestoreOptions, Snapshot};

use super::error::RewindError;
use super::way::Way;

/// Most changed files that an event names.
const NAMED: usize = 200;
/// Most files that were left out which an event names.
const NAMED_LEFT_OUT: usize = 50;

/// What going back did to the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Went {
    /// The state before, as an event.
    pub before: Option<Checkpoint>,
    /// What was done.
    pub changes: Vec<FileChange>,
    /// What was left alone although it is different, and why.
    pub kept: Vec<String>,
}

/// What a way back would do. `checkpoints` are those of the workspace, if there are any.
///
/// # Errors
/// When the files can't be looked at.
pub async fn preview(
    way: &Way,
    session: SessionId,
    checkpoints: Option<Arc<dyn Checkpoints>>,
) -> Result<RewindPreview, RewindError> {
    let mut shown = way.preview();
    let Some(rev) = way.rev.clone() else { return Ok(shown) };
    let planned = aside(checkpoints, move |checkpoints| checkpoints.preview(&rev, &options(session))).await?;
    shown.files = planned
        .changes
        .iter()
        .map(|planned| FilePreview {
            path: shown_path(&planned.change.path),
            kind: planned.change.kind.into(),
            by_others: planned.by_others,
        })
        .collect();
    shown.notes.extend(planned.kept.iter().map(|kept| format!("{} stays: {}", kept.path.display(), kept.reason)));
    if shown.files.is_empty() {
        shown.notes.push("the files are as they were then already".to_owned());
    }
    Ok(shown)
}

/// Puts the files into the state of a way back; nothing when it has none.
///
/// # Errors
/// When that can't be done; the files are as before then, as far as the error does not say otherwise.
pub async fn go_back(
    way: &Way,
    session: SessionId,
    checkpoints: Option<Arc<dyn Checkpoints>>,
) -> Result<Went, RewindError> {
    let Some(rev) = way.rev.clone() else { return Ok(Went::default()) };
    let restored = aside(checkpoints, move |checkpoints| checkpoints.restore(&rev, &options(session))).await?;
    let label = if way.undoes.is_some() { "before an undo" } else { "before going back" };
    Ok(Went {
        before: Some(event_of(&restored.undo, CheckpointWhen::Restore, label)),
        changes: restored.changes.iter().map(change_of).collect(),
        kept: restored.kept.iter().map(|kept| format!("{} stays: {}", kept.path.display(), kept.reason)).collect(),
    })
}

/// A state as an event, with no more names than a log should have.
#[must_use]
pub fn event_of(snapshot: &Snapshot, when: CheckpointWhen, label: &str) -> Checkpoint {
    let left_out = |left: &neco_workspace::checkpoint::LeftOut| LeftOut { path: shown_path(&left.path), why: left.why };
    Checkpoint {
        rev: snapshot.rev.clone(),
        parent: snapshot.parent.clone(),
        when,
        label: label.to_owned(),
        changed: snapshot.changed.iter().take(NAMED).map(change_of).collect(),
        more: snapshot.changed.len().saturating_sub(NAMED) as u64,
        left_out: snapshot.left_out.iter().take(NAMED_LEFT_OUT).map(left_out).collect(),
        left_out_more: snapshot.left_out.len().saturating_sub(NAMED_LEFT_OUT) as u64,
    }
}

/// The person has seen what others changed, and it is kept before it is overwritten.
fn options(session: SessionId) -> RestoreOptions {
    RestoreOptions { session: session.to_string(), only: None::<Vec<PathBuf>>, others_too: true }
}

async fn aside<T: Send + 'static>(
    checkpoints: Option<Arc<dyn Checkpoints>>,
    work: impl FnOnce(&dyn Checkpoints) -> Result<T, CheckpointError> + Send + 'static,
) -> Result<T, RewindError> {
    let off = || RewindError::Files("checkpoints are switched off, or can't be kept in this folder".to_owned());
    let checkpoints = checkpoints.ok_or_else(off)?;
    let done = tokio::task::spawn_blocking(move || work(checkpoints.as_ref())).await;
    done.map_err(|error| RewindError::Files(error.to_string()))?.map_err(RewindError::from)
}

fn change_of(change: &Change) -> FileChange {
    FileChange { path: shown_path(&change.path), kind: change.kind.into() }
}

fn shown_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
