//! The models and groups that a person can choose from.

use std::time::Duration;

use neco_app::services;
use neco_config::section::ProviderType;
use neco_config::{Config, Env};
use neco_model::route::ProviderEntry;
use neco_model::{Models, Served};
use neco_tui::host::ModelEntry;

use crate::failure::Failure;
use crate::print::figures;

/// How long servers have to answer: those on this machine, and those that the person set up.
const PROBE: Duration = Duration::from_millis(500);
const OWN: Duration = Duration::from_millis(1500);

/// Groups first, then the models of every provider that can be asked.
///
/// # Errors
/// When the settings describe a provider that nothing can be asked of.
pub async fn list(config: &Config, env: &Env) -> Result<Vec<ModelEntry>, Failure> {
    let models = services::models(config, env)?;
    let (servers, own) = futures::future::join(models.probe_local(PROBE), of_own_servers(&models)).await;
    models.use_local(&servers);
    let groups = models.groups().iter();
    let mut entries: Vec<ModelEntry> = groups
        .map(|(name, group)| ModelEntry { name: name.clone(), about: format!("group: {}", group.models.join(", ")) })
        .collect();
    for entry in models.providers().iter() {
        let server = servers.iter().find(|server| server.provider == entry.name);
        let mut names = server.map(|server| server.models.clone()).unwrap_or_default();
        if server.is_none() && !can_be_asked(&models, entry) {
            continue;
        }
        let own = own.iter().find(|(name, _)| *name == entry.name).map(|(_, models)| models.clone());
        names.extend(own.unwrap_or_default());
        for name in models.known_models(entry).into_iter().chain(default_of(&models, &entry.name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        entries.extend(names.into_iter().map(|name| of(&models, format!("{}/{name}", entry.name))));
    }
    Ok(entries)
}

/// What servers say that nothing is known of: those that the person set up.
async fn of_own_servers(models: &Models) -> Vec<(String, Vec<String>)> {
    let unknown = |entry: &&ProviderEntry| can_be_asked(models, entry) && models.known_models(entry).is_empty();
    let asked = models.providers().iter().filter(unknown).map(|entry| async {
        match models.served(&entry.name, OWN).await {
            Served::Models(names) => (entry.name.clone(), names),
            Served::NeedsKey | Served::Unknown => (entry.name.clone(), Vec::new()),
        }
    });
    futures::future::join_all(asked).await
}

fn can_be_asked(models: &Models, entry: &ProviderEntry) -> bool {
    match entry.kind {
        ProviderType::Scripted => entry.script.is_some(),
        _ => !entry.local && (!entry.needs_key() || !models.key_sources(&entry.name).is_empty()),
    }
}

/// The model of `provider` that is asked when nobody says otherwise, if it is one of its.
fn default_of(models: &Models, provider: &str) -> Option<String> {
    let (members, _) = models.members(&models.default_name().ok()?).ok()?;
    members.into_iter().find(|member| member.provider == provider).map(|member| member.model)
}

fn of(models: &Models, name: String) -> ModelEntry {
    let about = models.info(&name).map_or_else(
        |_| String::new(),
        |info| {
            let about = if info.known { "" } else { "~" };
            let price = info.price.map(|price| format!(", ${} in, ${} out per M", price.input, price.output));
            format!("{about}{} tokens{}", figures::tokens(info.context_window), price.unwrap_or_default())
        },
    );
    ModelEntry { name, about }
}
