//! What every event log does.

use std::sync::Arc;

use futures::StreamExt;
use futures::future::try_join_all;
use neco_proto::event::TitleSource;
use neco_proto::{Event, SessionId};

use super::samples::{Samples, record};
use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::log::{Durability, EventLog, lease_and_append};
use crate::said::messages_in;

const ALL: usize = usize::MAX;

pub(super) async fn every_type_round_trips<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    let events = samples.one_of_each_type();
    lease_and_append(store, events.clone(), Durability::Now).await?;
    assert_eq!(store.read(samples.session, 0, ALL).await?, events);
    Ok(())
}

pub(super) async fn big_strings_round_trip<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    let mut events = vec![samples.big(1), samples.chunk(2)];
    lease_and_append(store, events.clone(), Durability::Now).await?;
    let again: Vec<Event> = (3..=20).map(|seq| Event { seq, ..samples.big(1) }).collect();
    lease_and_append(store, again.clone(), Durability::Soon).await?;
    events.extend(again);
    assert_eq!(store.read(samples.session, 0, ALL).await?, events);
    store.flush().await?;
    assert_eq!(store.read(samples.session, 0, ALL).await?, events);
    Ok(())
}

pub(super) async fn only_the_next_event_is_taken<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    let session = samples.session;
    for durability in [Durability::Now, Durability::Soon] {
        let expected = u64::from(durability == Durability::Soon) + 1;
        for got in [0, expected - 1, expected + 1, u64::MAX] {
            let outcome = lease_and_append(store, vec![samples.chunk(got)], durability).await;
            assert_eq!(outcome, Err(StoreError::Gap { session, expected, got }));
        }
        lease_and_append(store, vec![samples.chunk(expected)], durability).await?;
    }
    lease_and_append(store, Vec::new(), Durability::Now).await?;
    assert_eq!(seqs(&store.read(session, 0, ALL).await?), [1, 2]);
    Ok(())
}

pub(super) async fn a_refused_append_leaves_nothing<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    let session = samples.session;
    let hole = lease_and_append(store, vec![samples.chunk(1), samples.chunk(3)], Durability::Now).await;
    assert_eq!(hole, Err(StoreError::Gap { session, expected: 2, got: 3 }));
    let other = created(store).await?;
    let mixed = lease_and_append(store, vec![samples.chunk(1), other.chunk(2)], Durability::Now).await;
    assert_eq!(mixed, Err(StoreError::NotLeased { session: other.session }));
    assert_eq!(store.read(session, 0, ALL).await?, []);
    assert_eq!(store.read(other.session, 0, ALL).await?, []);
    lease_and_append(store, vec![samples.chunk(1)], Durability::Now).await?;
    assert_eq!(seqs(&store.read(session, 0, ALL).await?), [1]);
    Ok(())
}

pub(super) async fn since_and_limit<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    let session = samples.session;
    lease_and_append(store, samples.chunks(1..=6), Durability::Now).await?;
    lease_and_append(store, samples.chunks(7..=10), Durability::Soon).await?;
    for (since, limit, expected) in [
        (0, 3, vec![1, 2, 3]),
        (4, 4, vec![5, 6, 7, 8]),
        (6, 1, vec![7]),
        (8, ALL, vec![9, 10]),
        (9, 0, vec![]),
        (10, ALL, vec![]),
        (u64::MAX, ALL, vec![]),
    ] {
        assert_eq!(seqs(&store.read(session, since, limit).await?), expected, "since {since} limit {limit}");
    }
    Ok(())
}

pub(super) async fn unknown_sessions<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = Samples::new(SessionId::new());
    let session = samples.session;
    assert_eq!(store.read(session, 0, ALL).await?, []);
    for durability in [Durability::Now, Durability::Soon] {
        let outcome = lease_and_append(store, vec![samples.chunk(1)], durability).await;
        assert_eq!(outcome, Err(StoreError::UnknownSession { session }));
    }
    store.flush().await
}

pub(super) async fn soon_is_readable_at_once<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    for seq in 1..=50 {
        lease_and_append(store, vec![samples.chunk(seq)], Durability::Soon).await?;
        let read = store.read(samples.session, 0, ALL).await?;
        assert_eq!(read, samples.chunks(1..=seq));
    }
    // Nobody asks for it to be written, and it is.
    store.written(samples.session, 50).await?;
    store.written(samples.session, 7).await?;
    store.flush().await?;
    assert_eq!(store.read(samples.session, 0, ALL).await?, samples.chunks(1..=50));
    Ok(())
}

pub(super) async fn sessions_side_by_side<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let all = try_join_all((0..8).map(|_| created(store))).await?;
    try_join_all(all.iter().enumerate().map(|(index, samples)| async move {
        for seq in 1..=40 {
            let durability = if (seq + index as u64).is_multiple_of(3) { Durability::Now } else { Durability::Soon };
            lease_and_append(store, vec![samples.chunk(seq)], durability).await?;
        }
        Ok::<(), StoreError>(())
    }))
    .await?;
    for samples in &all {
        assert_eq!(store.read(samples.session, 0, ALL).await?, samples.chunks(1..=40));
    }
    Ok(())
}

