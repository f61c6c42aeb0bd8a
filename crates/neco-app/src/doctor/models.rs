//! Models, keys and local servers. Nobody is asked anything here: what is told is how things are set
//! up, and whether something listens on this machine.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use neco_config::section::{GroupSection, ProviderSection};
use neco_config::{Config, Env};
use neco_model::route::ProviderEntry;
use neco_model::{LocalServer, LookedFor, Models, SetupError, State};
use neco_proto::app::doctor::Finding;

use crate::models::listens;
use crate::workspace::keys::{Keys, unquoted};

/// How long servers on this machine have to answer.
const PROBE: Duration = Duration::from_millis(800);
/// What a look at the set-up can't tell, and what can.
const NOT_TRIED: &str = "not tried: `neco model test` does";

/// Looks at everything that can be looked at.
pub async fn check(config: &Config, env: &Env) -> Vec<Finding> {
    let sources = Keys::find(env);
    let models = match Models::new(config, &sources) {
        Ok(models) => models,
        Err(error) => {
            return vec![Finding::fail("models", error.to_string(), "correct [model_providers] in the configuration")];
        }
    };
    let servers = models.probe_local(PROBE).await;
    models.use_local(&servers);
    let silent = silent(&models, config, &servers, PROBE).await;
    let looked = models.looked_for();
    let mut findings = vec![default_model(&models, &silent)];
    findings.extend(groups(&models, &silent));
    findings.extend(providers(&models, config, &silent));
    findings.extend(key_variables(&models, config, env));
    findings.extend(unset(&models, &looked));
    findings.extend(kept(&sources));
    findings.extend(local(&looked, &servers));
    findings
}

fn default_model(models: &Models, silent: &BTreeSet<String>) -> Finding {
    let name = match models.default_name() {
        Ok(name) => name,
        Err(SetupError::NoModel(_)) => {
            return Finding::fail(
                "model",
                "none is configured and no key was found",
                "run `neco login PROVIDER`, set one of the variables below, start a local server, or set \
                 model = \"provider/model\"",
            );
        }
        Err(error) => return Finding::fail("model", error.to_string(), "correct the configuration"),
    };
    let provider = match models.provider_for(&name) {
        Ok(provider) => provider,
        Err(error) => {
            let fix = match &error {
                SetupError::MissingKey { .. } | SetupError::BadKey { .. } | SetupError::KeySource { .. } => {
                    "set the key, or choose another model with --model or model = …"
                }
                _ => "correct the configuration, or choose another model with --model or model = …",
            };
            return Finding::fail("model", error.to_string(), fix);
        }
    };
    if provider.scripted() {
        return Finding::warn("model", format!("{name} plays a script; it is not a model"));
    }
    let label = provider.label();
    let asked = if label == name { name.clone() } else { format!("{label} ({name})") };
    let words = format!("{asked}{}", facts(models, &name));
    // What is wrong with a part of a group is told with the group.
    let troubles = if models.groups().contains_key(&name) { Vec::new() } else { troubles(models, &name, silent) };
    match troubles.as_slice() {
        [] => Finding::ok("model", format!("{words}; {NOT_TRIED}")),
        troubles => Finding::warn("model", format!("{words}; {}", troubles.join("; "))),
    }
}

/// Every group, and what is wrong with those that can't be asked, or not as a whole.
fn groups(models: &Models, silent: &BTreeSet<String>) -> Vec<Finding> {
    let group = |(name, group): (&String, &GroupSection)| {
        let all = format!("{name}: {}", group.models.join(", "));
        match models.provider_for(name).map(|_| troubles(models, name, silent)) {
            Ok(troubles) if troubles.is_empty() => Finding::ok("group", all),
            Ok(troubles) => Finding::warn("group", format!("{all}; {}", troubles.join("; "))),
            Err(error) => Finding::fail("group", format!("{name}: {error}"), format!("correct [model_groups.{name}]")),
        }
    };
    models.groups().iter().map(group).collect()
}

/// What keeps single models of `name` from being asked.
fn troubles(models: &Models, name: &str, silent: &BTreeSet<String>) -> Vec<String> {
    let mut words = Vec::new();
    for model in models.describe(name).unwrap_or_default() {
        let label = model.name.label();
        let unusable = model.states.iter().find_map(|(_, state)| match state {
            State::Unusable(error) => Some(error),
            State::Ready | State::Rests => None,
        });
        match unusable {
            Some(error) => words.push(format!("{label} is left out: {error}")),
            None if silent.contains(&model.name.provider) => {
                let base = model.base.as_deref().unwrap_or("its address");
                words.push(format!("no answer for {label} at {base}: start the server"));
            }
            None => {}
        }
    }
    words
}

fn facts(models: &Models, name: &str) -> String {
    let (Ok(info), Ok(described)) = (models.info(name), models.describe(name)) else { return String::new() };
    let price = match described.iter().all(|model| model.info.price.is_some()) {
        true => "price known",
        false => "price unknown: costs are not shown",
    };
    format!(" ({} tokens of context, {price})", info.context_window)
}

