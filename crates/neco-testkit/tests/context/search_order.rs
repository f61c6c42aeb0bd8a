//! The order of what a search found, where a model decides it.

use neco_proto::event::{SideCall, SidePurpose};
use neco_proto::{Event, EventBody};
use serde_json::json;

use crate::model::{Model, Reply};
use crate::stage::{self, say};

/// The files in the order in which the model is told of them, and what happened.
async fn found(reranks: bool) -> (Vec<String>, Vec<Event>) {
    let model = Model::new(Some(100_000), |_, request| {
        let asked = request.history.iter().last().map(|entry| entry.message().text()).unwrap_or_default();
        if request.system.contains("hits of a search") {
            assert!(asked.contains("Find the words.") && asked.contains("1. file"), "{asked}");
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