pub(super) async fn a_hundred_thousand_events<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    for start in (1..=100_000).step_by(100) {
        lease_and_append(store, samples.chunks(start..=start + 99), Durability::Soon).await?;
    }
    store.flush().await?;
    let mut last = 0;
    while let Some(event) = store.read(samples.session, last, 30_000).await?.last() {
        assert!(event.seq == 100_000 || event.seq == last + 30_000, "{} after {last}", event.seq);
        last = event.seq;
    }
    assert_eq!(last, 100_000);
    Ok(())
}

pub(super) async fn everything_remains<S: EventLog + Catalog>(open: &impl AsyncFn() -> S) -> Result<(), StoreError> {
    let store = open().await;
    let samples = created(&store).await?;
    let events = samples.one_of_each_type();
    let next = events.len() as u64 + 1;
    lease_and_append(&store, events.clone(), Durability::Now).await?;
    lease_and_append(&store, vec![samples.chunk(next)], Durability::Soon).await?;
    store.set_title(samples.session, "kept", TitleSource::Person).await?;
    drop(store);

    let store = open().await;
    let read = store.read(samples.session, 0, ALL).await?;
    assert_eq!(read, [events, vec![samples.chunk(next)]].concat());
    store.count_messages(vec![samples.session]).await?;
    let found = store.find(&samples.session.to_string(), 2).await?;
    let expected = crate::SessionRecord {
        title: "kept".to_owned(),
        title_by: Some(TitleSource::Person),
        updated_ms: samples.ms(next),
        events: next,
        messages: Some(messages_in(&read)),
        ..record(samples.session, "")
    };
    assert_eq!(found, [expected]);
    let outcome = lease_and_append(&store, vec![samples.chunk(next)], Durability::Soon).await;
    assert_eq!(outcome, Err(StoreError::Gap { session: samples.session, expected: next + 1, got: next }));
    lease_and_append(&store, vec![samples.chunk(next + 1)], Durability::Soon).await?;
    store.flush().await
}

pub(super) async fn one_writer_at_a_time<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = created(store).await?;
    let session = samples.session;
    assert!(!store.is_leased(session).await);
    let lease = store.lease(session).await?;
    assert!(store.is_leased(session).await);
    let second = store.lease(session).await.err();
    assert_eq!(second, Some(StoreError::InUse { session, pid: std::process::id() }));
    let other = store.lease(SessionId::new()).await?;
    let refused = store.append(&other, vec![samples.chunk(1)], Durability::Now).await;
    assert_eq!(refused, Err(StoreError::NotLeased { session }));
    store.append(&lease, vec![samples.chunk(1)], Durability::Now).await?;
    drop(lease);
    assert!(!store.is_leased(session).await);
    store.lease(session).await.map(drop)
}

/// What somebody waits for is shown later than what comes after it and is not waited for; nothing is missed for that.
pub(super) async fn what_is_awaited_keeps_its_place<S: EventLog + Catalog + 'static>(
    store: &Arc<S>,
) -> Result<(), StoreError> {
    let samples = created(store.as_ref()).await?;
    let lease = store.lease(samples.session).await?;
    let mut followed = Arc::clone(store).subscribe(samples.session, 0);
    for seq in (1..40).step_by(2) {
        let following = async {
            assert_eq!(followed.next().await, Some(Ok(samples.chunk(seq))));
            assert_eq!(followed.next().await, Some(Ok(samples.chunk(seq + 1))));
        };
        let now = store.append(&lease, vec![samples.chunk(seq)], Durability::Now);
        let soon = store.append(&lease, vec![samples.chunk(seq + 1)], Durability::Soon);
        let (now, soon, ()) = futures::join!(now, soon, following);
        now.and(soon)?;
    }
    Ok(())
}

/// Whoever follows sees what is there and then what comes, once and in order, from whichever store it comes.
pub(super) async fn a_log_can_be_followed<S: EventLog + Catalog + 'static>(
    (own, other): (Arc<S>, S),
) -> Result<(), StoreError> {
    let samples = created(own.as_ref()).await?;
    let session = samples.session;
    lease_and_append(own.as_ref(), samples.chunks(1..=700), Durability::Soon).await?;
    let mut followed = Arc::clone(&own).subscribe(session, 3);
    let lease = own.lease(session).await?;
    let appending = async {
        for first in (701..=3000).step_by(10) {
            own.append(&lease, samples.chunks(first..=first + 9), Durability::Soon).await?;
        }
        own.flush().await
    };
    let following = async {
        for seq in 4..=3000 {
            assert_eq!(followed.next().await, Some(Ok(samples.chunk(seq))));
        }
    };
    let (appended, ()) = futures::join!(appending, following);
    appended?;
    drop(lease);
    lease_and_append(&other, samples.chunks(3001..=3002), Durability::Now).await?;
    assert_eq!(followed.next().await, Some(Ok(samples.chunk(3001))));
    assert_eq!(followed.next().await, Some(Ok(samples.chunk(3002))));
    Ok(())
}

async fn created<S: Catalog>(store: &S) -> Result<Samples, StoreError> {
    let session = SessionId::new();
    store.create(record(session, "")).await?;
    Ok(Samples::new(session))
}

fn seqs(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}
