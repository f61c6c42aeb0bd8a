//! What happened in one session: its events, its agents and its files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_proto::app::history::{DiffSession, FileDiff, ListSessionAgents, PlaceNote, SessionAgents, SessionDiff};
use neco_proto::app::sessions::SessionRow;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::{Admission, CompleteReason};
use neco_proto::{Event, EventBody, LineCount, Role, Seq, SessionId};
use neco_session::SessionError;
use neco_session::rewind::{RewindError, RewindHistory};
use neco_store::SessionRecord;
use neco_workspace::checkpoint::{self, CheckpointError, Checkpoints, RestoreOptions};

use super::by_hand::{ByHand, Handed};
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
    let DiffSession { session, folder, from, to } = request;
    let compared = Compared::look(app, &session, Path::new(&folder), (from.as_deref(), to.as_deref())).await?;
    let Some(states) = compared.states else { return Ok(SessionDiff { files: Vec::new(), place: compared.place }) };
    let files = move || -> Result<_, AppError> {
        let (from, to) = (states.from.as_str(), states.to.as_deref());
        let files = states.checkpoints.diff(from, to).map_err(failed)?;
        Ok((files, states.theirs()?, states.by_hand()))
    };
    let (files, theirs, by_hand) = tokio::task::spawn_blocking(files).await.map_err(failed)??;
    let file = |diff: checkpoint::FileDiff| {
        let path = &diff.change.path;
        let by_others = theirs.contains(path);
        FileDiff {
            by_others,
            // What only others changed counts as it is.
            own: if by_others { None } else { by_hand.own(path, LineCount::of(&diff.text)) },
            since: by_hand.since(path),
            path: path.display().to_string(),
            kind: diff.change.kind.into(),
            diff: diff.text,
        }
    };
    Ok(SessionDiff { files: files.into_iter().map(file).collect(), place: compared.place })
}

/// Two points of a session that are compared.
pub(super) struct Compared {
    /// The session, in the folder that it works in now.
    pub(super) record: SessionRecord,
    pub(super) history: RewindHistory,
    /// What is to be known of the session's folder.
    pub(super) place: Option<PlaceNote>,
    /// The states at the points; none where nothing can be different.
    pub(super) states: Option<States>,
}

/// The states of files at two points of a session.
pub(super) struct States {
    pub(super) checkpoints: Arc<dyn Checkpoints>,
    /// The earlier one.
    pub(super) from: String,
    /// The later one; the present where none is named.
    pub(super) to: Option<String>,
    options: RestoreOptions,
    handed: Option<Handed>,
}

impl Compared {
    /// Finds the states at two points; without points those of the first message and now.
    pub(super) async fn look(
        app: &LocalApp,
        session: &str,
        folder: &Path,
        (from, to): (Option<&str>, Option<&str>),
    ) -> Result<Self, AppError> {
        let record = app.hub.find(session).await.map_err(of_session)?;
        // Where it works now is kept by whoever goes on with it.
        let found = app.hub.place_of(record, folder, false).map_err(of_session)?;
        let (is_removed, place, record) = (found.is_removed(), found.note, found.record);
        let root = PathBuf::from(&record.cwd);
        let hub = app.hub_of(&root)?;
        let history = hub.course(record.id).await.map_err(of_session)?;
        let nothing = |history| Self { record: record.clone(), history, place: place.clone(), states: None };
        if history.points.is_empty() && from.is_none() && to.is_none() {
            return Ok(nothing(history));
        }
        let from = point(&history, from.unwrap_or("1"))?;
        let to = match point(&history, to.unwrap_or("now"))? {
            // Of files that are not there it is known how the session left them.
            Point::Now if is_removed => {
                history.files_at(Seq::MAX).map_or(Point::Now, |rev| Point::Kept(rev.to_owned()))
            }
            to => to,
        };
        let off = || failed("checkpoints are off, or can't be made in this folder");
        let checkpoints = hub.checkpoints(&root).await.ok_or_else(off)?;
        let handed = Handed::of(&history, &from, &to);
        let (from, to) = match (from, to) {
            (Point::Now, Point::Now) => return Ok(nothing(history)),
            (Point::Kept(from), Point::Kept(to)) => (from, Some(to)),
            (Point::Kept(from), Point::Now) => (from, None),
            (Point::Now, Point::Kept(_)) => return Err(invalid("name the earlier state first; `now` comes last")),
        };
        let options = RestoreOptions {
            session: record.id.to_string(),
            unfinished: history.unfinished.clone(),
            turns: history.turns(),
            work: history.turn_work(),
            leave_theirs: true,
            ..RestoreOptions::default()
        };
        let states = Some(States { checkpoints, from, to, options, handed });
        Ok(Self { record, history, place, states })
    }
}

impl States {
    /// The files that only others changed, as far as the session knows. Blocks.
    pub(super) fn theirs(&self) -> Result<BTreeSet<PathBuf>, AppError> {
        if self.to.is_some() {
            return Ok(BTreeSet::new());
        }
        // A store that is only read does not say whose they are.
        match self.checkpoints.preview(&self.from, &self.options) {
            Ok(preview) => Ok(preview.theirs.into_iter().collect()),
            Err(CheckpointError::OnlyRead(_)) => Ok(BTreeSet::new()),
            Err(error) => Err(failed(error)),
        }
    }

    /// The lines that others changed. Blocks.
    pub(super) fn by_hand(&self) -> ByHand {
        self.handed.as_ref().map(|handed| handed.compare(self.checkpoints.as_ref())).unwrap_or_default()
    }
}

/// The state that a person means. Where nothing was ever kept, nothing was changed.
fn point(history: &RewindHistory, wanted: &str) -> Result<Point, AppError> {
    if wanted == "now" {
        return Ok(Point::Now);
    }
    let none = |words: String| AppError::new(Trouble::NotFound, words).hint(CHECKPOINTS);
    match history.files_of(wanted) {
        Ok(rev) => Ok(rev.map_or(Point::Now, |rev| Point::Kept(rev.to_owned()))),
        Err(RewindError::NoMessage { wanted, count }) => {
            let said = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
            Err(none(format!("{wanted} is neither a message nor a checkpoint of this session, which has {said}")))
        }
        Err(RewindError::NothingSaid) => Err(none("this session has no message to compare with".to_owned())),
        Err(error) => Err(of_session(SessionError::from(error))),
    }
}
