//! Sessions over HTTP: opened, told, asked, followed.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::StreamExt;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{AppError, Caller, Scope, Trouble};
use neco_proto::{Actor, Answer as Told, Command, Query, Receipt, Seq, SessionId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use url::form_urlencoded;

use super::House;
use super::access::Rights;
use super::audit::Line;
use super::calls::{ends, rights, taken, write_once};
use super::problem::{Answer, Problem};
use super::schemas::Schemas;
use super::stream;
use crate::remote::frames::Sent;

/// Events of a page.
const PAGE: usize = 500;

/// Bytes of a page of events; it ends with the event that exceeds them.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// What closing a session is called.
const CLOSE: &str = "sessions.close";

/// Path, verb, request, answer and what it is for, as the description of the API has them.
pub(crate) const ROUTES: &[(&str, &str, &str, &str)] = &[
    ("/sessions", "post", "sessions.open", "Opens a session or makes one, and holds it."),
    ("/sessions/{session}", "get", "sessions.show", "How a session stands."),
    ("/sessions/{session}/commands", "post", "sessions.send", "Hands a command to a session."),
    ("/sessions/{session}/queries", "post", "sessions.ask", "Asks a session something."),
    ("/sessions/{session}/events", "get", "sessions.events", "The events after `since`, as a page or as a stream."),
    ("/sessions/{session}/close", "post", CLOSE, "Stops all work of a session and hands it back."),
];

/// The routes of sessions.
pub(crate) fn add(router: Router, house: &Arc<House>) -> Router {
    let own = |house: &Arc<House>| Arc::clone(house);
    let (opens, shows, sends, asks, follows, closes) =
        (own(house), own(house), own(house), own(house), own(house), own(house));
    router
        .route("/api/v1/sessions", post(move |request: Request| async move { answered(open(&opens, request).await) }))
        .route(
            "/api/v1/sessions/{session}",
            get(move |Path(id): Path<String>, request: Request| async move { answered(show(&shows, id, request).await) }),
        )
        .route(
            "/api/v1/sessions/{session}/commands",
            post(move |Path(id): Path<String>, request: Request| async move { answered(send(&sends, id, request).await) }),
        )
        .route(
            "/api/v1/sessions/{session}/queries",
            post(move |Path(id): Path<String>, request: Request| async move { answered(ask(&asks, id, request).await) }),
        )
        .route(
            "/api/v1/sessions/{session}/events",
            get(move |Path(id): Path<String>, request: Request| async move {
                answered(follow(&follows, id, request).await)
            }),
        )
        .route(
            "/api/v1/sessions/{session}/close",
            post(move |Path(id): Path<String>, request: Request| async move { answered(close(&closes, id, request).await) }),
        )
}

pub(crate) fn answered(answer: Result<Response, Problem>) -> Response {
    answer.unwrap_or_else(IntoResponse::into_response)
}

async fn open(house: &Arc<House>, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    let (parts, body) = taken(request).await?;
    static FIELDS: LazyLock<Schemas> = LazyLock::new(Schemas::of_type::<OpenSession>);
    let wanted: OpenSession = if body.is_empty() { OpenSession::default() } else { read(&parts, &body, &FIELDS)? };
    let (hall, caller) = (Arc::clone(&house.hall), rights.own());
    let work = async move { Answer::json(StatusCode::CREATED, &hall.open(&caller, wanted).await?) };
    write_once(house, &rights, &parts, &body, work).await
}

async fn show(house: &Arc<House>, id: String, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    no_query(request.uri().query())?;
    let id = named(house, &rights, &id).await?;
    let client = house.hall.living(&rights.own(), id).await?;
    match client.ask(Query::Snapshot).await? {
        Told::Snapshot(snapshot) => Answer::json(StatusCode::OK, &snapshot).map(IntoResponse::into_response),
        _ => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the session does not answer")),
    }
}

async fn send(house: &Arc<House>, id: String, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    let (parts, body) = taken(request).await?;
    static FIELDS: LazyLock<Schemas> = LazyLock::new(Schemas::of_type::<Command>);
    let command: Command = read(&parts, &body, &FIELDS)?;
    let (own, hall) = (Arc::clone(house), Arc::clone(&house.hall));
    let by_whom = rights.clone();
    let work = async move {
        let id = named(&own, &by_whom, &id).await?;
        let Receipt { seq, message_id } = hall.send(&by_whom, id, Sent { by: Actor::Person, command }).await?;
        Answer::json(StatusCode::ACCEPTED, &json!({ "session": id, "seq": seq, "message_id": message_id }))
    };
    write_once(house, &rights, &parts, &body, work).await
}

async fn ask(house: &Arc<House>, id: String, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    let (parts, body) = taken(request).await?;
    static FIELDS: LazyLock<Schemas> = LazyLock::new(Schemas::of_type::<Query>);
    let query: Query = read(&parts, &body, &FIELDS)?;
    let id = named(house, &rights, &id).await?;
    let answer = house.hall.living(&rights.own(), id).await?.ask(query).await?;
    Answer::json(StatusCode::OK, &answer).map(IntoResponse::into_response)
}

async fn close(house: &Arc<House>, id: String, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    if rights.scope < Scope::Work {
        let refused = AppError::new(Trouble::NotAllowed, "closing is not for whoever may only read");
        house.hall.audit.note(Line::of(&rights.own(), CLOSE, &Err::<(), _>(refused.clone()))).await;
        return Err(refused.into());
    }
    let (parts, body) = taken(request).await?;
    no_query(parts.uri.query())?;
    let (own, by_whom) = (Arc::clone(house), rights.clone());
    let work = async move {
        let id = named(&own, &by_whom, &id).await?;
        let closed = stop_and_let_go(&own, &by_whom.own(), id).await;
        own.hall.audit.note(Line::of(&by_whom.own(), CLOSE, &closed).in_session(id)).await;
        closed?;
        Answer::json(StatusCode::OK, &json!({ "session": id }))
    };
    write_once(house, &rights, &parts, &body, work).await
}

async fn stop_and_let_go(house: &House, caller: &Caller, id: SessionId) -> Result<(), AppError> {
    if let Some(client) = house.hall.at_hand(id) {
        client.send_as(caller.actor.clone(), Command::StopAll).await?;
        house.hall.let_go(id, &client).await?;
    }
    Ok(())
}

async fn follow(house: &Arc<House>, id: String, request: Request) -> Result<Response, Problem> {
    let (rights, ends, parts) = (rights(&request)?, ends(&request)?, request.into_parts().0);
    let wanted = Wanted::read(parts.uri.query(), &parts.headers)?;
    let id = named(house, &rights, &id).await?;
    let client = house.hall.living(&rights.own(), id).await?;
    if stream::is_wanted(&parts.headers) {
        let numbers = &house.hall.numbers;
        let events = client.events(wanted.since);
        // As long as somebody follows it the session is needed.
        let events = events.inspect(move |_| _ = &client).boxed();
        return Ok(stream::events(events, wanted.since, house.hall.over(), ends, numbers.streams.count()));
    }
    let Told::Snapshot(snapshot) = client.ask(Query::Snapshot).await? else {
        return Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the session does not answer"));
    };
    let (last, mut next, mut page, mut bytes) = (snapshot.last_seq, wanted.since, Vec::new(), 0);
    let mut events = client.events(wanted.since);
    while next < last && page.len() < wanted.limit && bytes < PAGE_BYTES {
        let Some(event) = events.next().await else { break };
        let event = event?;
        next = event.seq;
        let text =
            to_raw_value(&event).map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        bytes += text.get().len();
        page.push(text);
    }
    let more = next < last;
    Answer::json(StatusCode::OK, &EventPage { events: page, next, more }).map(IntoResponse::into_response)
}

/// Events of a session, as they are written.
#[derive(Serialize)]
struct EventPage {
    events: Vec<Box<RawValue>>,
    /// What the next page begins after.
    next: Seq,
    /// Whether there are more by now.
    more: bool,
}

/// Which events are wanted.
struct Wanted {
    since: Seq,
    limit: usize,
}

impl Wanted {
    /// `since` of the query; a reader that comes back goes on after the event that it names.
    fn read(query: Option<&str>, headers: &HeaderMap) -> Result<Self, Problem> {
        let mut wanted = Self { since: 0, limit: PAGE };
        for (name, words) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let number = || words.parse().map_err(|_| Problem::bad(format!("{name} is a whole number")));
            match name.as_ref() {
                "since" => wanted.since = number()?,
                "limit" => wanted.limit = usize::try_from(number()?).unwrap_or(PAGE).clamp(1, PAGE),
                _ => return Err(Problem::bad(format!("events have no {name}; there are since and limit"))),
            }
        }
        if let Some(last) = headers.get("last-event-id") {
            let last = last.to_str().ok().and_then(|last| last.parse().ok());
            wanted.since = last.ok_or_else(|| Problem::bad("Last-Event-ID is the seq of an event"))?;
        }
        Ok(wanted)
    }
}

async fn named(house: &Arc<House>, rights: &Rights, id: &str) -> Result<SessionId, Problem> {
    Ok(house.hall.named(&rights.own(), id).await?)
}

/// The body of a request that takes nothing else, with no field that is not known.
fn read<T: DeserializeOwned>(parts: &Parts, body: &[u8], fields: &Schemas) -> Result<T, Problem> {
    no_query(parts.uri.query())?;
    let unclear = |error: serde_json::Error| Problem::bad(format!("the body is not understood: {error}"));
    let read = serde_json::from_slice(body).map_err(unclear)?;
    fields.must_know(&serde_json::from_slice(body).map_err(unclear)?)?;
    Ok(read)
}

/// Refuses what stands behind a `?` where nothing is asked for there.
fn no_query(query: Option<&str>) -> Result<(), Problem> {
    match form_urlencoded::parse(query.unwrap_or_default().as_bytes()).next() {
        Some((name, _)) => Err(Problem::bad(format!("there is no field {name} behind the ? of this address"))),
        None => Ok(()),
    }
}
