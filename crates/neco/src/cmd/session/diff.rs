//! `neco session diff`: what changed in the files between two points of a session.

use std::path::Path;
use std::sync::Arc;

use neco_proto::event::CheckpointWhen;
use neco_session::SessionError;
use neco_session::rewind::{Course, RewindError};
use neco_workspace::checkpoint::{ChangeKind, Checkpoints, FileDiff, Note};
use serde_json::json;

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::print::figures;
use crate::print::paint::Paint;
use crate::say;
use crate::session_args;
use crate::terminal::Terminal;

/// How it is shown.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Only names.
    pub stat: bool,
    /// As JSON.
    pub json: bool,
}

/// A point in time.
enum Point {
    /// A state that was kept.
    Kept(String),
    /// The present.
    Now,
}

/// Shows what changed.
pub(super) async fn run(
    id: &str,
    from: Option<&str>,
    to: Option<&str>,
    shape: Shape,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let record = desk.hub.find(id).await?;
    let hub = desk.hub_of(&record)?;
    let course = hub.course(record.id).await?;
    let (from, to) = (point(&course, from.unwrap_or("1"))?, point(&course, to.unwrap_or("now"))?);
    let root = Path::new(&record.cwd);
    if !root.is_dir() {
        return Err(SessionError::FolderGone { id: record.id, path: record.cwd.clone() }.into());
    }
    let off = || Failure::new(Exit::Failed, "checkpoints are switched off, or can't be kept in this folder");
    let checkpoints = hub.checkpoints(root).await.ok_or_else(off)?;
    let compared = tokio::task::spawn_blocking(move || compare(&checkpoints, from, to)).await;
    let diffs = compared.map_err(|error| Failure::new(Exit::Failed, error.to_string()))??;
    let text = match (shape.json, shape.stat) {
        (true, _) => as_json(&diffs),
        (false, true) => names(&diffs),
        (false, false) => texts(&diffs, Terminal::look_at(desk.env).stdout_paint()),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

fn compare(checkpoints: &Arc<dyn Checkpoints>, from: Point, to: Point) -> Result<Vec<FileDiff>, Failure> {
    let failed = |error: neco_workspace::checkpoint::CheckpointError| Failure::new(Exit::Failed, error.to_string());
    // The present is compared as a state like any other; nobody works on it in this session's name.
    let note = Note { when: CheckpointWhen::Before, label: "compared".to_owned(), session: String::new() };
    let rev = |point: Point| match point {
        Point::Kept(rev) => Ok(rev),
        Point::Now => checkpoints.snapshot(&note).map(|snapshot| snapshot.rev).map_err(failed),
    };
    let (from, to) = (rev(from)?, rev(to)?);
    checkpoints.diff(&from, &to).map_err(failed)
}

/// The state that a person means. Where nothing was kept after a message, nothing was changed since.
fn point(course: &Course, wanted: &str) -> Result<Point, Failure> {
    if wanted == "now" {
        return Ok(Point::Now);
    }
    let mut revs = course.checkpoints.iter().map(|kept| kept.checkpoint.rev.as_str());
    let is_rev = wanted.len() >= session_args::SHORTEST_REV;
    if let Some(rev) = revs.find(|rev| is_rev && rev.starts_with(wanted)) {
        return Ok(Point::Kept(rev.to_owned()));
    }
    match course.find(wanted) {
        Ok(message) => Ok(course.files_at(message.seq).map_or(Point::Now, |rev| Point::Kept(rev.to_owned()))),
        Err(error @ RewindError::NoMessage { .. }) => {
            Err(Failure::usage(format!("{error}; nor is there such a checkpoint")))
        }
        Err(error) => Err(SessionError::from(error).into()),
    }
}

fn texts(diffs: &[FileDiff], paint: Paint) -> String {
    if diffs.is_empty() {
        return "nothing changed\n".to_owned();
    }
    let coloured = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => paint.bold(line),
        Some(b'+') => paint.green(line),
        Some(b'-') => paint.red(line),
        Some(b'@') => paint.dim(line),
        Some(_) | None => line.to_owned(),
    };
    let lines = diffs.iter().flat_map(|diff| clean(&diff.text).lines().map(coloured).collect::<Vec<_>>());
    lines.map(|line| line + "\n").collect()
}

fn names(diffs: &[FileDiff]) -> String {
    let line = |diff: &FileDiff| {
        format!("{} {}\n", letter(diff.change.kind), clean_line(&diff.change.path.display().to_string()))
    };
    let lines: String = diffs.iter().map(line).collect();
    format!("{lines}{} changed\n", figures::count(diffs.len() as u64, "file"))
}

fn letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
    }
}

fn as_json(diffs: &[FileDiff]) -> String {
    let entry = |diff: &FileDiff| {
        let kind = neco_proto::event::FileChangeKind::from(diff.change.kind);
        json!({ "path": diff.change.path.display().to_string(), "kind": kind, "diff": diff.text })
    };
    format!("{:#}\n", json!(diffs.iter().map(entry).collect::<Vec<_>>()))
}
