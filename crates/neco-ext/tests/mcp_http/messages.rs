//! Conversations that go well: both eras, JSON and events, sessions, headers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use serde_json::json;

use crate::fake::{Fake, LEGACY, MODERN};
use crate::stage::{SERVER, Stage, ask, greet};
use crate::web::{Asked, Web};

async fn started(fake: Fake) -> (Arc<Fake>, Web) {
    let fake = Arc::new(fake);
    let answering = Arc::clone(&fake);
    (fake, Web::start(move |asked| answering.answer(asked)).await)
}

#[tokio::test]
async fn both_eras_are_spoken_in_json_and_in_events_and_the_older_one_is_remembered() {
    for (modern, events) in [(true, false), (true, true), (false, false), (false, true)] {
        let (_fake, web) = started(Fake { modern, events, ..Fake::default() }).await;
        let stage = Stage::new();
        let servers = stage.at(&web.mcp());
        let manifest = servers.learn(SERVER).await.unwrap();
        assert_eq!(manifest.protocol, if modern { MODERN } else { LEGACY }, "{events}");
        assert_eq!((manifest.tools[0].name.as_str(), manifest.prompts[0].name.as_str()), ("echo", "greet"));
        assert!(greet(&servers, "Ada").await.unwrap().contains("hello Ada"), "{modern} {events}");
        assert_eq!(web.messages()[0], "server/discover");
        servers.close().await;
        let before = web.messages().len();
        let again = stage.at(&web.mcp());
        assert!(greet(&again, "Eve").await.unwrap().contains("hello Eve"));
        assert_eq!(web.messages()[before], if modern { "server/discover" } else { "initialize" });
    }
}

#[tokio::test]
async fn a_server_that_became_a_newer_one_is_spoken_to_in_the_newer_way() {
    let is_new = Arc::new(AtomicBool::new(false));
    let (old, new) = (Fake::default(), Fake { modern: true, ..Fake::default() });
    let switched = Arc::clone(&is_new);
    let web = Web::start(move |asked| if switched.load(SeqCst) { new.answer(asked) } else { old.answer(asked) }).await;
    let stage = Stage::new();
    assert_eq!(stage.at(&web.mcp()).learn(SERVER).await.unwrap().protocol, LEGACY);
    is_new.store(true, SeqCst);
    assert_eq!(stage.at(&web.mcp()).learn(SERVER).await.unwrap().protocol, MODERN);
}

#[tokio::test]
async fn a_session_is_kept_begun_anew_when_it_is_lost_and_ended_with_the_conversation() {
    let (fake, web) = started(Fake::default()).await;
    let servers = Stage::new().at(&web.mcp());
    greet(&servers, "Ada").await.unwrap();
    let session = |asked: &Asked| asked.header("mcp-session-id").map(str::to_owned);
    let of_prompts = || web.asked().into_iter().filter(|asked| asked.message() == "prompts/get").collect::<Vec<_>>();
    assert_eq!(of_prompts().iter().map(session).collect::<Vec<_>>(), [Some("s1".to_owned())]);
    fake.forget();
    assert!(greet(&servers, "Eve").await.unwrap().contains("hello Eve"));
    let lost: Vec<_> = of_prompts().iter().map(session).skip(1).collect();
    assert_eq!(lost, [Some("s1".to_owned()), Some("s1002".to_owned())]);
    assert_eq!(web.messages().iter().filter(|message| *message == "initialize").count(), 2);
    servers.close().await;
    let ended: Vec<_> = web.asked().iter().filter(|asked| asked.method == "DELETE").map(session).collect();
    assert_eq!(ended, [Some("s1002".to_owned())]);
}

#[tokio::test]
async fn headers_and_the_token_of_the_settings_are_sent_with_every_request() {
    let (fake, web) = started(Fake::default()).await;
    fake.take("token-of-the-settings");
    let stage = Stage::new();
    let servers = stage.with(&web.mcp(), |address| {
        address.bearer = Some("token-of-the-settings".into());
        address.headers.insert("X-Team".to_owned(), "blue".into());
        address.headers.insert("Accept".to_owned(), "text/plain".into());
        address.headers.insert("Content-Length".to_owned(), "3".into());
    });
    greet(&servers, "Ada").await.unwrap();
    servers.close().await;
    for asked in web.asked() {
        assert_eq!(asked.header("authorization"), Some("Bearer token-of-the-settings"), "{asked:?}");
        assert_eq!(asked.header("x-team"), Some("blue"), "{asked:?}");
        assert!(asked.header("accept").unwrap().contains("text/event-stream"), "{asked:?}");
    }
    let wrong = stage.with(&web.mcp(), |address| address.bearer = Some("another".into()));
    let refused = wrong.learn(SERVER).await.unwrap_err().to_string();
    assert!(refused.contains("does not accept the token"), "{refused}");
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_an_error_and_the_conversation_goes_on() {
    for events in [false, true] {
        let (_fake, web) = started(Fake { events, ..Fake::default() }).await;
        let servers = Stage::new().at(&web.mcp());
        greet(&servers, "Ada").await.unwrap();
        let long = json!({ "who": "Ada", "size": (9 * 1024 * 1024).to_string() });
        let error = ask(&servers, long).await.unwrap_err().to_string();
        assert!(error.contains("longer than 8 MB"), "{events}: {error}");
        assert!(greet(&servers, "Eve").await.unwrap().contains("hello Eve"));
        assert_eq!(web.messages().iter().filter(|message| *message == "initialize").count(), 1);
    }
}
