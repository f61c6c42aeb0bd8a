//! The journal of one session: gives every event its place, keeps it, and shows it to every window.
//!
//! Windows see what only shows how the work goes on (`EventBody::is_passing`) as soon as it is in the log's queue,
//! and everything else when it is on the disk: what a program may act on is there after a crash too. Nobody writes
//! for that: the agents commit what matters, and the rest is written soon anyway.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use neco_agent::{EventSink, SinkError};
use neco_proto::{AgentId, ClientError, Event, EventBody, EventStream, Seq, SessionId, TurnId};
use neco_safety::secrets::Redactor;
use neco_store::{Durability, EventLog, Lease, StoreError};
use tokio::sync::watch;

use crate::fold::Standing;
use crate::logged;
use crate::redacted::Redactions;

/// How many events are read at a time when nothing more will come.
const PAGE: usize = 512;

/// The journal of one session.
pub struct Journal {
    session: SessionId,
    log: Arc<dyn EventLog>,
    /// The right to write the session, while whoever runs it has it.
    lease: Weak<Lease>,
    /// Held while an event gets its place and enters the log's queue, so that both have one order.
    order: tokio::sync::Mutex<Order>,
    standing: Mutex<Standing>,
    /// Who takes note of every event while it gets its place.
    observer: OnceLock<Observer>,
    /// The last event at which an agent came to rest, or the session went back.
    rests: watch::Sender<Seq>,
    /// How the journal ended, for windows that begin to watch afterwards too.
    end: watch::Sender<Option<Result<(), ClientError>>>,
}

/// Takes note of an event. It must do next to nothing: whoever records waits for it.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

struct Order {
    last: Seq,
    redactions: Redactions,
}

impl Journal {
    /// A journal that goes on where `standing` ends, without the secrets that `redactor` finds. Nothing is recorded
    /// any more once `lease` is given back.
    pub fn new(lease: &Arc<Lease>, log: Arc<dyn EventLog>, standing: Standing, redactor: Redactor) -> Self {
        let order = Order { last: standing.last_seq, redactions: Redactions::new(redactor) };
        Self {
            session: lease.session(),
            log,
            lease: Arc::downgrade(lease),
            order: tokio::sync::Mutex::new(order),
            standing: Mutex::new(standing),
            observer: OnceLock::new(),
            rests: watch::Sender::default(),
            end: watch::Sender::default(),
        }
    }

    /// From now on every event is shown to `observer`; the first one stays.
    pub fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    /// Follows at which event an agent came to rest, or the session went back.
    pub fn rests(&self) -> watch::Receiver<Seq> {
        self.rests.subscribe()
    }

    /// How the session stands.
    pub fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The session went back: it stands as `standing` now.
    pub fn stand(&self, standing: Standing) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    /// Records an event; on the disk a little later.
    pub async fn emit(&self, agent: AgentId, turn: Option<TurnId>, body: EventBody) -> Result<(), StoreError> {
        self.tell_failure(self.enter([(agent, turn, body)]).await)
    }

    /// Records an event; on the disk, with everything before it, when ready.
    pub async fn commit(&self, agent: AgentId, turn: Option<TurnId>, body: EventBody) -> Result<(), StoreError> {
        self.emit(agent, turn, body).await?;
        self.lasts().await
    }

    /// Records events that belong together: a crash leaves all of them or none. On the disk, with everything
    /// before them, when ready.
    pub async fn commit_all(&self, events: Vec<(AgentId, EventBody)>) -> Result<(), StoreError> {
        self.emit_all(events).await?;
        self.lasts().await
    }

    /// Ready when everything recorded so far is on the disk. Where that fails nothing more is recorded.
    pub async fn lasts(&self) -> Result<(), StoreError> {
        self.tell_failure(self.flush().await)
    }

    /// Records events that belong together; on the disk a little later.
    pub async fn emit_all(&self, events: Vec<(AgentId, EventBody)>) -> Result<(), StoreError> {
        self.tell_failure(self.enter(events.into_iter().map(|(agent, body)| (agent, None, body))).await)
    }

