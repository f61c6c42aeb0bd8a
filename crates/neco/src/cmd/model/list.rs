//! `neco model list`: providers that can be asked, and their models.

use neco_config::Env;
use neco_proto::app::models::{ListModels, ModelList, ProviderRow};
use neco_view::paint::lists::models;
use serde_json::{Value, json};

use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::say;

/// Prints the list.
///
/// # Errors
/// When the configuration can't be used, or nobody reads it.
pub fn run(all: bool, json: bool, everywhere: &EverywhereArgs, env: &Env, paint: Paint) -> Result<Exit, Failure> {
    let request = ListModels { folder: folder(everywhere)?, all, own_servers: false };
    let list = ask(&request, everywhere, env)?;
    notes(&list.warnings);
    match json {
        true => say::out(&as_json(&list))?,
        false => say::lines(&models::as_lines(&list, paint), models::HANGING)?,
    }
    Ok(Exit::Done)
}

fn as_json(list: &ModelList) -> String {
    let provider = |provider: &ProviderRow| json!({ "name": provider.name, "usable": provider.usable, "state": models::standing(&provider.standing) });
    let providers: Vec<Value> = list.providers.iter().map(provider).collect();
    format!("{:#}\n", json!({ "groups": list.groups, "providers": providers, "models": list.models }))
}
