//! Plugins that another agent has on, and the marketplaces that they come from: whether they are here, and how each is
//! added. Nothing is installed before a person saw what it brings.

use std::path::Path;

use neco_ext::plugins::{PluginStore, Source};
use neco_port::setups::{Level, WantedPlugin};
use neco_proto::app::AppError;
use neco_proto::app::setups::{PluginToAdd, SetupOutcome};

use super::take::{Done, Taking};
use crate::error::failed;

/// How it stands with a plugin.
pub(super) fn plugin(taking: &Taking<'_>, wanted: &WantedPlugin) -> Result<Done, AppError> {
    let store = PluginStore::new(taking.app.env.config_dir());
    let is_it = |source: &Source| {
        let listed = Source::Listed { plugin: wanted.plugin.clone(), marketplace: wanted.marketplace.clone() };
        *source == listed
    };
    let here = store.plugins().map_err(failed)?.into_iter().find(|plugin| is_it(&plugin.source));
    if let Some(plugin) = here {
        return Ok(Done::already(format!("the plugin {}", plugin.name)));
    }
    let project = if wanted.level == Level::Project { " --project" } else { "" };
    let add = format!("`neco plugin add {}@{}{project}`", wanted.plugin, wanted.marketplace);
    let is_known = is_known(&store, &wanted.marketplace)?;
    let how = match &wanted.from {
        _ if is_known => format!("{add} shows what it brings, and asks"),
        Some(from) => format!("`neco plugin marketplace add {from}`, then {add}, which shows what it brings, and asks"),
        None => format!(
            "nothing says where the marketplace {} is: `neco plugin marketplace add` takes a folder or a repository; \
             then {add}",
            wanted.marketplace
        ),
    };
    let whose = if project.is_empty() { "" } else { "the project wants it, and can't install it: " };
    Ok(Done { outcome: SetupOutcome::Yours, to: None, words: Some(format!("{whose}{how}")) })
}

/// What adds a plugin at once that is not here: its marketplace is known, or lies in a folder of this machine.
pub(super) fn to_add(taking: &Taking<'_>, wanted: &WantedPlugin) -> Option<PluginToAdd> {
    let store = PluginStore::new(taking.app.env.config_dir());
    let marketplace = match is_known(&store, &wanted.marketplace).ok()? {
        true => None,
        false => {
            let from = wanted.from.as_ref()?;
            let here = Path::new(&taking.wanted.folder);
            match Source::parse(from, here, &taking.app.env) {
                Ok(Source::Folder(folder)) => Some(folder.display().to_string()),
                Ok(Source::Git { .. } | Source::Listed { .. }) | Err(_) => return None,
            }
        }
    };
    let from = format!("{}@{}", wanted.plugin, wanted.marketplace);
    Some(PluginToAdd { from, marketplace, project: wanted.level == Level::Project })
}

/// How it stands with a marketplace.
pub(super) fn marketplace(taking: &Taking<'_>, name: &str, from: &str) -> Result<Done, AppError> {
    let store = PluginStore::new(taking.app.env.config_dir());
    if is_known(&store, name)? {
        return Ok(Done::already(format!("the marketplace {name}")));
    }
    let words = format!("`neco plugin marketplace add {from}` adds it");
    Ok(Done { outcome: SetupOutcome::Yours, to: None, words: Some(words) })
}

fn is_known(store: &PluginStore, marketplace: &str) -> Result<bool, AppError> {
    Ok(store.marketplaces().map_err(failed)?.iter().any(|known| known.name == marketplace))
}
