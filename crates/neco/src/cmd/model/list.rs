//! `neco model list`: providers that can be asked, and their models.

use std::collections::BTreeMap;
use std::fmt::Write;

use neco_config::section::{GroupSection, ProviderType};
use neco_model::catalogue::makes_instead;
use neco_model::route::{ModelName, ProviderEntry};
use neco_model::{LocalServer, ModelInfo, Models};
use serde_json::{Value, json};

use super::facts;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;

/// A provider, how it stands, and its models.
struct Shelf {
    provider: String,
    /// Whether it can be asked.
    usable: bool,
    words: String,
    models: Vec<(String, ModelInfo)>,
}

/// The list, as lines or as JSON.
#[must_use]
pub fn text(models: &Models, servers: &[LocalServer], all: bool, json: bool, paint: Paint) -> String {
    let mut shelves: Vec<Shelf> = models.providers().iter().filter_map(|entry| shelf(models, servers, entry)).collect();
    // Those that can be asked first; the order of choice otherwise.
    shelves.sort_by_key(|shelf| !shelf.usable);
    let hidden = shelves.iter().filter(|shelf| !shelf.usable).count();
    shelves.retain(|shelf| all || shelf.usable);
    let groups = models.groups();
    let default = default(models);
    let hidden = if all { 0 } else { hidden };
    match json {
        true => as_json(&shelves, groups, default.as_deref()),
        false => as_lines(&shelves, groups, default.as_deref(), hidden, paint),
    }
}

/// The model that is asked first when nobody says otherwise, as `provider/model`.
fn default(models: &Models) -> Option<String> {
    let (members, _) = models.members(&models.default_name().ok()?).ok()?;
    members.first().map(ModelName::label)
}

fn shelf(models: &Models, servers: &[LocalServer], entry: &ProviderEntry) -> Option<Shelf> {
    if entry.kind == ProviderType::Scripted && entry.script.is_none() {
        return None;
    }
    let server = servers.iter().find(|server| server.provider == entry.name);
    let (usable, words) = standing(models, server, entry);
    let mut names = server.map(|server| server.models.clone()).unwrap_or_default();
    for name in models.known_models(entry).into_iter().chain(named(models, &entry.name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let info = |name: String| Some((models.info(&format!("{}/{name}", entry.name)).ok()?, name));
    let models = names.into_iter().filter_map(info).map(|(info, name)| (name, info)).collect();
    Some(Shelf { provider: entry.name.clone(), usable, words, models })
}

fn standing(models: &Models, server: Option<&LocalServer>, entry: &ProviderEntry) -> (bool, String) {
    let base = entry.base.as_ref().map_or("an address of your own", |base| base.shown());
    let keys = models.key_sources(&entry.name);
    match (server, entry.kind) {
        (_, ProviderType::Scripted) => (true, "plays a script; it is not a model".to_owned()),
        (Some(server), _) => (true, format!("answers at {}", server.base)),
        (None, _) if entry.local => (false, format!("does not answer at {base}")),
        (None, _) if !keys.is_empty() => (true, format!("key: {}", keys.join(", "))),
        (None, _) if !entry.needs_key() => (true, format!("at {base}, without a key")),
        (None, _) => (false, format!("needs a key: set {}", entry.api_key_envs.join(" or "))),
    }
}

/// Models of `provider` that groups and the default name.
fn named(models: &Models, provider: &str) -> Vec<String> {
    let groups = models.groups().keys().cloned().chain(models.default_name().ok());
    let members = groups.filter_map(|name| models.members(&name).ok()).flat_map(|(members, _)| members);
    let chats = |member: &ModelName| member.provider == provider && makes_instead(&member.model).is_none();
    members.filter(chats).map(|member| member.model).collect()
}

fn as_lines(
    shelves: &[Shelf],
    groups: &BTreeMap<String, GroupSection>,
    default: Option<&str>,
    hidden: usize,
    paint: Paint,
) -> String {
    let mut text = String::new();
    for (name, group) in groups {
        let models: Vec<String> = group.models.iter().map(|model| clean_line(model)).collect();
        let _ = writeln!(text, "{}  {}", paint.bold(&format!("{:<9}", clean_line(name))), models.join(", "));
    }
    let names = shelves.iter().flat_map(|shelf| &shelf.models).map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default().clamp(5, 40);
    for shelf in shelves {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{} · {}", paint.cyan(&clean_line(&shelf.provider)), clean_line(&shelf.words));
        if shelf.models.is_empty() {
            let _ = writeln!(text, "  no model is known; any works as {}/MODEL", clean_line(&shelf.provider));
            continue;
        }
        let head = format!("  {:<width$}  {:>8}  {:>8}  {:<16}  can", "model", "context", "output", "$ in / out per M");
        let _ = writeln!(text, "{}", paint.dim(&head));
        for (name, info) in &shelf.models {
            let mark = if is_default(shelf, name, default) { "*" } else { " " };
            let _ = writeln!(text, "{mark}{}", line(name, info, width));
        }
    }
    if hidden > 0 {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(
            text,
            "{gap}{}",
            paint.dim(&format!("{hidden} more need a key or a server: neco model list --all"))
        );
    }
    text
}

fn is_default(shelf: &Shelf, name: &str, default: Option<&str>) -> bool {
    default.and_then(|default| default.split_once('/')) == Some((shelf.provider.as_str(), name))
}

fn line(name: &str, info: &ModelInfo, width: usize) -> String {
    // What is assumed of an unknown model is marked.
    let about = if info.known { "" } else { "~" };
    let context = format!("{about}{}", figures::tokens(info.context_window));
    let output = format!("{about}{}", figures::tokens(info.max_output));
    let (price, abilities) = (facts::short_price(info.price), facts::abilities(info));
    format!(" {:<width$}  {context:>8}  {output:>8}  {price:<16}  {abilities}", clean_line(name)).trim_end().to_owned()
}

fn as_json(shelves: &[Shelf], groups: &BTreeMap<String, GroupSection>, default: Option<&str>) -> String {
    let model = |shelf: &Shelf, name: &str, info: &ModelInfo| {
        let mut fields = facts::as_json(info);
        fields.insert("name".to_owned(), format!("{}/{name}", shelf.provider).into());
        fields.insert("usable".to_owned(), shelf.usable.into());
        fields.insert("default".to_owned(), is_default(shelf, name, default).into());
        Value::Object(fields)
    };
    let models: Vec<Value> =
        shelves.iter().flat_map(|shelf| shelf.models.iter().map(|(name, info)| model(shelf, name, info))).collect();
    let providers: Vec<Value> = shelves
        .iter()
        .map(|shelf| json!({ "name": shelf.provider, "usable": shelf.usable, "state": shelf.words }))
        .collect();
    format!("{:#}\n", json!({ "groups": groups, "providers": providers, "models": models }))
}
