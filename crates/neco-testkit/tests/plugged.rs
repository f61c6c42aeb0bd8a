//! Tools that come and go while a session is open: the next turn declares what is there.

#![allow(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use neco_model::scripted::{Expect, Script};
use neco_model::{DeltaStream, Provider, Request};
use neco_proto::event::ToolCallEnd;
use neco_proto::{Client, Command, ErrorCode, EventBody, Risk, ToolOrigin};
use neco_safety::SideEffect;
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_toolkit::{DynTool, Plan, PluggedTools, PreparedCall, Registry, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};

const NAME: &str = "mcp__weather__today";

/// A tool of a server that can be pulled out.
struct Weather {
    name: &'static str,
    origin: ToolOrigin,
    schema: Value,
}

fn weather() -> Arc<dyn DynTool> {
    called(NAME)
}

fn called(name: &'static str) -> Arc<dyn DynTool> {
    Arc::new(Weather { name, origin: server(), schema: json!({ "type": "object", "properties": {} }) })
}

fn server() -> ToolOrigin {
    ToolOrigin::Mcp { server: "weather".to_owned() }
}

impl DynTool for Weather {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "Tells the weather."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn most_touch(&self) -> SideEffect {
        SideEffect::Reads
    }

    fn origin(&self) -> &ToolOrigin {
        &self.origin
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(Today(arguments)))
    }
}

struct Today(Value);

impl PreparedCall for Today {
    fn touch(&self) -> SideEffect {
        SideEffect::Reads
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    fn summary(&self) -> String {
        "Look at the sky".to_owned()
    }

    fn arguments(&self) -> &Value {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(std::future::ready(Ok(Plan::of(Risk::Safe))))
    }

    fn run(self: Box<Self>, _: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolOutput::text("It rains."))))
    }
}

/// Plays a script and notes whether the tool was declared, request by request.
struct Noted {
    plays: Arc<dyn Provider>,
    declared: Mutex<Vec<bool>>,
}

impl Provider for Noted {
    fn label(&self) -> &str {
        self.plays.label()
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> DeltaStream {
        self.declared.lock().unwrap().push(request.tools.iter().any(|tool| tool.name == NAME));
        self.plays.stream(request)
    }
}

async fn opened(script: Script, setup: Setup) -> (Stage, Session, Arc<Noted>) {
    let model = Arc::new(Noted { plays: script.clone().into_provider(), declared: Mutex::default() });
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let stage = stage.played_by(Arc::clone(&model) as Arc<dyn Provider>);
    let session = stage.open().await.unwrap();
    (stage, session, model)
}

/// Says something, and gives the calls that ended before the work did.
async fn calls(session: &Session, text: &str) -> Vec<ToolCallEnd> {
    let said = Command::UserMessage { content: text.to_owned(), attachments: Vec::new() };
    let receipt = session.send(said).await.unwrap();
    let mut stream = session.events(receipt.seq);
    let mut ended = Vec::new();
    while let Some(event) = stream.next().await {
        match event.unwrap().body {
            EventBody::ToolCallEnd(end) => ended.push(end),
            EventBody::AgentComplete(_) => return ended,
            _ => {}
        }
    }
    panic!("the work never ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_comes_is_declared_and_called_and_one_that_goes_is_told_so() {
    let script = Script::new()
        .say("There is nothing to look with.")
        .call(NAME, json!({}))
        .say("It rains.")
        .expecting(Expect::tool("It rains."))
        .call(NAME, json!({}))
        .say("I can't look any more.");
    let (stage, session, model) = opened(script, Setup { guards: false, ..Setup::default() }).await;
    assert!(calls(&session, "hello").await.is_empty());
    stage.plugged().set(&server(), vec![weather()]);
    let ended = calls(&session, "how is the weather?").await;
    assert_eq!((ended[0].origin.clone(), ended[0].error_code), (server(), None));
    stage.plugged().set(&server(), Vec::new());
    let ended = calls(&session, "and now?").await;
    assert_eq!(ended[0].error_code, Some(ErrorCode::ToolNotFound));
    assert!(ended[0].output.contains("is gone: mcp:weather does not offer it any more"), "{}", ended[0].output);
    assert_eq!(*model.declared.lock().unwrap(), [false, true, true, false, false]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn narrowing_holds_for_what_comes_later() {
    let script = Script::new().say("One.").say("Two.");
    let only = vec!["read_file".to_owned()];
    let (stage, session, model) = opened(script, Setup { tools: only, guards: false, ..Setup::default() }).await;
    calls(&session, "hello").await;
    stage.plugged().set(&server(), vec![weather()]);
    calls(&session, "again").await;
    assert_eq!(*model.declared.lock().unwrap(), [false, false]);
    session.close().await;
}

#[test]
fn a_tool_of_a_server_takes_no_name_that_means_one_of_the_program() {
    let plugged = PluggedTools::default();
    let registry = Registry::default().following(&plugged);
    plugged.set(&server(), vec![called("Bash"), called("read_file"), called("Read"), weather()]);
    let there = registry.fresh();
    assert_eq!(there.iter().map(|tool| tool.name()).collect::<Vec<_>>(), [NAME]);
}
