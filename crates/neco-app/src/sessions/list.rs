//! Sessions in a list, the one used last first; a title that a person gives, and a second session from a point of one.

use std::collections::HashMap;
use std::path::Path;

use futures::stream::BoxStream;
use jiff::Timestamp;
use neco_proto::app::sessions::{
    ForkPoint, ForkSession, ForkedSession, ListRecentFolders, ListSessions, RecentFolder, RecentFolders, RenameSession,
    SessionPage, SessionRow,
};
use neco_proto::app::{AppError, Page};
use neco_proto::event::{ForkedFrom, TitleSource};
use neco_proto::{Actor, Command, SessionId};
use neco_session::SessionError;
use neco_session::title::tidy;
use neco_store::{Catalog, SessionRecord};

use super::standing::standings;
use crate::app::LocalApp;
use crate::error::{failed, of_session, of_store};
use crate::eval;
use crate::paging::{Paged, page};
use crate::watching::{Told, told};

/// Sessions of a list that are looked at for how they stand; of very many nobody looks at each.
const LOOKED_AT: usize = 200;

/// All that there are.
pub(crate) const ALL: usize = usize::MAX >> 1;

pub(crate) async fn list(app: &LocalApp, request: ListSessions) -> Result<SessionPage, AppError> {
    let (mut records, mut page) = find(app, &request).await?;
    if are_few(&records) {
        count(app, &mut records).await?;
    }
    let wanted = request.states && records.len() <= LOOKED_AT;
    let standings = if wanted { standings(app, &records).await } else { Vec::new() };
    let ids = records.iter().map(|record| record.id).collect();
    let bytes = if request.sizes { Some(app.store.bytes_of(ids).await.map_err(of_store)?) } else { None };
    let mut standings = standings.into_iter();
    let row = |record: SessionRecord| {
        let bytes = bytes.as_ref().map(|bytes| bytes.get(&record.id).copied().unwrap_or(0));
        standings.next().unwrap_or_default().in_row(SessionRow { bytes, ..row(record) })
    };
    page.sessions = records.into_iter().map(row).collect();
    Ok(page)
}

/// The folders that sessions worked in; worktrees of Neco's own are not looked for there by anybody, nor what is gone
/// of evaluations.
pub(crate) async fn folders(app: &LocalApp, request: ListRecentFolders) -> Result<RecentFolders, AppError> {
    let own = app.env.data_dir().join("worktrees");
    let mut found: HashMap<String, RecentFolder> = HashMap::new();
    let records = app.hub.list(None, ALL).await.map_err(of_session)?;
    for row in records.into_iter().map(row).filter(|row| !Path::new(&row.cwd).starts_with(&own)) {
        let SessionRow { cwd, updated, title, .. } = row;
        let fresh =
            || RecentFolder { folder: cwd.clone(), sessions: 0, updated, title: String::new(), is_there: false };
        let folder = found.entry(cwd.clone()).or_insert_with(fresh);
        folder.sessions += 1;
        if updated >= folder.updated || folder.title.is_empty() {
            (folder.updated, folder.title) = (updated.max(folder.updated), title);
        }
    }
    let mut folders: Vec<RecentFolder> = found.into_values().collect();
    folders.sort_by(|one, other| other.updated.cmp(&one.updated).then_with(|| one.folder.cmp(&other.folder)));
    let looked = tokio::task::spawn_blocking(move || {
        let look = |folder: RecentFolder| RecentFolder { is_there: Path::new(&folder.folder).is_dir(), ..folder };
        let is_meant = |folder: &RecentFolder| folder.is_there || !eval::is_called_so(Path::new(&folder.folder));
        folders.into_iter().map(look).filter(is_meant).take(request.limit).collect::<Vec<_>>()
    });
    Ok(RecentFolders { folders: looked.await.map_err(failed)? })
}

/// The rows of a page, each as it is known.
pub(crate) fn watch_rows(app: &LocalApp, request: ListSessions) -> BoxStream<'_, Result<SessionRow, AppError>> {
    told(|told| tell_rows(app, request, told))
}

async fn tell_rows(app: &LocalApp, request: ListSessions, mut told: Told<SessionRow>) -> Result<(), AppError> {
    let records = find(app, &request).await?.0;
    let counts = are_few(&records);
    for mut record in records {
        if counts {
            count(app, std::slice::from_mut(&mut record)).await?;
        }
        let one = std::slice::from_ref(&record);
        let standing = if request.states { standings(app, one).await.pop() } else { None };
        let bytes = match request.sizes {
            true => app.store.bytes_of(vec![record.id]).await.map_err(of_store)?.get(&record.id).copied(),
            false => None,
        };
        told.tell(standing.unwrap_or_default().in_row(SessionRow { bytes, ..row(record) })).await;
    }
    Ok(())
}

