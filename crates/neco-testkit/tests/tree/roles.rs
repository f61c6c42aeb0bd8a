//! What the person's settings say of an agent of a name comes before what its definition says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use neco_config::section::RoleSection;
use neco_model::scripted::Script;
use neco_model::{DeltaStream, Provider, Request};
use neco_proto::EventBody;
use serde_json::json;

use crate::{nodes, part, say, stage, until};

/// Plays a script and notes what is wished of each answer, and by whom.
struct Noted {
    plays: Arc<dyn Provider>,
    wishes: Mutex<Vec<Wish>>,
}

/// Who asks, how freely the answer should be worded and how long it may be.
type Wish = (Option<String>, Option<f64>, Option<u64>);

impl Provider for Noted {
    fn label(&self) -> &str {
        self.plays.label()
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let agent = request.agent.as_deref().map(str::to_owned);
        self.wishes.lock().unwrap().push((agent, request.temperature, request.max_output));
        self.plays.stream(request)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_has_the_model_temperature_and_tokens_that_are_set_for_it() {
    let mut script = Script::new()
        .call("task", json!({ "description": "plan it", "prompt": "plan it", "agent": "planner" }))
        .also_call("task", json!({ "description": "look", "prompt": "look at it", "agent": "explore" }))
        .say("Done.")
        .loop_last();
    script.agents.push(part("planner", "plan it", Script::new().say("1. Do it.")));
    script.agents.push(part("explore", "look at it", Script::new().say("Nothing there.")));
    let model = Arc::new(Noted { plays: script.clone().into_provider(), wishes: Mutex::default() });
    let role = RoleSection {
        model: Some("acme/planner".to_owned()),
        temperature: Some(0.7),
        max_output: Some(800),
        max_tokens: Some(50_000),
    };
    let stage = stage(script)
        .with_config(|config| drop(config.agents.roles.insert("planner".to_owned(), role)))
        .played_by(Arc::clone(&model) as Arc<dyn Provider>);
    let session = stage.open().await.unwrap();
    say(&session, "plan it").await;
    let root = nodes(&session).await[0].id;
    let done = until(&session, 0, |event| event.agent_id == root && matches!(&event.body, EventBody::AgentComplete(_)));
    tokio::time::timeout(Duration::from_secs(30), done).await.unwrap();
    let nodes = nodes(&session).await;
    let of = |role: &str| nodes.iter().find(|node| node.role == role).unwrap().clone();
    assert_eq!((of("planner").model_group.as_str(), of("planner").budget.tokens), ("acme/planner", Some(50_000)));
    assert_eq!(of("explore").budget.tokens, None, "what is set for one role is not set for another");
    let wishes = model.wishes.lock().unwrap().clone();
    let wished = |role: &str| wishes.iter().find(|(agent, ..)| agent.as_deref() == Some(role)).unwrap();
    assert_eq!(*wished("planner"), (Some("planner".to_owned()), Some(0.7), Some(800)));
    assert_eq!(wished("explore").2, None);
    assert!(wishes.contains(&(None, None, None)), "the root wishes for nothing: {wishes:?}");
    session.close().await;
}
