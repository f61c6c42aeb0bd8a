//! How browsers sign in: a link from the terminal, once, for a cookie and a header token.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use http::{HeaderValue, StatusCode, header};
use neco_proto::Actor;
use neco_proto::app::{AppError, Caller, Scope, Trouble};
use serde::Deserialize;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::House;
use super::audit::Line;
use super::calls::{rights, taken_within};
use super::guard::Asker;
use super::problem::{Answer, Problem};
use super::sessions::answered;

/// Bytes of a body with the code of a link: whoever sends it has shown nothing yet.
const LONGEST: usize = 4 * 1024;

/// What making a link is called.
const LINK: &str = "auth.link";

/// The code of a link.
#[derive(Deserialize)]
struct Code {
    code: String,
}

/// The routes of signing in.
pub(crate) fn add(router: Router, house: &Arc<House>) -> Router {
    let own = |house: &Arc<House>| Arc::clone(house);
    let (links, exchanges, leaves) = (own(house), own(house), own(house));
    router
        .route("/api/v1/auth/link", post(move |request: Request| async move { answered(link(&links, request).await) }))
        .route(
            "/api/v1/auth/exchange",
            post(move |request: Request| async move { answered(exchange(&exchanges, request).await) }),
        )
        .route(
            "/api/v1/auth/logout",
            post(move |request: Request| async move { answered(leave(&leaves, request).await) }),
        )
}

fn failed(error: io::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// Writes down what somebody does here.
async fn note(house: &House, caller: &Caller, does: &str) {
    house.hall.audit.note(Line::of(caller, does, &Ok(()))).await;
}

/// Only the person makes links: whoever opens one may do all that they may.
async fn link(house: &House, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    if rights.scope < Scope::Manage || rights.actor != Actor::Person {
        let refused = AppError::new(Trouble::NotAllowed, "a link is only for whoever may do everything");
        house.hall.audit.note(Line::of(&rights.own(), LINK, &Err::<(), _>(refused.clone()))).await;
        return Err(refused.into());
    }
    let code = house.access.link().map_err(failed)?;
    note(house, &rights.own(), LINK).await;
    Answer::json(StatusCode::CREATED, &json!({ "url": format!("{}/#code={code}", house.url) }))
        .map(IntoResponse::into_response)
}

async fn exchange(house: &Arc<House>, request: Request) -> Result<Response, Problem> {
    from_own_page(&request)?;
    let asker = request.extensions().get::<Asker>().copied();
    let (_, body) = taken_within(request, LONGEST).await?;
    let Code { code } = serde_json::from_slice(&body).map_err(|error| Problem::bad(error.to_string()))?;
    let used =
        || Problem::new(StatusCode::UNAUTHORIZED, "the link was used, or is too old: `neco serve link` makes another");
    let own = Arc::clone(house);
    let exchanged = spawn_blocking(move || own.access.exchange(&code)).await;
    let Some((cookie, tab)) = exchanged.map_err(io::Error::other).and_then(|exchanged| exchanged).map_err(failed)?
    else {
        // Only what is wrong is counted: nobody keeps others from signing in.
        if !asker.is_some_and(|asker| house.guard.may_be_wrong(asker, "exchange")) {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many wrong codes in one minute"));
        }
        let refused = Some("the code is good for nothing, or no longer".to_owned());
        house.hall.audit.note(Line { does: "auth.exchange".to_owned(), refused, ..Line::default() }).await;
        return Err(used());
    };
    note(house, &Caller::person(), "auth.exchange").await;
    let mut response = Answer::json(StatusCode::OK, &json!({ "tab": tab }))?.into_response();
    let secure = if house.guard.is_tls { "; Secure" } else { "" };
    let name = house.guard.cookie_name();
    let cookie = format!("{name}={cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(|error| Problem::bad(error.to_string()))?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

async fn leave(house: &Arc<House>, request: Request) -> Result<Response, Problem> {
    let rights = rights(&request)?;
    let cookies: Vec<String> = house.guard.cookie(request.headers()).into_iter().map(str::to_owned).collect();
    let own = Arc::clone(house);
    let forgotten = spawn_blocking(move || cookies.iter().for_each(|cookie| own.access.forget(cookie))).await;
    forgotten.map_err(io::Error::other).map_err(failed)?;
    note(house, &rights.own(), "auth.logout").await;
    Answer::json(StatusCode::OK, &json!({})).map(IntoResponse::into_response)
}

/// Browsers say where a page is from that asks; the guard has looked that it is ours.
fn from_own_page(request: &Request) -> Result<(), Problem> {
    match request.headers().contains_key(header::ORIGIN) {
        true => Ok(()),
        false => Err(Problem::new(StatusCode::FORBIDDEN, "only the page of this server asks this")),
    }
}
