//! What was said where.

use futures::stream::BoxStream;
use jiff::Timestamp;
use neco_proto::app::AppError;
use neco_proto::app::sessions::{FoundPlace, FoundPlaces, SearchSessions};
use neco_store::{Catalog, SearchCursor, SearchHit, SearchQuery, StoreError};

use crate::app::LocalApp;
use crate::error::{failed, invalid, of_store};
use crate::watching::told;
use crate::{disk, services};

pub(crate) async fn search(app: &LocalApp, request: SearchSessions) -> Result<FoundPlaces, AppError> {
    if !request.words.chars().any(char::is_alphanumeric) {
        return Err(invalid("there is no word to look for").hint("Punctuation alone is not searched."));
    }
    let limit = request.limit;
    let after = |cursor: &String| {
        SearchCursor::read(cursor).ok_or_else(|| invalid(format!("{cursor} is no cursor of a search")))
    };
    let query = SearchQuery {
        cwd: request.folder,
        since_ms: request.since.map(Timestamp::as_millisecond),
        until_ms: request.until.map(Timestamp::as_millisecond),
        after: request.cursor.as_ref().map(after).transpose()?,
        ..SearchQuery::new(request.words, limit)
    };
    let hits = match app.store.search(query.clone()).await {
        // The index can't be brought up to date where there is no room; one beside a copy can.
        Err(StoreError::Write(_)) => search_in_copy(query, app).await?,
        found => found.map_err(of_store)?,
    };
    let next = hits.last().filter(|_| hits.len() >= limit).map(|last| last.cursor.to_string());
    Ok(FoundPlaces { next, places: hits.into_iter().map(place).collect() })
}

/// The same place by place.
pub(crate) fn watch_places(app: &LocalApp, request: SearchSessions) -> BoxStream<'_, Result<FoundPlace, AppError>> {
    told(|mut told| async move {
        told.tell_all(search(app, request).await?.places).await;
        Ok(())
    })
}

async fn search_in_copy(query: SearchQuery, app: &LocalApp) -> Result<Vec<SearchHit>, AppError> {
    let cannot = |error| failed(format!("the store can't be copied: {error}"));
    let copy = disk::copy_store(app.env.data_dir()).map_err(cannot)?;
    let store = services::open_store(copy.path()).await?;
    let found = store.search(query).await;
    store.close().await.map_err(of_store)?;
    found.map_err(of_store)
}

fn place(hit: SearchHit) -> FoundPlace {
    FoundPlace {
        session_id: hit.session,
        seq: hit.seq,
        time: Timestamp::from_millisecond(hit.ts_ms).unwrap_or(Timestamp::UNIX_EPOCH),
        role: hit.role,
        title: hit.title,
        cwd: hit.cwd,
        text: hit.snippet.text,
        marks: hit.snippet.marks.iter().map(|mark| [mark.start, mark.end]).collect(),
    }
}
