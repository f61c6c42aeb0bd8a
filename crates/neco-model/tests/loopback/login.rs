//! A login at GitHub, from the code to the token that a model is asked with.

use std::collections::VecDeque;
use std::time::Duration;

use crate::served::{Reply, ReplyEnd};
use neco_config::section::{LoginSection, ProviderSection, TextToolCalls};
use neco_model::route::{DeviceLogin, Kept, KeySourceError, LoginError, LoginSettings};
use neco_model::{Delta, ErrorKind, KeySources, ModelError, Models, Script};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::server::{Seen, Server};
use super::{ask, config};

const GITHUB: &str = "gho_long_lived_secret";

fn answer(status: u16, body: &Value) -> Reply {
    Reply {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        pieces: vec![body.to_string().into()],
        delay_ms: 0,
        between_ms: 0,
        end: ReplyEnd::Whole,
    }
}

/// What a model says.
fn said(words: &str) -> Reply {
    let script = Script::new().say(words);
    let player = neco_model::scripted::Player::new(script.into(), "m");
    Reply::next(&player).unwrap()
}

fn code() -> Reply {
    answer(
        200,
        &json!({
            "device_code": "device-secret", "user_code": "AB12-CD34", "interval": 0, "expires_in": 900,
            "verification_uri": "https://github.example/login/device",
        }),
    )
}

fn refusal(error: &str) -> Reply {
    answer(200, &json!({ "error": error, "error_description": format!("{error}, they say"), "interval": 0 }))
}

fn token(name: &str, refresh_in: u64) -> Reply {
    answer(200, &json!({ "token": format!("tid={name};secret"), "refresh_in": refresh_in, "expires_at": 1 }))
}

async fn serve(replies: impl IntoIterator<Item = Reply>) -> Server {
    Server::answering(replies.into_iter().collect::<VecDeque<_>>(), 0).await
}

fn settings(server: &Server) -> LoginSettings {
    LoginSettings { site: server.base.clone(), api: server.base.clone(), client_id: "neco-test".to_owned() }
}

async fn log_in(replies: impl IntoIterator<Item = Reply>) -> (Result<SecretString, LoginError>, Vec<Seen>) {
    let server = serve([code()].into_iter().chain(replies)).await;
    let login = DeviceLogin::begin(&settings(&server)).await.unwrap();
    assert_eq!((login.user_code.as_str(), login.good_for().as_secs() > 800), ("AB12-CD34", true));
    (login.wait().await, server.seen())
}

#[tokio::test]
async fn a_person_is_waited_for() {
    let granted = answer(200, &json!({ "access_token": GITHUB, "token_type": "bearer", "scope": "read:user" }));
    let (token, seen) =
        log_in([refusal("authorization_pending"), refusal("slow_down"), refusal("authorization_pending"), granted])
            .await;
    assert_eq!(token.unwrap().expose_secret(), GITHUB);
    assert_eq!(seen.len(), 5);
    assert!(seen[0].head.starts_with("POST /v1/login/device/code "), "{}", seen[0].head);
    assert_eq!(seen[0].body, json!({ "client_id": "neco-test", "scope": "read:user" }));
    assert!(seen[1].head.starts_with("POST /v1/login/oauth/access_token "));
    assert_eq!(seen[4].body["device_code"], "device-secret");
    assert_eq!(seen[4].body["grant_type"], "urn:ietf:params:oauth:grant-type:device_code");
}

#[tokio::test]
async fn a_login_ends_in_the_ways_it_can() {
    for (replies, error) in [
        (vec![refusal("access_denied")], LoginError::Denied),
        (vec![refusal("authorization_pending"), refusal("expired_token")], LoginError::Expired),
        (vec![refusal("device_flow_disabled")], LoginError::Refused("device_flow_disabled, they say".to_owned())),
    ] {
        assert_eq!(log_in(replies).await.0.unwrap_err(), error);
    }
    // A moment without GitHub is forgiven, but not for ever.
    let away = || answer(502, &json!("bad gateway"));
    let granted = answer(200, &json!({ "access_token": GITHUB }));
    assert!(log_in([away(), away(), granted]).await.0.is_ok());
    let gone = log_in((0..5).map(|_| away())).await.0.unwrap_err();
    assert!(matches!(&gone, LoginError::Unreachable { cause, .. } if cause.contains("502")), "{gone}");
}

#[tokio::test]
async fn a_code_that_nobody_types_expires_here_too() {
    let mut short = code();
    short.pieces = vec![
        json!({ "device_code": "d", "user_code": "u", "verification_uri": "v", "interval": 5, "expires_in": 0.05 })
            .to_string()
            .into(),
    ];
    let server = serve([short]).await;
    let login = DeviceLogin::begin(&settings(&server)).await.unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(4), login.wait()).await.unwrap();
    assert_eq!(waited.unwrap_err(), LoginError::Expired);
    let refused = serve([answer(404, &json!({ "error": "Not Found" }))]).await;
    assert_eq!(DeviceLogin::begin(&settings(&refused)).await.err(), Some(LoginError::Refused("Not Found".to_owned())));
}

/// A login in the keys file.
struct OneLogin;

