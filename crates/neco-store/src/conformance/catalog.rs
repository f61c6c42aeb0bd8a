//! What every catalogue does.

use neco_proto::event::{Rewind, SessionStart, TitleSource};
use neco_proto::{AgentId, Event, EventBody, Message, MessageId, Seq, SessionId};
use uuid::Uuid;

use super::samples::{Samples, record, session_start};
use crate::catalog::{Catalog, SessionRecord};
use crate::error::StoreError;
use crate::log::{Durability, EventLog, lease_and_append};

pub(super) async fn find_by_prefix<S: Catalog>(store: &S) -> Result<(), StoreError> {
    // The first eight digits are random, so that other sessions do not have them.
    let common = SessionId::new().as_uuid().as_u128() << 96;
    let ids = [1u128, 2, 3].map(|last| SessionId::from(Uuid::from_u128(common | (0xabc << 80) | last)));
    for (id, created_ms) in ids.into_iter().zip([10, 30, 20]) {
        store.create(SessionRecord { created_ms, ..record(id, "/find") }).await?;
    }
    let [first, second, third] = ids;
    let simple = first.as_uuid().simple().to_string();
    let hyphenated = first.to_string();
    for cut in [9, 12, 14, 20, 31] {
        let prefix: String = simple.chars().take(cut).collect();
        assert_eq!(found(store, &prefix, 9).await?, [second, third, first], "{prefix}");
        let prefix: String = hyphenated.chars().take(cut).collect();
        assert_eq!(found(store, &prefix, 9).await?, [second, third, first], "{prefix}");
        assert_eq!(found(store, &prefix.to_uppercase(), 2).await?, [second, third], "{prefix}");
    }
    assert_eq!(found(store, &simple, 9).await?, [first]);
    assert_eq!(found(store, &hyphenated, 9).await?, [first]);
    assert_eq!(found(store, &hyphenated, 0).await?, []);
    for nonsense in ["xyz", "%", &format!("{simple}0"), "0123456789é"] {
        assert_eq!(found(store, nonsense, 9).await?, [], "{nonsense}");
    }
    assert_eq!(found(store, "", 2).await?.len(), 2);
    Ok(())
}

pub(super) async fn list_by_last_use<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let here = format!("/list/{}", SessionId::new());
    let all = [(); 3].map(|()| Samples::new(SessionId::new()));
    let elsewhere = Samples::new(SessionId::new());
    for samples in &all {
        store.create(record(samples.session, &here)).await?;
    }
    store.create(record(elsewhere.session, "/list")).await?;
    let [first, second, third] = &all;
    lease_and_append(store, second.chunks(1..=2), Durability::Now).await?;
    lease_and_append(store, first.chunks(1..=5), Durability::Now).await?;
    // An event that claims to be older than the session's last use does not move it back.
    lease_and_append(store, vec![first.chunk_at(6, 1)], Durability::Now).await?;

    let listed = store.list(Some(&here), 9).await?;
    let expected = [(first, 5, 6), (second, 2, 2), (third, 0, 0)].map(|(samples, latest, events)| SessionRecord {
        updated_ms: samples.ms(latest),
        events,
        ..record(samples.session, &here)
    });
    assert_eq!(listed, expected);
    assert_eq!(ids(&store.list(Some(&here), 2).await?), [first.session, second.session]);
    assert_eq!(store.list(Some("/list/nowhere"), 9).await?, []);

    let everywhere = store.list(None, usize::MAX).await?;
    assert!(everywhere.is_sorted_by_key(|record| std::cmp::Reverse((record.updated_ms, record.id))));
    assert!(ids(&everywhere).contains(&elsewhere.session) && ids(&everywhere).contains(&third.session));
    Ok(())
}

pub(super) async fn create_and_rename<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let session = SessionId::new();
    let new = SessionRecord { events: 7, title: "first title".to_owned(), ..record(session, "/named") };
    store.create(new.clone()).await?;
    let again = store.create(new.clone()).await;
    assert!(matches!(again, Err(StoreError::Write(_))), "{again:?}");
    store.set_title(session, "other 'title' \u{1f408}", TitleSource::Model).await?;
    let title = "other 'title' \u{1f408}".to_owned();
    let renamed = SessionRecord { events: 0, title, title_by: Some(TitleSource::Model), ..new };
    assert_eq!(store.find(&session.to_string(), 9).await?, std::slice::from_ref(&renamed));

    let folder = format!("1:2:{session}");
    assert_eq!(store.of_folder(&folder, 9).await?, []);
    store.set_folder(session, "/named/elsewhere", Some(&folder)).await?;
    let moved = SessionRecord { cwd: "/named/elsewhere".to_owned(), folder: Some(folder.clone()), ..renamed };
    assert_eq!(store.of_folder(&folder, 9).await?, std::slice::from_ref(&moved));
    assert_eq!(store.find(&session.to_string(), 9).await?, [moved]);

    let unknown = SessionId::new();
    let refused = Err(StoreError::UnknownSession { session: unknown });
    assert_eq!(store.set_title(unknown, "x", TitleSource::Person).await, refused);
    assert_eq!(store.set_folder(unknown, "/x", None).await, refused);
    assert_eq!(store.remove(unknown).await, refused);
    lease_and_append(store, vec![Samples::new(session).chunk(1)], Durability::Now).await
}

