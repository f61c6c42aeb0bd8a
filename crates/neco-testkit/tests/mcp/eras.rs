//! Both eras: what a server offers is learnt, called and remembered, however it speaks.

use std::fs;
use std::time::Duration;

use neco_ext::mcp::{Caller, McpError, ServerSettings, ServerState};
use neco_proto::{ErrorCode, ResultPart};
use neco_toolkit::Intent;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::stage::{FAKE, SERVER, Stage, names, state, tool, within};

/// What the fake server is told to speak, and the version that is agreed on.
const ERAS: [(&str, &str); 3] = [("legacy", "2025-11-25"), ("modern", "2026-07-28"), ("both", "2026-07-28")];

/// The methods that were asked for since the last start.
fn asked_last(stage: &Stage) -> Vec<String> {
    let lines = stage.recorded();
    let last = lines.iter().rposition(|line| line.starts_with("started ")).unwrap();
    let method = |line: &String| serde_json::from_str::<Value>(line).ok()?["method"].as_str().map(str::to_owned);
    lines.iter().skip(last).filter_map(method).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_offers_is_learnt_in_every_era() {
    for (era, protocol) in ERAS {
        let stage = Stage::new();
        let servers = stage.servers(vec![stage.fake(&["--era", era])]);
        let manifest = within(servers.learn(SERVER)).await.unwrap();
        assert_eq!((manifest.protocol.as_str(), manifest.server.as_str()), (protocol, "fake-mcp 1.0.0"), "{era}");
        assert_eq!(manifest.instructions.as_deref(), Some("Instructions of the fake server."), "{era}");
        let lists = [&manifest.resources, &manifest.templates].map(Vec::len);
        assert_eq!((manifest.tools.len(), manifest.prompts.len(), lists), (18, 2, [2, 1]), "{era}");
        assert!(manifest.left_out.is_empty(), "{era}: {:?}", manifest.left_out);
        assert_eq!((state(&servers), names(&servers).len(), stage.starts()), (ServerState::Running, 18, 1), "{era}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_result_is_one_in_every_era() {
    for (era, _) in ERAS {
        let stage = Stage::new();
        let servers = stage.learnt(stage.fake(&["--era", era])).await;
        let echo = stage.call(&servers, "echo", json!({ "text": "good\nday ü" })).await.unwrap();
        assert_eq!((echo.model.as_str(), echo.error_code), ("good\nday ü", None), "{era}");
        assert_eq!(echo.outside.map(|outside| outside.source).as_deref(), Some("MCP server x"), "{era}");
        let sum = stage.call(&servers, "add", json!({ "a": 1, "b": 2 })).await.unwrap();
        assert_eq!(sum.model, r#"{"sum":3}"#, "{era}");
        assert_eq!(sum.parts, [ResultPart::Data { value: json!({ "sum": 3 }) }], "{era}");
        let picture = stage.call(&servers, "picture", json!({})).await.unwrap();
        assert_eq!(picture.model, "[a picture: MCP server x, image/png]", "{era}");
        assert!(matches!(picture.intents.as_slice(), [Intent::OfferPicture(_)]), "{era}: {:?}", picture.intents);
        let resource = stage.said(&servers, "resource", json!({})).await;
        let link = "[blob: test://blob, application/octet-stream]";
        assert_eq!(resource, format!("[test://text]\nThe text of the resource.\n{link}"), "{era}");
        let failure = stage.call(&servers, "fail", json!({})).await.unwrap();
        assert_eq!((failure.model.as_str(), failure.error_code.is_some()), ("This tool always fails.", true), "{era}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resources_are_read_and_prompts_are_filled_in_every_era() {
    let caller = Caller::silent(CancellationToken::new());
    for (era, _) in ERAS {
        let stage = Stage::new();
        let servers = stage.servers(vec![stage.fake(&["--era", era])]);
        for (uri, read) in [
            ("test://text", "[test://text]\nThe text of the resource."),
            ("test://blob", "[test://blob: application/octet-stream, no text]"),
            ("test://item/7", "[test://item/7]\nItem 7."),
        ] {
            assert_eq!(within(servers.read(SERVER, uri, &caller)).await.unwrap().model, read, "{era}");
        }
        let nothing = within(servers.read(SERVER, "test://nothing", &caller)).await.unwrap_err();
        assert!(matches!(nothing, McpError::Refused { .. }), "{era}: {nothing}");
        let ada: Map<String, Value> = [("name".to_owned(), json!("Ada"))].into_iter().collect();
        assert_eq!(within(servers.prompt(SERVER, "greet", ada, &caller)).await.unwrap(), "Say hello to Ada.", "{era}");
        let nobody = within(servers.prompt(SERVER, "greet", Map::new(), &caller)).await.unwrap_err();
        assert!(matches!(nobody, McpError::Refused { .. }), "{era}: {nobody}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_do_not_fit_never_reach_the_server() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    let error = stage.call(&servers, "add", json!({ "a": 1 })).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArguments, "{error}");
    assert!(!asked_last(&stage).contains(&"tools/call".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_declared_without_a_start_once_they_are_known() {
    for (era, _) in ERAS {
        let stage = Stage::new();
        let settings = stage.fake(&["--era", era]);
        within(stage.learnt(settings.clone()).await.close()).await;
        let servers = stage.servers(vec![settings.clone()]);
        assert_eq!((state(&servers), names(&servers).len()), (ServerState::Known, 18), "{era}");
        assert!(servers.unknown().is_empty() && stage.starts() == 1, "{era}: {:?}", stage.recorded());
        assert_eq!(stage.said(&servers, "echo", json!({ "text": "again" })).await, "again", "{era}");
        assert_eq!(stage.starts(), 2, "{era}");
        // With other arguments it is another server, of which nothing is known.
        let other = stage.servers(vec![stage.fake(&["--era", era, "--ttl", "1"])]);
        assert_eq!((state(&other), names(&other).len()), (ServerState::Configured, 0), "{era}");
    }
}

/// What was found out about a server that can't be asked is used at its next start.
async fn is_asked_the_older_way(fault: &str, patience: Duration) {
    let stage = Stage::new();
    let settings = ServerSettings { start_timeout: patience, ..stage.fake(&["--misbehave", fault]) };
    let servers = stage.learnt(settings.clone()).await;
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "there" })).await, "there");
    assert_eq!(stage.starts(), 2, "{:?}", stage.recorded());
    within(servers.close()).await;
    let servers = stage.servers(vec![settings]);
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "there" })).await, "there");
    assert_eq!(stage.starts(), 3, "{:?}", stage.recorded());
    assert_eq!(asked_last(&stage).first().map(String::as_str), Some("initialize"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_of_an_unknown_question_is_asked_the_older_way() {
    is_asked_the_older_way("dies-on-unknown", Duration::from_secs(20)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_silent_about_an_unknown_question_is_asked_the_older_way() {
    is_asked_the_older_way("silent-on-unknown", Duration::from_secs(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_answers_an_unknown_question_with_nothing_is_asked_the_older_way() {
    is_asked_the_older_way("nothing-on-unknown", Duration::from_secs(20)).await;
}

/// The same command line may start another version of a server tomorrow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_speaks_another_era_now_is_still_reached() {
    for (before, after) in [("legacy", "modern"), ("modern", "legacy")] {
        let stage = Stage::new();
        let era = stage.workspace.join("era");
        fs::write(&era, before).unwrap();
        let line = r#"exec "$0" --record record --era "$(cat era)""#;
        let settings = stage.program("/bin/sh", vec!["-c".to_owned(), line.to_owned(), FAKE.to_owned()]);
        within(stage.learnt(settings.clone()).await.close()).await;
        fs::write(&era, after).unwrap();
        let servers = stage.servers(vec![settings]);
        assert!(tool(&servers, "echo").is_ok());
        assert_eq!(stage.said(&servers, "echo", json!({ "text": after })).await, after);
    }
}