/// Who has a key and where it comes from; their values are nobody's business.
fn providers(models: &Models, config: &Config, silent: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in models.providers().iter().filter(|entry| !entry.local) {
        let name = &entry.name;
        let keys = models.key_sources(name);
        let base = entry.base.as_ref().map_or("an address that is not set", |base| base.shown());
        let configured = config.model_providers.contains_key(name);
        if silent.contains(name) {
            let words = format!("{name}: no answer at {base}: start the server");
            findings.push(Finding::warn("provider", words));
        } else if !keys.is_empty() {
            findings.push(Finding::ok("provider", format!("{name} has a key: {}", keys.join(", "))));
        } else if configured && entry.needs_key() {
            let variables = entry.api_key_envs.join(" or ");
            let words = format!("{name} has no key: set {variables}, or run `neco login {name}`");
            findings.push(Finding::warn("provider", words));
        } else if configured && entry.script.is_none() {
            let words = format!("{name} is configured to be asked at {base} without a key; {NOT_TRIED}");
            findings.push(Finding::ok("provider", words));
        }
    }
    findings
}

/// Variables that would bring a key; that they are not set is neither good nor bad.
fn unset(models: &Models, looked: &LookedFor) -> Option<Finding> {
    let without = looked.keys.iter().filter(|(provider, _)| models.key_sources(provider).is_empty());
    let unset: Vec<&str> = without.flat_map(|(_, variables)| variables).map(String::as_str).collect();
    (!unset.is_empty()).then(|| Finding::info("provider", format!("not set: {}", unset.join(", "))))
}

/// What the keys file has; nothing is said of one that is not there.
fn kept(sources: &Keys<'_>) -> Option<Finding> {
    match sources.kept() {
        Ok(kept) if kept.is_empty() => None,
        Ok(kept) => {
            let providers: Vec<&str> = kept.keys().map(String::as_str).collect();
            Some(Finding::ok("key", format!("saved by `neco auth`: {}", providers.join(", "))))
        }
        Err(error) => Some(Finding::fail("key", error.to_string(), "`neco auth list` shows which keys are left")),
    }
}

fn local(looked: &LookedFor, servers: &[LocalServer]) -> Vec<Finding> {
    let found = |server: &LocalServer| {
        let models: Vec<&str> = server.models.iter().take(5).map(String::as_str).collect();
        let more = if server.models.len() > 5 { ", …" } else { "" };
        Finding::ok("local", format!("{} answers at {}: {}{more}", server.provider, server.base, models.join(", ")))
    };
    let answers = |provider: &str| servers.iter().any(|server| server.provider == provider);
    let silent = looked.local.iter().filter(|(name, _)| !answers(name)).map(|(name, base)| format!("{name} at {base}"));
    let silent: Vec<String> = silent.collect();
    let rest = (!silent.is_empty()).then(|| Finding::info("local", format!("no answer from {}", silent.join(", "))));
    servers.iter().map(found).chain(rest).collect()
}

/// What is to be said of the variables of all providers.
fn key_variables(models: &Models, config: &Config, env: &Env) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in models.providers().iter() {
        if let Some(section) = config.model_providers.get(&entry.name) {
            findings.extend(missing(models, entry, section, env));
        }
        findings.extend(quoted(entry, env));
    }
    findings
}

/// Variables that the configuration names and that are not set.
fn missing(models: &Models, entry: &ProviderEntry, section: &ProviderSection, env: &Env) -> Option<Finding> {
    let named = section.api_key_env.iter().chain(&section.api_key_envs);
    let unset: Vec<&str> = named.map(String::as_str).filter(|variable| !is_set(env, variable)).collect();
    let found = models.key_sources(&entry.name);
    let instead = match found.as_slice() {
        // That there is no key at all is told with the provider.
        [] if entry.needs_key() => return None,
        [] => "it is asked without a key".to_owned(),
        found => format!("only the key of {} is used", found.join(", ")),
    };
    let are = if unset.len() == 1 { "is" } else { "are" };
    (!unset.is_empty())
        .then(|| Finding::warn("key", format!("{}: {} {are} not set; {instead}", entry.name, unset.join(", "))))
}

/// Quotes that a file or a shell was meant to take away are sent with the key.
fn quoted(entry: &ProviderEntry, env: &Env) -> Vec<Finding> {
    let has_quotes = |variable: &&String| {
        env.var(variable).map(str::trim).is_some_and(|value| !value.is_empty() && unquoted(value) != value)
    };
    let told = |variable: &String| {
        let words = format!("{variable} has quotes around the key of {}, which are sent with it", entry.name);
        Finding { fix: Some(format!("set {variable} without the quotes")), ..Finding::warn("key", words) }
    };
    entry.api_key_envs.iter().filter(has_quotes).map(told).collect()
}

fn is_set(env: &Env, variable: &str) -> bool {
    env.var(variable).is_some_and(|value| !value.trim().is_empty())
}

/// Providers of this machine that nobody listens for: the configured ones are knocked at, the
/// well-known ones are among `servers` when they answer.
async fn silent(models: &Models, config: &Config, servers: &[LocalServer], patience: Duration) -> BTreeSet<String> {
    let here = models.providers().iter().filter(|entry| entry.is_here() && entry.script.is_none());
    let (known, other): (Vec<_>, Vec<_>) = here.partition(|entry| entry.local);
    let answers = |entry: &&ProviderEntry| servers.iter().any(|server| server.provider == entry.name);
    let mut silent: BTreeSet<String> =
        known.into_iter().filter(|entry| !answers(entry)).map(|entry| entry.name.clone()).collect();
    let configured = other.into_iter().filter(|entry| config.model_providers.contains_key(&entry.name));
    let knocked = configured.map(|entry| async move {
        let base = entry.base.as_ref().map(|base| base.shown()).unwrap_or_default();
        (entry.name.clone(), listens(base, patience).await)
    });
    let knocked = join_all(knocked).await;
    silent.extend(knocked.into_iter().filter(|(_, open)| !open).map(|(name, _)| name));
    silent
}
