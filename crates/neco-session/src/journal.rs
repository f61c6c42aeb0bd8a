//! The journal of one session: gives every event its place, keeps it, and shows it to every window.
//!
//! Windows see an event as soon as it is in the log's queue, which may be one flush before it is on the disk;
//! whoever records with `commit` does nothing about it before it is there.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::future::BoxFuture;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use neco_agent::{EventSink, SinkError};
use neco_proto::{AgentId, ClientError, Event, EventBody, EventStream, Seq, SessionId, TurnId};
use neco_safety::secrets::Redactor;
use neco_store::{Durability, EventLog, StoreError};
use tokio::sync::broadcast;

use crate::fold::Standing;
use crate::redacted::Redactions;

/// Live events that a slow window may lag behind before it is served from the log again.
const LIVE: usize = 1024;

/// How many events a window is served from the log at a time.
const PAGE: usize = 512;

/// The journal of one session.
pub struct Journal {
    session: SessionId,
    log: Arc<dyn EventLog>,
    /// Held while an event gets its place and enters the log's queue, so that both have one order.
    order: tokio::sync::Mutex<Order>,
    standing: Mutex<Standing>,
    live: broadcast::Sender<Live>,
    /// Who takes note of every event while it gets its place.
    observer: OnceLock<Observer>,
    /// How the journal ended, for windows that begin to watch afterwards too.
    end: Arc<OnceLock<Result<(), ClientError>>>,
}

/// Takes note of an event. It must do next to nothing: whoever records waits for it.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// What has one order.
struct Order {
    last: Seq,
    redactions: Redactions,
}

#[derive(Clone)]
enum Live {
    Event(Arc<Event>),
    Ended,
}

impl Journal {
    /// A journal that goes on where `standing` ends, without the secrets that `redactor` finds.
    #[must_use]
    pub fn new(session: SessionId, log: Arc<dyn EventLog>, standing: Standing, redactor: Redactor) -> Self {
        let (live, _) = broadcast::channel(LIVE);
        let order = Order { last: standing.last_seq, redactions: Redactions::new(redactor) };
        Self {
            session,
            log,
            order: tokio::sync::Mutex::new(order),
            standing: Mutex::new(standing),
            live,
            observer: OnceLock::new(),
            end: Arc::default(),
        }
    }

    /// From now on every event is shown to `observer`; the first one stays.
    pub fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    /// How the session stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The session went back: it stands as `standing` now.
    pub fn stand(&self, standing: Standing) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    /// Records an event; on the disk a little later.
    ///
    /// # Errors
    /// When the log can't be written.
    pub async fn emit(&self, agent: AgentId, turn: Option<TurnId>, body: EventBody) -> Result<(), StoreError> {
        let result = self.enter([(agent, turn, body)]).await;
        self.tell_failure(result)
    }

    /// Records an event; on the disk, with everything before it, when ready.
    ///
    /// # Errors
    /// When the log can't be written.
    pub async fn commit(&self, agent: AgentId, turn: Option<TurnId>, body: EventBody) -> Result<(), StoreError> {
        let result = match self.enter([(agent, turn, body)]).await {
            Ok(()) => self.log.commit(self.session).await,
            Err(error) => Err(error),
        };
        self.tell_failure(result)
    }

    /// Records events that belong together: a crash leaves all of them or none. On the disk, with everything
    /// before them, when ready.
    ///
    /// # Errors
    /// When the log can't be written.
    pub async fn commit_all(&self, events: Vec<(AgentId, EventBody)>) -> Result<(), StoreError> {
        let result = match self.enter(events.into_iter().map(|(agent, body)| (agent, None, body))).await {
            Ok(()) => self.log.commit(self.session).await,
            Err(error) => Err(error),
        };
        self.tell_failure(result)
    }

    /// Records events that belong together; on the disk a little later.
    ///
    /// # Errors
    /// When the log can't be written.
    pub async fn emit_all(&self, events: Vec<(AgentId, EventBody)>) -> Result<(), StoreError> {
        let result = self.enter(events.into_iter().map(|(agent, body)| (agent, None, body))).await;
        self.tell_failure(result)
    }

