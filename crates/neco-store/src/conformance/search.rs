//! What every store finds.

use neco_proto::app::sessions::FoundRole;
use neco_proto::event::{CallStatus, TitleSource, ToolCallEnd};
use neco_proto::{CallId, Event, EventBody, Message, Part, Role, Seq, SessionId, ToolCall};

use super::forks::fork_of;
use super::samples::{Samples, record};
use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::log::{Durability, EventLog, lease_and_append};
use crate::search::{SearchCursor, SearchHit, SearchQuery};

/// A word that only this check knows, so that other things in the store are not found.
fn own_word() -> String {
    format!("w{}", SessionId::new().as_uuid().simple())
}

/// A session in which each of `texts` was said, by the user, the model and a tool in turn.
async fn said<S: EventLog + Catalog>(store: &S, cwd: &str, texts: &[String]) -> Result<Samples, StoreError> {
    let samples = Samples::new(SessionId::new());
    store.create(record(samples.session, cwd)).await?;
    lease_and_append(store, saying(&samples, 1, texts), Durability::Soon).await?;
    Ok(samples)
}

fn saying(samples: &Samples, first: Seq, texts: &[String]) -> Vec<Event> {
    let event = |(text, seq): (&String, Seq)| {
        let text = text.clone();
        let id = CallId::from("call");
        let message = |role, part| EventBody::Message(Message { role, parts: vec![part], ..Message::user("") });
        let body = match seq % 4 {
            1 => message(Role::User, Part::Text { text }),
            2 => message(Role::Assistant, Part::Text { text }),
            3 => {
                let arguments = serde_json::json!({ "command": text }).to_string();
                let call = ToolCall { id, name: "shell".into(), arguments, opaque: None };
                message(Role::Assistant, Part::ToolCall(call))
            }
            _ => EventBody::ToolCallEnd(ToolCallEnd {
                call_id: id,
                origin: neco_proto::ToolOrigin::BuiltIn,
                parts: Vec::new(),
                tool: "shell".into(),
                summary: String::new(),
                status: CallStatus::Success,
                output: text,
                error_code: None,
                advice: None,
                agent: None,
                duration_ms: 1,
                display: None,
                spilled_to: None,
                known: Vec::new(),
            }),
        };
        samples.event(seq, body)
    };
    texts.iter().zip(first..).map(event).collect()
}

async fn found<S: Catalog>(store: &S, words: &str) -> Result<Vec<(SessionId, Seq)>, StoreError> {
    let hits = store.search(SearchQuery::new(words, 99)).await?;
    Ok(hits.iter().map(|hit| (hit.session, hit.seq)).collect())
}

pub(super) async fn all_words_are_found<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let own = own_word();
    let long = format!("{}the {own} needle {}", "hay ".repeat(2000), "straw ".repeat(2000));
    let texts = [
        format!("{own} Please fix the failing tests in src/parser/mod.rs"),
        format!("{own} 我修复了数据库连接超时的问题"),
        format!("{own} cargo nextest run\n--package \"parser\""),
        long,
        format!("{own} テストの実行方法を教えて"),
    ];
    let samples = said(store, "/search", &texts).await?;
    let session = samples.session;
    for (words, expected) in [
        (format!("{own} tests"), vec![1]),
        (format!("{own} test"), vec![1]),
        (format!("FIX {own} Failing"), vec![1]),
        (format!("{own} src/parser/mod.rs"), vec![1]),
        (format!("{own} parser"), vec![3, 1]),
        (format!("{own} \"nextest run\""), vec![3]),
        (format!("{own} \"run nextest\""), vec![]),
        (format!("{own} next*"), vec![3]),
        (format!("{own} next"), vec![]),
        (format!("{own} 数据库"), vec![2]),
        (format!("{own} 据库"), vec![2]),
        (format!("{own} 数库"), vec![]),
        (format!("{own} 問題"), vec![]),
        (format!("{own} 超"), vec![2]),
        (format!("{own} 実行 テスト"), vec![5]),
        (format!("{own} needle"), vec![4]),
        (own.clone(), vec![5, 4, 3, 2, 1]),
        (format!("{own} elsewhere"), vec![]),
        (String::new(), vec![]),
        ("\" ( ) * ^ :".to_owned(), vec![]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|seq| (session, seq)).collect();
        assert_eq!(found(store, &words).await?, expected, "{words}");
    }
    let hits = store.search(SearchQuery::new(format!("{own} needle"), 9)).await?;
    let [SearchHit { role: FoundRole::Tool, ts_ms, snippet, cwd, .. }] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!((*ts_ms, cwd.as_str()), (samples.ms(4), "/search"));
    let marked: Vec<_> = snippet.marks.iter().filter_map(|mark| snippet.text.get(mark.clone())).collect();
    assert_eq!(marked, [own.as_str(), "needle"], "{snippet:?}");
    assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…') && snippet.text.len() < 300, "{snippet:?}");
    let limited = store.search(SearchQuery::new(own, 2)).await?;
    assert_eq!(limited.iter().map(|hit| hit.seq).collect::<Vec<_>>(), [5, 4]);
    Ok(())
}

pub(super) async fn what_nobody_said_is_not_found<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let own = own_word();
    let samples = said(store, "/search", &[format!("{own} said")]).await?;
    let notes = [Message::neco(format!("{own} by Neco")), Message::user(format!("{own} said too"))];
    let notes = notes.into_iter().zip(2..).map(|(note, seq)| samples.event(seq, EventBody::Message(note))).collect();
    lease_and_append(store, notes, Durability::Now).await?;
    assert_eq!(found(store, &own).await?, [(samples.session, 3), (samples.session, 1)]);
    Ok(())
}

