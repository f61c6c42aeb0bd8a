//! The plugins that a person has: their folders below that of the settings, and the list of what was said yes to.
//!
//! A plugin counts only while its folder is, to the byte, what the person said yes to.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use neco_proto::visible::visible_line;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::folders::{Copied, at, remove};
use super::manifest::{Manifest, ManifestError, is_name};
use super::off::PluginOff;
use super::source::Source;
use crate::folder_files::{FolderError, FolderFiles, Limits};

/// The most that a plugin may hold.
pub const LIMITS: Limits = Limits { files: 5000, depth: 12, bytes: 100 * 1024 * 1024, left_out: &[".git"] };

/// A plugin that a person has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// The commit that was taken, for one of a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Its version, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the person said yes to: every file of it.
    pub hash: String,
    /// The same as far as the system tells without reading files; where this fits, none is read.
    #[serde(default)]
    pub stamp: String,
    /// Whether it is on.
    pub enabled: bool,
    /// The folders that it is for; everywhere without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<PathBuf>,
    /// What a marketplace says of it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub entry: Map<String, Value>,
}

impl Installed {
    /// Whether it is for work in a folder.
    pub fn is_for(&self, folder: &Path) -> bool {
        self.is_everywhere() || self.enabled && self.project_around(folder).is_some()
    }

    /// The folder that it is for and that this one lies in, itself perhaps.
    pub fn project_around(&self, folder: &Path) -> Option<&Path> {
        self.projects.iter().find(|project| folder.starts_with(project)).map(PathBuf::as_path)
    }

    /// Whether it is on whatever the folder.
    pub fn is_everywhere(&self) -> bool {
        self.enabled && self.projects.is_empty()
    }

    /// Switches it for all folders.
    pub fn switch_everywhere(&mut self, enabled: bool) {
        self.enabled = enabled;
        self.projects.clear();
    }

    /// Switches it on in a folder, besides those that it is on in.
    pub fn switch_on_in(&mut self, folder: &Path) {
        if self.is_for(folder) {
            return;
        }
        if !self.enabled {
            self.projects.clear();
        }
        self.enabled = true;
        self.projects.push(folder.to_owned());
    }

    /// Switches it off in a folder; it stays on in the others that it is for.
    pub fn switch_off_in(&mut self, folder: &Path) {
        self.projects.retain(|project| project != folder);
        self.enabled = !self.projects.is_empty();
    }
}

/// A list of plugins or marketplaces that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PluginsError {
    /// The disk does not let it.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The list is broken.
    #[error("{}: {error}", path.display())]
    List {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// A folder is no plugin, or none that can be had.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A folder holds what no plugin may.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It is not what was looked at.
    #[error("{} has changed since it was looked at; try again", .0.display())]
    Changed(PathBuf),
}

/// Where plugins are kept.
#[derive(Clone, Debug)]
pub struct PluginStore {
    folder: PathBuf,
}

/// What is written of all of them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct List {
    plugins: Vec<Installed>,
    marketplaces: Vec<KnownMarketplace>,
}

/// A marketplace that a person has added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMarketplace {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
}

impl PluginStore {
    /// Those of a folder of settings.
    pub fn new(config_dir: &Path) -> Self {
        Self { folder: config_dir.join("plugins") }
    }

    /// The plugins that the person has.
    ///
    /// # Errors
    /// When the list can't be read.
    pub fn plugins(&self) -> Result<Vec<Installed>, PluginsError> {
        Ok(self.list()?.plugins)
    }

    /// The marketplaces that the person has added.
    ///
    /// # Errors
    /// When the list can't be read.
    pub fn marketplaces(&self) -> Result<Vec<KnownMarketplace>, PluginsError> {
        Ok(self.list()?.marketplaces)
    }

