//! Models, keys and local servers.

use std::time::Duration;

use neco_config::{Config, Env};
use neco_model::{LocalServer, LookedFor, Models, SetupError};

use super::finding::Finding;

/// How long local servers have to answer.
const PROBE: Duration = Duration::from_millis(800);

/// Looks at everything that can be asked.
pub async fn check(config: &Config, env: &Env) -> Vec<Finding> {
    let models = match Models::new(config, &|name| env.var(name).map(str::to_owned)) {
        Ok(models) => models,
        Err(error) => {
            return vec![Finding::fail("models", error.to_string(), "correct [model_providers] in the configuration")];
        }
    };
    let servers = models.probe_local(PROBE).await;
    let looked = models.looked_for();
    let mut findings = vec![default_model(&models, &servers)];
    findings.extend(keys(&looked, env));
    findings.extend(local(&looked, &servers));
    findings
}

fn default_model(models: &Models, servers: &[LocalServer]) -> Finding {
    let name = match models.default_name() {
        Ok(name) => name,
        Err(SetupError::NoModel(_)) => {
            let served =
                servers.iter().find_map(|server| Some(format!("{}/{}", server.provider, server.models.first()?)));
            return match served {
                Some(name) => Finding::ok("model", format!("{name}, from a local server; nothing else is configured")),
                None => Finding::fail(
                    "model",
                    "none is configured and no key was found",
                    "set one of the variables below, start a local server, or set model = \"provider/model\"",
                ),
            };
        }
        Err(error) => return Finding::fail("model", error.to_string(), "correct the configuration"),
    };
    match models.provider_for(&name) {
        Ok(provider) if provider.scripted() => {
            Finding::warn("model", format!("{name} plays a script; it is not a model"))
        }
        Ok(_) => Finding::ok("model", format!("{name}{}", prices(models, &name))),
        Err(error) => {
            Finding::fail("model", error.to_string(), "set the key, or choose another model with --model or model = …")
        }
    }
}

fn prices(models: &Models, name: &str) -> String {
    match models.info(name) {
        Ok(info) if info.price.is_some() => format!(" ({} tokens of context, price known)", info.context_window),
        Ok(info) => format!(" ({} tokens of context, price not known: costs are not shown)", info.context_window),
        Err(_) => String::new(),
    }
}

/// Which variables are set; their values are nobody's business.
fn keys(looked: &LookedFor, env: &Env) -> Vec<Finding> {
    let all = looked.keys.iter().flat_map(|(provider, variables)| variables.iter().map(move |name| (provider, name)));
    let (set, unset): (Vec<_>, Vec<_>) = all.partition(|(_, name)| env.is_set(name));
    let mut findings: Vec<Finding> =
        set.iter().map(|(provider, name)| Finding::ok("key", format!("{name} is set ({provider})"))).collect();
    let unset: Vec<&str> = unset.iter().map(|(_, name)| name.as_str()).collect();
    if !unset.is_empty() {
        findings.push(Finding::ok("key", format!("not set: {}", unset.join(", "))));
    }
    findings
}

fn local(looked: &LookedFor, servers: &[LocalServer]) -> Vec<Finding> {
    if servers.is_empty() {
        let places: Vec<String> = looked.local.iter().map(|(name, base)| format!("{name} at {base}")).collect();
        return vec![Finding::ok("local", format!("no server answers ({})", places.join(", ")))];
    }
    let found = |server: &LocalServer| {
        let models: Vec<&str> = server.models.iter().take(5).map(String::as_str).collect();
        let more = if server.models.len() > 5 { ", …" } else { "" };
        Finding::ok("local", format!("{} answers at {}: {}{more}", server.provider, server.base, models.join(", ")))
    };
    servers.iter().map(found).collect()
}