pub(super) async fn messages_are_counted<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = Samples::new(SessionId::new());
    let session = samples.session;
    let said = |seq, text: &str| samples.event(seq, EventBody::Message(Message::user(text)));
    store.create(record(session, "/said")).await?;
    assert_eq!(store.find(&session.to_string(), 9).await?[0].messages, Some(0));
    let neco = samples.event(3, EventBody::Message(Message::neco("be brief")));
    let to_child = Event { agent_id: AgentId::new(), ..said(4, "a task") };
    lease_and_append(store, vec![samples.chunk(1), said(2, "one"), neco, to_child], Durability::Now).await?;
    lease_and_append(store, vec![said(5, "two")], Durability::Soon).await?;
    lease_and_append(store, vec![Event { agent_id: AgentId::new(), ..said(6, "another task") }], Durability::Now)
        .await?;
    assert_eq!(store.find(&session.to_string(), 9).await?[0].messages, Some(2), "those that the person said");

    let back = Rewind { to: 4, conversation: true, ..rewind() };
    lease_and_append(store, vec![samples.event(7, EventBody::Rewind(back)), said(8, "three")], Durability::Now).await?;
    assert_eq!(counted(store, session).await?, 2, "one of them no longer counts");
    let files = Rewind { to: 7, conversation: false, ..rewind() };
    lease_and_append(store, vec![samples.event(9, EventBody::Rewind(files)), said(10, "four")], Durability::Now)
        .await?;
    assert_eq!(store.find(&session.to_string(), 9).await?[0].messages, Some(3), "it goes on from what was counted");

    let (early, late) = (Samples::new(SessionId::new()), Samples::new(SessionId::new()));
    store.fork(record(early.session, "/said"), session, 5).await?;
    store.fork(record(late.session, "/said"), session, 10).await?;
    assert_eq!((counted(store, early.session).await?, counted(store, late.session).await?), (2, 3));
    let first = store.read(early.session, 0, 1).await?.remove(0);
    let more = Event { agent_id: first.agent_id, ..early.event(6, EventBody::Message(Message::user("five"))) };
    lease_and_append(store, vec![more], Durability::Now).await?;
    assert_eq!(counted(store, early.session).await?, 3);
    assert_eq!(store.count_messages(vec![SessionId::new()]).await?.len(), 0);
    Ok(())
}

pub(super) async fn single_requests_are_marked<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let samples = Samples::new(SessionId::new());
    let session = samples.session;
    let start =
        |seq: Seq, single| samples.event(seq, EventBody::SessionStart(SessionStart { single, ..session_start() }));
    store.create(record(session, "/single")).await?;
    for (seq, single, marked) in [(1, true, true), (3, true, true), (5, false, false), (7, true, false)] {
        lease_and_append(store, vec![start(seq, single), samples.chunk(seq + 1)], Durability::Now).await?;
        assert_eq!(store.find(&session.to_string(), 9).await?[0].is_single, marked, "after event {seq}");
    }
    let fork = SessionId::new();
    store.fork(record(fork, "/single"), session, 2).await?;
    assert!(!store.find(&fork.to_string(), 9).await?[0].is_single, "somebody wants more of it");
    Ok(())
}

fn rewind() -> Rewind {
    Rewind {
        to: 0,
        message_id: MessageId::new(),
        conversation: false,
        files: None,
        undo: None,
        now: None,
        undoes: None,
        changed: 0,
        deleted: 0,
        by: None,
        reverted: Vec::new(),
        over_others: false,
    }
}

/// What is counted, which is known afterwards.
async fn counted<S: Catalog>(store: &S, session: SessionId) -> Result<u64, StoreError> {
    let counted = store.count_messages(vec![session]).await?.get(&session).copied();
    assert_eq!(store.find(&session.to_string(), 9).await?[0].messages, counted);
    Ok(counted.unwrap_or_default())
}

async fn found<S: Catalog>(store: &S, prefix: &str, limit: usize) -> Result<Vec<SessionId>, StoreError> {
    Ok(ids(&store.find(prefix, limit).await?))
}

fn ids(records: &[SessionRecord]) -> Vec<SessionId> {
    records.iter().map(|record| record.id).collect()
}
