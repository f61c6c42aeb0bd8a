//! What Neco exported comes back: the same events, under the same id where that is free. A session that is here up to
//! some event goes on from there: an import that was cut short, or one that went on elsewhere.

use std::io::BufRead;

use neco_proto::app::port::{ImportNote, ImportedSession, Program};
use neco_proto::event::TitleSource;
use neco_proto::{Event, EventBody, Role, SessionId};
use neco_session::redacted::redact;
use neco_session::spill::keep_output;
use neco_store::{Catalog, EventLog, Lease, SessionRecord};

use super::keep::{BATCH, Keeper};
use crate::error::PortError;
use crate::export::jsonl::{JsonlError, JsonlReader, Output};

/// Takes in a file. It is opened twice when its id is taken: first to see whether that is the same session.
pub(super) async fn take<R: BufRead>(
    keeper: &Keeper<'_>,
    name: &str,
    open: impl Fn() -> Result<R, PortError>,
) -> Result<ImportedSession, PortError> {
    let broken = |error: JsonlError| PortError::Broken(name.to_owned(), error);
    let reader = JsonlReader::new(open()?).map_err(broken)?;
    let own = reader.session().unwrap_or_else(SessionId::new);
    let Some(record) = keeper.find(own).await? else { return import(keeper, name, reader, own).await };
    let here = compared(keeper, reader, own).await?.map_err(broken)?;
    match here {
        Here::All if !keeper.again => {
            let (title, events) = (record.title, record.events);
            Ok(ImportedSession {
                session: own,
                program: Program::Neco.into(),
                title,
                events,
                already: true,
                notes: Vec::new(),
            })
        }
        Here::UpTo(events) if !keeper.again => {
            let reader = JsonlReader::new(open()?).map_err(broken)?;
            go_on(keeper, name, reader, record, events).await
        }
        Here::All | Here::UpTo(_) | Here::Another => {
            let reader = JsonlReader::new(open()?).map_err(broken)?;
            let mut told = import(keeper, name, reader, SessionId::new()).await?;
            if matches!(here, Here::Another) {
                told.notes.push(ImportNote::OwnId { session: own });
            }
            Ok(told)
        }
    }
}

/// What of a file is here.
enum Here {
    /// All of its events are the first ones of the session.
    All,
    /// The session ends after so many of them.
    UpTo(u64),
    /// Some are others.
    Another,
}

async fn compared<R: BufRead>(
    keeper: &Keeper<'_>,
    mut reader: JsonlReader<R>,
    id: SessionId,
) -> Result<Result<Here, JsonlError>, PortError> {
    let mut since = 0;
    loop {
        let page = keeper.store.read(id, since, BATCH).await?;
        since += page.len() as u64;
        for kept in &page {
            match reader.next_event() {
                Ok(Some(mut event)) => {
                    redact(&mut event, &keeper.redactor);
                    if without_place(event) != without_place(kept.clone()) {
                        return Ok(Ok(Here::Another));
                    }
                }
                Ok(None) => return Ok(Ok(Here::All)),
                Err(error) => return Ok(Err(error)),
            }
        }
        if page.len() < BATCH {
            let rest = reader.next_event();
            return Ok(rest.map(|rest| if rest.is_none() { Here::All } else { Here::UpTo(since) }));
        }
    }
}

/// Where big outputs lie is another place on another machine.
fn without_place(mut event: Event) -> Event {
    if let EventBody::ToolCallEnd(end) = &mut event.body
        && let Some(place) = end.spilled_to.take()
    {
        end.output = end.output.replace(&place, "");
    }
    event
}

async fn import<R: BufRead>(
    keeper: &Keeper<'_>,
    name: &str,
    mut reader: JsonlReader<R>,
    id: SessionId,
) -> Result<ImportedSession, PortError> {
    let about = reader.header().map(|header| header.about.clone());
    let first = next(&mut reader, keeper, id, name).await?;
    let began = |event: &Event| match &event.body {
        EventBody::SessionStart(start) => Some(start.cwd.clone()),
        _ => None,
    };
    let own = about.as_ref().map(|about| about.cwd.clone()).or_else(|| first.as_ref().and_then(began));
    let place = keeper.place(own.as_deref());
    let created = first.as_ref().map_or(0, |event| event.ts.as_millisecond());
    let created = about.as_ref().map(|about| about.created_ms).filter(|ms| *ms > 0).unwrap_or(created);
    let title = about.map(|about| (about.title, TitleSource::FirstWords));
    let record = keeper.record(id, &place.cwd, String::new(), None, created);
    // Nobody opens a session of which only a part is here.
    let lease = keeper.store.lease(id).await?;
    keeper.store.create(record.clone()).await?;
    let added = match add(keeper, &lease, name, &mut reader, first, title).await {
        Ok(added) => added,
        Err(failure) => {
            keeper.forget(id).await;
            return Err(failure);
        }
    };
    let title = retitle(keeper, &record, added.title).await?;
    let notes = cut(&reader)
        .into_iter()
        .chain(place.note)
        .chain(added.has_checkpoints.then_some(ImportNote::WithoutFiles))
        .collect();
    Ok(ImportedSession {
        session: id,
        program: Program::Neco.into(),
        title,
        events: added.events,
        already: false,
        notes,
    })
}

