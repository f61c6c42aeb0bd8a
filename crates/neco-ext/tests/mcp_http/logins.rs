//! Logins: in a browser, with a code, renewed, refused, taken back; and that no token goes where it does not belong.

use std::sync::atomic::Ordering;

use neco_ext::mcp::{LoggedOut, LoginStep, McpError, ServerState};
use neco_safety::secrets::Scope;
use serde_json::json;

use crate::oauth::{Issuer, Person, Place};
use crate::stage::{SERVER, Stage, greet, state};
use crate::web::{Reply, Web};

const LONG: u64 = 3600;

#[tokio::test]
async fn a_login_in_the_browser_is_kept_used_and_taken_back() {
    let (place, stage) = (Place::new(Issuer { life: LONG, ..Issuer::default() }).await, Stage::new());
    let servers = stage.at(&place.mcp.mcp());
    assert_eq!(servers.learn(SERVER).await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
    let person = Person::default();
    servers.log_in(SERVER, &person).await.unwrap();
    let shown = person.shown.lock().unwrap().clone();
    assert!(matches!(&shown[..], [LoginStep::OpenBrowser(page)] if page.contains("code_challenge=")), "{shown:?}");
    assert_eq!(state(&servers), ServerState::Configured);
    assert!(greet(&servers, "Ada").await.unwrap().contains("hello Ada"));
    assert_eq!(place.shown(), ["Bearer access-token-1"]);
    let asked = &place.tokens.at("/authorize")[0];
    assert_eq!((asked.query("scope").as_deref(), asked.query("resource")), (Some("read"), Some(place.mcp.mcp())));
    let kept = stage.logins.login().unwrap();
    assert_eq!(kept["credentials"]["token_response"]["access_token"], "access-token-1");
    let said = stage.redactor.redact("it said access-token-1 and refresh-token-1", Scope::Outside);
    assert!(!said.contains("token-1"), "{said}");

    // Another process has it, too.
    assert!(greet(&stage.at(&place.mcp.mcp()), "Eve").await.is_ok());

    assert_eq!(servers.log_out(SERVER).await.unwrap(), LoggedOut::Forgotten);
    let revoked: Vec<_> = place.tokens.at("/revoke").iter().filter_map(|asked| asked.field("token")).collect();
    assert_eq!(revoked, ["refresh-token-1", "access-token-1"]);
    assert!(stage.logins.login().is_none());
    assert_eq!(greet(&servers, "Ada").await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
    assert_eq!(servers.log_out(SERVER).await.unwrap(), LoggedOut::Nothing);
    let of_tokens = place.tokens.asked().into_iter().filter(|asked| asked.header("authorization").is_some()).count();
    assert_eq!(of_tokens, 0, "who gives out tokens is shown none as a header");
}

#[tokio::test]
async fn a_login_that_the_server_does_not_take_back_is_said_to_be_forgotten_here_only() {
    let (place, stage) = (Place::new(Issuer { life: LONG, keeps: true, ..Issuer::default() }).await, Stage::new());
    stage.logins.put(&place.login(0));
    let out = stage.at(&place.mcp.mcp()).log_out(SERVER).await.unwrap();
    assert_eq!(out, LoggedOut::HereOnly("it failed (HTTP 503)".to_owned()));
    assert!(stage.logins.login().is_none());
}

#[tokio::test]
async fn where_there_is_no_browser_a_code_is_typed_elsewhere() {
    let place = Place::new(Issuer { life: LONG, has_codes: true, ..Issuer::default() }).await;
    let (stage, person) = (Stage::new(), Person { has_no_browser: true, ..Person::default() });
    let servers = stage.at(&place.mcp.mcp());
    servers.log_in(SERVER, &person).await.unwrap();
    let (url, code) = (format!("{}/type-it-here", place.tokens.base), "ABCD-1234".to_owned());
    assert_eq!(*person.shown.lock().unwrap(), [LoginStep::EnterCode { url, code }]);
    assert_eq!(place.grants().len(), 2, "it is asked again while the code is not typed");
    assert!(greet(&servers, "Ada").await.is_ok());
}

#[tokio::test]
async fn a_login_that_is_denied_or_not_there_changes_nothing_and_says_why() {
    let (place, stage) = (Place::new(Issuer::default()).await, Stage::new());
    place.issuer.is_denied.store(true, Ordering::SeqCst);
    let servers = stage.at(&place.mcp.mcp());
    let denied = servers.log_in(SERVER, &Person::default()).await.unwrap_err().to_string();
    assert!(denied.contains("denied in the browser"), "{denied}");
    assert!(stage.logins.login().is_none() && place.grants().is_empty());

    let open = Web::start(|_| Reply::bare(404)).await;
    let none = stage.at(&open.mcp()).log_in(SERVER, &Person::default()).await.unwrap_err().to_string();
    assert!(none.contains("it asks for no login"), "{none}");
    let set = stage.with(&place.mcp.mcp(), |address| address.bearer = Some("token-of-the-settings".into()));
    let set = set.log_in(SERVER, &Person::default()).await.unwrap_err().to_string();
    assert!(set.contains("its token is in the settings"), "{set}");
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_when_it_is_refused() {
    let (place, stage) = (Place::new(Issuer { life: LONG, ..Issuer::default() }).await, Stage::new());
    stage.logins.put(&place.login(58));
    let servers = stage.at(&place.mcp.mcp());
    assert!(greet(&servers, "Ada").await.is_ok());
    assert_eq!(place.shown(), ["Bearer access-token-1"], "the one that is about to end is not shown any more");
    assert_eq!(place.tokens.at("/token")[0].field("refresh_token").as_deref(), Some("refresh-token-0"));
    let kept = stage.logins.login().unwrap();
    assert_eq!(kept["credentials"]["token_response"]["refresh_token"], "refresh-token-1");

    // The server does not take it any more, long before its end.
    place.fake.take("access-token-2");
    assert!(greet(&servers, "Eve").await.unwrap().contains("hello Eve"));
    assert_eq!(place.shown(), ["Bearer access-token-1", "Bearer access-token-2"]);
    assert_eq!(place.grants(), ["refresh_token", "refresh_token"]);
}

#[tokio::test]
async fn a_login_that_is_not_renewed_any_more_is_wanted_anew() {
    let (place, stage) = (Place::new(Issuer { life: LONG, ..Issuer::default() }).await, Stage::new());
    place.issuer.refuses.store(true, Ordering::SeqCst);
    stage.logins.put(&place.login(600));
    let servers = stage.at(&place.mcp.mcp());
    assert_eq!(greet(&servers, "Ada").await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
    servers.log_in(SERVER, &Person::default()).await.unwrap();
    assert!(greet(&servers, "Ada").await.is_ok());

    // In the middle of a conversation, too.
    place.fake.take("nobody-has-this");
    let error = greet(&servers, "Ada").await.unwrap_err().to_string();
    assert!(error.contains("neco mcp login docs"), "{error}");
    assert_eq!(greet(&servers, "Ada").await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
}

#[tokio::test]
async fn a_token_is_shown_to_no_other_address() {
    let (place, stage) = (Place::new(Issuer { life: LONG, ..Issuer::default() }).await, Stage::new());
    let other = Web::start(|_| Reply::bare(401)).await;
    stage.logins.put(&place.login(0));
    // The same name, another address.
    assert_eq!(stage.at(&other.mcp()).learn(SERVER).await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
    // An address that leads to another one.
    let elsewhere = other.mcp();
    let leading = Web::start(move |_| Reply::moved(307, &elsewhere)).await;
    let mut login = place.login(0);
    login["address"] = json!(leading.mcp());
    stage.logins.put(&login);
    let moved = stage.at(&leading.mcp()).learn(SERVER).await.unwrap_err().to_string();
    assert!(moved.contains("it has moved to"), "{moved}");
    assert!(leading.asked().iter().all(|asked| asked.header("authorization") == Some("Bearer access-token-0")));
    assert!(other.asked().iter().all(|asked| asked.header("authorization").is_none()));
    // A server whose login is elsewhere now: what was given by another gets nothing.
    let mut login = place.login(600);
    login["credentials"]["issuer"] = json!(other.base);
    stage.logins.put(&login);
    assert!(stage.at(&place.mcp.mcp()).learn(SERVER).await.is_err());
    assert!(place.grants().is_empty(), "no refresh token of another is shown");
    // A server that does not say any more who gives out its tokens does not get them itself.
    let alone = Web::start(|asked| if asked.path() == "/mcp" { Reply::bare(401) } else { Reply::bare(404) }).await;
    let mut login = place.login(600);
    login["address"] = json!(alone.mcp());
    stage.logins.put(&login);
    assert_eq!(stage.at(&alone.mcp()).learn(SERVER).await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
    assert!(alone.at("/token").is_empty(), "{:?}", alone.at("/token"));
}
