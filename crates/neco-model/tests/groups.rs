//! Groups: what they are made of, who is asked first, and what an answer costs.

#![allow(missing_docs, clippy::unwrap_used)]

use neco_config::section::{Config, GroupSection, ModelSection, ProviderSection, ProviderType, Strategy};
use neco_model::{GROUPS, LocalServer, Models, SetupError, State};
use neco_proto::Usage;

fn models(config: &Config, keys: &[&str]) -> Models {
    Models::new(config, &|name: &str| keys.contains(&name).then(|| "secret-key".to_owned())).unwrap()
}

fn members(models: &Models, name: &str) -> Vec<String> {
    models.members(name).unwrap().0.iter().map(ToString::to_string).collect()
}

fn group(models: &[&str], strategy: Strategy) -> GroupSection {
    GroupSection { models: models.iter().map(|model| (*model).to_owned()).collect(), strategy }
}

#[test]
fn keys_in_the_environment_make_the_groups() {
    let found = models(&Config::default(), &["DEEPSEEK_API_KEY", "ZHIPU_API_KEY"]);
    assert_eq!(found.default_name(), Ok("think".to_owned()));
    assert_eq!(members(&found, "think"), ["deepseek/deepseek-reasoner", "zhipuai/glm-4.7"]);
    assert_eq!(members(&found, "act"), ["deepseek/deepseek-chat", "zhipuai/glm-4.5-air"]);
    assert_eq!(members(&found, "image"), ["zhipuai/glm-4.6v"], "those that see nothing are left out");
    assert_eq!(found.provider_for("balanced").unwrap().label(), "balanced");
    // Its key opens the coding plan too, for who asks for that.
    assert_eq!(found.provider_for("zhipuai-coding-plan/glm-4.7").unwrap().label(), "zhipuai-coding-plan/glm-4.7");
    // One model stands for itself.
    let one = models(&Config::default(), &["DEEPSEEK_API_KEY"]);
    assert_eq!(one.provider_for("think").unwrap().label(), "deepseek/deepseek-reasoner");
    assert_eq!(members(&one, "image"), members(&one, "think"), "another group stands for one that is missing");
}

#[test]
fn what_is_configured_is_not_mixed_with_what_is_found() {
    let keys = ["DEEPSEEK_API_KEY", "OPENAI_API_KEY"];
    let configured = Config { model: Some("deepseek/deepseek-chat".to_owned()), ..Config::default() };
    let one = models(&configured, &keys);
    for name in GROUPS {
        assert_eq!(members(&one, name), ["deepseek/deepseek-chat"], "{name}");
    }
    let groups = [("act".to_owned(), group(&["openai/gpt-5-mini"], Strategy::First))].into();
    let act = models(&Config { model_groups: groups, ..configured }, &keys);
    assert_eq!(members(&act, "act"), ["openai/gpt-5-mini"]);
    assert_eq!(members(&act, "think"), ["deepseek/deepseek-chat"], "model stands for every group not given");
}

#[test]
fn local_servers_make_the_groups_when_there_is_nothing_else() {
    let servers = [LocalServer {
        provider: "ollama".to_owned(),
        base: "http://127.0.0.1:11434/v1".to_owned(),
        models: vec!["qwen3:8b".to_owned(), "qwen3-coder:30b".to_owned()],
    }];
    let nothing = models(&Config::default(), &[]);
    assert!(matches!(nothing.default_name(), Err(SetupError::NoModel(_))));
    nothing.use_local(&servers);
    assert_eq!(nothing.default_name(), Ok("think".to_owned()));
    assert_eq!(members(&nothing, "think"), ["ollama/qwen3-coder:30b"]);
    assert_eq!(members(&nothing, "balanced"), ["ollama/qwen3:8b"]);
    let with_key = models(&Config::default(), &["DEEPSEEK_API_KEY"]);
    with_key.use_local(&servers);
    assert_eq!(members(&with_key, "balanced"), ["deepseek/deepseek-chat"]);
}

#[test]
fn the_usual_models_are_known_and_see_where_they_should() {
    let all = models(&Config::default(), &[]);
    for entry in all.providers().iter() {
        for name in GROUPS {
            let Some(model) = entry.usual_model(name) else { continue };
            let info = all.info(&format!("{}/{model}", entry.name)).unwrap();
            assert!(info.known && info.tools, "{}/{model}", entry.name);
            assert!(name != "image" || info.vision, "{}/{model} sees nothing", entry.name);
        }
    }
}

#[test]
fn the_cheapest_is_asked_first_and_the_unknown_last() {
    let written = [
        "openai/gpt-unheard",
        "anthropic/claude-opus-5-5",
        "deepseek/deepseek-chat",
        "ollama/mine",
        "openai/gpt-5-mini",
    ];
    let groups = [
        ("cheap".to_owned(), group(&written, Strategy::Cheapest)),
        ("written".to_owned(), group(&written, Strategy::First)),
    ];
    let models = models(&Config { model_groups: groups.into(), ..Config::default() }, &[]);
    let price = |name: &str| models.info(name).unwrap().price.map(|price| price.input + price.output);
    let cheap = members(&models, "cheap");
    assert_eq!(cheap.first().unwrap(), "ollama/mine", "what runs here costs nothing");
    let prices: Vec<f64> = cheap.iter().skip(1).map_while(|name| price(name)).collect();
    assert!(prices.len() == 3 && prices.is_sorted(), "{cheap:?} {prices:?}");
    assert_eq!(cheap.last().unwrap(), "openai/gpt-unheard");
    assert_eq!(members(&models, "written"), written);
}

