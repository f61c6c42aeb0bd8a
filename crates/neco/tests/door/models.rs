//! `neco model`, groups, and what a run and a session cost.

use serde_json::{Value, json};

use crate::server;
use crate::support::{House, Ran, say};

/// A server that says the same to everybody.
fn serve(body: &'static str) -> String {
    server::start(move |_| (200, body.to_owned()))
}

/// Counts a million tokens in, half of them cached, and a tenth of a million out.
const TALKS: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":100000,",
    "\"prompt_tokens_details\":{\"cached_tokens\":500000}}}\n\n",
    "data: [DONE]\n\n",
);
const CALLS: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",",
    "\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"word\\\":\\\"neco\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":12}}\n\n",
    "data: [DONE]\n\n",
);

/// A house whose `mine/m` is served at `base`, with prices and a window.
fn priced(base: &str, model: &str) -> House {
    let house = House::empty();
    house.configure(&format!(
        "{model}\n[model_providers.mine]\ntype = \"openai\"\nbase = \"{base}\"\n\
         [models.\"mine/m\"]\ncontext_window = 2000000\ninput_price = 2.0\noutput_price = 10.0\ncache_read_price = 0.5\n"
    ));
    house
}

#[test]
fn a_run_and_a_session_tell_what_they_cost() {
    let house = priced(&serve(TALKS), "model = \"mine/m\"");
    // Half a million tokens anew, half a million from the cache, a tenth of a million out.
    let cost = 0.5 * 2.0 + 0.5 * 0.5 + 0.1 * 10.0;
    let first = house.run(&["-m", "x", "--output-format", "json"]).ended_with(0).json();
    let near = |value: &Value, expected: f64| assert!((value.as_f64().unwrap() - expected).abs() < 1e-9, "{value}");
    near(&first["total_cost_usd"], cost);
    near(&first["session_cost_usd"], cost);
    assert_eq!(
        (first["context_tokens"].as_u64(), first["context_window"].as_u64()),
        (Some(1_100_000), Some(2_000_000))
    );
    let again = house.run(&["-m", "y", "--continue", "--output-format", "json"]).ended_with(0).json();
    near(&again["total_cost_usd"], cost);
    near(&again["session_cost_usd"], 2.0 * cost);
    near(&again["usage"]["cost"], cost);
    let text = house.run(&["-m", "z", "--continue"]).ended_with(0);
    text.says("· $2.25 · $6.75 in this session · context 1.1M of 2.0M (55%)");
    let fresh = house.run(&["-m", "z"]).ended_with(0);
    assert!(!fresh.stderr.contains("in this session"), "{}", fresh.stderr);
    let events = house.run(&["-m", "x", "--output-format", "stream-json"]).ended_with(0).events();
    let usage = events.iter().find(|event| event["type"] == "usage").unwrap();
    near(&usage["cost"], cost);
    assert_eq!(usage["context_window"], 2_000_000);
}

#[test]
fn a_group_is_asked_by_its_name() {
    let house = House::playing(json!([say("from the group")]));
    let config = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&config.replace("model = \"play/a\"\n", "[model_groups.quick]\nmodels = [\"play/b\"]\n"));
    house.run(&["-m", "x", "--model", "quick"]).ended_with(0).says("from the group");
    house.run(&["-m", "x", "--model", "qick"]).ended_with(2).says("did you mean quick?");
}

#[test]
fn the_list_has_what_can_be_asked_first() {
    let house = House::empty();
    let none = house.run(&["model", "list"]).ended_with(0);
    assert!(none.stdout.contains("neco model list --all") && !none.stdout.contains("gpt-5"), "{}", none.stdout);
    let one = Ran::of(house.neco(&["model", "list"]).env("DEEPSEEK_API_KEY", "sk-hidden-value")).ended_with(0);
    for words in ["think      deepseek/deepseek-reasoner", "deepseek · key: DEEPSEEK_API_KEY", "deepseek-chat", "tools"]
    {
        assert!(one.stdout.contains(words), "{words} is not in\n{}", one.stdout);
    }
    assert!(!one.stdout.contains("hidden-value"));
    let all = Ran::of(house.neco(&["model", "list", "--all", "--json"]).env("DEEPSEEK_API_KEY", "sk-hidden-value"));
    let all = all.ended_with(0).json();
    assert_eq!(all["providers"][0]["name"], "deepseek");
    let gpt = all["models"].as_array().unwrap().iter().find(|model| model["name"] == "openai/gpt-5").unwrap();
    assert_eq!((gpt["usable"].as_bool(), gpt["vision"].as_bool()), (Some(false), Some(true)));
    assert!(gpt["input_price"].as_f64().unwrap() > 0.0 && gpt["context_window"].as_u64().unwrap() > 100_000);
}

#[test]
fn a_model_is_shown_with_everything_but_its_key() {
    let house = priced(
        "http://127.0.0.1:1/v1",
        "[model_groups.think]\nmodels = [\"mine/m?temperature=0.2\", \"openai/gpt-5\"]",
    );
    let shown = Ran::of(house.neco(&["model", "show", "think"]).env("X", "y")).ended_with(0);
    for words in [
        "think · in turn of 2",
        "asked at    http://127.0.0.1:1/v1 (OpenAI chat completions)",
        "parameters  temperature=0.2",
        "$2 in, $10 out, $0.50 cache read",
        "[models.\"mine/m\"]",
        "the built-in catalogue (openai/gpt-5)",
        "can't be asked: openai needs a key",
    ] {
        assert!(shown.stdout.contains(words), "{words} is not in\n{}", shown.stdout);
    }
    let json =
        Ran::of(house.neco(&["model", "show", "openai/gpt-5", "--json"]).env("OPENAI_API_KEY", "sk-hidden-value"));
    assert!(!json.stdout.contains("hidden-value"));
    let json = json.ended_with(0).json();
    assert_eq!(json["models"][0]["key_sources"], json!(["OPENAI_API_KEY"]));
    assert_eq!(json["models"][0]["states"][0]["state"], "ready");
    house.run(&["model", "show", "opnai/gpt-5"]).ended_with(2).says("did you mean openai?");
}

#[test]
fn a_test_asks_each_model_once_and_says_what_is_wrong() {
    let works = priced(&serve(CALLS), "model = \"mine/m\"");
    works
        .run(&["model", "test"])
        .ended_with(0)
        .says("ok    mine/m · first byte")
        .says("30 in · 12 out")
        .says("calls tools");
    let report = works.run(&["model", "test", "mine/m", "--json"]).ended_with(0).json();
    assert_eq!(
        (report["models"][0]["ok"].as_bool(), report["models"][0]["called_tool"].as_bool()),
        (Some(true), Some(true))
    );
    let talks = priced(&serve(TALKS), "[model_groups.act]\nmodels = [\"mine/m\", \"openai/gpt-5\"]");
    talks
        .run(&["model", "test", "act"])
        .ended_with(5)
        .says("does not call the tool")
        .says("fail  openai/gpt-5 · openai needs a key");
    let nobody = priced("http://127.0.0.1:1/v1", "model = \"mine/m\"");
    nobody.run(&["model", "test"]).ended_with(5).says("fail  mine/m · nothing answers at http://127.0.0.1:1");
}
