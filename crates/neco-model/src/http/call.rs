//! One call: send, then read until the answer is whole.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use reqwest::{Client, Response};
use tokio::time::{Instant, timeout_at};

use super::explain::{self, Silence};
use super::model::HttpModel;
use crate::delta::Delta;
use crate::error::{ModelError, Place};
use crate::provider::DeltaStream;
use crate::request::Request;
use crate::wire::format::{Decoder, Delivery, Problem};
use crate::wire::reader::Reader;

/// As much of an error body as is worth reading.
const ERROR_BODY_LIMIT: usize = 1024 * 1024;
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);
/// How long the finish is held back for the rest of an answer, so that the next turn finds its
/// connection free. The rest is nearly always there already.
const REST_TIME: Duration = Duration::from_millis(100);
/// How long an answer whose end is known may take to say what it cost, and that it is over.
const AFTER_FINISH: Duration = Duration::from_secs(5);

pub(super) struct Call {
    model: HttpModel,
    delivery: Delivery,
    stage: Stage,
    ready: VecDeque<Delta>,
    /// Kept to be filled again and again.
    decoded: Vec<Delta>,
}

enum Stage {
    New(Request),
    Send(Request),
    Read(Box<Reading>),
    /// Everything was read; an error may still have to be handed over after the last deltas.
    Over(Option<ModelError>),
}

struct Reading {
    response: Response,
    reader: Reader,
    /// Until the first byte of the body came, the wait for it goes on from when the request was sent.
    first_byte_by: Option<Option<Instant>>,
    /// When something of the answer came last, rather than a sign of life.
    spoke: Instant,
}

impl Call {
    pub(super) fn new(model: HttpModel, request: Request, delivery: Delivery) -> Self {
        Self { model, delivery, stage: Stage::New(request), ready: VecDeque::new(), decoded: Vec::new() }
    }