    /// Ready when everything recorded so far is on the disk.
    ///
    /// # Errors
    /// When the log can't be written.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.log.commit(self.session).await
    }

    /// All of them with one append.
    async fn enter(
        &self,
        bodies: impl IntoIterator<Item = (AgentId, Option<TurnId>, EventBody)>,
    ) -> Result<(), StoreError> {
        let mut order = self.order.lock().await;
        let (mut events, mut last) = (Vec::new(), order.last);
        for (agent, turn, body) in bodies {
            for (turn, body) in order.redactions.of(agent, turn, body) {
                last += 1;
                let (ts, session_id) = (now(), self.session);
                events.push(Event { seq: last, ts, session_id, agent_id: agent, turn_id: turn, body });
            }
        }
        if events.is_empty() {
            return Ok(());
        }
        // Made whether or not anybody watches now: who begins to watch between the append and the
        // sending must find the event in one of the two.
        let shown: Vec<Arc<Event>> = events.iter().cloned().map(Arc::new).collect();
        self.log.append(events, Durability::Soon).await?;
        order.last = last;
        for event in shown {
            self.show(event);
        }
        Ok(())
    }

    fn show(&self, event: Arc<Event>) {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).apply(&event);
        if let Some(observer) = self.observer.get() {
            observer(&event);
        }
        // No receiver is fine: the log has it.
        let _ = self.live.send(Live::Event(event));
    }

    /// Nothing more will be recorded: every window's stream ends.
    pub fn close(&self) {
        self.end(Ok(()));
    }

    fn tell_failure(&self, result: Result<(), StoreError>) -> Result<(), StoreError> {
        if let Err(error) = &result {
            self.end(Err(ClientError::Failed { code: error.code(), message: error.to_string() }));
        }
        result
    }

    /// The first end counts.
    fn end(&self, end: Result<(), ClientError>) {
        let _ = self.end.set(end);
        let _ = self.live.send(Live::Ended);
    }

    /// All events after `since`: first from the log, then as they happen.
    #[must_use]
    pub fn events(&self, since: Seq) -> EventStream {
        let reader = Reader {
            session: self.session,
            log: Arc::clone(&self.log),
            live: self.live.subscribe(),
            end: Arc::clone(&self.end),
            seen: since,
            page: Vec::new().into_iter(),
            catching_up: true,
            ended: false,
        };
        Box::pin(futures::stream::unfold(reader, |mut reader| async move {
            reader.next().await.map(|event| (event, reader))
        }))
    }
}

/// A window's place in the journal.
struct Reader {
    session: SessionId,
    log: Arc<dyn EventLog>,
    live: broadcast::Receiver<Live>,
    end: Arc<OnceLock<Result<(), ClientError>>>,
    seen: Seq,
    page: std::vec::IntoIter<Event>,
    catching_up: bool,
    ended: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        while !self.ended {
            if let Some(event) = self.page.next() {
                self.seen = event.seq;
                return Some(Ok(event));
            }
            if self.catching_up {
                if let Err(error) = self.turn_page().await {
                    self.ended = true;
                    return Some(Err(error));
                }
                continue;
            }
            match self.next_live().await {
                Ok(Live::Event(event)) if event.seq <= self.seen => {}
                Ok(Live::Event(event)) if event.seq == self.seen + 1 => {
                    self.seen = event.seq;
                    return Some(Ok(Arc::unwrap_or_clone(event)));
                }
                Ok(Live::Event(_)) | Err(broadcast::error::RecvError::Lagged(_)) => self.catching_up = true,
                Ok(Live::Ended) | Err(broadcast::error::RecvError::Closed) => {
                    self.ended = true;
                    return self.end.get().cloned().and_then(Result::err).map(Err);
                }
            }
        }
        None
    }

    /// The next live word. Who begins to watch after the end is told of it here.
    async fn next_live(&mut self) -> Result<Live, broadcast::error::RecvError> {
        use broadcast::error::{RecvError, TryRecvError};
        match self.live.try_recv() {
            Ok(live) => Ok(live),
            Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) if self.end.get().is_some() => Ok(Live::Ended),
            Err(TryRecvError::Empty) => self.live.recv().await,
        }
    }

    async fn turn_page(&mut self) -> Result<(), ClientError> {
        let failed = |error: StoreError| ClientError::Failed { code: error.code(), message: error.to_string() };
        let page = self.log.read(self.session, self.seen, PAGE).await.map_err(failed)?;
        self.catching_up = page.len() == PAGE;
        self.page = page.into_iter();
        Ok(())
    }
}

/// One agent's end of the journal.
pub struct AgentSink {
    /// The journal.
    pub journal: Arc<Journal>,
    /// The agent.
    pub agent: AgentId,
}

impl EventSink for AgentSink {
    fn emit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move { self.journal.emit(self.agent, turn, body).await.map_err(sink_error) })
    }

    fn commit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move { self.journal.commit(self.agent, turn, body).await.map_err(sink_error) })
    }
}

fn sink_error(error: StoreError) -> SinkError {
    SinkError { code: error.code(), message: error.to_string() }
}

/// Milliseconds are enough, and the text form stays short.
fn now() -> Timestamp {
    let now = Timestamp::now();
    let to_millisecond = TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Trunc);
    now.round(to_millisecond).unwrap_or(now)
}
