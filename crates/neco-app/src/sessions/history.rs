//! What happened in one session: its events, its agents and its files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_proto::app::history::{DiffSession, FileDiff, ListSessionAgents, SessionAgents, SessionDiff};
use neco_proto::app::sessions::SessionRow;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::{Admission, CompleteReason};
use neco_proto::{Event, EventBody, Role, Seq, SessionId};
use neco_session::SessionError;
use neco_session::rewind::{RewindError, RewindHistory};
use neco_workspace::checkpoint::{self, CheckpointError, Checkpoints, RestoreOptions};

use super::by_hand::Handed;
use super::list::row;
use crate::app::LocalApp;
use crate::error::{failed, invalid, of_session};

const CHECKPOINTS: &str =
    "`neco session log` prints the names of checkpoints; their first four characters or more will do.";

/// A point in time.
pub(super) enum Point {
    /// A state that was kept.
    Kept(String),
    /// The present.
    Now,
}

/// The session whose id begins so; without one the last one of the folder.
///
/// # Errors
/// When there is none, or several.
pub async fn session(app: &LocalApp, id: Option<&str>, folder: &Path) -> Result<SessionRow, AppError> {
    app.named(id, folder).await.map(row)
}

/// Calls `take` with every event of a session, oldest first, and whether it counts: a long session is never in memory as
/// a whole.
///
/// # Errors
/// When the store fails.
pub async fn each_event(app: &LocalApp, id: SessionId, mut take: impl FnMut(&Event, bool)) -> Result<(), AppError> {
    let history = app.hub.course(id).await.map_err(of_session)?;
    app.hub.each_event(id, |event| take(event, history.counts(event.seq))).await.map_err(of_session)
}

/// Whether a session was left before its work was done.
///
/// # Errors
/// When its log can't be read.
pub async fn is_unfinished(app: &LocalApp, id: SessionId) -> Result<bool, AppError> {
    let mut unfinished = false;
    each_event(app, id, |event, _| unfinished = goes_on(event).unwrap_or(unfinished)).await?;
    Ok(unfinished)
}

/// Whether there is something to go on with after an event; `None` when it does not matter.
fn goes_on(event: &Event) -> Option<bool> {
    match &event.body {
        EventBody::Message(message) if message.role == Role::User && !message.is_neco() => Some(true),
        EventBody::MessageQueued(queued) => (queued.when != Admission::Withdrawn).then_some(true),
        EventBody::AgentComplete(complete) => Some(complete.reason != CompleteReason::Natural),
        EventBody::Rewind(rewind) if rewind.conversation => Some(false),
        _ => None,
    }
}

pub(crate) async fn agents(app: &LocalApp, request: ListSessionAgents) -> Result<SessionAgents, AppError> {
    let record = app.named(request.session.as_deref(), Path::new(&request.folder)).await?;
    let nodes = app.hub.agents_of(record.id).await.map_err(of_session)?;
    Ok(SessionAgents { session_id: record.id, nodes })
}

