//! Models, keys and local servers. Nobody is asked anything here: what is told is how things are set
//! up, and whether something listens on this machine.

use std::collections::BTreeSet;
use std::time::Duration;

use neco_config::section::GroupSection;
use neco_config::{Config, Env};
use neco_model::{LocalServer, LookedFor, Models, SetupError, State};
use neco_proto::app::doctor::Finding;

use super::{key_variables, listening};
use crate::workspace::keys::Keys;

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
    let silent = listening::silent(&models, config, &servers, PROBE).await;
    let looked = models.looked_for();
    let mut findings = vec![default_model(&models, &silent)];
    findings.extend(groups(&models, &silent));
    findings.extend(providers(&models, config, &silent));
    findings.extend(key_variables::check(&models, config, env));
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
                "run `neco auth set PROVIDER`, set one of the variables below, start a local server, or set \
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
                words.push(format!("nothing answers for {label} at {base}: start the server"));
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
        false => "price not known: costs are not shown",
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
            let words = format!("{name}: nothing answers at {base}: start the server");
            findings.push(Finding::warn("provider", words));
        } else if !keys.is_empty() {
            findings.push(Finding::ok("provider", format!("{name} has a key: {}", keys.join(", "))));
        } else if configured && entry.needs_key() {
            let variables = entry.api_key_envs.join(" or ");
            let words = format!("{name} has no key: set {variables}, or run `neco auth set {name}`");
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
            Some(Finding::ok("key", format!("kept by `neco auth`: {}", providers.join(", "))))
        }
        Err(reason) => Some(Finding::fail("key", reason, "`neco auth list` shows which keys are left")),
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
