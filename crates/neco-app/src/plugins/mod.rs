//! Plugins: looking at them, installing, switching and removing them.
//!
//! Reading order: this file (what is asked), [`candidate`] (one that was fetched), [`brings`] (what a person reads before
//! the yes), [`marketplaces`], [`check`] and [`mod@write`] (for whoever writes one).

pub(crate) mod brings;
pub(crate) mod candidate;
pub(crate) mod check;
pub(crate) mod marketplaces;
pub(crate) mod write;

use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_ext::folder_files::FolderFiles;
use neco_ext::plugins::{ActivePlugin, Installed, LIMITS, Manifest, PluginOff, PluginStore};
use neco_ext::skills;
use neco_proto::app::plugins::{
    InstallPlugin, ListPlugins, LookAtPlugin, PluginList, PluginRow, RemovePlugin, RemovedPlugin, ShowPlugin,
    ShownPlugin, SwitchPlugin,
};
use neco_proto::app::{AppError, Trouble};
use neco_proto::visible::visible_line;

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::fetched::until_dropped;
use crate::opening::on_thread;
use crate::skills::broken;
use brings::Brings;
use candidate::Candidate;

/// The plugins of a person, as they stand in a folder.
struct Standing {
    store: PluginStore,
    active: Vec<ActivePlugin>,
    off: Vec<PluginOff>,
}

impl Standing {
    fn of(store: PluginStore, folder: &Path) -> Self {
        let (active, off) = store.active(folder);
        Self { store, active, off }
    }

    fn row(&self, env: &Env, plugin: &Installed) -> PluginRow {
        let manifest = Manifest::read(&self.store.folder_of(&plugin.name), &plugin.entry).ok();
        let off = self.off.iter().find(|off| off.name() == Some(&plugin.name));
        let active = self.active.iter().find(|active| active.name == plugin.name);
        let notices = active.map(|plugin| skills::look(&plugin.skill_places()).notices).unwrap_or_default();
        PluginRow {
            name: plugin.name.clone(),
            description: manifest.as_ref().map(described).unwrap_or_default(),
            version: plugin.version.as_deref().map(visible_line),
            source: plugin.source.to_string(),
            commit: plugin.commit.clone(),
            enabled: plugin.enabled,
            active: active.is_some(),
            broken: broken(env, &notices),
            projects: shown(&plugin.projects),
            off: off.map(ToString::to_string),
        }
    }
}

fn described(manifest: &Manifest) -> String {
    visible_line(manifest.description.as_deref().unwrap_or_default())
}

fn shown(folders: &[PathBuf]) -> Vec<String> {
    folders.iter().map(|folder| folder.display().to_string()).collect()
}

/// The plugin of a name that the person has.
fn known(store: &PluginStore, name: &str) -> Result<Installed, AppError> {
    let found = store.plugins().map_err(failed)?.into_iter().find(|plugin| plugin.name == name);
    let none = || AppError::new(Trouble::NotFound, format!("there is no plugin {name:?}"));
    found.ok_or_else(|| none().hint("`neco plugin list` lists them."))
}

pub(crate) async fn list(app: &StorelessApp, request: ListPlugins) -> Result<PluginList, AppError> {
    let env = app.env.clone();
    on_thread(move || {
        let standing = Standing::of(PluginStore::new(env.config_dir()), Path::new(&request.folder));
        let mut plugins = standing.store.plugins().map_err(failed)?;
        plugins.sort_by(|one, other| one.name.cmp(&other.name));
        let marketplaces = standing.store.marketplaces().map_err(failed)?;
        Ok(PluginList {
            plugins: plugins.iter().map(|plugin| standing.row(&env, plugin)).collect(),
            marketplaces: marketplaces.iter().map(marketplaces::listed).collect(),
            warnings: standing.active.iter().flat_map(|plugin| Brings::of_plugin(&env, plugin).other_notices).collect(),
        })
    })
    .await
}

pub(crate) async fn show(app: &StorelessApp, request: ShowPlugin) -> Result<ShownPlugin, AppError> {
    let env = app.env.clone();
    on_thread(move || {
        let standing = Standing::of(PluginStore::new(env.config_dir()), Path::new(&request.folder));
        let plugin = known(&standing.store, &request.name)?;
        let (row, folder) = (standing.row(&env, &plugin), standing.store.folder_of(&plugin.name));
        let manifest = Manifest::read(&folder, &plugin.entry).map_err(failed)?;
        let seen = FolderFiles::of(&folder, LIMITS).and_then(|files| files.hash()).map_err(failed)?;
        let brings = Brings::of_plugin(&env, &ActivePlugin { name: plugin.name, folder, manifest });
        let warnings = row.off.iter().cloned().chain(brings.notices()).collect();
        Ok(ShownPlugin { plugin: row, brings: brings.all, seen, changes: None, warnings })
    })
    .await
}

pub(crate) async fn look(app: &StorelessApp, request: LookAtPlugin) -> Result<ShownPlugin, AppError> {
    let env = app.env.clone();
    until_dropped(move |gone| {
        let found = Candidate::fetch(&env, Path::new(&request.folder), &request.from, gone)?;
        let (plugin, changes, seen) = (found.row(), found.changes(&env), found.seen());
        let warnings = found.brings.notices();
        Ok(ShownPlugin { plugin, brings: found.brings.all, changes, warnings, seen })
    })
    .await
}

pub(crate) async fn install(app: &StorelessApp, request: InstallPlugin) -> Result<PluginRow, AppError> {
    let env = app.env.clone();
    until_dropped(move |gone| {
        let folder = Path::new(&request.folder);
        let found = Candidate::fetch(&env, folder, &request.from, gone)?;
        if found.seen() != request.seen {
            let words = "the plugin is not what was looked at any more: look at it again";
            return Err(AppError::new(Trouble::Invalid, words));
        }
        let plugin = found.install(&env, request.project.then(|| folder.to_owned()))?;
        Ok(Standing::of(PluginStore::new(env.config_dir()), folder).row(&env, &plugin))
    })
    .await
}

pub(crate) async fn switch(app: &StorelessApp, request: SwitchPlugin) -> Result<PluginRow, AppError> {
    let env = app.env.clone();
    on_thread(move || {
        let (store, folder) = (PluginStore::new(env.config_dir()), Path::new(&request.folder));
        let plugin = known(&store, &request.name)?;
        if request.project && !request.enabled && plugin.is_everywhere() {
            return Err(invalid(format!("{} is on everywhere, and can only be switched off everywhere", plugin.name)));
        }
        let around = plugin.project_around(folder).filter(|around| *around != folder);
        if let Some(around) = around.filter(|_| request.project && !request.enabled && plugin.enabled) {
            let words = format!("{} is on in {}, which this folder lies in", plugin.name, around.display());
            return Err(invalid(format!("{words}: switch it off there")));
        }
        let change = |plugin: &mut Installed| match (request.project, request.enabled) {
            (false, enabled) => plugin.switch_everywhere(enabled),
            (true, true) => plugin.switch_on_in(folder),
            (true, false) => plugin.switch_off_in(folder),
        };
        store.set(&request.name, change).map_err(failed)?;
        let plugin = known(&store, &request.name)?;
        Ok(Standing::of(store, folder).row(&env, &plugin))
    })
    .await
}

pub(crate) async fn remove(app: &StorelessApp, request: RemovePlugin) -> Result<RemovedPlugin, AppError> {
    let store = PluginStore::new(app.env.config_dir());
    on_thread(move || Ok(RemovedPlugin { known: store.remove(&request.name).map_err(failed)? })).await
}
