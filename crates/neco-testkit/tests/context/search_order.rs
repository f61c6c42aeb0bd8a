//! The order of what a search found, where a model decides it.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::event::{SideCall, SidePurpose};
use neco_proto::{Client, Command, Event, EventBody};
use serde_json::json;
use tokio::sync::Notify;

use crate::model::{Model, Reply};
use crate::stage::{self, say};

/// The files in the order in which the model is told of them, and what happened.
async fn found(reranks: bool) -> (Vec<String>, Vec<Event>) {
    let model = Model::new(Some(100_000), |_, request| {
        let asked = request.history.iter().last().map(|entry| entry.message().text()).unwrap_or_default();
        if request.system.contains("hits of a search") {
            // Whose search it is, and what its conversation says, is nothing to the order.
            assert!(!asked.contains("Find the words.") && asked.contains("words"), "{asked}");
            assert!(asked.contains("1. file"), "{asked}");
            return Reply::Say("3, 1".to_owned());
        }
        let is_new = request.history.iter().count() == 1;
        if is_new {
            Reply::Call("code_search", json!({"query": "words", "limit": 4}))
        } else {
            Reply::Say("Done.".into())
        }
    });
    let stage = stage::stage_with(&model, "code_search").with_config(|config| config.context.rerank = reranks);
    let session = stage.open().await.unwrap();
    let events = say(&session, "Find the words.").await;
    session.close().await;
    let output = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) => Some(end.output.clone()),
        _ => None,
    });
    let output = output.unwrap();
    let files = output.lines().filter(|line| line.starts_with("file") && line.ends_with(".txt"));
    (files.map(str::to_owned).collect(), events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_puts_hits_in_order_only_where_that_is_wanted() {
    let side_calls = |events: &[Event]| -> Vec<SideCall> {
        let of = |event: &Event| match &event.body {
            EventBody::SideCall(call) => Some(call.clone()),
            _ => None,
        };
        events.iter().filter_map(of).collect()
    };
    let (usual, events) = found(false).await;
    assert_eq!((usual.len(), side_calls(&events)), (4, Vec::new()));
    let (ordered, events) = found(true).await;
    assert_eq!(ordered, [2, 0, 1, 3].map(|at: usize| usual[at].clone()));
    let told = [true, false].map(|running| SideCall { purpose: SidePurpose::Rerank, running });
    assert_eq!(side_calls(&events), told);
}

/// A model that never answers keeps nobody: the call ends with the stop, and windows are told that nothing is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_the_question_for_an_order() {
    let model = Model::new(Some(100_000), |_, request| {
        if request.system.contains("hits of a search") {
            return Reply::SayAfter(Arc::new(Notify::new()), "1".to_owned());
        }
        Reply::Call("code_search", json!({"query": "words", "limit": 4}))
    });
    let stage = stage::stage_with(&model, "code_search").with_config(|config| config.context.rerank = true);
    let session = stage.open().await.unwrap();
    let content = "Find the words.".to_owned();
    session.send(Command::UserMessage { content, attachments: Vec::new() }).await.unwrap();
    let mut events = session.events(0);
    let mut told = Vec::new();
    while told.len() < 2 {
        let event = tokio::time::timeout(Duration::from_secs(10), events.next()).await.unwrap().unwrap().unwrap();
        if let EventBody::SideCall(SideCall { purpose: SidePurpose::Rerank, running }) = event.body {
            told.push(running);
            if running {
                session.send(Command::Cancel).await.unwrap();
            }
        }
    }
    assert_eq!(told, [true, false]);
    session.close().await;
}
