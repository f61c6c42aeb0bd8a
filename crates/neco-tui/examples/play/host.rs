//! What stands around the made-up session.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use neco_proto::app::commands::{CommandList, CommandRow, ExpandCommand, ExpandedCommand, ListCommands};
use neco_proto::app::files::{Branch, FileList, ListFiles, ShowBranch};
use neco_proto::app::models::{ListModels, ModelGroup, ModelList};
use neco_proto::app::sessions::{ListSessions, SessionPage, SessionRow};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::event::NodeState;
use neco_proto::{Client, SessionId, Usage};
use neco_tui::{Edited, Host, LineOf, Printed, Wanted};
use serde_json::Value;

use crate::client::Stage;

/// A host that knows a few names.
#[derive(Default)]
pub struct Scene {
    written: Mutex<Vec<String>>,
}

impl Host for Scene {
    fn open(&self, _wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>> {
        async { Ok(Arc::new(Stage::new()) as Arc<dyn Client>) }.boxed()
    }

    fn close(&self, _client: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }

    fn folder(&self) -> String {
        "/home/you/made-up".to_owned()
    }

    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, AppError>> {
        async move { Ok(Some(format!("{text} (edited)"))) }.boxed()
    }

    fn edit_call(&self, _: String, arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, AppError>> {
        async move { Ok(Some(Edited { arguments, diff: Vec::new() })) }.boxed()
    }

    fn history(&self) -> Vec<String> {
        vec!["run the tests".to_owned(), "edit the limit".to_owned()]
    }

    fn remember(&self, text: &str) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn shell(&self, command: String, _: LineOf, output: Printed) -> BoxFuture<'_, Result<Option<i32>, AppError>> {
        async move {
            output(format!("would run {command}\n"));
            Ok(Some(0))
        }
        .boxed()
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
                messages: Some(n.unsigned_abs()),
                single: n % 5 == 0,
                forked_from: None,
                bytes: None,
                state: None,
                work: (n > 1).then_some(NodeState::Completed),
                asks: false,
                usage: Some(Usage { cost: Some(0.04 * n as f64), ..Usage::default() }),
                branch: None,
            }
        };
        let page = SessionPage { sessions: (1..=30).map(row).collect(), ..SessionPage::default() };
        let names = ["src/main.rs", "src/lib.rs", "src/parser/mod.rs", "README.md", "docs/guide.md"];
        let ship = CommandRow {
            name: "ship".to_owned(),
            argument: String::new(),
            help: "release it".to_owned(),
            trusted: true,
            is_skill: false,
            also: None,
        };
        let group = |name: &str| {
            let models = vec![name.to_owned()];
            (name.to_owned(), ModelGroup { models, ..ModelGroup::default() })
        };
        let groups = ["scripted/demo", "local/small", "local/large"].map(group).into_iter().collect();
        let answer = match call.name.as_str() {
            "files.list" => call.answer::<ListFiles>(FileList { names: names.map(str::to_owned).to_vec() }),
            "files.branch" => call.answer::<ShowBranch>(Branch { name: Some("main".to_owned()) }),
            "models.list" => call.answer::<ListModels>(ModelList { groups, ..ModelList::default() }),
            "commands.list" => call.answer::<ListCommands>(CommandList { commands: vec![ship] }),
            "commands.expand" => {
                call.clone().read::<ExpandCommand>().and_then(|ExpandCommand { name, argument, .. }| {
                    call.answer::<ExpandCommand>(ExpandedCommand {
                        text: format!("carry out {name}: {argument}"),
                        ..ExpandedCommand::default()
                    })
                })
            }
            _ => call.answer::<ListSessions>(page),
        };
        async move { answer }.boxed()
    }
}