/// Whether the messages of sessions are counted of which they are not known yet; of very many nobody counts each.
fn are_few(records: &[SessionRecord]) -> bool {
    records.iter().filter(|record| record.messages.is_none()).count() <= LOOKED_AT
}

/// Counts the messages of sessions of which they are not known yet.
async fn count(app: &LocalApp, records: &mut [SessionRecord]) -> Result<(), AppError> {
    let unknown: Vec<SessionId> =
        records.iter().filter(|record| record.messages.is_none()).map(|record| record.id).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let counted = app.store.count_messages(unknown).await.map_err(of_store)?;
    for record in records {
        record.messages = record.messages.or_else(|| counted.get(&record.id).copied());
    }
    Ok(())
}

/// The sessions of a page, and what else it says.
async fn find(app: &LocalApp, request: &ListSessions) -> Result<(Vec<SessionRecord>, SessionPage), AppError> {
    let folder = request.folder.as_deref().map(Path::new);
    let mut records = app.hub.list(folder, ALL).await.map_err(of_session)?;
    let mut above = None;
    if let (true, Some(folder)) = (records.is_empty(), folder)
        && let Some(nearest) = app.hub.nearest(folder).await.map_err(of_session)?
    {
        records = app.hub.list(Some(&nearest), ALL).await.map_err(of_session)?;
        above = Some(nearest.display().to_string());
    }
    let found = records.len();
    let since = request.since.map(Timestamp::as_millisecond);
    records.retain(|record| since.is_none_or(|since| record.updated_ms >= since));
    let older = found - records.len();
    let wanted = Page { limit: Some(request.limit), cursor: request.cursor.clone() };
    let Paged { items, more, next } = page(records, &wanted, |record| (record.updated_ms, record.id.to_string()))?;
    Ok((items, SessionPage { sessions: Vec::new(), more, next, older, above }))
}

/// The ids of all sessions.
///
/// # Errors
/// When the store fails.
pub async fn ids(app: &LocalApp) -> Result<Vec<SessionId>, AppError> {
    Ok(app.hub.list(None, ALL).await.map_err(of_session)?.into_iter().map(|record| record.id).collect())
}

/// A session as it is listed, without what has to be looked up.
pub fn row(record: SessionRecord) -> SessionRow {
    let time = |millis: i64| Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
    SessionRow {
        id: record.id,
        title: record.title,
        title_by: record.title_by,
        cwd: record.cwd,
        created: time(record.created_ms),
        updated: time(record.updated_ms),
        events: record.events,
        messages: record.messages,
        single: record.is_single,
        forked_from: record.parent.map(|(session_id, seq)| ForkedFrom { session_id, seq }),
        bytes: None,
        state: None,
        work: None,
        asks: false,
        usage: None,
        branch: None,
    }
}

pub(crate) async fn rename(app: &LocalApp, by: Actor, request: RenameSession) -> Result<SessionRow, AppError> {
    let record = app.hub.find(&request.session).await.map_err(of_session)?;
    let title = match app.elsewhere(record.id).await? {
        // The process renames it that has it open.
        Some(open) => {
            open.send_as(by, Command::Rename { title: request.title.clone() }).await?;
            tidy(&request.title)
        }
        None => app.hub.rename(&record, &request.title).await.map_err(of_session)?,
    };
    Ok(row(SessionRecord { title, title_by: Some(TitleSource::Person), ..record }))
}

pub(crate) async fn fork(app: &LocalApp, request: ForkSession) -> Result<ForkedSession, AppError> {
    let parent = app.named(request.session.as_deref(), Path::new(&request.folder)).await?;
    let history = app.hub.course(parent.id).await.map_err(of_session)?;
    // What no longer counts can be had again in a session of its own.
    let find = |at: &str| history.find(at).or_else(|error| history.ever_said(at).ok_or(error)).cloned();
    let before = request.at.as_deref().map(find).transpose().map_err(|error| of_session(SessionError::from(error)))?;
    let at = before.as_ref().map_or(history.last_seq, |point| point.seq.saturating_sub(1));
    let fork = app.hub.fork(&parent, at, request.title.as_deref()).await.map_err(of_session)?;
    Ok(ForkedSession {
        session: row(fork),
        in_a_turn: before.is_none() && history.working,
        before: before.map(|point| ForkPoint { number: point.number, text: point.text }),
    })
}
