//! Answers as server-sent events, for curl and whoever has no WebSockets.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use http::{HeaderMap, HeaderValue, header};
use neco_proto::app::AppError;
use neco_proto::{ClientError, EventStream, Seq};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::numbers::Counted;
use crate::remote::desk::Over;

/// How often a stream on which nothing happens shows that it is there.
const BEAT: Duration = Duration::from_secs(15);

/// Whether somebody wants a stream.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accepts.split(',').any(|kind| kind.trim().starts_with("text/event-stream"))
}

/// What is said next.
enum Said {
    Message { name: &'static str, id: Option<Seq>, data: Value },
    Beat,
}

impl Said {
    fn text(self) -> Bytes {
        let Self::Message { name, id, data } = self else { return Bytes::from_static(b":\n\n") };
        let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        // JSON has no line breaks outside of strings, and none inside as it is written here.
        Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))
    }
}

/// The events of a session, each with its `seq` as the id that a reader goes on after. The last one says why there are no
/// more.
pub(crate) fn events(
    events: EventStream,
    since: Seq,
    over: watch::Receiver<Over>,
    ends: CancellationToken,
    counted: Counted,
) -> Response {
    let mut last = since;
    let said = events.map(|event| match event {
        Ok(event) => Ok((event.seq, json!(event))),
        Err(error) => Err(error),
    });
    let said = until(said.boxed(), over).map(move |next| {
        let (name, id, data) = match next {
            Next::Item(Ok((seq, event))) => {
                last = seq;
                ("event", Some(seq), event)
            }
            Next::Item(Err(error)) => ("error", None, json!({ "error": error.to_string(), "since": last })),
            Next::End => ("end", None, json!({ "since": last })),
            Next::Cut => ("cut", None, json!({ "since": last, "error": ClientError::Gone.to_string() })),
            Next::Beat => return Said::Beat,
        };
        Said::Message { name, id, data }
    });
    answer(said.boxed(), ends, counted)
}

/// An answer bit by bit.
pub(crate) fn items(
    items: BoxStream<'static, Result<Value, AppError>>,
    over: watch::Receiver<Over>,
    ends: CancellationToken,
    counted: Counted,
) -> Response {
    let said = until(items, over).map(|next| {
        let (name, data) = match next {
            Next::Item(Ok(item)) => ("item", item),
            Next::Item(Err(error)) => ("error", json!(error)),
            Next::End => ("end", json!({})),
            Next::Cut => ("cut", json!({})),
            Next::Beat => return Said::Beat,
        };
        Said::Message { name, id: None, data }
    });
    answer(said.boxed(), ends, counted)
}

/// What comes next of a stream.
enum Next<T> {
    Item(T),
    /// There is no more.
    End,
    /// The server ends.
    Cut,
    /// Nothing happened for a while.
    Beat,
}

/// What comes of `items` until the server ends. A reader that takes nothing makes this wait, and nobody else: nothing is
/// kept for it but what is on its way.
fn until<T: Send + 'static>(
    items: BoxStream<'static, T>,
    over: watch::Receiver<Over>,
) -> impl stream::Stream<Item = Next<T>> + Send {
    stream::unfold((Some(items), over), |(items, mut over)| async move {
        let mut items = items?;
        let next = tokio::select! {
            biased;
            _ = over.wait_for(|over| *over != Over::Not) => Next::Cut,
            item = items.next() => item.map_or(Next::End, Next::Item),
            () = tokio::time::sleep(BEAT) => Next::Beat,
        };
        let goes_on = matches!(next, Next::Item(_) | Next::Beat);
        Some((next, (goes_on.then_some(items), over)))
    })
}

/// Says it until whoever listens may do so no longer.
fn answer(said: BoxStream<'static, Said>, ends: CancellationToken, counted: Counted) -> Response {
    let bytes = said.take_until(ends.cancelled_owned()).map(move |said| {
        let _counted = &counted;
        Ok::<_, Infallible>(said.text())
    });
    let mut response = Body::from_stream(bytes).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}