#[test]
fn what_does_not_chat_is_refused_with_the_name_of_its_group() {
    for (model, makes) in [
        ("ollama/nomic-embed-text", "embeddings"),
        ("ollama/bge-reranker-v2", "rankings"),
        ("ollama/fastapply-7b", "edits"),
    ] {
        let groups = [("act".to_owned(), group(&["ollama/qwen3:8b", model], Strategy::RoundRobin))].into();
        let models = models(&Config { model_groups: groups, ..Config::default() }, &[]);
        let error = models.provider_for("act").err().unwrap().to_string();
        assert!(
            error.contains("in the model group `act`") && error.contains(makes) && error.contains(model),
            "{error}"
        );
        let alone = models.provider_for(model).err().unwrap().to_string();
        assert!(alone.contains("can't be used here"), "{alone}");
    }
}

#[test]
fn a_description_tells_where_facts_and_keys_come_from_and_no_key() {
    let section = ModelSection { context_window: Some(64_000), ..ModelSection::default() };
    let provider = ProviderSection {
        kind: Some(ProviderType::Openai),
        base: Some("https://me:password@example.test/v1".to_owned()),
        api_key_env: Some("MINE_KEY".to_owned()),
        ..ProviderSection::default()
    };
    let config = Config {
        models: [("openai/gpt-5".to_owned(), section)].into(),
        model_providers: [("mine".to_owned(), provider)].into(),
        model_groups: [("both".to_owned(), group(&["openai/gpt-5?seed=7", "mine/m"], Strategy::First))].into(),
        ..Config::default()
    };
    let described = models(&config, &["OPENAI_API_KEY"]).describe("both").unwrap();
    let [openai, mine] = described.as_slice() else { panic!("{described:?}") };
    assert_eq!((openai.info.context_window, openai.keys.as_slice()), (64_000, &["OPENAI_API_KEY".to_owned()][..]));
    assert_eq!(openai.sources.built_in.as_deref(), Some("openai/gpt-5"));
    assert!(openai.sources.overridden && openai.name.parameters.seed == Some(7));
    assert_eq!(openai.states, [("openai/gpt-5".to_owned(), State::Ready)]);
    assert!(matches!(&mine.states[..], [(_, State::Unusable(SetupError::MissingKey { .. }))]));
    assert_eq!((mine.sources.built_in.as_deref(), mine.sources.overridden, mine.info.known), (None, false, false));
    let printed = format!("{described:?}");
    assert!(!printed.contains("secret-key") && !printed.contains("password"), "{printed}");
}

/// By hand, from the prices in the catalogue, for a million tokens.
#[test]
fn costs_are_those_of_the_catalogue() {
    let models = models(&Config::default(), &[]);
    let cost = |name: &str, usage: &Usage| models.info(name).unwrap().price.unwrap().of(usage);
    let near = |left: f64, right: f64| assert!((left - right).abs() < 1e-12, "{left} is not {right}");
    // claude-sonnet-4-5: 3 in, 15 out, 0.30 read, 3.75 written.
    let cached = Usage {
        input: 100_000,
        output: 2_000,
        cache_read: 80_000,
        cache_write: 15_000,
        reasoning: 500,
        ..Usage::default()
    };
    near(
        cost("anthropic/claude-sonnet-4-5", &cached),
        (5_000.0 * 3.0 + 80_000.0 * 0.3 + 15_000.0 * 3.75 + 2_000.0 * 15.0) / 1e6,
    );
    // claude-haiku-5-5: 0.10 in, 0.50 out, 0.01 read, 0.125 written; five times as much over 100,000.
    let at_the_limit = Usage { input: 100_000, output: 1_000, cache_read: 50_000, ..Usage::default() };
    let over = Usage { input: 100_001, ..at_the_limit };
    near(cost("anthropic/claude-haiku-5-5", &at_the_limit), (50_000.0 * 0.1 + 50_000.0 * 0.01 + 1_000.0 * 0.5) / 1e6);
    near(cost("anthropic/claude-haiku-5-5", &over), 5.0 * (50_001.0 * 0.1 + 50_000.0 * 0.01 + 1_000.0 * 0.5) / 1e6);
    // Per run and session: what is known adds up, what is not known adds nothing.
    let mut session = Usage::default();
    for cost in [Some(0.25), None, Some(0.5)] {
        session += Usage { input: 10, cost, ..Usage::default() };
    }
    assert_eq!((session.input, session.cost), (30, Some(0.75)));
}

#[test]
fn a_name_that_is_none_says_what_was_probably_meant() {
    let groups = [
        ("mine".to_owned(), group(&["ollama/qwen3:8b"], Strategy::First)),
        ("nested".to_owned(), group(&["mine"], Strategy::First)),
        ("typo".to_owned(), group(&["olama/m"], Strategy::First)),
        ("parameter".to_owned(), group(&["ollama/m?temperture=1"], Strategy::First)),
    ];
    let models = models(&Config { model_groups: groups.into(), ..Config::default() }, &[]);
    for (name, words) in [
        ("gpt-5", "did you mean the model openai/gpt-5"),
        ("ollama", "`ollama` is a provider: write which of its models is meant, such as ollama/"),
        ("mine?temperature=1", "in [model_groups.mine]"),
        ("mien", "did you mean mine?"),
        ("whatever-else", "there are mine, nested, parameter, typo, think, balanced"),
        ("nested", "`mine` is a group itself"),
        ("nested", "(in [model_groups.nested])"),
        ("typo", "did you mean ollama? (in [model_groups.typo])"),
        ("parameter", "did you mean `temperature`?"),
    ] {
        let error = models.provider_for(name).err().unwrap().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}
