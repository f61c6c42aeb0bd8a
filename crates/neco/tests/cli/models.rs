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

/// A house with a group of a model that has a price and one that has none.
fn half_priced(group: &str) -> House {
    let house = priced(&serve(TALKS), &format!("model = \"both\"\n{group}"));
    let config = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}[model_groups.both]\nmodels = [\"mine/m\", \"mine/other\"]\n"));
    house
}

#[test]
fn who_answered_and_what_has_no_price_is_told() {
    let house = half_priced("");
    let first = house.run(&["-m", "x", "--output-format", "json"]).ended_with(0).json();
    assert_eq!((&first["model"], &first["models"]), (&json!("mine/m"), &json!(["mine/m"])));
    assert_eq!((&first["unpriced_turns"], &first["session_unpriced_turns"]), (&json!(0), &json!(0)));
    let second = house.run(&["-m", "y", "--continue", "--model", "mine/other", "--output-format", "json"]);
    let second = second.ended_with(0).json();
    assert_eq!((&second["total_cost_usd"], &second["unpriced_turns"]), (&json!(null), &json!(1)));
    assert_eq!((&second["session_unpriced_turns"], &second["usage"]["unpriced"]), (&json!(1), &json!(1)));
    let third = house.run(&["-m", "z", "--continue", "--model", "mine/m"]).ended_with(0);
    third.says("· mine/m · 1 turn").says("at least $4.50 in this session (1 turn without a known price)");
}

#[test]
fn a_budget_that_can_not_count_says_so() {
    let house = half_priced("");
    let warned = house.run(&["-m", "x", "--max-cost", "9"]).ended_with(0);
    warned.says("The price of mine/other is not known, so --max-cost can't stop it").says("[models.\"mine/other\"]");
    let known = house.run(&["-m", "x", "--max-cost", "9", "--model", "mine/m"]).ended_with(0);
    assert!(!known.stderr.contains("price"), "{}", known.stderr);
    let own = house.run(&["-m", "x", "--model", "mine/other", "-c", "agent.max_cost=1"]).ended_with(0);
    own.says("so agent.max_cost can't stop it");
}

#[test]
fn a_budget_that_is_used_up_says_its_limit_and_the_way_out() {
    let house = priced(&serve(TALKS), "model = \"mine/m\"");
    let passed = house.run(&["-m", "x", "--max-cost", "2"]).ended_with(0);
    passed.says("Budget of $2.00 reached: $2.25 spent in this session. Raise it with --max-cost").says("done in");
    let stopped = house.run(&["-m", "y", "--continue", "--max-cost", "2"]).ended_with(4);
    stopped.says("$2.25 spent").says("before anything was asked").says("Raise it with --max-cost");
    let line = &["-m", "y", "--continue", "--max-cost", "2", "--output-format", "json"];
    let report = house.run(line).ended_with(4).json();
    assert_eq!(report["error"]["code"], 4006);
    assert!(report["error"]["message"].as_str().unwrap().contains("Budget of $2.00 reached: $2.25"), "{report}");
    assert_eq!(report["budget_reached"]["of"], "cost");
    let tokens = house.run(&["-m", "y", "--continue", "-c", "agent.max_tokens=1000"]).ended_with(4);
    tokens.says("Budget of 1000 tokens reached: 1100000 used").says("-c agent.max_tokens=N");
    house.run(&["-m", "y", "--continue", "--max-cost", "9"]).ended_with(0);
}

#[test]
fn no_credit_left_is_five() {
    let base = server::start(|_| (402, "{\"error\":{\"message\":\"Insufficient credits\"}}".to_owned()));
    let house = priced(&base, "model = \"mine/m\"");
    house.run(&["-m", "x"]).ended_with(5).says("4006").says("credit");
    house.run(&["model", "test"]).ended_with(5);
}

#[test]
fn a_retry_is_told_beside_json() {
    let house = House::playing(json!([{ "fault": { "status": { "code": 429 } } }, say("ok")]));
    let ran = house.run(&["-m", "x", "--output-format", "json", "-c", "network.backoff=0.01"]).ended_with(0);
    assert!(ran.stderr.contains("! play/a: ") && ran.stderr.contains("attempt 2 of "), "{}", ran.stderr);
    assert_eq!(ran.json()["result"], "ok");
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
    nobody.run(&["model", "test"]).ended_with(5).says("fail  mine/m · no answer from http://127.0.0.1:1");
}