    /// Where the folder of a plugin is.
    pub fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join("installed").join(name)
    }

    /// Where the copy of a marketplace is.
    pub fn folder_of_marketplace(&self, name: &str) -> PathBuf {
        self.folder.join("marketplaces").join(name)
    }

    /// Takes over a folder as the plugin that was said yes to, in the place of one of its name, which it is on like; gives
    /// what is kept of it.
    ///
    /// # Errors
    /// When it is not what was said yes to any more, or can't be copied; then nothing is changed.
    pub fn install(&self, from: &Path, mut plugin: Installed) -> Result<Installed, PluginsError> {
        let _alone = self.lock()?;
        let to = self.folder_of(&plugin.name);
        let copied = Copied::of(from, &to)?;
        let files = copied.files()?;
        if files.hash()? != plugin.hash {
            return Err(PluginsError::Changed(from.to_owned()));
        }
        let hashes = files.hashes()?;
        let kept = self.hashes_of(&plugin.name);
        copied.place(|| {
            plugin.stamp = FolderFiles::of(&to, LIMITS)?.stamp();
            self.change(|list| match list.plugins.iter_mut().find(|known| known.name == plugin.name) {
                Some(known) => {
                    (plugin.enabled, plugin.projects) = (known.enabled, known.projects.clone());
                    known.clone_from(&plugin);
                }
                None => list.plugins.push(plugin.clone()),
            })
        })?;
        // They only tell later which files are other ones.
        if let Err(error) = write(&kept, &hashes) {
            tracing::warn!(%error, "the hashes of a plugin's files are not kept");
        }
        Ok(plugin)
    }

    /// Switches a plugin, or says what folders it is for; says whether there is one.
    ///
    /// # Errors
    /// When that can't be kept.
    pub fn set(&self, name: &str, change: impl FnOnce(&mut Installed)) -> Result<bool, PluginsError> {
        let _alone = self.lock()?;
        self.change(|list| list.plugins.iter_mut().find(|known| known.name == name).map(change).is_some())
    }

    /// Takes a plugin away; says whether there was one.
    ///
    /// # Errors
    /// When it can't be taken away.
    pub fn remove(&self, name: &str) -> Result<bool, PluginsError> {
        let _alone = self.lock()?;
        let known = self.change(|list| {
            let before = list.plugins.len();
            list.plugins.retain(|known| known.name != name);
            before != list.plugins.len()
        })?;
        // Only what is a name is a folder here.
        if known && is_name(name) {
            remove(&self.folder_of(name))?;
            remove(&self.hashes_of(name))?;
        }
        Ok(known)
    }

    /// Adds a marketplace, in the place of one of its name; keeps a copy where it was fetched to a folder.
    ///
    /// # Errors
    /// When it holds too much, or can't be kept; then nothing is changed.
    pub fn add_marketplace(&self, known: KnownMarketplace, fetched: Option<&Path>) -> Result<(), PluginsError> {
        let _alone = self.lock()?;
        let to = self.folder_of_marketplace(&known.name);
        let list = || {
            self.change(|list| {
                list.marketplaces.retain(|other| other.name != known.name);
                list.marketplaces.push(known);
            })
        };
        match fetched {
            Some(from) => Copied::of(from, &to)?.place(list),
            None => list(),
        }
    }

    /// Takes a marketplace away; says whether there was one. Its plugins stay.
    ///
    /// # Errors
    /// When it can't be taken away.
    pub fn remove_marketplace(&self, name: &str) -> Result<bool, PluginsError> {
        let _alone = self.lock()?;
        let known = self.change(|list| {
            let before = list.marketplaces.len();
            list.marketplaces.retain(|known| known.name != name);
            before != list.marketplaces.len()
        })?;
        if known && is_name(name) {
            remove(&self.folder_of_marketplace(name))?;
        }
        Ok(known)
    }

    /// The plugins for work in a folder, as far as they are what was said yes to, and why the others are off.
    pub fn active(&self, folder: &Path) -> (Vec<ActivePlugin>, Vec<PluginOff>) {
        let plugins = match self.plugins() {
            Ok(plugins) => plugins,
            Err(error) => return (Vec::new(), vec![PluginOff::List(error)]),
        };
        let (mut active, mut off) = (Vec::new(), Vec::new());
        for plugin in plugins.iter().filter(|plugin| plugin.is_for(folder)) {
            let name = || plugin.name.clone();
            match self.checked(plugin) {
                Ok(Some(plugin)) => active.push(plugin),
                Ok(None) => off.push(PluginOff::Changed { name: name(), files: self.changed_files(&plugin.name) }),
                Err(error) => off.push(PluginOff::Broken { name: name(), error }),
            }
        }
        (active, off)
    }

    /// The plugin, if it is what was said yes to.
    fn checked(&self, plugin: &Installed) -> Result<Option<ActivePlugin>, PluginsError> {
        if !is_name(&plugin.name) {
            return Err(ManifestError::Name(plugin.name.clone()).into());
        }
        let folder = self.folder_of(&plugin.name);
        let files = FolderFiles::of(&folder, LIMITS)?;
        let stamp = files.stamp();
        if stamp != plugin.stamp {
            if files.hash()? != plugin.hash {
                return Ok(None);
            }
            // It was moved or restored, and is read no more; another one may have come meanwhile.
            let renew =
                |known: &mut Installed| known.stamp = if known.hash == plugin.hash { stamp } else { String::new() };
            if let Err(error) = self.set(&plugin.name, renew) {
                tracing::debug!(%error, "how the files of a plugin look now is not kept");
            }
        }
        let manifest = Manifest::read(&folder, &plugin.entry)?;
        Ok(Some(ActivePlugin { name: plugin.name.clone(), folder, manifest }))
    }

    /// What became of the files of a plugin since it was installed; nothing where that is not known.
    fn changed_files(&self, name: &str) -> Vec<String> {
        let kept = fs::read(self.hashes_of(name)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let now = FolderFiles::of(&self.folder_of(name), LIMITS).and_then(|files| files.hashes());
        let (Some(before), Ok(now)): (Option<BTreeMap<String, String>>, _) = (kept, now) else { return Vec::new() };
        let changes = before.iter().filter_map(|(file, hash)| match now.get(file) {
            Some(same) if same == hash => None,
            Some(_) => Some(format!("{} changed", visible_line(file))),
            None => Some(format!("{} removed", visible_line(file))),
        });
        let added = now.keys().filter(|file| !before.contains_key(*file));
        changes.chain(added.map(|file| format!("{} added", visible_line(file)))).collect()
    }

    /// Where the hash of each file of a plugin is kept. They only tell what changed: the hash of the list counts.
    fn hashes_of(&self, name: &str) -> PathBuf {
        self.folder.join("hashes").join(format!("{name}.json"))
    }

    fn file(&self) -> PathBuf {
        self.folder.join("plugins.json")
    }

    fn list(&self) -> Result<List, PluginsError> {
        let path = self.file();
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| PluginsError::List { path, error }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(List::default()),
            Err(error) => Err(at(&path, error)),
        }
    }

    /// Who changes something waits for whoever else does; until what is returned is dropped. The folder is locked, as
    /// the files in it are replaced.
    fn lock(&self) -> Result<fs::File, PluginsError> {
        let lock = || {
            fs::create_dir_all(&self.folder)?;
            let folder = fs::File::open(&self.folder)?;
            rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive)?;
            Ok(folder)
        };
        lock().map_err(|error| at(&self.folder, error))
    }

    /// Changes the list; whoever does has the lock.
    fn change<T>(&self, change: impl FnOnce(&mut List) -> T) -> Result<T, PluginsError> {
        let mut list = self.list()?;
        let changed = change(&mut list);
        write(&self.file(), &list)?;
        Ok(changed)
    }
}

