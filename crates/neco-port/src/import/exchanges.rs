//! A session out of the repository of checkpoints: the conversation that counts, exchange by exchange.
//!
//! Events get new numbers, as those that only showed how the work went on, or were gone back over, are not there. So what
//! speaks of numbers is left out: rewinds, and the states from before them.

use std::path::Path;

use neco_proto::app::port::{ImportNote, ImportedSession, Program};
use neco_proto::event::{CheckpointWhen, TitleSource};
use neco_proto::{Event, EventBody, Role, SessionId};
use neco_safety::secrets::Redactor;
use neco_session::exchanges::{ExchangeHeader, FORMAT};
use neco_session::redacted::redact;
use neco_session::title::first_words;
use neco_store::{Catalog, Durability, lease_and_append};

use super::keep::Keeper;
use crate::error::PortError;
use crate::export::jsonl::JsonlError;

/// What is kept of a session.
pub struct Kept {
    /// The session.
    pub session: SessionId,
    /// Whether it is all of its conversation.
    pub is_whole: bool,
    /// The files of the conversation, oldest first.
    pub files: Vec<Vec<u8>>,
}

/// Takes in a session out of the repository of checkpoints: all of it under its own id where that is free, a part of it as
/// a session of its own.
/// Fails when what is kept can't be read, or the store fails.
pub async fn restore(keeper: &Keeper<'_>, kept: Kept) -> Result<ImportedSession, PortError> {
    let program = Program::Neco.into();
    let mut here = keeper.find(kept.session).await?;
    if here.take_if(|record| record.events == 0).is_some() {
        // Bringing it back was cut short before its first event.
        keeper.store.remove(kept.session).await?;
    }
    if let Some(record) = here.as_ref().filter(|_| kept.is_whole && !keeper.again) {
        let (session, title, events) = (record.id, record.title.clone(), record.events);
        return Ok(ImportedSession { session, program, title, events, already: true, notes: Vec::new() });
    }
    // The commits of a session are all of it, so a part of it is another one.
    let session = if here.is_some() || !kept.is_whole { SessionId::new() } else { kept.session };
    let unread = format!("session {}", kept.session);
    let (own, redactor) = (keeper.hub.outputs(session), keeper.redactor.clone());
    let reading = tokio::task::spawn_blocking(move || read(session, &kept, &own, &redactor)).await;
    let Read { events, outputs, cwd, title } = reading.map_err(|error| PortError::NotRead(unread, error.into()))??;
    let place = keeper.place(cwd.as_deref());
    let created_ms = events.first().map_or(0, |event| event.ts.as_millisecond());
    let (title, by) = title.unzip();
    let record = keeper.record(session, &place.cwd, title.unwrap_or_default(), by, created_ms);
    let (title, count) = (record.title.clone(), events.len() as u64);
    keeper.store.create(record).await?;
    // All of it in one piece: whoever is killed leaves all of it, or a session without events, which the next one removes.
    if let Err(error) = lease_and_append(keeper.store, events, Durability::Now).await {
        keeper.forget(session).await;
        return Err(error.into());
    }
    let own_id = here.map(|here| ImportNote::OwnId { session: here.id });
    let notes = [ImportNote::FromRepository { outputs }].into_iter().chain(own_id).chain(place.note).collect();
    Ok(ImportedSession { session, program, title, events: count, already: false, notes })
}

struct Read {
    events: Vec<Event>,
    /// Big outputs that are nowhere any more.
    outputs: u64,
    cwd: Option<String>,
    title: Option<(String, TitleSource)>,
}

/// The conversation as the events of a session, whose big outputs lie in the folder `own`. It blocks.
fn read(session: SessionId, kept: &Kept, own: &Path, redactor: &Redactor) -> Result<Read, PortError> {
    let mut read = Read { events: Vec::new(), outputs: 0, cwd: None, title: None };
    let mut words = None;
    for (file, number) in kept.files.iter().zip(1..) {
        let broken = |error| PortError::Broken(format!("exchange {number} of session {}", kept.session), error);
        for mut event in events(file).map_err(broken)? {
            match &mut event.body {
                EventBody::Rewind(_) => continue,
                EventBody::Checkpoint(checkpoint) if checkpoint.when == CheckpointWhen::Restore => continue,
                EventBody::SessionStart(start) => read.cwd = Some(start.cwd.clone()),
                EventBody::Title(given) => read.title = Some((given.title.clone(), given.by)),
                EventBody::Message(message) if words.is_none() && message.role == Role::User && !message.is_neco() => {
                    words = Some(first_words(&message.text()));
                }
                EventBody::ToolCallEnd(end) => {
                    let is_here = |file: &String| {
                        let file = Path::new(file);
                        file.parent() == Some(own) && file.is_file()
                    };
                    if end.spilled_to.take_if(|file| !is_here(file)).is_some() {
                        read.outputs += 1;
                    }
                }
                _ => {}
            }
            (event.seq, event.session_id) = (read.events.len() as u64 + 1, session);
            redact(&mut event, redactor);
            read.events.push(event);
        }
    }
    if read.events.is_empty() {
        return Err(PortError::Empty(format!("session {}", kept.session), Program::Neco.name()));
    }
    let named = read.title.take().filter(|(title, _)| !title.trim().is_empty());
    read.title = named.or_else(|| words.map(|words| (words, TitleSource::FirstWords)));
    Ok(read)
}

/// The events of the file of an exchange.
fn events(file: &[u8]) -> Result<Vec<Event>, JsonlError> {
    let text = String::from_utf8_lossy(file);
    let mut lines = text.lines();
    let header = lines.next().and_then(|line| serde_json::from_str::<ExchangeHeader>(line).ok());
    match header.map(|header| header.neco_exchange) {
        None => return Err(JsonlError::NotOurs),
        Some(format) if format > FORMAT => return Err(JsonlError::TooNew(format)),
        Some(_) => {}
    }
    let event = |(line, text): (usize, &str)| {
        Event::from_json(text).map_err(|error| JsonlError::Line { line, reason: error.to_string() })
    };
    (2..).zip(lines).filter(|(_, line)| !line.trim().is_empty()).map(event).collect()
}
