//! Variables that the configuration names for keys: whether they are set, and set well.

use neco_config::section::ProviderSection;
use neco_config::{Config, Env};
use neco_model::Models;
use neco_model::route::ProviderEntry;
use neco_proto::app::doctor::Finding;

use crate::workspace::keys::unquoted;

/// What is to be said of the variables of all providers.
pub fn check(models: &Models, config: &Config, env: &Env) -> Vec<Finding> {
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
