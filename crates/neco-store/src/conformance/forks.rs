//! What every store does about sessions that begin as another one does.

use neco_proto::{Event, Seq, SessionId};

use super::samples::{Samples, record};
use crate::catalog::{Catalog, SessionRecord};
use crate::error::StoreError;
use crate::log::{Durability, EventLog, lease_and_append};

const ALL: usize = usize::MAX;

/// A session with the events 1 to `last`.
pub(super) async fn session_with<S: EventLog + Catalog>(store: &S, last: Seq) -> Result<Samples, StoreError> {
    let samples = Samples::new(SessionId::new());
    store.create(record(samples.session, "/forks")).await?;
    lease_and_append(store, samples.chunks(1..=last), Durability::Now).await?;
    Ok(samples)
}

/// A fork of `parent` with events of its own up to `last`, if that is beyond `at`.
pub(super) async fn fork_of<S: EventLog + Catalog>(
    store: &S,
    parent: SessionId,
    at: Seq,
    last: Seq,
) -> Result<Samples, StoreError> {
    let samples = Samples::new(SessionId::new());
    store.fork(record(samples.session, "/forks"), parent, at).await?;
    lease_and_append(store, samples.chunks(at + 1..=last), Durability::Now).await?;
    Ok(samples)
}

/// What the log of a fork is: events of others up to some event each, then its own.
pub(super) fn log_of(own: &Samples, parts: &[(&Samples, Seq)], last: Seq) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (samples, upto) in parts.iter().copied().chain([(own, last)]) {
        let next = events.len() as Seq + 1;
        events.extend(samples.chunks(next..=upto).into_iter().map(|event| Event { session_id: own.session, ..event }));
    }
    events
}

pub(super) async fn a_fork_begins_as_its_parent<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let parent = session_with(store, 10).await?;
    // Not written yet, but already there.
    lease_and_append(store, parent.chunks(11..=12), Durability::Soon).await?;
    let fork = Samples::new(SessionId::new());
    let asked = SessionRecord { title: "a fork".to_owned(), events: 99, ..record(fork.session, "/forks") };
    store.fork(asked.clone(), parent.session, 11).await?;
    assert_eq!(store.read(fork.session, 0, ALL).await?, log_of(&fork, &[(&parent, 11)], 11));
    store.count_messages(vec![fork.session]).await?;
    let expected = SessionRecord { events: 11, is_single: false, parent: Some((parent.session, 11)), ..asked };
    assert_eq!(store.find(&fork.session.to_string(), 9).await?, [expected]);

    let session = fork.session;
    for got in [1, 11, 13] {
        let outcome = lease_and_append(store, vec![fork.chunk(got)], Durability::Now).await;
        assert_eq!(outcome, Err(StoreError::Gap { session, expected: 12, got }));
    }
    lease_and_append(store, fork.chunks(12..=14), Durability::Soon).await?;
    lease_and_append(store, parent.chunks(13..=20), Durability::Now).await?;
    let whole = log_of(&fork, &[(&parent, 11)], 14);
    for (since, limit) in [(0, ALL), (0, 5), (9, 4), (11, 1), (12, ALL), (14, ALL)] {
        let expected: Vec<Event> = whole.iter().skip(since as usize).take(limit).cloned().collect();
        assert_eq!(store.read(session, since, limit).await?, expected, "since {since} limit {limit}");
    }
    assert_eq!(store.read(parent.session, 0, ALL).await?, parent.chunks(1..=20));
    Ok(())
}

pub(super) async fn forks_of_forks<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let first = session_with(store, 10).await?;
    let second = fork_of(store, first.session, 6, 9).await?;
    let third = fork_of(store, second.session, 8, 12).await?;
    // At a point that the parent itself has from its own parent.
    let fourth = fork_of(store, third.session, 4, 5).await?;
    let fifth = fork_of(store, fourth.session, 0, 2).await?;
    let sixth = fork_of(store, third.session, 7, 7).await?;
    for (fork, parts, last) in [
        (&second, vec![(&first, 6)], 9),
        (&third, vec![(&first, 6), (&second, 8)], 12),
        (&fourth, vec![(&first, 4)], 5),
        (&fifth, vec![], 2),
        (&sixth, vec![(&first, 6), (&second, 7)], 7),
    ] {
        assert_eq!(store.read(fork.session, 0, ALL).await?, log_of(fork, &parts, last));
        assert_eq!(
            store.read(fork.session, 3, 2).await?,
            log_of(fork, &parts, last).into_iter().skip(3).take(2).collect::<Vec<_>>()
        );
    }
    Ok(())
}

pub(super) async fn what_can_not_be_forked<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let parent = session_with(store, 3).await?;
    let new = || record(SessionId::new(), "/forks");
    let unknown = SessionId::new();
    let outcome = store.fork(new(), unknown, 0).await;
    assert_eq!(outcome, Err(StoreError::UnknownSession { session: unknown }));
    let outcome = store.fork(new(), parent.session, 4).await;
    assert!(matches!(outcome, Err(StoreError::Write(_))), "{outcome:?}");
    let outcome = store.fork(record(parent.session, "/forks"), parent.session, 1).await;
    assert!(matches!(outcome, Err(StoreError::Write(_))), "{outcome:?}");
    Ok(())
}
