//! The way back in a session that nobody has open, or another process.

use std::path::Path;

use neco_proto::app::AppError;
use neco_proto::app::history::{
    AgreedTo, ListRewindPoints, PreviewRewind, RewindOutlook, RewindPoints, RewindSession, RewindTo, RewoundSession,
};
use neco_proto::event::RewindWhat;
use neco_proto::{Actor, Answer, Client, Command, Query, RewindKind, RewindPreview, Seq};
use neco_session::hub::Found;
use neco_session::rewind::{RewindError, RewindHistory, RewindPlan};
use neco_session::{Hub, SessionError};
use neco_workspace::checkpoint::Agreed;

use super::list::row;
use crate::app::LocalApp;
use crate::error::{failed, invalid, of_session};

/// A way back that was found.
struct Way {
    /// The session, and where it goes on.
    found: Found,
    history: RewindHistory,
    plan: RewindPlan,
}

impl Way {
    /// A hub with the settings of the session's own folder, which say where its files are kept.
    fn hub(&self, app: &LocalApp) -> Result<Hub, AppError> {
        app.hub_of(Path::new(&self.found.record.cwd))
    }

    async fn preview(&self, app: &LocalApp) -> Result<RewindPreview, AppError> {
        self.hub(app)?.preview(&self.found, &self.history, &self.plan).await.map_err(of_session)
    }
}

pub(crate) async fn rewind_points(app: &LocalApp, request: ListRewindPoints) -> Result<RewindPoints, AppError> {
    let session_id = app.hub.find(&request.session).await.map_err(of_session)?.id;
    let history = app.hub.course(session_id).await.map_err(of_session)?;
    Ok(RewindPoints { session_id, is_said: history.is_said(Seq::MAX), messages: history.points })
}

pub(crate) async fn preview_rewind(app: &LocalApp, request: PreviewRewind) -> Result<RewindOutlook, AppError> {
    let mut way = found(app, &request.session, &request.folder, &request.to).await?;
    if request.others {
        let is_elsewhere = app.elsewhere(way.found.record.id).await?.is_some();
        take_theirs(&mut way.plan, is_elsewhere)?;
    }
    let preview = way.preview(app).await?;
    Ok(RewindOutlook {
        is_nothing: way.plan.is_nothing(&preview),
        undoes: way.plan.undoes,
        is_mending: way.plan.is_mending,
        last_seq: way.history.last_seq,
        place: way.found.note,
        session: row(way.found.record),
        preview,
    })
}

pub(crate) async fn rewind(app: &LocalApp, by: Actor, request: RewindSession) -> Result<RewoundSession, AppError> {
    let mut way = found(app, &request.session, &request.folder, &request.to).await?;
    let elsewhere = app.elsewhere(way.found.record.id).await?;
    if request.agreed == AgreedTo::Anything {
        take_theirs(&mut way.plan, elsewhere.is_some())?;
    }
    if let Some(open) = elsewhere {
        let preview = way.preview(app).await?;
        return tell(open.as_ref(), by, &preview, &request).await;
    }
    if way.history.last_seq != request.last_seq {
        return Err(of_session(SessionError::GoneOn(way.found.record.id)));
    }
    let mut agreed = match request.agreed {
        AgreedTo::Nothing => Agreed::Nothing,
        AgreedTo::Files { files } => Agreed::Files(files.into_iter().collect()),
        AgreedTo::Anything => Agreed::Anything,
    };
    let was_removed = way.found.is_removed();
    // What its folder says of checkpoints is there with the folder.
    way.found = app.hub.with_folder(way.found).await.map_err(of_session)?;
    if let (true, Agreed::Files(files)) = (was_removed, &mut agreed) {
        // Files that were made again just now have no dates that tell anything, and were shown without.
        let now = way.preview(app).await?;
        files.extend(now.files.into_iter().filter(|file| file.unsure && !file.by_others).map(|file| file.path));
    }
    let went = way.hub(app)?.go_back(way.found, &way.history, (&by, &way.plan), agreed).await.map_err(of_session)?;
    Ok(RewoundSession { changes: went.changes, kept: went.kept, elsewhere: false })
}

/// Files go back too that only others changed.
/// Fails where another process goes back, which leaves them, unless the way takes them anyhow or leaves all files.
fn take_theirs(way: &mut RewindPlan, is_elsewhere: bool) -> Result<(), AppError> {
    if is_elsewhere && way.rev.is_some() && !way.takes_theirs {
        let words = "this session is open in another process, where files that only others changed are left to them";
        return Err(invalid(words).hint("Close it there, or leave --others out."));
    }
    way.takes_theirs = true;
    Ok(())
}

