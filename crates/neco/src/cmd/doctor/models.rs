//! Models, keys and local servers.

use std::time::Duration;

use neco_config::section::GroupSection;
use neco_config::{Config, Env};
use neco_model::{LocalServer, LookedFor, Models, SetupError};

use super::finding::Finding;
use crate::keys::Keys;

/// How long local servers have to answer.
const PROBE: Duration = Duration::from_millis(800);

/// Looks at everything that can be asked.
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
    let looked = models.looked_for();
    let mut findings = vec![default_model(&models)];
    findings.extend(groups(&models));
    findings.extend(keys(&models, config, &looked));
    findings.extend(kept(&sources));
    findings.extend(local(&looked, &servers));
    findings
}

fn default_model(models: &Models) -> Finding {
    let name = match models.default_name() {
        Ok(name) => name,
        Err(SetupError::NoModel(_)) => {
            return Finding::fail(
                "model",
                "none is configured and no key was found",
                "set one of the variables below, start a local server, or set model = \"provider/model\"",
            );
        }
        Err(error) => return Finding::fail("model", error.to_string(), "correct the configuration"),
    };
    match models.provider_for(&name) {
        Ok(provider) if provider.scripted() => {
            Finding::warn("model", format!("{name} plays a script; it is not a model"))
        }
        Ok(provider) => {
            let label = provider.label();
            let asked = if label == name { name.clone() } else { format!("{label} ({name})") };
            Finding::ok("model", format!("{asked}{}", prices(models, &name)))
        }
        Err(error) => {
            Finding::fail("model", error.to_string(), "set the key, or choose another model with --model or model = …")
        }
    }
}

/// Every group, and what is wrong with those that can't be asked.
fn groups(models: &Models) -> Vec<Finding> {
    let group = |(name, group): (&String, &GroupSection)| match models.provider_for(name) {
        Ok(_) => Finding::ok("group", format!("{name}: {}", group.models.join(", "))),
        Err(error) => Finding::fail("group", format!("{name}: {error}"), format!("correct [model_groups.{name}]")),
    };
    models.groups().iter().map(group).collect()
}

fn prices(models: &Models, name: &str) -> String {
    let (Ok(info), Ok(described)) = (models.info(name), models.describe(name)) else { return String::new() };
    let price = match described.iter().all(|model| model.info.price.is_some()) {
        true => "price known",
        false => "price not known: costs are not shown",
    };
    format!(" ({} tokens of context, {price})", info.context_window)
}

/// Who has a key and where it comes from; their values are nobody's business.
fn keys(models: &Models, config: &Config, looked: &LookedFor) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in models.providers().iter().filter(|entry| !entry.local) {
        let sources = models.key_sources(&entry.name);
        if !sources.is_empty() {
            findings.push(Finding::ok("provider", format!("{} has a key: {}", entry.name, sources.join(", "))));
        } else if config.model_providers.contains_key(&entry.name) && entry.needs_key() {
            let variables = entry.api_key_envs.join(" or ");
            findings.push(Finding::warn("provider", format!("{} has no key: set {variables}", entry.name)));
        } else if config.model_providers.contains_key(&entry.name) {
            let base = entry.base.as_deref().unwrap_or("an address that is not set");
            findings.push(Finding::ok("provider", format!("{} is asked at {base} without a key", entry.name)));
        }
    }
    let without = looked.keys.iter().filter(|(provider, _)| models.key_sources(provider).is_empty());
    let unset: Vec<&str> = without.flat_map(|(_, variables)| variables).map(String::as_str).collect();
    if !unset.is_empty() {
        findings.push(Finding::ok("provider", format!("not set: {}", unset.join(", "))));
    }
    findings
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
    let rest = (!silent.is_empty()).then(|| Finding::ok("local", format!("no answer from {}", silent.join(", "))));
    servers.iter().map(found).chain(rest).collect()
}
