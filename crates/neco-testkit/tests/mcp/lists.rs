//! Lists of tools that are broken, endless or too long, and what the tools in them are called.

use std::collections::HashSet;

use neco_ext::mcp::{ServerSettings, Servers};
use neco_proto::{ErrorCode, Risk};
use neco_safety::world::Freedom;
use neco_toolkit::SideEffect;
use serde_json::json;

use crate::stage::{SERVER, Stage, left_out, names, tool, within};

async fn with_faults(stage: &Stage, arguments: &[&str]) -> Servers {
    stage.learnt(stage.fake(arguments)).await
}

/// A tool whose schema is broken is left out, which is told, and the others are there.
async fn is_left_out(era: &str, fault: &str, name: &str) {
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--era", era, "--misbehave", fault]).await;
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "fine" })).await, "fine", "{era}");
    assert!(tool(&servers, name).is_err(), "{era}: {name} is there");
    let left_out = left_out(&servers);
    assert!(left_out.iter().any(|why| why.starts_with(&format!("{name}: "))), "{era}: {left_out:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_is_none_costs_its_tool_alone() {
    for era in ["legacy", "modern"] {
        is_left_out(era, "bad-schema-text", "schema_text").await;
        is_left_out(era, "bad-schema-type", "schema_type").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_without_a_floor_costs_its_tool_alone() {
    for era in ["legacy", "modern"] {
        is_left_out(era, "bad-schema-deep", "schema_deep").await;
    }
}

/// References that go round allow everything; whoever followed them would never come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_goes_round_is_not_followed_for_ever() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--misbehave", "bad-schema-loop"]).await;
    match tool(&servers, "schema_loop") {
        Ok(_) => {
            let said = stage.said(&servers, "schema_loop", json!({ "any": "thing" })).await;
            assert_eq!(said, "called schema_loop");
        }
        Err(_) => assert!(left_out(&servers).iter().any(|why| why.starts_with("schema_loop: "))),
    }
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "fine" })).await, "fine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_is_read_page_by_page_and_has_an_end() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--misbehave", "many-tools", "250"]).await;
    assert_eq!((names(&servers).len(), left_out(&servers)), (268, Vec::new()));
    assert_eq!(stage.said(&servers, "tool_00250", json!({})).await, "called tool_00250");
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--misbehave", "many-tools", "1500"]).await;
    assert_eq!((names(&servers).len(), left_out(&servers)), (1000, vec!["more than 1000 tools".to_owned()]));
    assert_eq!(stage.said(&servers, "tool_00900", json!({})).await, "called tool_00900");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_without_an_end_is_given_up() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--misbehave", "endless-pages"]).await;
    assert_eq!(names(&servers).len(), 18);
    assert!(stage.recorded().iter().filter(|line| line.contains("tools/list")).count() <= 50);
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "fine" })).await, "fine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_tools_of_one_name_the_first_counts_and_the_second_is_told() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--misbehave", "same-names"]).await;
    assert_eq!(tool(&servers, "twin").unwrap().description(), "The first of two.");
    assert_eq!(left_out(&servers), ["a second tool twin"]);
    assert_eq!(stage.said(&servers, "twin", json!({})).await, "called twin");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_no_model_takes_are_made_ones_that_all_take() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &["--misbehave", "long-names"]).await;
    let names = names(&servers);
    let fits = |name: &String| name.len() <= 64 && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    assert!(names.iter().all(fits), "{names:?}");
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    for (name, called) in
        [("with_some_spaces", "with some spaces"), ("dotted_name", "dotted.name"), ("_berpr_fe___", "überprüfe_名前")]
    {
        assert_eq!(stage.said(&servers, name, json!({})).await, format!("called {called}"));
    }
    let long = names.iter().find_map(|name| name.strip_prefix("mcp__x__").filter(|name| name.starts_with("long_")));
    assert_eq!(stage.said(&servers, long.unwrap(), json!({})).await, format!("called {}", "long_".repeat(20)));
    let left_out = left_out(&servers);
    assert!(matches!(left_out.as_slice(), [why] if why.starts_with("dotted name: ")), "{left_out:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_tools_exist_that_the_settings_let() {
    let stage = Stage::new();
    let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    let settings = ServerSettings { include: globs(&["echo", "p*"]), exclude: globs(&["pid"]), ..stage.fake(&[]) };
    let servers = stage.learnt(settings.clone()).await;
    assert_eq!(names(&servers), ["mcp__x__echo", "mcp__x__picture"]);
    assert_eq!(tool(&servers, "pid").err().map(|error| error.code), Some(ErrorCode::ToolNotFound));
    assert_eq!(within(servers.learn(SERVER)).await.unwrap().tools.len(), 18);
    let all_but_one = ServerSettings { include: Vec::new(), ..settings };
    assert_eq!(names(&stage.servers(vec![all_but_one])).len(), 17);
}

/// The fake server says of `write` that it changes nothing, which is a lie.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_says_of_its_tools_is_shown_and_not_believed() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &[]).await;
    let write = tool(&servers, "write").unwrap();
    assert_eq!(write.most_touch(), SideEffect::Runs);
    let call = write.prepare(json!({ "path": "a", "text": "b" })).ok().unwrap();
    let plan = call.plan(&stage.context()).await.unwrap();
    assert_eq!((call.touch(), plan.risk, plan.must_ask), (SideEffect::Runs, Risk::Medium, None));
    let remarks = ["x says of this tool: \"Writes a file.\"", "x says: changes nothing"].map(str::to_owned);
    assert_eq!((plan.because, plan.remarks), (None, remarks.to_vec()));
    assert_eq!((plan.freedom, plan.elsewhere), (Freedom::Unboxed, false), "the box is that of the server");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_may_destroy_something_is_of_the_highest_risk() {
    let stage = Stage::new();
    let servers = with_faults(&stage, &[]).await;
    let call = tool(&servers, "change").unwrap().prepare(json!({})).ok().unwrap();
    let plan = call.plan(&stage.context()).await.unwrap();
    assert_eq!(plan.because.as_deref(), Some("x says that this tool may destroy something"));
    let remarks = vec!["x says of this tool: \"Changes the description of echo.\"".to_owned()];
    assert_eq!((plan.risk, plan.remarks), (Risk::Critical, remarks));
}