impl KeySources for OneLogin {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn kept(&self, provider: &str) -> Result<Kept, KeySourceError> {
        let login = (provider == "github-copilot").then(|| GITHUB.into());
        Ok(Kept { keys: Vec::new(), login })
    }

    fn keyring(&self, _: &str) -> Result<Option<SecretString>, KeySourceError> {
        Ok(None)
    }
}

fn section(server: &Server) -> ProviderSection {
    ProviderSection {
        base: Some(server.base.clone()),
        login: Some(LoginSection { api: Some(format!("{}/", server.base)), ..LoginSection::default() }),
        // Not asked about its template, as it would be if it really were a server of this machine.
        text_tool_calls: Some(TextToolCalls::Never),
        ..ProviderSection::default()
    }
}

/// Asks so many times, one after the other; `replies` come from one server for both addresses.
async fn copilot(replies: Vec<Reply>, times: usize) -> (Vec<(String, Option<ModelError>)>, Vec<Seen>) {
    let server = serve(replies).await;
    let models = Models::new(&config(&[("github-copilot", section(&server))]), &OneLogin).unwrap();
    let model = models.provider_for("github-copilot/gpt-5-mini").unwrap();
    let mut answers = Vec::new();
    for _ in 0..times {
        let (deltas, answer, error) = ask(&model).await;
        let begun = deltas.iter().filter(|delta| matches!(delta, Delta::Begin { .. })).count();
        assert!(begun <= 1, "{deltas:?}");
        answers.push((answer.text, error));
    }
    (answers, server.seen())
}

/// What each request showed.
fn shown(seen: &[Seen]) -> Vec<(&str, &str)> {
    let path = |seen: &Seen| if seen.head.contains("/copilot_internal/v2/token") { "trade" } else { "ask" };
    seen.iter().map(|seen| (path(seen), seen.header("authorization").unwrap_or(""))).collect()
}

#[tokio::test]
async fn a_token_is_traded_once_and_used_until_it_is_due() {
    let replies = vec![token("a", 1500), said("one"), said("two")];
    let (answers, seen) = copilot(replies, 2).await;
    assert_eq!(answers.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    let long = format!("token {GITHUB}");
    assert_eq!(
        shown(&seen),
        [("trade", long.as_str()), ("ask", "Bearer tid=a;secret"), ("ask", "Bearer tid=a;secret")]
    );
    assert!(seen[0].header("editor-version").unwrap().starts_with("Neco/"));
    assert!(seen[1].header("copilot-integration-id").is_some() && seen[1].header("editor-version").is_some());
    let (answers, seen) = copilot(vec![token("a", 0), said("one"), token("b", 0), said("two")], 2).await;
    assert_eq!(answers[1].0, "two");
    assert_eq!(shown(&seen)[3], ("ask", "Bearer tid=b;secret"));
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let refused = |token: &str| answer(401, &json!({ "error": { "message": format!("{token} is not valid") } }));
    let replies = vec![token("a", 1500), refused("tid=a;secret"), token("b", 1500), said("hello")];
    let (answers, seen) = copilot(replies, 1).await;
    assert_eq!(answers, [("hello".to_owned(), None)]);
    assert_eq!(shown(&seen)[3], ("ask", "Bearer tid=b;secret"));
    let replies = vec![token("a", 1500), refused("tid=a;secret"), token("b", 1500), refused("tid=b;secret")];
    let (answers, seen) = copilot(replies, 1).await;
    let error = answers[0].1.clone().unwrap();
    assert_eq!((error.kind, seen.len()), (ErrorKind::Auth, 4));
    assert!(error.message.contains("the login") && !error.message.contains("tid="), "{}", error.message);
}

#[tokio::test]
async fn what_github_refuses_is_explained() {
    let no = |status, words: &str| vec![answer(status, &json!({ "message": words }))];
    let (answers, _) = copilot(no(401, &format!("bad credentials {GITHUB}")), 1).await;
    let error = answers[0].1.clone().unwrap();
    assert_eq!(error.kind, ErrorKind::Auth);
    assert!(error.message.contains("neco auth login github-copilot") && !error.message.contains("gho_"), "{error}");
    let (answers, _) = copilot(no(403, "no seat"), 1).await;
    assert!(answers[0].1.as_ref().unwrap().message.contains("no seat"));
    let broken = vec![answer(500, &json!({})), answer(200, &json!({ "nothing": 1 })), token("a", 9), said("at last")];
    assert_eq!(copilot(broken, 1).await.0, [("at last".to_owned(), None)]);
}

#[tokio::test]
async fn those_who_ask_at_once_trade_once() {
    let server = serve([token("a", 1500), said("x"), said("x"), said("x")]).await;
    let models = Models::new(&config(&[("github-copilot", section(&server))]), &OneLogin).unwrap();
    let model = models.provider_for("github-copilot/gpt-5-mini").unwrap();
    let answers = futures::future::join_all((0..3).map(|_| ask(&model))).await;
    assert!(answers.iter().all(|(_, answer, error)| answer.text == "x" && error.is_none()));
    assert_eq!(shown(&server.seen()).iter().filter(|(path, _)| *path == "trade").count(), 1);
}
