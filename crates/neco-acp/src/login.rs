//! Keys, set by way of an editor: in a terminal that it opens, or handed over with the request; and forgotten.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::app::keys::{KeptKey, KeyPlace, KeyTest, ListKeys, NewKey, RemoveKeys, SetKey};
use neco_proto::app::{App, Caller};
use serde_json::{Map, Value};

use crate::failure;

/// The login in a terminal.
const TERMINAL: &str = "neco-login";
/// A key that comes with the request.
const KEY: &str = "api-key";

/// The ways there are, for an editor that opens terminals for that or does not.
pub(crate) fn methods(terminal: bool) -> Vec<acp::AuthMethod> {
    let in_terminal = acp::AuthMethodTerminal::new(TERMINAL, "Log in with Neco")
        .description("Opens a terminal that asks for a key, or logs in with a browser".to_owned())
        .args(vec!["login".to_owned()]);
    let by_key = acp::AuthMethodAgent::new(KEY, "API key").description(
        "Uses a key that is kept or in the environment; an editor can also hand one over \
         (_meta: {\"provider\": \"anthropic\", \"apiKey\": \"…\"})"
            .to_owned(),
    );
    let in_terminal = terminal.then_some(acp::AuthMethod::Terminal(in_terminal));
    in_terminal.into_iter().chain([acp::AuthMethod::Agent(by_key)]).collect()
}

/// Keeps the key that a request brings.
pub(crate) async fn log_in(
    app: &dyn App,
    caller: &Caller,
    folder: &str,
    request: acp::AuthenticateRequest,
) -> Result<acp::AuthenticateResponse, Error> {
    if &*request.method_id.0 != KEY {
        return Err(failure::invalid(format!("{} is no way to log in by a request", request.method_id.0)));
    }
    let key = word(request.meta.as_ref(), &["apiKey", "api-key", "api_key", "key"]);
    let Some(key) = key else { return found(app, caller, folder).await };
    let Some(provider) = provider(request.meta.as_ref()) else {
        return Err(failure::invalid("_meta.provider: whose key it is, such as anthropic or openai"));
    };
    let set = SetKey { folder: folder.to_owned(), provider, key: Some(NewKey(key)), replace: true, check: true };
    let kept = app.ask(caller, &set).await.map_err(failure::of_app)?;
    let is_tested = kept.test.as_ref().is_some_and(|test| *test == KeyTest::Works);
    let mut meta = Map::new();
    meta.insert("tested".to_owned(), is_tested.into());
    meta.extend(untested(&set.provider, &kept).map(|note| ("note".to_owned(), note.into())));
    Ok(acp::AuthenticateResponse::new().meta(meta))
}

/// Whose key a request is about, where it says so.
pub(crate) fn provider(meta: Option<&Map<String, Value>>) -> Option<String> {
    word(meta, &["provider"])
}

fn word(meta: Option<&Map<String, Value>>, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| meta?.get(*name)?.as_str());
    found.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned)
}

/// Forgets the key of a provider; without one that of the only provider of which a key is kept.
pub(crate) async fn log_out(
    app: &dyn App,
    caller: &Caller,
    folder: &str,
    provider: Option<String>,
) -> Result<acp::LogoutResponse, Error> {
    let provider = match provider {
        Some(provider) => provider,
        None => {
            let list = app.ask(caller, &ListKeys { folder: folder.to_owned() }).await.map_err(failure::of_app)?;
            let kept = list.keys.into_iter().filter(|row| row.source == KeyPlace::File);
            match <[String; 1]>::try_from(kept.map(|row| row.provider).collect::<Vec<_>>()) {
                Ok([only]) => only,
                Err(several) if several.is_empty() => return Err(failure::invalid("Neco keeps no key")),
                Err(several) => {
                    let words = format!("_meta.provider: whose key is to be forgotten of {}", several.join(", "));
                    return Err(failure::invalid(words));
                }
            }
        }
    };
    let remove = RemoveKeys { folder: folder.to_owned(), provider, number: None };
    app.ask(caller, &remove).await.map_err(failure::of_app)?;
    Ok(acp::LogoutResponse::new())
}

/// What the person should know of a key that is kept.
fn untested(provider: &str, kept: &KeptKey) -> Option<String> {
    if let Some(place) = &kept.hidden_by {
        return Some(format!(
            "The key of {provider} in the {place} comes first; the new one is not used while that is set"
        ));
    }
    match &kept.test {
        Some(test) if *test == KeyTest::Works => None,
        Some(test) if *test == KeyTest::Unreachable => Some(format!(
            "{provider} can't be reached, so the key is kept and not tested; `neco model test` does that later"
        )),
        Some(_) | None => {
            Some(format!("{provider} does not say whether it takes the key, which is kept; the first message shows it"))
        }
    }
}

/// Whether there is a key already.
async fn found(app: &dyn App, caller: &Caller, folder: &str) -> Result<acp::AuthenticateResponse, Error> {
    let list = neco_proto::app::models::ListModels { folder: folder.to_owned(), ..Default::default() };
    let models = app.ask(caller, &list).await.map_err(failure::of_app)?;
    if models.models.iter().any(|model| model.usable) {
        return Ok(acp::AuthenticateResponse::new());
    }
    let words = "no key was found: run `neco login` in a terminal, or set one in the environment, such as \
        ANTHROPIC_API_KEY; an editor can hand one over as _meta {\"provider\": …, \"apiKey\": …}";
    Err(failure::invalid(words))
}