/// Goes back in a session that another process has open, if it stands as it was looked at.
async fn tell(
    open: &dyn Client,
    by: Actor,
    preview: &RewindPreview,
    request: &RewindSession,
) -> Result<RewoundSession, AppError> {
    let Answer::Snapshot(snapshot) = open.ask(Query::Snapshot).await? else {
        return Err(failed("the session does not say how it stands"));
    };
    if snapshot.last_seq != request.last_seq {
        return Err(of_session(SessionError::GoneOn(snapshot.session_id)));
    }
    let (message_id, what) = (preview.message_id, preview.what);
    // What it would do there is looked at once more, and noted there as shown: what came since refuses it.
    let (query, command) = match (&request.to, &preview.rev) {
        (RewindTo::Undo, _) => (Query::UndoPreview, Command::UndoRewind),
        (RewindTo::Redo, _) => (Query::RedoPreview, Command::RedoRewind),
        (RewindTo::Point { .. }, Some(rev)) if preview.kind == RewindKind::Checkpoint => {
            (Query::CheckpointPreview { rev: rev.clone() }, Command::RestoreCheckpoint { rev: rev.clone() })
        }
        (RewindTo::Point { .. }, _) => {
            (Query::RewindPreview { message_id, what }, Command::Rewind { message_id, what })
        }
    };
    let Answer::RewindPreview(now) = open.ask(query).await? else {
        return Err(failed("the session does not say what would change"));
    };
    let covers = |path: &String| match &request.agreed {
        AgreedTo::Nothing => false,
        AgreedTo::Files { files } => files.contains(path),
        AgreedTo::Anything => true,
    };
    if let Some(file) = now.files.iter().find(|file| (file.by_others || file.unsure) && !covers(&file.path)) {
        let by = if file.by_others { "since by somebody else" } else { "while a call ran, by it or by somebody else" };
        return Err(of_rewind(RewindError::ByOthers(format!("{} was changed {by}", file.path))));
    }
    if now.messages != preview.messages {
        return Err(of_session(SessionError::GoneOn(snapshot.session_id)));
    }
    open.send_as(by, command).await?;
    Ok(RewoundSession { elsewhere: true, ..RewoundSession::default() })
}

async fn found(app: &LocalApp, session: &str, here: &str, to: &RewindTo) -> Result<Way, AppError> {
    let record = app.hub.find(session).await.map_err(of_session)?;
    let history = app.hub.course(record.id).await.map_err(of_session)?;
    let plan = match to {
        RewindTo::Undo => history.undo().map_err(of_rewind)?,
        RewindTo::Redo => history.redo().map_err(of_rewind)?,
        RewindTo::Point { point, what } => plan_to(&history, point, *what)?,
    };
    // What goes on in the conversation alone needs no folder.
    let found = match plan.what.files() {
        true => app.hub.place_of(record, Path::new(here), false).map_err(of_session)?,
        false => Found { record, note: None },
    };
    Ok(Way { found, history, plan })
}

fn plan_to(history: &RewindHistory, to: &str, what: RewindWhat) -> Result<RewindPlan, AppError> {
    let found = history.find(to).and_then(|point| history.way(point, what));
    match (found, history.state(to)) {
        (Err(RewindError::NoMessage { .. } | RewindError::NothingSaid), Ok(_)) if what == RewindWhat::Conversation => {
            let words = format!("{to} is a checkpoint of the files; the conversation is rewound to a message");
            Err(invalid(words))
        }
        (Err(RewindError::NoMessage { .. } | RewindError::NothingSaid), Ok(rev)) => Ok(history.way_to_state(rev)),
        (Err(RewindError::NoMessage { .. }), Err(several @ RewindError::SeveralStates(_))) => Err(of_rewind(several)),
        (found, _) => found.map_err(of_rewind),
    }
}

fn of_rewind(error: RewindError) -> AppError {
    of_session(SessionError::from(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_others_changed_goes_back_where_this_process_goes_back() {
        let history = RewindHistory::default();
        let named = history.way_to_state("8f3a");
        let way = RewindPlan { takes_theirs: false, ..named.clone() };
        let mut here = way.clone();
        take_theirs(&mut here, false).unwrap();
        assert!(here.takes_theirs);
        let refused = take_theirs(&mut way.clone(), true).unwrap_err();
        assert!(refused.to_string().contains("open in another process"), "{refused}");
        // All files go back to a state that is named, wherever that is done.
        take_theirs(&mut named.clone(), true).unwrap();
    }
}
