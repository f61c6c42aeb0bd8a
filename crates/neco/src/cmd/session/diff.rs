//! `neco session diff`: what changed in the files between two points of a session.

use std::path::Path;
use std::sync::Arc;

use neco_session::rewind::{RewindError, RewindHistory};
use neco_session::{Hub, SessionError};
use neco_workspace::checkpoint::{ChangeKind, CheckpointError, Checkpoints, FileDiff};
use serde_json::json;

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::print::figures;
use crate::print::paint::Paint;
use crate::say;
use crate::terminal::Terminal;

const CHECKPOINTS: &str =
    "`neco session log` prints the names of checkpoints; their first four characters or more will do.";

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
    let record = desk.placed(desk.hub.find(id).await?).await?;
    let hub = desk.hub_of(&record)?;
    let course = hub.course(record.id).await?;
    let (from, to) = (point(&course, from.unwrap_or("1"))?, point(&course, to.unwrap_or("now"))?);
    let diffs = between(from, to, Path::new(&record.cwd), &hub).await?;
    let text = match (shape.json, shape.stat) {
        (true, _) => as_json(&diffs),
        (false, true) => names(&diffs),
        (false, false) => texts(&diffs, Terminal::look_at(desk.env).stdout_paint()),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// What changed in the files since a session began; nothing when no file did.
///
/// # Errors
/// When there is no such session, or its checkpoints can't be read.
pub async fn changed_since_begin(id: &str, desk: &Desk<'_>) -> Result<Option<String>, Failure> {
    let record = desk.placed(desk.hub.find(id).await?).await?;
    let hub = desk.hub_of(&record)?;
    let course = hub.course(record.id).await?;
    if course.points.is_empty() {
        return Ok(None);
    }
    let diffs = between(point(&course, "1")?, Point::Now, Path::new(&record.cwd), &hub).await?;
    Ok((!diffs.is_empty()).then(|| texts(&diffs, Paint::default())))
}

async fn between(from: Point, to: Point, root: &Path, hub: &Hub) -> Result<Vec<FileDiff>, Failure> {
    let off = || Failure::new(Exit::Failed, "checkpoints are switched off, or can't be kept in this folder");
    let checkpoints = hub.checkpoints(root).await.ok_or_else(off)?;
    let compared = tokio::task::spawn_blocking(move || compare(&checkpoints, from, to)).await;
    compared.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
}

fn compare(checkpoints: &Arc<dyn Checkpoints>, from: Point, to: Point) -> Result<Vec<FileDiff>, Failure> {
    let failed = |error: CheckpointError| Failure::new(Exit::Failed, error.to_string());
    match (from, to) {
        (Point::Now, Point::Now) => Ok(Vec::new()),
        (Point::Kept(from), Point::Kept(to)) => checkpoints.diff(&from, Some(&to)).map_err(failed),
        (Point::Kept(from), Point::Now) => checkpoints.diff(&from, None).map_err(failed),
        (Point::Now, Point::Kept(_)) => Err(Failure::usage("the present comes last: name the earlier state first")),
    }
}

/// The state that a person means. Where nothing was ever kept, nothing was changed.
fn point(course: &RewindHistory, wanted: &str) -> Result<Point, Failure> {
    if wanted == "now" {
        return Ok(Point::Now);
    }
    // A number is a message's as far as there are any; names of states may be digits alone.
    let is_number = wanted.parse::<usize>().is_ok_and(|number| number <= course.points.len());
    if let Some(rev) = course.state(wanted).ok().filter(|_| !is_number) {
        return Ok(Point::Kept(rev.to_owned()));
    }
    match course.find(wanted) {
        Ok(message) => match course.files_at(message.seq) {
            Some(rev) => Ok(Point::Kept(rev.to_owned())),
            None if course.checkpoints.is_empty() => Ok(Point::Now),
            None => Err(SessionError::from(RewindError::NoCheckpoint).into()),
        },
        Err(RewindError::NoMessage { wanted, count }) => {
            let said = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
            let words = format!("{wanted} is no message and no checkpoint of this session, which has {said}");
            Err(Failure::usage(words).hint(CHECKPOINTS))
        }
        Err(RewindError::NothingSaid) => {
            Err(Failure::usage("no message of this session counts, so there is none to compare with").hint(CHECKPOINTS))
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
