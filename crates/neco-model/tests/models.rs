//! From a configuration to a provider, and the scripted model behind the real group.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_config::section::{
    Config, GroupSection, ModelSection, NetworkSection, ProviderSection, ProviderType, Strategy,
};
use neco_model::group::{Group, Lane, Member, RetryPolicy, Turns};
use neco_model::route::Timeouts;
use neco_model::scripted::{Expect, Fault, ScriptedModel};
use neco_model::{Answer, Delta, ErrorKind, ModelError, Models, Provider, Request, Script, SetupError};
use neco_proto::Message;
use serde_json::json;
use tokio::time::Instant;

fn no_env(_: &str) -> Option<String> {
    None
}

fn request() -> Request {
    Request {
        system: "".into(),
        tools: Vec::new().into(),
        history: [Message::user("hello there")].into_iter().collect(),
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

async fn ask(provider: &dyn Provider) -> (Vec<Delta>, Answer, Option<ModelError>) {
    let (mut deltas, mut answer, mut error) = (Vec::new(), Answer::default(), None);
    let mut stream = provider.stream(request());
    while let Some(item) = stream.next().await {
        match item {
            Ok(delta) => {
                answer.add(&delta);
                deltas.push(delta);
            }
            Err(failure) => error = Some(failure),
        }
    }
    (deltas, answer, error)
}

fn scripted(script: Script) -> Group {
    let timeouts = Timeouts {
        first_byte: Some(Duration::from_secs(300)),
        idle: Some(Duration::from_secs(120)),
        ..Timeouts::default()
    };
    let model = ScriptedModel::new("scripted", "m", Arc::new(script), timeouts);
    let lane = Lane::new("scripted/m".to_owned(), Arc::new(model));
    let member = Arc::new(Member::new(vec![lane], Arc::new(Turns::default())));
    let policy = RetryPolicy {
        retries: 3,
        backoff: Duration::from_secs(1),
        max_retry_after: Duration::from_secs(60),
        load_timeout: Duration::ZERO,
    };
    Group::new("scripted/m".to_owned(), vec![member], Strategy::RoundRobin, policy)
}

#[tokio::test(start_paused = true)]
async fn backoff_doubles_and_a_retry_after_is_obeyed() {
    let script = Script::new()
        .fault(Fault::status(500))
        .fault(Fault::status(529))
        .fault(Fault::rate_limit(12.0))
        .say("ok")
        .in_pieces_of(1);
    let begin = Instant::now();
    let (deltas, answer, error) = ask(&scripted(script)).await;
    assert_eq!((answer.text.as_str(), error), ("ok", None));
    let waits: Vec<u64> = deltas
        .iter()
        .filter_map(|delta| if let Delta::Retry(retry) = delta { Some(retry.wait_ms) } else { None })
        .collect();
    assert!(
        (1000..=1250).contains(&waits[0]) && (2000..=2500).contains(&waits[1]) && (12_000..=15_000).contains(&waits[2]),
        "{waits:?}"
    );
    assert!(begin.elapsed() >= Duration::from_secs(15));
}

#[tokio::test(start_paused = true)]
async fn stalls_drops_and_delays_pass_through_the_group() {
    let script = Script::new()
        .fault(Fault::StallAfter(0))
        .say("one two three")
        .faulty(Fault::StallAfter(1))
        .say("one two three")
        .faulty(Fault::DropAfter(2))
        .say("four");
    let begin = Instant::now();
    let (deltas, answer, error) = ask(&scripted(script)).await;
    assert_eq!((answer.text.as_str(), error), ("four", None));
    let discards: Vec<bool> = deltas
        .iter()
        .filter_map(|delta| if let Delta::Retry(retry) = delta { Some(retry.discards) } else { None })
        .collect();
    assert_eq!(discards, [false, true, true]);
    assert!(begin.elapsed() >= Duration::from_secs(420));
}

#[tokio::test]
async fn an_expectation_that_fails_ends_the_run() {
    let script = Script::new().say("a").expecting(Expect::user("hello")).say("b").expecting(Expect::user("bye"));
    let group = scripted(script);
    assert!(group.scripted());
    assert_eq!(ask(&group).await.2, None);
    let (deltas, _, error) = ask(&group).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    assert!(error.message.contains("request 2") && error.message.contains("\"hello there\""), "{error}");
    assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Retry(_))));
    let error = ask(&group).await.2.unwrap();
    assert!(error.message.contains("used up"), "{error}");
}

#[tokio::test]
async fn odd_calls_come_through_as_they_are_written() {
    let script = Script::parse(
        r#"{"turns":[{"calls":[
            {"name":"a","arguments_raw":"{\"x\":"},
            {"name":"b","id":null},
            {"name":"c","id":"same","arguments":{}},
            {"name":"d","id":"same"}
        ]},{"fault":"empty"}]}"#,
    )
    .unwrap();
    let group = scripted(script);
    let (_, answer, _) = ask(&group).await;
    let ids: Vec<Option<&str>> = answer.calls.iter().map(|call| call.id.as_deref()).collect();
    assert_eq!(ids, [Some("call_1_1"), None, Some("same"), Some("same")]);
    assert_eq!((answer.calls[0].arguments.as_str(), answer.calls[1].arguments.as_str()), ("{\"x\":", "{}"));
    let (_, answer, error) = ask(&group).await;
    assert_eq!((answer.text.as_str(), answer.calls.len(), error), ("", 0, None));
    assert!(answer.finish.is_some());
}