/// Writes a file, whole or not at all.
fn write(path: &Path, value: &impl Serialize) -> Result<(), PluginsError> {
    let save = || {
        let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, value)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    save().map_err(|error| at(path, error))
}

/// A plugin that is on, and what it was said yes to.
#[derive(Clone, Debug)]
pub struct ActivePlugin {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(folder: &Path, text: &str) -> Installed {
        fs::create_dir_all(folder.join("skills/a")).unwrap();
        fs::write(folder.join("skills/a/SKILL.md"), text).unwrap();
        Installed {
            name: "one".to_owned(),
            source: Source::Folder(folder.to_owned()),
            commit: None,
            version: None,
            hash: FolderFiles::of(folder, LIMITS).unwrap().hash().unwrap(),
            stamp: String::new(),
            enabled: true,
            projects: Vec::new(),
            entry: Map::new(),
        }
    }

    #[test]
    fn it_counts_while_it_is_what_was_said_yes_to() {
        let place = tempfile::tempdir().unwrap();
        let (store, from) = (PluginStore::new(&place.path().join("settings")), place.path().join("from"));
        let here = Path::new("/srv/here");
        assert!(store.active(here).0.is_empty() && store.plugins().unwrap().is_empty());
        store.install(&from, plugin(&from, "first")).unwrap();
        let (active, notices) = store.active(here);
        assert_eq!((active.len(), notices.len(), active[0].manifest.skills.len()), (1, 0, 1));
        fs::write(store.folder_of("one").join("skills/a/SKILL.md"), "f1rst").unwrap();
        let (active, notices) = store.active(here);
        let told = notices[0].to_string();
        assert!(active.is_empty() && told.contains("not what you said yes to (skills/a/SKILL.md changed);"), "{told}");
        store.install(&from, plugin(&from, "second")).unwrap();
        assert_eq!(store.active(here).0.len(), 1);
        assert!(store.set("one", |one| one.projects = vec!["/srv/there".into()]).unwrap());
        assert!(store.active(here).0.is_empty() && store.active(Path::new("/srv/there/in")).0.len() == 1);
        assert!(store.set("one", |one| one.enabled = false).unwrap() && !store.set("two", |_| ()).unwrap());
        assert!(store.active(Path::new("/srv/there")).0.is_empty());
        assert!(store.remove("one").unwrap() && !store.folder_of("one").exists() && !store.remove("one").unwrap());
    }