/// Adds what a session that is here does not have.
async fn go_on<R: BufRead>(
    keeper: &Keeper<'_>,
    name: &str,
    mut reader: JsonlReader<R>,
    record: SessionRecord,
    events: u64,
) -> Result<ImportedSession, PortError> {
    let lease = keeper.store.lease(record.id).await?;
    let broken = |error: JsonlError| PortError::Broken(name.to_owned(), error);
    while reader.count() < events && reader.next_event().map_err(broken)?.is_some() {}
    reader.take_outputs();
    let first = next(&mut reader, keeper, record.id, name).await?;
    let added = add(keeper, &lease, name, &mut reader, first, None).await?;
    let title = retitle(keeper, &record, added.title).await?;
    let goes_on = ImportNote::GoesOn { had: events, added: added.events };
    let notes = std::iter::once(goes_on).chain(cut(&reader)).collect();
    let events = events + added.events;
    Ok(ImportedSession { session: record.id, program: Program::Neco.into(), title, events, already: false, notes })
}

struct Added {
    events: u64,
    title: Option<(String, TitleSource)>,
    has_checkpoints: bool,
}

async fn add<R: BufRead>(
    keeper: &Keeper<'_>,
    lease: &Lease,
    name: &str,
    reader: &mut JsonlReader<R>,
    first: Option<Event>,
    title: Option<(String, TitleSource)>,
) -> Result<Added, PortError> {
    let id = lease.session();
    let mut added = Added { events: 0, title, has_checkpoints: false };
    let mut batch: Vec<Event> = first.into_iter().collect();
    let mut first_words = None;
    loop {
        let next = next(reader, keeper, id, name).await?;
        let is_end = next.is_none();
        batch.extend(next);
        if batch.len() >= BATCH || is_end {
            for event in &batch {
                match &event.body {
                    EventBody::Title(given) => added.title = Some((given.title.clone(), given.by)),
                    EventBody::Checkpoint(_) => added.has_checkpoints = true,
                    EventBody::Message(message)
                        if first_words.is_none() && message.role == Role::User && !message.is_neco() =>
                    {
                        first_words = Some(neco_session::title::first_words(&message.text()));
                    }
                    _ => {}
                }
            }
            added.events += batch.len() as u64;
            keeper.append(lease, std::mem::take(&mut batch)).await?;
        }
        if is_end {
            break;
        }
    }
    keeper.store.commit(id).await?;
    let named = added.title.take().filter(|(title, _)| !title.trim().is_empty());
    added.title = named.or_else(|| first_words.map(|words| (words, TitleSource::FirstWords)));
    Ok(added)
}

/// Gives the session its title, and says what it is called now.
async fn retitle(
    keeper: &Keeper<'_>,
    record: &SessionRecord,
    title: Option<(String, TitleSource)>,
) -> Result<String, PortError> {
    let Some((title, by)) = title else { return Ok(record.title.clone()) };
    let record = keeper.record(record.id, record.cwd.as_ref(), title, Some(by), record.created_ms);
    keeper.store.set_title(record.id, &record.title, by).await?;
    Ok(record.title)
}

fn cut<R: BufRead>(reader: &JsonlReader<R>) -> Option<ImportNote> {
    let promised = reader.header().map_or(0, |header| header.events);
    let missing = promised.saturating_sub(reader.count());
    reader.is_cut().then_some(ImportNote::CutOff { promised, missing })
}

async fn next<R: BufRead>(
    reader: &mut JsonlReader<R>,
    keeper: &Keeper<'_>,
    id: SessionId,
    name: &str,
) -> Result<Option<Event>, PortError> {
    let next = reader.next_event().map_err(|error| PortError::Broken(name.to_owned(), error))?;
    let Some(mut event) = next else { return Ok(None) };
    event.session_id = id;
    redact(&mut event, &keeper.redactor);
    place_output(&mut event, keeper, reader.take_outputs()).await?;
    Ok(Some(event))
}

/// A big output lies with the session that it comes into now; one that did not come along is nowhere.
async fn place_output(event: &mut Event, keeper: &Keeper<'_>, outputs: Vec<Output>) -> Result<(), PortError> {
    let EventBody::ToolCallEnd(end) = &mut event.body else { return Ok(()) };
    let Some(was) = end.spilled_to.take() else { return Ok(()) };
    let given = outputs.into_iter().find(|output| output.call_id == end.call_id).and_then(Output::into_bytes);
    let Some(bytes) = given else { return Ok(()) };
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => keeper.redactor.redact(&text, neco_safety::secrets::Scope::Said).into_owned().into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let folder = keeper.hub.outputs(event.session_id);
    let kept = keep_output(&folder, &end.call_id, &bytes).await;
    let kept = kept.map_err(|error| PortError::Output(folder.display().to_string(), error))?;
    let now = kept.display().to_string();
    end.output = end.output.replace(&was, &now);
    end.spilled_to = Some(now);
    Ok(())
}