#[tokio::test]
async fn a_script_file_is_played_by_its_provider() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, json!({ "turns": [{ "say": "hi", "usage": { "input": 5 } }] }).to_string()).unwrap();
    let section = ProviderSection { script: Some(path.display().to_string()), ..ProviderSection::default() };
    let config = Config {
        model: Some("scripted/demo".to_owned()),
        model_providers: [("scripted".to_owned(), section)].into(),
        ..Config::default()
    };
    let models = Models::new(&config, &no_env).unwrap();
    let name = models.default_name().unwrap();
    let provider = models.provider_for(&name).unwrap();
    assert!(provider.scripted());
    let (_, answer, _) = ask(&*provider).await;
    assert_eq!((answer.text.as_str(), answer.model.as_str()), ("hi", "scripted/demo"));
    assert_eq!(answer.usage.unwrap().cost, None);
    // The same name is the same model, and other groups are it too.
    assert!(Arc::ptr_eq(&provider, &models.provider_for("scripted/demo").unwrap()));
    assert_eq!(models.provider_for("balanced").unwrap().label(), "scripted/demo");
    assert!(ask(&*models.provider_for("balanced").unwrap()).await.2.unwrap().message.contains("used up"));
}

#[test]
fn a_window_that_is_set_counts_for_a_script_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, json!({ "turns": [{ "say": "done" }], "context_window": 5000 }).to_string()).unwrap();
    let section = ProviderSection { script: Some(path.display().to_string()), ..ProviderSection::default() };
    let mut config = with_provider("scripted", section);
    let window =
        |config: &Config| Models::new(config, &no_env).unwrap().provider_for("scripted/demo").unwrap().context_window();
    assert_eq!(window(&config), Some(5000));
    let set = ModelSection { context_window: Some(9000), ..ModelSection::default() };
    config.models.insert("scripted/demo".to_owned(), set);
    assert_eq!(window(&config), Some(9000));
}

#[tokio::test]
async fn a_price_that_is_set_counts_for_a_script_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    let turn = json!({ "say": "done", "usage": { "input": 1_000_000, "output": 500_000 } });
    std::fs::write(&path, json!({ "turns": [turn], "loop_last": true }).to_string()).unwrap();
    let section = ProviderSection { script: Some(path.display().to_string()), ..ProviderSection::default() };
    let mut config = with_provider("scripted", section);
    let set = ModelSection { input_price: Some(2.0), output_price: Some(10.0), ..ModelSection::default() };
    config.models.insert("scripted/dear".to_owned(), set);
    let models = Models::new(&config, &no_env).unwrap();
    for (name, cost) in [("scripted/dear", Some(7.0)), ("scripted/free", None)] {
        let provider = models.provider_for(name).unwrap();
        let (deltas, ..) = ask(&*provider).await;
        let usage = deltas.iter().find_map(|delta| if let Delta::Usage(usage) = delta { Some(*usage) } else { None });
        assert_eq!(usage.unwrap().cost, cost, "{name}");
        assert_eq!(provider.context_window(), None, "a price says nothing of the window");
    }
}

fn setup_error(config: &Config, name: &str) -> SetupError {
    let models = match Models::new(config, &no_env) {
        Ok(models) => models,
        Err(error) => return error,
    };
    match models.provider_for(name) {
        Ok(_) => panic!("{name} can be asked"),
        Err(error) => error,
    }
}

