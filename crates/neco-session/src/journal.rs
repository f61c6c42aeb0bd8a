//! The journal of one session: gives every event its place, keeps it, and shows it to every window.
//!
//! Windows see what only shows how the work goes on (`EventBody::is_passing`) as soon as it is in the log's queue,
//! and everything else when it is on the disk: what a program may act on is there after a crash too. Nobody writes
//! for that: the agents commit what matters, and the rest is written soon anyway.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::future::BoxFuture;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use neco_agent::{EventSink, SinkError};
use neco_proto::{AgentId, ClientError, Event, EventBody, EventStream, Seq, SessionId, TurnId};
use neco_safety::secrets::Redactor;
use neco_store::{Durability, EventLog, StoreError};
use tokio::sync::{broadcast, watch};

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
    end: watch::Sender<Option<Result<(), ClientError>>>,
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
            end: watch::Sender::default(),
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
                events.push(Event { seq: last, ts, session_id, agent_id: agent, turn_id: turn, needs: None, body });
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
            self.end(Err(failed(error.clone())));
        }
        result
    }

    /// The first end counts.
    fn end(&self, end: Result<(), ClientError>) {
        self.end.send_if_modified(|slot| {
            let is_first = slot.is_none();
            slot.get_or_insert(end);
            is_first
        });
        let _ = self.live.send(Live::Ended);
    }

    /// All events after `since`: first from the log, then as they happen.
    #[must_use]
    pub fn events(&self, since: Seq) -> EventStream {
        let reader = Reader {
            session: self.session,
            log: Arc::clone(&self.log),
            live: self.live.subscribe(),
            end: self.end.subscribe(),
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
    end: watch::Receiver<Option<Result<(), ClientError>>>,
    seen: Seq,
    page: std::vec::IntoIter<Event>,
    catching_up: bool,
    ended: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        if self.ended {
            return None;
        }
        let next = match self.next_recorded().await {
            Ok(Some(event)) => self.until_it_lasts(&event).await.map(|()| Some(event)),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match next {
            Ok(Some(event)) => {
                self.seen = event.seq;
                Some(Ok(event))
            }
            Ok(None) => {
                self.ended = true;
                self.end.borrow().clone().and_then(Result::err).map(Err)
            }
            Err(error) => {
                self.ended = true;
                Some(Err(failed(error)))
            }
        }
    }

    /// The event after the last one that was seen; none when there will be no more.
    async fn next_recorded(&mut self) -> Result<Option<Event>, StoreError> {
        loop {
            if let Some(event) = self.page.next() {
                return Ok(Some(event));
            }
            if self.catching_up {
                self.turn_page().await?;
                continue;
            }
            match self.next_live().await {
                Ok(Live::Event(event)) if event.seq <= self.seen => {}
                Ok(Live::Event(event)) if event.seq == self.seen + 1 => return Ok(Some(Arc::unwrap_or_clone(event))),
                Ok(Live::Event(_)) | Err(broadcast::error::RecvError::Lagged(_)) => self.catching_up = true,
                Ok(Live::Ended) | Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }

    /// Waits until `event` is on the disk, if it is one to act on. After the end of the journal nobody writes
    /// by themselves what is left.
    async fn until_it_lasts(&mut self, event: &Event) -> Result<(), StoreError> {
        if event.body.is_passing() {
            return Ok(());
        }
        tokio::select! {
            biased;
            written = self.log.written(self.session, event.seq) => written,
            () = until_ended(&mut self.end) => self.log.commit(self.session).await,
        }
    }

    /// The next live word. Who begins to watch after the end is told of it here.
    async fn next_live(&mut self) -> Result<Live, broadcast::error::RecvError> {
        use broadcast::error::{RecvError, TryRecvError};
        match self.live.try_recv() {
            Ok(live) => Ok(live),
            Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) if self.end.borrow().is_some() => Ok(Live::Ended),
            Err(TryRecvError::Empty) => self.live.recv().await,
        }
    }

    async fn turn_page(&mut self) -> Result<(), StoreError> {
        let page = self.log.read(self.session, self.seen, PAGE).await?;
        self.catching_up = page.len() == PAGE;
        self.page = page.into_iter();
        Ok(())
    }
}

/// A journal that is gone has ended too.
async fn until_ended(end: &mut watch::Receiver<Option<Result<(), ClientError>>>) {
    let _ = end.wait_for(Option::is_some).await;
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

fn failed(error: StoreError) -> ClientError {
    ClientError::Failed { code: error.code(), message: error.to_string() }
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

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, StreamExt as _};
    use neco_proto::Message;
    use neco_proto::event::TurnStart;
    use neco_store::{Catalog as _, MemoryStore, SessionRecord};

    use super::*;

    /// A log whose disk has everything up to a number.
    struct Lagging {
        store: MemoryStore,
        on_disk: watch::Sender<Seq>,
        is_full: bool,
    }

    impl EventLog for Lagging {
        fn append(&self, events: Vec<Event>, durability: Durability) -> BoxFuture<'_, Result<(), StoreError>> {
            self.store.append(events, durability)
        }

        fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
            self.store.read(session, since, limit)
        }

        fn commit(&self, _: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
            self.on_disk.send_replace(if self.is_full { 0 } else { Seq::MAX });
            let full = Err(StoreError::Write("the disk is full".to_owned()));
            Box::pin(std::future::ready(if self.is_full { full } else { Ok(()) }))
        }

        fn written(&self, _: SessionId, last: Seq) -> BoxFuture<'_, Result<(), StoreError>> {
            let mut on_disk = self.on_disk.subscribe();
            Box::pin(
                async move { on_disk.wait_for(|seq| *seq >= last).await.map(drop).map_err(|_| StoreError::Closed) },
            )
        }

        fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
            Box::pin(std::future::ready(Ok(())))
        }
    }

    async fn journal(is_full: bool) -> (Journal, Arc<Lagging>) {
        let log = Arc::new(Lagging { store: MemoryStore::new(), on_disk: watch::Sender::default(), is_full });
        let session = SessionId::new();
        log.store.create(SessionRecord::new(session, "/project", 0)).await.unwrap();
        let journal = Journal::new(session, log.clone(), Standing::default(), Redactor::default());
        (journal, log)
    }

    /// What only shows how the work goes on. Text that streams in may be held for the sake of secrets in it.
    fn passing() -> EventBody {
        EventBody::TurnStart(TurnStart { iteration: 1, model: "a/b".to_owned() })
    }

    async fn emit(journal: &Journal, body: EventBody) {
        journal.emit(AgentId::new(), None, body).await.unwrap();
    }

    #[tokio::test]
    async fn what_can_be_acted_on_is_shown_when_it_lasts_and_what_follows_waits_with_it() {
        for late in [false, true] {
            let (journal, log) = journal(false).await;
            let mut early = journal.events(0);
            emit(&journal, passing()).await;
            assert_eq!(early.next().await.unwrap().unwrap().seq, 1);
            emit(&journal, EventBody::Message(Message::user("b"))).await;
            emit(&journal, passing()).await;
            // Whoever looks later finds it in the log, and waits for the same.
            let mut events = if late { journal.events(1) } else { early };
            assert!(events.next().now_or_never().is_none());
            log.on_disk.send_replace(2);
            assert_eq!(events.next().await.unwrap().unwrap().seq, 2);
            assert_eq!(events.next().await.unwrap().unwrap().seq, 3);
        }
    }

    #[tokio::test]
    async fn at_the_end_nothing_is_waited_for_that_is_never_written() {
        for (is_full, shown) in [(false, 1), (true, 0)] {
            let (journal, _log) = journal(is_full).await;
            let events = journal.events(0);
            emit(&journal, EventBody::Message(Message::user("a"))).await;
            journal.close();
            let events: Vec<_> = events.collect().await;
            assert_eq!(events.iter().filter(|event| event.is_ok()).count(), shown);
            assert_eq!(events.iter().filter(|event| event.is_err()).count(), 1 - shown);
        }
    }
}
