//! What the program answers, on a real store.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use neco_app::LocalApp;
use neco_app::app::ROUTES;
use neco_app::services::{ServiceSetup, hub, open_store};
use neco_config::{Config, Env};
use neco_proto::app::sessions::{ListSessions, SessionState};
use neco_proto::app::{App, Call, Caller, Scope, Trouble};
use neco_proto::event::{NodeState, StreamChunk};
use neco_proto::{AgentId, Event, EventBody, SessionId};
use neco_store::{Catalog, Durability, SessionRecord, SqliteStore, lease_and_append};
use serde_json::json;

struct Stage {
    store: Arc<SqliteStore>,
    app: LocalApp,
}

impl Stage {
    async fn new(data: &Path) -> Self {
        let env = Env::for_test([], data);
        let store = open_store(data).await.unwrap();
        let config = Config::built_in();
        let setup = ServiceSetup { data_dir: data.to_owned(), ..ServiceSetup::bare(&env, &config) };
        let hub = hub(&store, setup).unwrap();
        Self { app: LocalApp::new(Arc::clone(&store), hub, env, Vec::new()), store }
    }

    /// A session in which one event happened.
    async fn session(&self, folder: &Path, ms: i64) -> SessionId {
        let id = SessionId::new();
        self.store.create(SessionRecord::new(id, folder.display().to_string(), ms)).await.unwrap();
        let body = EventBody::StreamChunk(StreamChunk { text: "hello".into() });
        let ts = jiff::Timestamp::from_millisecond(ms).unwrap();
        let event = Event::new(1, ts, id, AgentId::new(), None, body);
        lease_and_append(self.store.as_ref(), vec![event], Durability::Now).await.unwrap();
        id
    }
}

#[tokio::test]
async fn sessions_are_listed_by_folder_and_time_with_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    for folder in [&one, &two] {
        std::fs::create_dir(folder).unwrap();
    }
    let stage = Stage::new(&folder.path().join("data")).await;
    let (old, new) = (stage.session(&one, 1_000).await, stage.session(&one, 9_000).await);
    let other = stage.session(&two, 5_000).await;
    let (app, person): (&dyn App, _) = (&stage.app, Caller::person());
    let ids = |page: &neco_proto::app::sessions::SessionPage| -> Vec<SessionId> {
        page.sessions.iter().map(|session| session.id).collect()
    };

    let all = app.ask(&person, &ListSessions::default()).await.unwrap();
    assert_eq!(ids(&all), [new, other, old]);
    let here =
        ListSessions { folder: Some(one.display().to_string()), states: true, sizes: true, ..Default::default() };
    let page = app.ask(&person, &here).await.unwrap();
    assert_eq!(ids(&page), [new, old]);
    // Its last event is in the middle of a turn, and nobody has it open.
    let stopped = Some(SessionState::Stopped);
    assert!(page.sessions.iter().all(|session| session.bytes.is_some() && session.state == stopped));
    let paused = Some(NodeState::Paused);
    assert!(page.sessions.iter().all(|session| session.work == paused && session.usage.is_some()));
    let first = app.ask(&person, &ListSessions { limit: 1, ..here.clone() }).await.unwrap();
    assert_eq!((ids(&first), first.more), (vec![new], 1));
    let since = jiff::Timestamp::from_millisecond(8_000).ok();
    let late = app.ask(&person, &ListSessions { since, ..here }).await.unwrap();
    assert_eq!((ids(&late), late.older), (vec![new], 1));

    // A folder of a repository that has no sessions of its own has those of the repository.
    let initialised = std::process::Command::new("git").args(["init", "-q"]).current_dir(&one).status().unwrap();
    assert!(initialised.success());
    let below = one.join("src");
    std::fs::create_dir(&below).unwrap();
    let above = ListSessions { folder: Some(below.display().to_string()), ..Default::default() };
    let page = app.ask(&person, &above).await.unwrap();
    assert_eq!((ids(&page), page.above), (vec![new, old], Some(one.display().to_string())));
}

#[tokio::test]
async fn what_is_not_there_or_does_not_fit_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(folder.path()).await;
    let call = |name: &str, arguments| Call { name: name.to_owned(), arguments };
    for (call, trouble) in [
        (call("sessions.sing", json!({})), Trouble::NotFound),
        (call("sessions.list", json!({ "limit": "many" })), Trouble::Invalid),
    ] {
        let error = stage.app.call(&Caller::person(), call.clone()).await.unwrap_err();
        assert_eq!(error.trouble, trouble, "{call:?}");
        assert!(error.message.contains(&call.name), "{error}");
    }
    // A field of a newer front end is passed over, and so is the lack of any.
    for arguments in [json!({ "planet": "mars" }), json!(null)] {
        stage.app.call(&Caller::person(), call("sessions.list", arguments)).await.unwrap();
    }
}

#[test]
fn every_call_has_a_name_and_a_path_of_its_own() {
    let names: BTreeSet<_> = ROUTES.iter().map(|route| route.name).collect();
    let paths: BTreeSet<_> = ROUTES.iter().map(|route| (format!("{:?}", route.verb), route.path)).collect();
    assert_eq!((names.len(), paths.len()), (ROUTES.len(), ROUTES.len()));
    assert!(ROUTES.iter().all(|route| route.path.starts_with('/') && route.name.contains('.')));
    assert!(Scope::Read < Scope::Work && Scope::Work < Scope::Manage);
}