    pub(super) fn into_stream(self) -> DeltaStream {
        stream::unfold(self, |mut call| async move { call.next().await.map(|item| (item, call)) }).boxed()
    }

    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(self.with_cost(delta)));
            }
            match std::mem::replace(&mut self.stage, Stage::Over(None)) {
                Stage::New(request) => {
                    self.stage = Stage::Send(request);
                    self.ready.push_back(Delta::Begin { model: self.model.label.to_string() });
                }
                Stage::Send(request) => match self.send(&request).await {
                    Ok(reading) => self.stage = Stage::Read(Box::new(reading)),
                    Err(error) => return Some(Err(error)),
                },
                Stage::Read(mut reading) => {
                    let read = self.read(&mut reading).await;
                    self.ready.extend(self.decoded.drain(..));
                    match read {
                        Ok(()) if reading.reader.is_over() => read_rest(reading.response).await,
                        Ok(()) => self.stage = Stage::Read(reading),
                        Err(error) => self.stage = Stage::Over(Some(error)),
                    }
                }
                Stage::Over(error) => return error.map(Err),
            }
        }
    }

    /// Asks, and once more when the server refuses what can be put otherwise.
    async fn send(&self, request: &Request) -> Result<Reading, ModelError> {
        let asked = self.model.asked();
        let client = self.model.endpoint.client().await.map_err(|cause| explain::of_setup(asked, &cause))?;
        self.heed_template(client).await;
        let (mut response, mut asking) = self.post(client, request).await?;
        if !response.status().is_success() {
            let (problem, error) = self.refused(response).await;
            if !self.model.wire.changes_after(&problem) {
                return Err(error);
            }
            tracing::info!(model = %self.model.label, %error, "asked once more in another way");
            (response, asking) = self.post(client, request).await?;
        }
        if !response.status().is_success() {
            return Err(self.refused(response).await.1);
        }
        let Asking { decoder, first_byte_by } = asking;
        let reader = Reader::new(decoder);
        Ok(Reading { response, reader, first_byte_by: Some(first_byte_by), spoke: Instant::now() })
    }

    async fn heed_template(&self, client: &Client) {
        let endpoint = &self.model.endpoint;
        if let Some(props) = endpoint.props.as_ref().filter(|_| self.model.wire.asks_for_template())
            && let Some(template) = props.template(client, &endpoint.base, self.model.key_header()).await
        {
            self.model.wire.heed(template);
        }
    }

    /// One request; the answer's head, how to read it, and until when its first byte must be there.
    async fn post(&self, client: &Client, request: &Request) -> Result<(Response, Asking), ModelError> {
        let asked = self.model.asked();
        let (pieces, decoder) = self.model.wire.call(request, self.delivery);
        let url = match self.delivery {
            Delivery::Streamed => &self.model.url,
            Delivery::Whole => &self.model.url_whole,
        };
        let post = client.post(&**url).headers(self.headers(request)).body(reqwest::Body::wrap(Pieces::new(pieces)));
        let first_byte_by = self.model.endpoint.timeouts.first_byte.map(|limit| Instant::now() + limit);
        match within(first_byte_by, post.send()).await {
            Some(Ok(response)) => {
                self.model.endpoint.answers();
                Ok((response, Asking { decoder, first_byte_by }))
            }
            Some(Err(error)) => Err(explain::of_transport(asked, Place::Http, error)),
            None => Err(self.silence(Silence::FirstByte)),
        }
    }

    /// What is set later takes the place of what was set before.
    fn headers(&self, request: &Request) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static(match self.delivery {
                Delivery::Streamed => "text/event-stream, application/json",
                Delivery::Whole => "application/json",
            }),
        );
        for more in [&self.model.wire.headers(request), &self.model.endpoint.headers] {
            for (name, value) in more {
                headers.insert(name, value.clone());
            }
        }
        if let Some(key) = &self.model.key {
            let (name, value) = key.header(&self.model.auth);
            headers.insert(name, value);
        }
        headers
    }

    async fn refused(&self, mut response: Response) -> (Problem, ModelError) {
        let until = Some(Instant::now() + ERROR_BODY_TIME);
        let mut body = Vec::new();
        // What can't be read of an error is no reason to hide its status.
        while let Some(Ok(Some(bytes))) = within(until, response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > ERROR_BODY_LIMIT {
                break;
            }
        }
        let status = response.status().as_u16();
        let problem = self.model.wire.problem(status, &body);
        let error = explain::of_answer(self.model.asked(), &problem, status, response.headers());
        (problem, error)
    }

    /// Reads one chunk into `self.decoded`.
    async fn read(&mut self, reading: &mut Reading) -> Result<(), ModelError> {
        let (until, silence) = self.patience(reading);
        let Some(chunk) = within(until, reading.response.chunk()).await else {
            // An answer whose end is known lost nothing.
            return reading.reader.end(&mut self.decoded).map_err(|_| self.silence(silence));
        };
        reading.first_byte_by = None;
        let decoded = match &chunk {
            Ok(Some(bytes)) => reading.reader.push(bytes, &mut self.decoded),
            // A connection that breaks after the finish reason took nothing from the answer.
            Ok(None) | Err(_) => reading.reader.end(&mut self.decoded),
        };
        if !self.decoded.is_empty() {
            reading.spoke = Instant::now();
        }
        match (decoded, chunk) {
            (Ok(()), _) => Ok(()),
            (Err(_), Err(error)) => Err(explain::of_transport(self.model.asked(), Place::Stream, error)),
            (Err(problem), Ok(_)) => {
                // What was streamed is void then; the group asks again.
                self.model.wire.changes_after(&problem);
                Err(explain::of_stream(self.model.asked(), &problem))
            }
        }
    }

    /// Until when something must come, and what it means if nothing does.
    fn patience(&self, reading: &Reading) -> (Option<Instant>, Silence) {
        let timeouts = &self.model.endpoint.timeouts;
        if let Some(until) = reading.first_byte_by {
            return (until, Silence::FirstByte);
        }
        let now = Instant::now();
        if reading.reader.is_finished() {
            return (Some(now + timeouts.idle.unwrap_or(AFTER_FINISH).min(AFTER_FINISH)), Silence::Idle);
        }
        let idle = timeouts.idle.map(|limit| (now + limit, Silence::Idle));
        // A whole body says nothing until it is there.
        let stalled = timeouts.stalled.filter(|_| reading.reader.is_stream());
        let stalled = stalled.map(|limit| (reading.spoke + limit, Silence::Stalled));
        match idle.into_iter().chain(stalled).min_by_key(|(until, _)| *until) {
            Some((until, silence)) => (Some(until), silence),
            None => (None, Silence::Idle),
        }
    }

    fn silence(&self, silence: Silence) -> ModelError {
        let timeouts = &self.model.endpoint.timeouts;
        let limit = match silence {
            Silence::FirstByte => timeouts.first_byte,
            Silence::Idle => timeouts.idle,
            Silence::Stalled => timeouts.stalled,
        };
        explain::of_silence(self.model.asked(), silence, limit.unwrap_or_default())
    }

    fn with_cost(&self, delta: Delta) -> Delta {
        match (delta, &self.model.price) {
            (Delta::Usage(usage), Some(price)) => Delta::Usage(price.laid_on(usage)),
            (delta, _) => delta,
        }
    }
}

/// What was asked, as far as it says how to read the answer.
struct Asking {
    decoder: Box<dyn Decoder>,
    first_byte_by: Option<Instant>,
}

/// `None` when the time is up.
async fn within<T>(until: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match until {
        Some(until) => timeout_at(until, future).await.ok(),
        None => Some(future.await),
    }
}

/// A connection goes back to the pool only when its answer was read to the end, past the end mark.
async fn read_rest(mut response: Response) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    // A server that keeps sending or never closes loses its connection instead.
    let _ = tokio::time::timeout(REST_TIME, rest).await;
}

/// As much of the body as comes, up to `limit` bytes. What can't be read is no reason to hide the
/// answer's status.
pub(crate) async fn read(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
        if body.len() == limit {
            break;
        }
    }
    body
}

/// The pieces that are still to be sent.
struct Pieces {
    pieces: std::vec::IntoIter<Bytes>,
    left: u64,
}

impl Pieces {
    fn new(pieces: Vec<Bytes>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces: pieces.into_iter(), left }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.next();
        if let Some(piece) = &piece {
            self.left = self.left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
