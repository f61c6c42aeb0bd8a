//! `neco model list`: providers that can be asked, and their models.

use std::fmt::Write;

use neco_config::Env;
use neco_proto::app::models::{ListModels, ModelList, ModelRow, ProviderRow, ProviderStanding};
use serde_json::{Value, json};

use super::facts;
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
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
        false => say::lines(&as_lines(&list, paint), facts::HANGING)?,
    }
    Ok(Exit::Done)
}

fn words(standing: &ProviderStanding) -> String {
    let at = |base: &Option<String>| base.clone().unwrap_or_else(|| "an address of your own".to_owned());
    match standing {
        ProviderStanding::Script => "plays a script; it is not a model".to_owned(),
        ProviderStanding::Answers { base } => format!("answers at {base}"),
        ProviderStanding::Silent { base } => format!("does not answer at {}", at(base)),
        ProviderStanding::Key { sources } => format!("key: {}", sources.join(", ")),
        ProviderStanding::NoKeyNeeded { base } => format!("at {}, without a key", at(base)),
        ProviderStanding::KeyMissing { variables } => format!("needs a key: set {}", variables.join(" or ")),
    }
}

/// The models of a provider, with the names that it has for them.
fn models_of<'a>(list: &'a ModelList, provider: &ProviderRow) -> Vec<(&'a str, &'a ModelRow)> {
    let of_it = |name: &'a str| name.strip_prefix(&provider.name)?.strip_prefix('/');
    list.models.iter().filter_map(|model| Some((of_it(&model.name)?, model))).collect()
}

/// The list for a person.
#[must_use]
pub fn as_lines(list: &ModelList, paint: Paint) -> String {
    let mut text = String::new();
    for (name, group) in &list.groups {
        let models: Vec<String> = group.models.iter().map(|model| clean_line(model)).collect();
        let _ = writeln!(text, "{}  {}", paint.bold(&format!("{:<9}", clean_line(name))), models.join(", "));
    }
    let shelves: Vec<_> = list.providers.iter().map(|provider| (provider, models_of(list, provider))).collect();
    let names = shelves.iter().flat_map(|(_, models)| models).map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default().clamp(5, 40);
    for (provider, models) in shelves {
        let gap = if text.is_empty() { "" } else { "\n" };
        let (name, words) = (clean_line(&provider.name), clean_line(&words(&provider.standing)));
        let _ = writeln!(text, "{gap}{} · {words}", paint.cyan(&name));
        if models.is_empty() {
            let _ = writeln!(text, "  no model is known; any works as {name}/MODEL");
            continue;
        }
        let head = format!("  {:<width$}  {:>8}  {:>8}  {:<16}  can", "model", "context", "output", "$ in / out per M");
        let _ = writeln!(text, "{}", paint.dim(&head));
        for (name, model) in models {
            let mark = if model.default { "*" } else { " " };
            let _ = writeln!(text, "{mark}{}", line(name, model, width));
        }
    }
    if list.hidden > 0 {
        let gap = if text.is_empty() { "" } else { "\n" };
        let words = format!("{} more need a key or a server: neco model list --all", list.hidden);
        let _ = writeln!(text, "{gap}{}", paint.dim(&words));
    }
    text
}

fn line(name: &str, model: &ModelRow, width: usize) -> String {
    let facts = &model.facts;
    // What is assumed of an unknown model is marked.
    let about = if facts.known { "" } else { "~" };
    let context = format!("{about}{}", figures::tokens(facts.context_window));
    let output = format!("{about}{}", figures::tokens(facts.max_output));
    let (price, abilities) = (facts::short_price(facts), facts::abilities(facts));
    format!(" {:<width$}  {context:>8}  {output:>8}  {price:<16}  {abilities}", clean_line(name)).trim_end().to_owned()
}

fn as_json(list: &ModelList) -> String {
    let provider = |provider: &ProviderRow| json!({ "name": provider.name, "usable": provider.usable, "state": words(&provider.standing) });
    let providers: Vec<Value> = list.providers.iter().map(provider).collect();
    format!("{:#}\n", json!({ "groups": list.groups, "providers": providers, "models": list.models }))
}
