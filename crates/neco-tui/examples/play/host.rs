//! What stands around the made-up session.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use neco_proto::app::sessions::{ListSessions, SessionPage, SessionRow};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::{Client, SessionId};
use neco_tui::{Edited, Host, ModelEntry, Printed, Wanted};
use neco_view::slash::Custom;
use serde_json::Value;

use crate::client::Stage;

/// A host that knows a few names.
#[derive(Default)]
pub struct Scene {
    written: Mutex<Vec<String>>,
}

impl Host for Scene {
    fn open(&self, _wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, String>> {
        async { Ok(Arc::new(Stage::new()) as Arc<dyn Client>) }.boxed()
    }

    fn close(&self, _client: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }

    fn folder(&self) -> String {
        "/home/you/made-up".to_owned()
    }

    fn files(&self) -> BoxFuture<'_, Vec<String>> {
        let names = ["src/main.rs", "src/lib.rs", "src/parser/mod.rs", "README.md", "docs/guide.md"];
        async move { names.map(str::to_owned).to_vec() }.boxed()
    }

    fn branch(&self) -> BoxFuture<'_, Option<String>> {
        async { Some("main".to_owned()) }.boxed()
    }

    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, String>> {
        async move { Ok(Some(format!("{text} (edited)"))) }.boxed()
    }

    fn edit_call(&self, _: String, arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, String>> {
        async move { Ok(Some(Edited { arguments, diff: Vec::new() })) }.boxed()
    }

    fn history(&self) -> Vec<String> {
        vec!["run the tests".to_owned(), "edit the limit".to_owned()]
    }

    fn remember(&self, text: &str) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelEntry>, AppError>> {
        let model = |name: &str| ModelEntry { name: name.to_owned(), about: "200k".to_owned() };
        async move { Ok(["scripted/demo", "local/small", "local/large"].map(model).to_vec()) }.boxed()
    }

    fn shell(&self, command: String, output: Printed) -> BoxFuture<'_, Result<Option<i32>, String>> {
        async move {
            output(format!("would run {command}\n"));
            Ok(Some(0))
        }
        .boxed()
    }

    fn commands(&self) -> BoxFuture<'_, Vec<Custom>> {
        let ship = Custom { name: "ship".to_owned(), argument: String::new(), help: "release it".to_owned() };
        async move { vec![ship] }.boxed()
    }

    fn custom(&self, name: String, argument: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move { Ok(format!("carry out {name}: {argument}")) }.boxed()
    }
}

/// A program with a few sessions.
impl App for Scene {
    fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        let row = |n: i64| {
            let used = Timestamp::now() - SignedDuration::from_hours(n);
            SessionRow {
                id: SessionId::new(),
                title: format!("an earlier session, number {n}"),
                title_by: None,
                cwd: self.folder(),
                created: used,
                updated: used,
                events: 7,
                forked_from: None,
                bytes: None,
                state: None,
            }
        };
        let page = SessionPage { sessions: (1..=30).map(row).collect(), ..SessionPage::default() };
        async move { call.answer::<ListSessions>(page) }.boxed()
    }
}