pub(crate) async fn diff(app: &LocalApp, request: DiffSession) -> Result<SessionDiff, AppError> {
    let record = app.hub.find(&request.session).await.map_err(of_session)?;
    // Where it works now is kept by whoever goes on with it.
    let found = app.hub.place_of(record, Path::new(&request.folder), false).map_err(of_session)?;
    let (is_removed, place, record) = (found.is_removed(), found.note, found.record);
    let root = Path::new(&record.cwd);
    let hub = app.hub_of(root)?;
    let history = hub.course(record.id).await.map_err(of_session)?;
    if history.points.is_empty() && request.from.is_none() && request.to.is_none() {
        return Ok(SessionDiff { files: Vec::new(), place });
    }
    let from = point(&history, request.from.as_deref().unwrap_or("1"))?;
    let to = match point(&history, request.to.as_deref().unwrap_or("now"))? {
        // Of files that are not there it is known how the session left them.
        Point::Now if is_removed => history.files_at(Seq::MAX).map_or(Point::Now, |rev| Point::Kept(rev.to_owned())),
        to => to,
    };
    let off = || failed("checkpoints are off, or can't be made in this folder");
    let checkpoints = hub.checkpoints(root).await.ok_or_else(off)?;
    let options = RestoreOptions {
        session: record.id.to_string(),
        unfinished: history.unfinished.clone(),
        turns: history.turns(),
        work: history.turn_work(),
        leave_theirs: true,
        ..RestoreOptions::default()
    };
    let handed = Handed::of(&history, &from, &to);
    let compared = move || -> Result<_, AppError> {
        let (files, theirs) = compare(&checkpoints, from, to, &options)?;
        Ok((files, theirs, handed.map(|handed| handed.compare(checkpoints.as_ref())).unwrap_or_default()))
    };
    let (files, theirs, by_hand) = tokio::task::spawn_blocking(compared).await.map_err(failed)??;
    let file = |diff: checkpoint::FileDiff| {
        let path = &diff.change.path;
        let by_others = theirs.contains(path);
        FileDiff {
            by_others,
            // What only others changed counts as it is.
            own: if by_others { None } else { by_hand.own(path, &diff.text) },
            since: by_hand.since.get(path).map_or(0, |lines| lines.added.max(lines.removed)),
            path: path.display().to_string(),
            kind: diff.change.kind.into(),
            diff: diff.text,
        }
    };
    Ok(SessionDiff { files: files.into_iter().map(file).collect(), place })
}

/// What is different, and the files of it that only others changed, as far as the session that `options` are of knows.
fn compare(
    checkpoints: &Arc<dyn Checkpoints>,
    from: Point,
    to: Point,
    options: &RestoreOptions,
) -> Result<(Vec<checkpoint::FileDiff>, BTreeSet<PathBuf>), AppError> {
    match (from, to) {
        (Point::Now, Point::Now) => Ok(Default::default()),
        (Point::Kept(from), Point::Kept(to)) => {
            Ok((checkpoints.diff(&from, Some(&to)).map_err(failed)?, BTreeSet::new()))
        }
        (Point::Kept(from), Point::Now) => {
            let files = checkpoints.diff(&from, None).map_err(failed)?;
            // A store that is only read does not say whose they are.
            let theirs = match checkpoints.preview(&from, options) {
                Ok(preview) => preview.theirs,
                Err(CheckpointError::OnlyRead(_)) => Vec::new(),
                Err(error) => return Err(failed(error)),
            };
            Ok((files, theirs.into_iter().collect()))
        }
        (Point::Now, Point::Kept(_)) => Err(invalid("name the earlier state first; `now` comes last")),
    }
}

/// The state that a person means. Where nothing was ever kept, nothing was changed.
fn point(history: &RewindHistory, wanted: &str) -> Result<Point, AppError> {
    if wanted == "now" {
        return Ok(Point::Now);
    }
    // A number is a message's as far as there are any; names of states may be digits alone.
    let is_number = wanted.parse::<usize>().is_ok_and(|number| number <= history.points.len());
    if let Some(rev) = history.state(wanted).ok().filter(|_| !is_number) {
        return Ok(Point::Kept(rev.to_owned()));
    }
    let none = |words: String| AppError::new(Trouble::NotFound, words).hint(CHECKPOINTS);
    match history.find(wanted) {
        Ok(message) => match history.files_at(message.seq) {
            Some(rev) => Ok(Point::Kept(rev.to_owned())),
            None if history.checkpoints.is_empty() => Ok(Point::Now),
            None => Err(of_session(SessionError::from(RewindError::NoCheckpoint))),
        },
        Err(RewindError::NoMessage { wanted, count }) => {
            let said = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
            Err(none(format!("{wanted} is neither a message nor a checkpoint of this session, which has {said}")))
        }
        Err(RewindError::NothingSaid) => Err(none("this session has no message to compare with".to_owned())),
        Err(error) => Err(of_session(SessionError::from(error))),
    }
}
