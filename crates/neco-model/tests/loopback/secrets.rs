//! What people write into addresses and headers: it is sent, and shown to nobody.

use neco_config::section::ProviderSection;
use neco_model::scripted::Fault;
use neco_model::{Models, NoKeys, Script, SetupError};

use super::server::Server;
use super::{ask, config, env, section};

const HIDDEN: [&str; 3] = ["pass-word-1", "query-key-2", "header-value-3"];

fn with_secrets(server: &Server) -> ProviderSection {
    let base = server.base.replace("http://", "http://me:pass-word-1@");
    ProviderSection {
        headers: [("x-gateway".to_owned(), "Token header-value-3".to_owned())].into(),
        ..section(&format!("{base}?key=query-key-2"), &[])
    }
}

#[tokio::test]
async fn secrets_are_sent_and_shown_to_nobody() {
    for code in [400, 401, 403, 404, 429, 500] {
        let message = Some(format!("you sent {}", HIDDEN.join(" and ")));
        let server = Server::start(Script::new().fault(Fault::Status { code, retry_after: None, message })).await;
        let mut config = config(&[("mine", with_secrets(&server))]);
        config.network.retries = 0;
        let models = Models::new(&config, &NoKeys).unwrap();
        let provider = models.provider_for("mine/m").unwrap();
        let (deltas, _, error) = ask(&provider).await;
        let error = error.unwrap();
        let described = models.describe("mine/m").unwrap();
        let entry = models.providers().get("mine").unwrap();
        let base = entry.base.as_ref().map(neco_model::route::Address::shown);
        let shown = format!(
            "{error} {error:?} {deltas:?} {described:?} {entry:?} {base:?} {:?} {config:?}",
            models.looked_for()
        );
        for secret in HIDDEN {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        let seen = server.seen().remove(0);
        assert!(seen.head.starts_with("POST /v1/chat/completions?key=query-key-2 HTTP/1.1"), "{}", seen.head);
        assert_eq!(seen.header("authorization"), Some("Basic bWU6cGFzcy13b3JkLTE="));
        assert_eq!(seen.header("x-gateway"), Some("Token header-value-3"));
    }
}

#[tokio::test]
async fn two_who_write_the_same_header_are_refused() {
    let server = Server::start(Script::new().say("ok").repeat(2)).await;
    let refused = |section: ProviderSection| {
        let models = Models::new(&config(&[("mine", section)]), &env).unwrap();
        models.provider_for("mine/m").err()
    };
    let keyed = ProviderSection { api_key_envs: vec!["KEY_ONE".to_owned()], ..with_secrets(&server) };
    let error = refused(keyed.clone()).unwrap();
    assert!(matches!(error, SetupError::KeyHeaderTaken { login: true, .. }), "{error}");
    let header = [("Authorization".to_owned(), "Bearer mine".to_owned())];
    let error = refused(ProviderSection { headers: header.into(), ..section(&server.base, &["KEY_ONE"]) }).unwrap();
    assert!(error.to_string().contains("[model_providers.mine.headers]"), "{error}");
    // Without a key, or with the key elsewhere, both are sent.
    assert!(refused(with_secrets(&server)).is_none());
    let elsewhere = ProviderSection { key_header: Some("x-key".to_owned()), ..keyed };
    let models = Models::new(&config(&[("mine", elsewhere)]), &env).unwrap();
    assert_eq!(ask(&models.provider_for("mine/m").unwrap()).await.2, None);
    let seen = server.seen().remove(0);
    assert!(
        seen.header("x-key").is_some() && seen.header("authorization").is_some_and(|value| value.starts_with("Basic "))
    );
}

#[test]
fn an_address_that_is_none_shows_no_password() {
    let models = Models::new(&config(&[("mine", section("me:pass-word-1@host/v1", &[]))]), &NoKeys).unwrap();
    let error = models.provider_for("mine/m").err().unwrap().to_string();
    assert!(error.contains("http://") && !error.contains("pass-word-1"), "{error}");
}
