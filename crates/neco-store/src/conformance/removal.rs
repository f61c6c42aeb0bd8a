//! What every store does about sessions that are removed.

use neco_proto::SessionId;

use super::forks::{fork_of, log_of, session_with};
use super::samples::{Samples, record};
use crate::catalog::{Catalog, SessionRecord};
use crate::error::StoreError;
use crate::log::{Durability, EventLog, lease_and_append};
use crate::size::Prune;

const ALL: usize = usize::MAX;

pub(super) async fn nothing_is_left<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let before = store.sizes().await?;
    let samples = session_with(store, 5).await?;
    let session = samples.session;
    lease_and_append(store, vec![samples.big(6)], Durability::Now).await?;
    let during = store.sizes().await?;
    assert_eq!((during.sessions, during.events), (before.sessions + 1, before.events + 6));
    store.remove(session).await?;
    let unknown = StoreError::UnknownSession { session };
    assert_eq!(store.read(session, 0, ALL).await?, []);
    assert_eq!(store.find(&session.to_string(), 9).await?, []);
    assert_eq!(store.remove(session).await, Err(unknown.clone()));
    for durability in [Durability::Now, Durability::Soon] {
        assert_eq!(lease_and_append(store, vec![samples.chunk(7)], durability).await, Err(unknown.clone()));
    }
    let after = store.sizes().await?;
    assert_eq!((after.sessions, after.events, after.blobs), (before.sessions, before.events, before.blobs));
    // Its id is free again.
    store.create(record(session, "/removed")).await?;
    lease_and_append(store, vec![samples.chunk(1)], Durability::Now).await?;
    assert_eq!(store.read(session, 0, ALL).await?, samples.chunks(1..=1));
    store.remove(session).await
}

pub(super) async fn forks_keep_what_they_need<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let before = store.sizes().await?;
    let parent = session_with(store, 10).await?;
    let big = parent.big(11);
    lease_and_append(store, vec![big.clone()], Durability::Now).await?;
    let early = fork_of(store, parent.session, 4, 6).await?;
    let late = fork_of(store, parent.session, 11, 12).await?;
    assert_eq!(store.read(parent.session, 10, ALL).await?, std::slice::from_ref(&big));
    let all = store.bytes_of(vec![parent.session, early.session, late.session]).await?;
    assert!(all.len() == 3 && all[&parent.session] > all[&early.session] && all[&early.session] > 0, "{all:?}");
    let alone = store.bytes_of(vec![parent.session]).await?[&parent.session];
    assert!(alone < all[&parent.session] / 2, "forks that stay need nearly all of it: {alone} of {all:?}");
    store.remove(parent.session).await?;
    assert_eq!(store.find(&parent.session.to_string(), 9).await?, []);
    assert_eq!(store.read(parent.session, 0, ALL).await?, []);
    assert_eq!(store.read(early.session, 0, ALL).await?, log_of(&early, &[(&parent, 4)], 6));
    let read = store.read(late.session, 0, ALL).await?;
    assert_eq!(read.get(10).map(|event| &event.body), Some(&big.body));
    assert_eq!(read.len(), 12);
    let sizes = store.sizes().await?;
    assert_eq!((sizes.kept_for_forks, sizes.events), (before.kept_for_forks + 1, before.events + 14));

    store.remove(late.session).await?;
    assert_eq!(store.read(early.session, 0, ALL).await?, log_of(&early, &[(&parent, 4)], 6));
    let sizes = store.sizes().await?;
    let expected = (before.kept_for_forks + 1, before.events + 6, before.blobs);
    assert_eq!((sizes.kept_for_forks, sizes.events, sizes.blobs), expected);
    store.remove(early.session).await?;
    assert_eq!(store.sizes().await?.events, before.events);
    assert_eq!(store.sizes().await?.kept_for_forks, before.kept_for_forks);
    Ok(())
}

pub(super) async fn a_chain_of_forks_goes_with_its_last<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let before = store.sizes().await?;
    let first = session_with(store, 10).await?;
    let second = fork_of(store, first.session, 8, 12).await?;
    let third = fork_of(store, second.session, 11, 15).await?;
    // It has nothing of the second one, though it was made there.
    let fourth = fork_of(store, second.session, 5, 6).await?;
    store.remove(second.session).await?;
    store.remove(first.session).await?;
    assert_eq!(store.ancestors(third.session).await?, [second.session, first.session], "removed ones too");
    let kept = store.kept().await?;
    assert!([&first, &second, &third, &fourth].iter().all(|one| kept.contains(&one.session)));
    assert_eq!(store.read(third.session, 0, ALL).await?, log_of(&third, &[(&first, 8), (&second, 11)], 15));
    assert_eq!(store.read(fourth.session, 0, ALL).await?, log_of(&fourth, &[(&first, 5)], 6));
    store.remove(third.session).await?;
    assert!(!store.kept().await?.contains(&second.session), "nobody needs it any more");
    assert_eq!(store.read(fourth.session, 0, ALL).await?, log_of(&fourth, &[(&first, 5)], 6));
    assert_eq!(store.sizes().await?.events, before.events + 6);
    store.remove(fourth.session).await?;
    let after = store.sizes().await?;
    assert_eq!((after.events, after.kept_for_forks), (before.events, before.kept_for_forks));
    Ok(())
}

pub(super) async fn old_sessions_are_pruned<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    // Older than those of all other checks.
    let all = [1, 2, 3, 4].map(|updated_ms| SessionRecord { updated_ms, ..record(SessionId::new(), "/old") });
    for new in &all {
        store.create(new.clone()).await?;
    }
    let [first, second, third, fourth] = &all;
    assert_eq!(store.prune(Prune::default()).await?.sessions, []);
    let asked = Prune { unused_since_ms: Some(4), spare: vec![second.id], ..Prune::default() };
    let dry = store.prune(Prune { dry_run: true, ..asked.clone() }).await?;
    assert_eq!(dry.sessions, [third.clone(), first.clone()]);
    assert_eq!(store.list(Some("/old"), 9).await?.len(), 4);
    let kept = store.prune(Prune { keep_newest: Some(1), dry_run: true, ..asked.clone() }).await?;
    assert_eq!(kept.sessions, [third.clone(), first.clone()]);
    let kept = store.prune(Prune { keep_newest: Some(3), dry_run: true, ..asked.clone() }).await?;
    assert_eq!(kept.sessions, std::slice::from_ref(first), "the newest three of its folder stay");

    let here = Prune { cwd: Some("/old".to_owned()), keep_newest: Some(3), dry_run: true, ..Prune::default() };
    assert_eq!(store.prune(here).await?.sessions, std::slice::from_ref(first), "the newest of a folder");
    let only = Prune { only: Some(vec![first.id, fourth.id]), dry_run: true, ..asked.clone() };
    assert_eq!(store.prune(only).await?.sessions, std::slice::from_ref(first), "no others than those agreed to");
    assert_eq!(store.prune(asked).await?.sessions, dry.sessions);
    assert_eq!(store.list(Some("/old"), 9).await?, [fourth.clone(), second.clone()]);
    let samples = Samples::new(second.id);
    lease_and_append(store, samples.chunks(1..=2), Durability::Now).await?;
    store.remove(second.id).await?;
    store.remove(fourth.id).await
}
