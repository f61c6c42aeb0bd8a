//! Providers that can be asked, and their models.

use std::collections::HashMap;
use std::time::Duration;

use neco_config::section::{GroupSection, ProviderType};
use neco_model::catalogue::makes_instead;
use neco_model::route::{ModelName, ProviderEntry};
use neco_model::{LocalServer, Models, Served};
use neco_proto::app::AppError;
use neco_proto::app::models::{ListModels, ModelGroup, ModelList, ModelRow, ProviderRow, ProviderStanding};

use super::here::{Here, facts};
use crate::app::StorelessApp;

/// How long servers have to answer that the person set up.
const OWN: Duration = Duration::from_millis(1500);

pub(crate) async fn list(app: &StorelessApp, request: ListModels) -> Result<ModelList, AppError> {
    let here = Here::look(app, &request.folder)?;
    let own = async { if request.own_servers { of_own_servers(&here.models).await } else { HashMap::new() } };
    let (servers, own) = futures::future::join(here.probe(), own).await;
    let models = &here.models;
    let mut providers: Vec<(&ProviderEntry, ProviderRow)> =
        models.providers().iter().filter_map(|entry| Some((entry, provider(models, &servers, entry)?))).collect();
    // Those that can be asked first; the order of choice otherwise.
    providers.sort_by_key(|(_, row)| !row.usable);
    let found = providers.len();
    providers.retain(|(_, row)| request.all || row.usable);
    let hidden = found - providers.len();
    let default = default(models);
    let mut rows = Vec::new();
    for (entry, provider) in &providers {
        for name in names(models, &servers, own.get(&entry.name), entry) {
            let name = format!("{}/{name}", entry.name);
            let Ok(info) = models.info(&name) else { continue };
            let default = default.as_ref() == Some(&name);
            rows.push(ModelRow { facts: facts(&info), name, usable: provider.usable, default });
        }
    }
    let group = |group: &GroupSection| ModelGroup { models: group.models.clone(), strategy: group.strategy.into() };
    Ok(ModelList {
        groups: models.groups().iter().map(|(name, section)| (name.clone(), group(section))).collect(),
        providers: providers.into_iter().map(|(_, row)| row).collect(),
        models: rows,
        hidden,
        warnings: here.warnings,
    })
}

/// The model that is asked first when nobody says otherwise, as `provider/model`.
fn default(models: &Models) -> Option<String> {
    let (members, _) = models.members(&models.default_name().ok()?).ok()?;
    members.first().map(ModelName::label)
}

/// How a provider stands; nothing for the one that plays scripts while there is no script.
fn provider(models: &Models, servers: &[LocalServer], entry: &ProviderEntry) -> Option<ProviderRow> {
    if entry.kind == ProviderType::Scripted && entry.script.is_none() {
        return None;
    }
    let base = entry.base.as_ref().map(|base| base.shown().to_owned());
    let sources = models.key_sources(&entry.name);
    let server = servers.iter().find(|server| server.provider == entry.name);
    let (usable, standing) = match (server, entry.kind) {
        (_, ProviderType::Scripted) => (true, ProviderStanding::Script),
        (Some(server), _) => (true, ProviderStanding::Answers { base: server.base.clone() }),
        (None, _) if entry.local => (false, ProviderStanding::Silent { base }),
        (None, _) if !sources.is_empty() => (true, ProviderStanding::Key { sources }),
        (None, _) if !entry.needs_key() => (true, ProviderStanding::NoKeyNeeded { base }),
        (None, _) => (false, ProviderStanding::KeyMissing { variables: entry.api_key_envs.clone() }),
    };
    Some(ProviderRow { name: entry.name.clone(), title: entry.title.clone(), usable, standing })
}

/// The models of a provider: what its server has, what is known, and what groups and the default name.
fn names(models: &Models, servers: &[LocalServer], own: Option<&Vec<String>>, entry: &ProviderEntry) -> Vec<String> {
    let server = servers.iter().find(|server| server.provider == entry.name);
    let mut names = server.map(|server| server.models.clone()).unwrap_or_default();
    names.extend(own.into_iter().flatten().cloned());
    for name in models.known_models(entry).into_iter().chain(named(models, &entry.name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Models of `provider` that groups and the default name.
fn named(models: &Models, provider: &str) -> Vec<String> {
    let groups = models.groups().keys().cloned().chain(models.default_name().ok());
    let members = groups.filter_map(|name| models.members(&name).ok()).flat_map(|(members, _)| members);
    let chats = |member: &ModelName| member.provider == provider && makes_instead(&member.model).is_none();
    members.filter(chats).map(|member| member.model).collect()
}

/// What servers have that nothing is known of: those that the person set up.
async fn of_own_servers(models: &Models) -> HashMap<String, Vec<String>> {
    let unknown = |entry: &&ProviderEntry| {
        let usable = provider(models, &[], entry).is_some_and(|row| row.usable);
        usable && entry.kind != ProviderType::Scripted && models.known_models(entry).is_empty()
    };
    let asked = models.providers().iter().filter(unknown).map(|entry| async {
        match models.served(&entry.name, OWN).await {
            Served::Models(names) => (entry.name.clone(), names),
            Served::NeedsKey | Served::Unknown => (entry.name.clone(), Vec::new()),
        }
    });
    futures::future::join_all(asked).await.into_iter().collect()
}
