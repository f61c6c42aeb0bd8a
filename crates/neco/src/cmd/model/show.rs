//! `neco model show`: everything that is known of a model or a group.

use neco_config::Env;
use neco_proto::app::models::{ShowModel, ShownModel};
use neco_view::paint::lists::models;
use serde_json::json;

use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::say;

/// Prints what `name` stands for.
///
/// # Errors
/// When there is no such model or group.
pub fn run(name: &str, json: bool, everywhere: &EverywhereArgs, env: &Env, paint: Paint) -> Result<Exit, Failure> {
    let request = ShowModel { folder: folder(everywhere)?, name: Some(name.to_owned()) };
    let mut shown = ask(&request, everywhere, env)?;
    notes(&std::mem::take(&mut shown.warnings));
    match json {
        true => say::out(&as_json(shown))?,
        false => say::lines(&models::shown(&shown, paint), models::HANGING)?,
    }
    Ok(Exit::Done)
}

fn as_json(mut shown: ShownModel) -> String {
    // Programs see that by the address.
    shown.models.iter_mut().for_each(|model| model.local = false);
    format!("{:#}\n", json!(shown))
}