    #[test]
    fn files_that_look_otherwise_are_read_once() {
        let place = tempfile::tempdir().unwrap();
        let (store, from) = (PluginStore::new(&place.path().join("settings")), place.path().join("from"));
        store.install(&from, plugin(&from, "first")).unwrap();
        let stamp = || store.plugins().unwrap()[0].stamp.clone();
        let before = stamp();
        let file = store.folder_of("one").join("skills/a/SKILL.md");
        fs::remove_file(&file).unwrap();
        fs::write(&file, "first").unwrap();
        assert_eq!((store.active(place.path()).0.len(), stamp() == before), (1, false));
        let files = FolderFiles::of(&store.folder_of("one"), LIMITS).unwrap();
        assert_eq!(files.stamp(), stamp());
    }

    #[test]
    fn an_update_leaves_it_on_where_it_is_on_by_then() {
        let place = tempfile::tempdir().unwrap();
        let (store, from) = (PluginStore::new(&place.path().join("settings")), place.path().join("from"));
        store.install(&from, plugin(&from, "first")).unwrap();
        store.install(&from, Installed { name: "two".to_owned(), ..plugin(&from, "first") }).unwrap();
        let update = plugin(&from, "second");
        store.set("one", |one| one.switch_everywhere(false)).unwrap();
        assert!(!store.install(&from, update).unwrap().enabled);
        let names: Vec<String> = store.plugins().unwrap().into_iter().map(|known| known.name).collect();
        assert_eq!(names, ["one", "two"], "and it stays in its place");
    }

    #[test]
    fn a_folder_is_added_once() {
        let mut one = plugin(tempfile::tempdir().unwrap().path(), "x");
        one.enabled = false;
        for folder in ["/srv/a", "/srv/a", "/srv/a/deep"] {
            one.switch_on_in(Path::new(folder));
        }
        assert_eq!((one.projects.len(), one.project_around(Path::new("/srv/a/b"))), (1, Some(Path::new("/srv/a"))));
        one.switch_off_in(Path::new("/srv/a"));
        assert!(!one.enabled && !one.is_for(Path::new("/srv/a")));
    }

    #[test]
    fn two_processes_lose_nothing_of_each_other() {
        let place = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..16).map(|number| format!("p{number}")).collect();
        std::thread::scope(|scope| {
            for name in &names {
                let (store, from) = (PluginStore::new(&place.path().join("settings")), place.path().join(name));
                scope.spawn(move || {
                    let one = Installed { name: name.clone(), ..plugin(&from, "text") };
                    store.install(&from, one).unwrap();
                });
            }
        });
        assert_eq!(PluginStore::new(&place.path().join("settings")).plugins().unwrap().len(), names.len());
    }

    #[test]
    fn what_can_not_be_listed_leaves_the_plugin_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let (store, from) = (PluginStore::new(&place.path().join("settings")), place.path().join("from"));
        store.install(&from, plugin(&from, "first")).unwrap();
        let second = plugin(&from, "second");
        fs::write(store.file(), "{").unwrap();
        assert!(store.install(&from, second).is_err());
        let there = fs::read_to_string(store.folder_of("one").join("skills/a/SKILL.md")).unwrap();
        assert_eq!(there, "first");
        let marketplace = || KnownMarketplace { name: "m".to_owned(), source: Source::Folder("/x".into()) };
        assert!(store.add_marketplace(marketplace(), Some(&from)).is_err());
        assert!(!store.folder_of_marketplace("m").exists());
    }

    #[test]
    fn what_changed_since_it_was_looked_at_is_not_installed() {
        let place = tempfile::tempdir().unwrap();
        let (store, from) = (PluginStore::new(&place.path().join("settings")), place.path().join("from"));
        let seen = plugin(&from, "first");
        fs::write(from.join("skills/a/SKILL.md"), "other").unwrap();
        assert!(store.install(&from, seen).is_err());
        assert!(store.plugins().unwrap().is_empty() && !store.folder_of("one").exists());
    }

    #[test]
    fn a_list_that_is_broken_is_told_and_kept() {
        let place = tempfile::tempdir().unwrap();
        let store = PluginStore::new(place.path());
        fs::create_dir_all(place.path().join("plugins")).unwrap();
        fs::write(place.path().join("plugins/plugins.json"), "{").unwrap();
        assert!(matches!(store.active(place.path()).1[..], [PluginOff::List(_)]));
        assert!(store.set("one", |_| ()).is_err());
        let evil = r#"{"plugins": [{"name": "../..", "source": {"folder": "/x"}, "hash": "", "enabled": true}]}"#;
        fs::write(place.path().join("plugins/plugins.json"), evil).unwrap();
        assert!(store.active(place.path()).0.is_empty());
    }
}
