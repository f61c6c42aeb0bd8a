//! What every catalogue does.

use neco_proto::SessionId;
use neco_proto::event::TitleSource;
use uuid::Uuid;

use super::samples::{Samples, record};
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

async fn found<S: Catalog>(store: &S, prefix: &str, limit: usize) -> Result<Vec<SessionId>, StoreError> {
    Ok(ids(&store.find(prefix, limit).await?))
}

fn ids(records: &[SessionRecord]) -> Vec<SessionId> {
    records.iter().map(|record| record.id).collect()
}
