//! A server that asks the model: by its setting, with the person's word, and so often at most.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use neco_config::section::McpSampling;
use neco_ext::mcp::ServerSettings;
use neco_model::scripted::Script;
use neco_proto::event::SidePurpose;
use neco_proto::{ApprovalMode, ErrorCode, EventBody, ItemAnswer, Message, ToolOrigin};
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{self as session, StageSetup};
use neco_testkit::talk;
use neco_toolkit::{AskModel, ModelAnswer, ModelQuestion, NoAnswer, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::questions::{Person, chosen};
use crate::stage::{SERVER, Stage, call_with, tool, within};

const ERAS: [&str; 2] = ["legacy", "modern"];

/// A model that greets, and knows what it was asked.
#[derive(Default)]
struct Model {
    asked: Mutex<Vec<ModelQuestion>>,
}

impl AskModel for Model {
    fn ask(&self, question: ModelQuestion, _: CancellationToken) -> BoxFuture<'static, Result<ModelAnswer, NoAnswer>> {
        self.asked.lock().unwrap().push(question);
        let answer = ModelAnswer { model: "play/a".to_owned(), text: "Hello.".to_owned(), cut_off: false };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// A server in an era that may ask the model or not, somebody who says these things, and a model.
struct Asked {
    era: &'static str,
    sampling: McpSampling,
    person: Arc<Person>,
    model: Arc<Model>,
}

impl Asked {
    fn new(era: &'static str, sampling: McpSampling, says: &[&str]) -> Self {
        let says = says.iter().map(|label| -> Vec<ItemAnswer> { vec![chosen(label)] });
        Self { era, sampling, person: Arc::new(Person::who_says(says)), model: Arc::default() }
    }

    async fn sample(&self, arguments: Value) -> Result<ToolOutput, ToolError> {
        let stage = Stage::new();
        let settings = ServerSettings { sampling: self.sampling, ..stage.fake(&["--era", self.era]) };
        let servers = stage.learnt(settings).await;
        let (person, model) = (self.person.clone(), self.model.clone());
        let ctx = ToolContext { person, model, ..stage.context() };
        call_with(ctx, &servers, "sample", arguments).await
    }

    /// How often the person and the model were asked.
    fn counts(&self) -> (usize, usize) {
        (self.person.asked.lock().unwrap().len(), self.model.asked.lock().unwrap().len())
    }
}

/// The code of what did not work, and what is said of it.
fn failure(result: Result<ToolOutput, ToolError>) -> (Option<ErrorCode>, String) {
    match result {
        Ok(output) => (output.error_code, output.model),
        Err(error) => (Some(error.code), error.message),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_answers_when_the_person_allows_it() {
    for era in ERAS {
        let asked = Asked::new(era, McpSampling::Ask, &["Allow once"]);
        let output = asked.sample(json!({})).await.unwrap();
        let answer: Value = serde_json::from_str(&output.model).unwrap();
        let content = json!({ "type": "text", "text": "Hello." });
        let told = ["role", "model", "stopReason"].map(|field| answer[field].as_str().unwrap_or_default());
        assert_eq!((told, &answer["content"]), (["assistant", "play/a", "endTurn"], &content), "{era}");
        let question = asked.model.asked.lock().unwrap().remove(0);
        assert_eq!((question.system.as_str(), question.max_output), ("Be short.", 50), "{era}");
        assert_eq!(question.messages.iter().map(Message::text).collect::<Vec<_>>(), ["Say hello."], "{era}");
        let text = asked.person.asked.lock().unwrap()[0][0].text.clone();
        for words in ["The MCP server x wants to ask the model", "at most 50 tokens", "Be short.", "Say hello."] {
            assert!(text.contains(words), "{era}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_is_not_asked_when_the_person_refuses_or_is_not_there() {
    for era in ERAS {
        for says in [&["Refuse"][..], &[]] {
            let asked = Asked::new(era, McpSampling::Ask, says);
            let (code, said) = failure(asked.sample(json!({})).await);
            assert_eq!((code, asked.counts()), (Some(ErrorCode::ToolFailed), (1, 0)), "{era}: {said}");
            assert!(said.contains("nobody allowed that the model is asked"), "{era}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_allows_it_or_denies_it_without_a_question() {
    for era in ERAS {
        let allowed = Asked::new(era, McpSampling::Allow, &[]);
        assert_eq!(allowed.sample(json!({})).await.unwrap().error_code, None, "{era}");
        assert_eq!(allowed.counts(), (0, 1), "{era}");
        let denied = Asked::new(era, McpSampling::Deny, &[]);
        let (code, said) = failure(denied.sample(json!({})).await);
        assert_eq!((code, denied.counts()), (Some(ErrorCode::ToolFailed), (0, 0)), "{era}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_asks_the_model_ten_times_at_most() {
    let asked = Asked::new("legacy", McpSampling::Allow, &[]);
    let (code, said) = failure(asked.sample(json!({ "times": 12 })).await);
    assert_eq!((code, asked.counts()), (Some(ErrorCode::ToolFailed), (0, 10)), "{said}");
    assert!(said.contains("10 times in this call already"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_can_t_be_asked_costs_nobody_a_question() {
    for era in ERAS {
        for content in [
            json!({ "type": "audio", "mimeType": "audio/wav", "data": "AAAA" }),
            json!({ "type": "image", "mimeType": "image/png", "data": "bm8gcGljdHVyZQ==" }),
            json!({ "type": "text", "text": "x".repeat(70_000) }),
        ] {
            let asked = Asked::new(era, McpSampling::Ask, &["Allow once"]);
            let (code, said) = failure(asked.sample(json!({ "content": content })).await);
            assert_eq!((code, asked.counts()), (Some(ErrorCode::ToolFailed), (0, 0)), "{era}: {said}");
            assert!(said.contains("the model can't be asked this"), "{era}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_a_server_is_told_so() {
    for era in ERAS {
        let stage = Stage::new();
        let settings = ServerSettings { sampling: McpSampling::Allow, ..stage.fake(&["--era", era]) };
        let servers = stage.learnt(settings).await;
        let (code, said) = failure(stage.call(&servers, "sample", json!({})).await);
        assert_eq!(code, Some(ErrorCode::ToolFailed), "{era}");
        assert!(said.contains("there is no model to ask"), "{era}: {said}");
    }
}

/// The model of the session answers in the course of a call, and that counts as the session's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_session_s_model_answers_for_a_server_is_told_and_counted() {
    for era in ERAS {
        let folder = Stage::new();
        let settings = ServerSettings { sampling: McpSampling::Allow, ..folder.fake(&["--era", era]) };
        let servers = folder.learnt(settings).await;
        let call = Script::new().call("mcp__x__sample", json!({})).usage(10, 1);
        let script = call.say("Hello from the session.").usage(20, 2).say("Done.").usage(30, 3);
        let setup = Setup { approval: ApprovalMode::Auto, guards: false, ..Setup::default() };
        let model = script.clone().into_provider();
        let stage = session::Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap().played_by(model);
        let origin = ToolOrigin::Mcp { server: SERVER.to_owned() };
        stage.plugged().set(&origin, vec![tool(&servers, "sample").unwrap()]);
        let opened = stage.open().await.unwrap();
        let receipt = talk::say(&opened, "Ask.").await.unwrap();
        let events = within(talk::until(&opened, receipt.seq, talk::is_complete)).await.unwrap();
        opened.close().await;
        let told = events.iter().filter_map(|event| match &event.body {
            EventBody::SideCall(call) => Some((call.purpose, call.running)),
            _ => None,
        });
        let purpose = SidePurpose::Sampling;
        assert_eq!(told.collect::<Vec<_>>(), [(purpose, true), (purpose, false)], "{era}");
        let used = events.iter().find_map(|event| match &event.body {
            EventBody::Usage(used) if used.aside == Some(purpose) => Some((used.usage.input, used.usage.output)),
            _ => None,
        });
        assert_eq!(used, Some((20, 2)), "{era}");
        let output = events.iter().find_map(|event| match &event.body {
            EventBody::ToolCallEnd(end) => Some(end.output.clone()),
            _ => None,
        });
        assert!(output.as_ref().is_some_and(|output| output.contains("Hello from the session.")), "{era}: {output:?}");
    }
}
