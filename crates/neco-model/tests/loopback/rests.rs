//! What rests together: a key that is not accepted, for all models; a model, whatever its parameters.

use neco_model::scripted::Fault;
use neco_model::{Models, Script};

use super::server::Server;
use super::{SECOND, SECRET, ask, config, env, provider, section, switches};

#[tokio::test]
async fn a_bad_key_is_skipped_at_once_and_rested() {
    let script = Script::new().fault(Fault::Status {
        code: 401,
        retry_after: None,
        message: Some(format!("Incorrect API key provided: {SECRET}.")),
    });
    let server = Server::start(script.say("a").say("b").say("c")).await;
    let vendor = config(&[("vendor", section(&server.base, &["KEY_ONE", "KEY_TWO"]))]);
    let provider = provider(&vendor, "vendor/m");
    let (deltas, answer, error) = ask(&provider).await;
    assert_eq!((answer.text.as_str(), error), ("a", None));
    let switches = switches(&deltas);
    assert_eq!(switches.len(), 1);
    assert_eq!((switches[0].from.as_str(), switches[0].to.as_str()), ("vendor/m (key 1)", "vendor/m (key 2)"));
    assert!(switches[0].message.contains("key 1 of 2 (KEY_ONE)"), "{switches:?}");
    assert!(!switches[0].message.contains(SECRET), "{switches:?}");
    // The bad key is rested: nobody runs into it again.
    assert_eq!(ask(&provider).await.1.text, "b");
    assert_eq!(ask(&provider).await.1.text, "c");
    let keys: Vec<String> = server.seen().iter().map(|seen| seen.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(keys[1..], [format!("Bearer {SECOND}"), format!("Bearer {SECOND}"), format!("Bearer {SECOND}")]);
}

#[tokio::test]
async fn a_key_that_is_not_accepted_rests_for_all_models() {
    let server = Server::start(Script::new().fault(Fault::status(401)).say("ok").repeat(4)).await;
    let models = Models::new(&config(&[("vendor", section(&server.base, &["KEY_ONE", "KEY_TWO"]))]), &env).unwrap();
    for name in ["vendor/one", "vendor/two", "vendor/one?temperature=1", "vendor/two"] {
        assert_eq!(ask(&models.provider_for(name).unwrap()).await.1.text, "ok", "{name}");
    }
    let second = format!("Bearer {SECOND}");
    let used = server.seen().iter().filter(|seen| seen.header("authorization") == Some(second.as_str())).count();
    assert_eq!((server.seen().len(), used), (5, 4), "only the first question ran into the bad key");
}

#[tokio::test]
async fn a_model_that_fails_rests_with_all_its_parameters_and_alone() {
    let limited = Fault::rate_limit(3600.0);
    let server = Server::start(Script::new().fault(limited).say("ok").repeat(3)).await;
    let models = Models::new(&config(&[("vendor", section(&server.base, &["KEY_ONE", "KEY_TWO"]))]), &env).unwrap();
    let (deltas, answer, _) = ask(&models.provider_for("vendor/one").unwrap()).await;
    assert_eq!((answer.text.as_str(), switches(&deltas).len()), ("ok", 1));
    let states = |name: &str| {
        let described = models.describe(name).unwrap();
        described[0].states.iter().map(|(_, state)| *state == neco_model::State::Rests).collect::<Vec<_>>()
    };
    assert_eq!(states("vendor/one"), [true, false]);
    assert_eq!(states("vendor/one?seed=1"), [true, false]);
    assert_eq!(states("vendor/two"), [false, false]);
}