pub(super) async fn by_folder_and_time<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let own = own_word();
    let here = format!("/search/{own}");
    let texts: Vec<String> = (0..4).map(|number| format!("{own} number {number}")).collect();
    let (first, other) = (said(store, &here, &texts).await?, said(store, "/search/other", &texts).await?);
    let ask = async |cwd: Option<&str>, since, until| {
        let query = SearchQuery {
            cwd: cwd.map(str::to_owned),
            since_ms: since,
            until_ms: until,
            ..SearchQuery::new(own.as_str(), 99)
        };
        let hits = store.search(query).await?;
        Ok::<_, StoreError>(hits.iter().map(|hit| (hit.session == first.session, hit.seq)).collect::<Vec<_>>())
    };
    assert_eq!(ask(Some(&here), None, None).await?, [(true, 4), (true, 3), (true, 2), (true, 1)]);
    assert_eq!(ask(Some("/search/nowhere"), None, None).await?, []);
    let (since, until) = (Some(first.ms(2)), Some(first.ms(4)));
    assert_eq!(ask(Some(&here), since, until).await?, [(true, 3), (true, 2)]);
    assert_eq!(ask(None, since, until).await?.len(), 4);
    assert_eq!(ask(Some("/search/other"), since, None).await?, [(false, 4), (false, 3), (false, 2)]);
    store.set_folder(other.session, &here, None).await?;
    assert_eq!(ask(Some(&here), None, None).await?.len(), 8, "a moved session is found where it is now");
    // A fork that works elsewhere has there what it has from its parent.
    let fork = fork_of(store, first.session, 2, 2).await?;
    let elsewhere = format!("{here}/fork");
    store.set_folder(fork.session, &elsewhere, None).await?;
    let hits = store.search(SearchQuery { cwd: Some(elsewhere), ..SearchQuery::new(own.as_str(), 99) }).await?;
    let shown: Vec<_> = hits.iter().map(|hit| (hit.session, hit.seq)).collect();
    assert_eq!(shown, [(fork.session, 2), (fork.session, 1)]);
    Ok(())
}

pub(super) async fn page_by_page<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let own = own_word();
    let texts: Vec<String> = (0..4).map(|number| format!("{own} number {number}")).collect();
    for _ in 0..3 {
        let samples = Samples::new(SessionId::new());
        store.create(record(samples.session, "/search")).await?;
        // All of it is said within one millisecond.
        let at = jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(1_700_000_000);
        let events = saying(&samples, 1, &texts).into_iter().map(|event| Event { ts: at, ..event }).collect();
        lease_and_append(store, events, Durability::Soon).await?;
        store.set_title(samples.session, &format!("About {own}"), TitleSource::Model).await?;
    }
    let whole = store.search(SearchQuery::new(own.as_str(), 99)).await?;
    assert_eq!(whole.len(), 15);
    for limit in [2, 7] {
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = store.search(SearchQuery { after, ..SearchQuery::new(own.as_str(), limit) }).await?;
            let Some(last) = page.last() else { break };
            // As it comes back over a wire.
            after = SearchCursor::read(&last.cursor.to_string());
            assert!(page.len() <= limit && after == Some(last.cursor));
            paged.extend(page);
        }
        assert_eq!(paged, whole, "in pages of {limit}");
    }
    Ok(())
}

pub(super) async fn what_changes_is_found_as_it_is<S: EventLog + Catalog>(store: &S) -> Result<(), StoreError> {
    let own = own_word();
    let parent = said(store, "/search", &[format!("{own} first"), format!("{own} second")]).await?;
    store.set_title(parent.session, &format!("About {own}"), TitleSource::Model).await?;
    let hits = store.search(SearchQuery::new(own.as_str(), 9)).await?;
    assert_eq!(
        hits.iter().map(|hit| (hit.seq, hit.role)).collect::<Vec<_>>(),
        [(0, FoundRole::Title), (2, FoundRole::Assistant), (1, FoundRole::User)]
    );
    assert!(hits.iter().all(|hit| hit.title == format!("About {own}")));
    store.set_title(parent.session, "Another matter", TitleSource::Person).await?;
    assert_eq!(found(store, &own).await?, [(parent.session, 2), (parent.session, 1)]);
    assert_eq!(found(store, &format!("{own} third")).await?, []);
    lease_and_append(store, saying(&parent, 3, &[format!("{own} third")]), Durability::Now).await?;
    assert_eq!(found(store, &format!("{own} third")).await?, [(parent.session, 3)]);

    // What a fork has of its parent is found there; when the parent is gone, in the fork.
    let fork = fork_of(store, parent.session, 1, 1).await?;
    lease_and_append(store, saying(&fork, 2, &[format!("{own} otherwise")]), Durability::Now).await?;
    let all = [(parent.session, 3), (fork.session, 2), (parent.session, 2), (parent.session, 1)];
    let mut there = found(store, &own).await?;
    there.sort_unstable_by_key(|(session, seq)| (std::cmp::Reverse(*seq), *session == parent.session));
    assert_eq!(there, all);
    store.remove(parent.session).await?;
    assert_eq!(found(store, &own).await?, [(fork.session, 2), (fork.session, 1)]);
    store.remove(fork.session).await?;
    assert_eq!(found(store, &own).await?, []);
    Ok(())
}
