//! The calls of the program, each at the path that its request names.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post, put};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::request::Parts;
use http::{Method, StatusCode};
use neco_proto::app::{App, AppError, Call, Caller, Described, Verb};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::House;
use super::access::Rights;
use super::arguments::{Fields, arguments};
use super::hall::{broke, to_the_end};
use super::once::Turn;
use super::problem::{Answer, Problem};
use super::stream;

/// Bytes of a body.
pub(crate) const LONGEST_BODY: usize = 10 * 1024 * 1024;

/// How long a body may take.
const BODY: Duration = Duration::from_secs(30);

/// What answers the calls of one route.
pub(crate) fn route(house: &Arc<House>, described: &'static Described) -> MethodRouter {
    let (house, fields) = (Arc::clone(house), Arc::<OnceLock<Fields>>::default());
    let handler = move |path: RawPathParams, request: Request| async move {
        let path = path.iter().map(|(name, words)| (name.to_owned(), words.to_owned())).collect();
        let fields = fields.get_or_init(|| Fields::of(described));
        answer(&house, described, fields, path, request).await.unwrap_or_else(IntoResponse::into_response)
    };
    match described.route.verb {
        Verb::Get => get(handler),
        Verb::Post => post(handler),
        Verb::Put => put(handler),
        Verb::Delete => delete(handler),
    }
}

async fn answer(
    house: &Arc<House>,
    described: &'static Described,
    fields: &Fields,
    path: Vec<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let (rights, ends) = (rights(&request)?, ends(&request)?);
    let (parts, body) = taken(request).await?;
    let arguments = arguments(fields, &path, parts.uri.query(), &body)?;
    let (app, caller) = (Arc::clone(&house.hall.app), rights.own());
    let call = Call { name: described.route.name.to_owned(), arguments };
    if described.item.is_some() && stream::is_wanted(&parts.headers) {
        let items = watched(app, caller, call).boxed();
        return Ok(stream::items(items, house.hall.over(), ends, house.hall.numbers.streams.count()));
    }
    let work = async move {
        let answer = app.call(&caller, call).await?;
        Answer::json(StatusCode::OK, &answer)
    };
    write_once(house, &rights, &parts, &body, work).await
}

/// The items of an answer, with the program and the caller that they need.
fn watched(
    app: Arc<dyn App>,
    caller: Caller,
    call: Call,
) -> impl Stream<Item = Result<Value, AppError>> + Send + 'static {
    let (sender, items) = tokio::sync::mpsc::channel(1);
    let work = tokio::spawn(async move {
        let mut items = app.stream(&caller, call);
        while let Some(item) = items.next().await {
            if sender.send(item).await.is_err() {
                return;
            }
        }
    });
    let ends = AbortOnDrop(work);
    futures::stream::unfold((items, ends), |(mut items, ends)| async move {
        items.recv().await.map(|item| (item, (items, ends)))
    })
}

/// Work that ends when nobody waits for it any more.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Who asks; the guard has let them in.
pub(crate) fn rights(request: &Request) -> Result<Rights, Problem> {
    request.extensions().get::<Rights>().cloned().ok_or_else(stranger)
}

/// What is cancelled when whoever asks may come in no longer.
pub(crate) fn ends(request: &Request) -> Result<CancellationToken, Problem> {
    request.extensions().get::<CancellationToken>().cloned().ok_or_else(stranger)
}

fn stranger() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "a token is needed")
}

/// A request with all of its body.
pub(crate) async fn taken(request: Request<Body>) -> Result<(Parts, Bytes), Problem> {
    taken_within(request, LONGEST_BODY).await
}

/// A request with all of its body, which has at most so many bytes.
pub(crate) async fn taken_within(request: Request<Body>, most: usize) -> Result<(Parts, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(BODY, axum::body::to_bytes(body, most)).await;
    let late = || Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long");
    let body = read.map_err(|_| late())?.map_err(|_| {
        let words = format!("the body has more than {most} bytes, or was cut off");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, words)
    })?;
    Ok((parts, body))
}

/// Does something, once for each `Idempotency-Key`; what changes something is done to the end also when whoever asked is
/// gone.
pub(crate) async fn write_once(
    house: &Arc<House>,
    rights: &Rights,
    parts: &Parts,
    body: &[u8],
    work: impl Future<Output = Result<Answer, Problem>> + Send + 'static,
) -> Result<Response, Problem> {
    if parts.method == Method::GET {
        return work.await.map(IntoResponse::into_response);
    }
    let what = format!("{} {}", parts.method, parts.uri);
    let who = format!("{:?}", rights.actor);
    let key = match house.once.begin(&who, &parts.headers, &what, body)? {
        Turn::Again(answer) => return Ok(answer.into_response()),
        Turn::Do(None) => {
            let done = to_the_end(work).await.unwrap_or_else(|| Err(Problem::from(broke())));
            return done.map(IntoResponse::into_response);
        }
        Turn::Do(Some(key)) => key,
    };
    let house = Arc::clone(house);
    let kept = to_the_end(async move {
        let Some(done) = to_the_end(work).await else {
            house.once.lost(key);
            return Err(Problem::from(broke()));
        };
        let answer = done.unwrap_or_else(Problem::answer);
        house.once.end(key, answer.clone());
        Ok(answer)
    });
    kept.await.unwrap_or_else(|| Err(Problem::from(broke()))).map(IntoResponse::into_response)
}