    /// Ready when everything recorded so far is on the disk.
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
                events.push(Event::new(last, ts, session_id, agent, turn, body));
            }
        }
        if events.is_empty() {
            return Ok(());
        }
        let lease = self.lease.upgrade().ok_or(StoreError::NotLeased { session: self.session })?;
        let appended = events.clone();
        self.log.append(&lease, events, Durability::Soon).await?;
        order.last = last;
        for event in &appended {
            logged::event(event);
            self.standing.lock().unwrap_or_else(PoisonError::into_inner).apply(event);
            if let Some(observer) = self.observer.get() {
                observer(event);
            }
            if matches!(event.body, EventBody::AgentComplete(_) | EventBody::Rewind(_)) {
                self.rests.send_replace(event.seq);
            }
        }
        Ok(())
    }

    /// Nothing more will be recorded: every window's stream ends.
    pub fn close(&self) {
        self.end(Ok(()));
    }

    fn tell_failure(&self, result: Result<(), StoreError>) -> Result<(), StoreError> {
        if let Err(error) = &result {
            self.end(Err(error.clone().into()));
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
    }

    /// All events after `since`: first from the log, then as they happen.
    pub fn events(&self, since: Seq) -> EventStream {
        let reader = Reader {
            session: self.session,
            log: Arc::clone(&self.log),
            followed: Some(Arc::clone(&self.log).subscribe(self.session, since)),
            end: self.end.subscribe(),
            seen: since,
            rest: Vec::new().into_iter(),
        };
        Box::pin(futures::stream::unfold(Some(reader), |reader| async move {
            let mut reader = reader?;
            match reader.next().await {
                Ok(Some(event)) => Some((Ok(event), Some(reader))),
                Ok(None) => {
                    let failed = reader.end.borrow().clone().and_then(Result::err);
                    failed.map(|error| (Err(error), None))
                }
                Err(error) => Some((Err(error.into()), None)),
            }
        }))
    }
}

/// A window's place in the journal.
struct Reader {
    session: SessionId,
    log: Arc<dyn EventLog>,
    /// Nothing after the end of the journal, when nothing more comes.
    followed: Option<BoxStream<'static, Result<Event, StoreError>>>,
    end: watch::Receiver<Option<Result<(), ClientError>>>,
    seen: Seq,
    /// What is read of the log after the end of the journal.
    rest: std::vec::IntoIter<Event>,
}

impl Reader {
    /// The event after the last one that was seen, as soon as it may be shown; none when there will be no more.
    async fn next(&mut self) -> Result<Option<Event>, StoreError> {
        let Some(event) = self.next_recorded().await? else { return Ok(None) };
        self.until_it_lasts(&event).await?;
        self.seen = event.seq;
        Ok(Some(event))
    }

    async fn next_recorded(&mut self) -> Result<Option<Event>, StoreError> {
        if let Some(followed) = &mut self.followed {
            tokio::select! {
                biased;
                event = followed.next() => return event.transpose(),
                () = until_ended(&mut self.end) => self.followed = None,
            }
        }
        if self.rest.as_slice().is_empty() {
            self.rest = self.log.read(self.session, self.seen, PAGE).await?.into_iter();
        }
        Ok(self.rest.next())
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
}

/// A journal that is gone has ended too.
async fn until_ended(end: &mut watch::Receiver<Option<Result<(), ClientError>>>) {
    let _ = end.wait_for(Option::is_some).await;
}

/// One agent's end of the journal.
pub struct AgentSink {
    pub journal: Arc<Journal>,
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
        fn lease(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
            self.store.lease(session)
        }

        fn is_leased(&self, session: SessionId) -> BoxFuture<'_, bool> {
            self.store.is_leased(session)
        }

        fn append<'a>(
            &'a self,
            lease: &'a Lease,
            events: Vec<Event>,
            durability: Durability,
        ) -> BoxFuture<'a, Result<(), StoreError>> {
            self.store.append(lease, events, durability)
        }

        fn subscribe(self: Arc<Self>, session: SessionId, since: Seq) -> BoxStream<'static, Result<Event, StoreError>> {
            Arc::new(self.store.clone()).subscribe(session, since)
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

    async fn journal(is_full: bool) -> (Journal, Arc<Lagging>, Arc<Lease>) {
        let log = Arc::new(Lagging { store: MemoryStore::new(), on_disk: watch::Sender::default(), is_full });
        let session = SessionId::new();
        log.store.create(SessionRecord::new(session, "/project", 0)).await.unwrap();
        let lease = Arc::new(log.lease(session).await.unwrap());
        let journal = Journal::new(&lease, log.clone(), Standing::default(), Redactor::default());
        (journal, log, lease)
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
            let (journal, log, _lease) = journal(false).await;
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
            let (journal, _log, _lease) = journal(is_full).await;
            let events = journal.events(0);
            emit(&journal, EventBody::Message(Message::user("a"))).await;
            journal.close();
            let events: Vec<_> = events.collect().await;
            assert_eq!(events.iter().filter(|event| event.is_ok()).count(), shown);
            assert_eq!(events.iter().filter(|event| event.is_err()).count(), 1 - shown);
        }
    }
}
