//! What Neco exported comes back: the same events, under the same id where that is free.

use std::io::BufRead;

use neco_proto::event::TitleSource;
use neco_proto::{Event, EventBody, SessionId};
use neco_session::redacted::redact;
use neco_store::export::jsonl::{JsonlError, JsonlReader};
use neco_store::{Catalog, EventLog};

use super::keep::{BATCH, Keeper};
use super::told::Told;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::import::Format;

/// Takes in a file. It is opened twice when its id is taken: first to see whether that is the same session.
pub(super) async fn take<R: BufRead>(
    keeper: &Keeper<'_>,
    name: &str,
    open: impl Fn() -> Result<R, Failure>,
) -> Result<Told, Failure> {
    let broken = |error: JsonlError| Failure::new(Exit::Failed, format!("{name} {error}"));
    let reader = JsonlReader::new(open()?).map_err(broken)?;
    let own = reader.session().unwrap_or_else(SessionId::new);
    let Some(record) = keeper.find(own).await? else { return import(keeper, name, reader, own).await };
    let same = is_here(keeper, reader, own).await?.map_err(broken)?;
    if same && !keeper.again {
        let (title, events) = (record.title, record.events);
        return Ok(Told { session: own, from: Format::Neco, title, events, already: true, notes: Vec::new() });
    }
    let reader = JsonlReader::new(open()?).map_err(broken)?;
    let mut told = import(keeper, name, reader, SessionId::new()).await?;
    if !same {
        told.notes.push(format!("session {own} is here and went another way: this one has an id of its own"));
    }
    Ok(told)
}

/// Whether all events of the file are the first ones of the session `id`.
async fn is_here<R: BufRead>(
    keeper: &Keeper<'_>,
    mut reader: JsonlReader<R>,
    id: SessionId,
) -> Result<Result<bool, JsonlError>, Failure> {
    let mut since = 0;
    loop {
        let page = keeper.store().read(id, since, BATCH).await?;
        since += page.len() as u64;
        for kept in &page {
            match reader.next_event() {
                Ok(Some(mut event)) => {
                    redact(&mut event.body, &keeper.redactor);
                    if event != *kept {
                        return Ok(Ok(false));
                    }
                }
                Ok(None) => return Ok(Ok(true)),
                Err(error) => return Ok(Err(error)),
            }
        }
        if page.len() < BATCH {
            return Ok(reader.next_event().map(|rest| rest.is_none()));
        }
    }
}

async fn import<R: BufRead>(
    keeper: &Keeper<'_>,
    name: &str,
    mut reader: JsonlReader<R>,
    id: SessionId,
) -> Result<Told, Failure> {
    let about = reader.header().map(|header| header.about.clone());
    let first = next(&mut reader, keeper, id, name)?;
    let began = |event: &Event| match &event.body {
        EventBody::SessionStart(start) => Some(start.cwd.clone()),
        _ => None,
    };
    let own = about.as_ref().map(|about| about.cwd.clone()).or_else(|| first.as_ref().and_then(began));
    let place = keeper.place(own.as_deref())?;
    let created = first.as_ref().map_or(0, |event| event.ts.as_millisecond());
    let created = about.as_ref().map(|about| about.created_ms).filter(|ms| *ms > 0).unwrap_or(created);
    let mut title = about.map(|about| (about.title, TitleSource::FirstWords));
    let record = keeper.record(id, &place.cwd, String::new(), None, created);
    keeper.store().create(record).await?;
    let mut batch: Vec<Event> = first.into_iter().collect();
    let mut count = 0_u64;
    loop {
        let next = match next(&mut reader, keeper, id, name) {
            Ok(next) => next,
            Err(failure) => {
                keeper.forget(id).await;
                return Err(failure);
            }
        };
        let is_end = next.is_none();
        batch.extend(next);
        if batch.len() >= BATCH || is_end {
            for event in &batch {
                if let EventBody::Title(given) = &event.body {
                    title = Some((given.title.clone(), given.by));
                }
            }
            count += batch.len() as u64;
            keeper.append(id, std::mem::take(&mut batch)).await?;
        }
        if is_end {
            break;
        }
    }
    keeper.commit(id).await?;
    let title = title.filter(|(title, _)| !title.trim().is_empty());
    if let Some((title, by)) = &title {
        let record = keeper.record(id, &place.cwd, title.clone(), Some(*by), created);
        keeper.store().set_title(id, &record.title, *by).await?;
    }
    let cut = reader.is_cut().then(|| "the file is cut off: what is whole of it was imported".to_owned());
    Ok(Told {
        session: id,
        from: Format::Neco,
        title: title.map(|(title, _)| title).unwrap_or_default(),
        events: count,
        already: false,
        notes: cut.into_iter().chain(place.note).collect(),
    })
}

fn next<R: BufRead>(
    reader: &mut JsonlReader<R>,
    keeper: &Keeper<'_>,
    id: SessionId,
    name: &str,
) -> Result<Option<Event>, Failure> {
    let next = reader.next_event().map_err(|error| Failure::new(Exit::Failed, format!("{name} {error}")))?;
    Ok(next.map(|mut event| {
        event.session_id = id;
        redact(&mut event.body, &keeper.redactor);
        event
    }))
}