fn with_provider(name: &str, section: ProviderSection) -> Config {
    Config { model_providers: [(name.to_owned(), section)].into(), ..Config::default() }
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let plain = Config::default();
    let openai = ProviderSection { kind: Some(ProviderType::Openai), ..ProviderSection::default() };
    let at = |base: &str| ProviderSection { base: Some(base.to_owned()), ..openai.clone() };
    let header = ProviderSection { headers: [("a b".to_owned(), "c".to_owned())].into(), ..at("http://h") };
    let script = ProviderSection { script: Some("/nowhere/script.json".to_owned()), ..ProviderSection::default() };
    for (config, name, words) in [
        (plain.clone(), "openai/gpt-5", "openai needs a key: set OPENAI_API_KEY"),
        (plain.clone(), "opnai/gpt-5", "did you mean openai?"),
        (plain.clone(), "gpt-5", "did you mean the model openai/gpt-5"),
        (plain.clone(), "gpt-unheard", "provider/model"),
        (plain.clone(), "ollama/nomic-embed-text", "embeddings"),
        (plain.clone(), "ollama/m?heat=1", "temperature, top_p, max_tokens, reasoning, seed"),
        (plain.clone(), "scripted/m", "set script in [model_providers.scripted]"),
        (plain, "think", "no model is configured"),
        (with_provider("mine", openai.clone()), "mine/m", "set base in [model_providers.mine]"),
        (with_provider("mine", at("localhost:8080")), "mine/m", "http://"),
        (with_provider("mine", header), "mine/m", "header"),
        (with_provider("mine", ProviderSection::default()), "mine/m", "has no type"),
        (with_provider("scripted", script), "scripted/m", "/nowhere/script.json"),
    ] {
        let error = setup_error(&config, name).to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
    let groups: BTreeMap<_, _> = [("fast".to_owned(), GroupSection::default())].into();
    let config = Config { model_groups: groups, ..Config::default() };
    assert!(setup_error(&config, "fast").to_string().contains("[model_groups.fast]"));
    assert!(setup_error(&config, "fats").to_string().contains("did you mean fast?"));
    let config = Config { model: Some("think".to_owned()), ..Config::default() };
    assert!(matches!(setup_error(&config, "think"), SetupError::UnknownGroup { .. }));
    assert!(matches!(setup_error(&config, "act"), SetupError::UnknownGroup { .. }));
}

#[test]
fn a_key_with_odd_characters_is_refused_without_showing_it() {
    let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-a\u{1}b".to_owned());
    let models = Models::new(&Config::default(), &env).unwrap();
    let error = models.provider_for("openai/gpt-5").err().unwrap().to_string();
    assert!(error.contains("OPENAI_API_KEY") && !error.contains("sk-a"), "{error}");
    assert!(models.provider_for("ollama/m").is_ok());
}

#[test]
fn the_default_is_configured_or_found() {
    let name =
        |config: &Config, env: &dyn Fn(&str) -> Option<String>| Models::new(config, &env).unwrap().default_name();
    let env = |name: &str| ["DEEPSEEK_API_KEY", "GROQ_API_KEY"].contains(&name).then(|| "k".to_owned());
    assert_eq!(name(&Config::default(), &env), Ok("think".to_owned()));
    let group =
        |name: &str| (name.to_owned(), GroupSection { models: vec!["ollama/m".to_owned()], ..Default::default() });
    let mut config =
        Config { model_groups: [group("a"), group("balanced"), group("think")].into(), ..Config::default() };
    assert_eq!(name(&config, &env), Ok("think".to_owned()));
    config.model_groups.remove("think");
    assert_eq!(name(&config, &env), Ok("balanced".to_owned()));
    config.model = Some("ollama/x".to_owned());
    assert_eq!(name(&config, &env), Ok("ollama/x".to_owned()));

    let Err(SetupError::NoModel(looked_for)) = name(&Config::default(), &no_env) else { panic!("found a model") };
    assert_eq!(looked_for.keys[0], ("openai".to_owned(), vec!["OPENAI_API_KEY".to_owned()]));
    assert!(looked_for.local.contains(&("ollama".to_owned(), "http://127.0.0.1:11434/v1".to_owned())));
    assert_eq!(looked_for.local.len(), 4);
}

#[test]
fn a_group_does_without_models_whose_key_is_missing() {
    let models = vec!["openai/gpt-5".to_owned(), "ollama/m".to_owned()];
    let groups = [("think".to_owned(), GroupSection { models, ..Default::default() })].into();
    let config = Config { model_groups: groups, network: NetworkSection::default(), ..Config::default() };
    let models = Models::new(&config, &no_env).unwrap();
    assert_eq!(models.provider_for("think").unwrap().label(), "think");
    let info = models.info("think").unwrap();
    assert_eq!((info.context_window, info.known, info.price), (32_768, false, None));
    assert!(models.info("openai/gpt-5").unwrap().price.is_some());
}

#[tokio::test]
async fn a_script_of_the_reference_can_be_played() {
    let reference = include_str!("../../../docs/reference/script.md");
    let block = reference.split_once("```json").unwrap().1.split_once("```").unwrap().0;
    let provider = Script::parse(block).unwrap().into_provider();
    let (_, answer, error) = ask(&*provider).await;
    assert_eq!((answer.text.as_str(), answer.calls.len(), error), ("Let me look.", 1, None));
    for fault in [
        r#"{"status": {"code": 429, "retry_after": 2, "message": "…"}}"#,
        r#"{"drop_after": 3}"#,
        r#"{"stall_after": 3}"#,
        r#"{"error_after": 3}"#,
        r#""empty""#,
    ] {
        assert!(reference.contains(fault), "{fault}");
        serde_json::from_str::<Fault>(fault).unwrap();
    }
    let error = Script::parse(r#"{"turns":[{"sya":"x"}]}"#).unwrap_err();
    assert!(error.contains("sya") && error.contains("line 1"), "{error}");
    assert!(Script::parse("{}").is_err());
}

#[tokio::test]
async fn the_test_provider_tries_again_at_once() {
    let script = Script::new().fault(Fault::status(500)).say("one two").faulty(Fault::StallAfter(1)).say("ok");
    let provider = script.into_provider();
    assert!(provider.scripted());
    let (deltas, answer, error) = ask(&*provider).await;
    assert_eq!((answer.text.as_str(), error), ("ok", None));
    assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::Retry(_))).count(), 2);
}
