//! A plugin that was fetched and is not installed: what it brings, and what is other than in the one that is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_ext::folder_files::FolderFiles;
use neco_ext::plugins::{ActivePlugin, Installed, LIMITS, Manifest, PluginStore, Source};
use neco_proto::app::AppError;
use neco_proto::app::plugins::{BroughtRow, PluginRow};
use neco_proto::visible::{visible, visible_line};
use neco_tools::files::change;
use neco_view::figures;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::brings::{Brings, SERVER};
use super::marketplaces::of_marketplace;
use super::{described, shown};
use crate::error::{failed, invalid};
use crate::fetched::{Held, fetch};
use crate::workspace::own_commands::hash;

/// Lines of the change of one file that are shown.
const SHOWN_LINES: usize = 60;

/// A plugin that was fetched, and what is known of it.
pub(super) struct Candidate {
    commit: Option<String>,
    held: Held,
    source: Source,
    entry: Map<String, Value>,
    manifest: Manifest,
    files: FolderFiles,
    hash: String,
    before: Option<Installed>,
    /// What it brings.
    pub brings: Brings,
}

impl Candidate {
    /// Fetches what a text names: the name of one that is there means the same place again.
    pub(super) fn fetch(env: &Env, here: &Path, from: &str, gone: &CancellationToken) -> Result<Self, AppError> {
        let store = PluginStore::new(env.config_dir());
        let plugins = store.plugins().map_err(failed)?;
        let source = match plugins.iter().find(|plugin| plugin.name == from) {
            Some(plugin) => plugin.source.clone(),
            None => Source::parse(from, here, env).map_err(invalid)?,
        };
        let (place, entry) = match &source {
            Source::Listed { plugin, marketplace } => of_marketplace(&store, plugin, marketplace)?,
            Source::Folder(_) | Source::Git { .. } => (source.clone(), Map::new()),
        };
        let (fetched, at) = fetch(env, &place, gone)?;
        let held = fetched.hold(at, LIMITS)?;
        let at = &held.folder;
        let manifest = Manifest::read(at, &entry).map_err(invalid)?;
        let files = FolderFiles::of(at, LIMITS).map_err(invalid)?;
        let hash = files.hash().map_err(invalid)?;
        if plugins.iter().any(|plugin| plugin.name == from) && manifest.name != from {
            let words = format!("{from} calls itself {} now: remove it, and add it anew", manifest.name);
            return Err(invalid(words));
        }
        let before = plugins.into_iter().find(|plugin| plugin.name == manifest.name);
        if let Some(other) = before.as_ref().filter(|before| before.source != source) {
            let words = format!("there is a plugin {} from {} already: remove it first", other.name, other.source);
            return Err(invalid(words));
        }
        let brings = brings_of(env, &manifest, at);
        if brings.all.is_empty() {
            let words = format!("{} brings nothing that Neco can use", manifest.name);
            return Err(AppError { warnings: brings.notices(), ..invalid(words) });
        }
        Ok(Self { commit: fetched.commit.clone(), held, source, entry, manifest, files, hash, before, brings })
    }

    /// What a yes is a yes to: its files, and what a marketplace says of it.
    pub(super) fn seen(&self) -> String {
        hash(&format!("{}\0{}", self.hash, Value::Object(self.entry.clone())))
    }

    /// What is other than in the one that is there; none where there is none.
    pub(super) fn changes(&self, env: &Env) -> Option<Vec<String>> {
        let before = self.before.as_ref()?;
        let old = PluginStore::new(env.config_dir()).folder_of(&before.name);
        let manifest = Manifest::read(&old, &before.entry);
        let old_brings = manifest.map(|manifest| brings_of(env, &manifest, &old)).unwrap_or_default();
        let mut changes = other_rows(&old_brings.all, &self.brings.all);
        let old_files = FolderFiles::of(&old, LIMITS).unwrap_or_default();
        let names: BTreeSet<&Path> = old_files.names().chain(self.files.names()).collect();
        changes.extend(names.into_iter().flat_map(|name| file_change(name, &old, &self.held.folder)));
        // It is off although its files are these.
        if changes.is_empty() && before.hash != self.hash {
            changes.push("what was said yes to was something else".to_owned());
        }
        Some(changes)
    }

    /// Takes it over, for a project alone where one is said.
    pub(super) fn install(&self, env: &Env, project: Option<PathBuf>) -> Result<Installed, AppError> {
        let plugin = Installed {
            name: self.manifest.name.clone(),
            source: self.source.clone(),
            commit: self.commit.clone(),
            version: self.manifest.version.clone(),
            hash: self.hash.clone(),
            stamp: String::new(),
            enabled: true,
            projects: project.into_iter().collect(),
            entry: self.entry.clone(),
        };
        PluginStore::new(env.config_dir()).install(&self.held.folder, plugin).map_err(failed)
    }

    pub(super) fn row(&self) -> PluginRow {
        let before = self.before.as_ref();
        PluginRow {
            name: self.manifest.name.clone(),
            description: described(&self.manifest),
            version: self.manifest.version.as_deref().map(visible_line),
            source: self.source.to_string(),
            commit: self.commit.clone(),
            enabled: before.is_none_or(|before| before.enabled),
            active: false,
            projects: before.map(|before| shown(&before.projects)).unwrap_or_default(),
            off: None,
            broken: Vec::new(),
        }
    }
}

fn brings_of(env: &Env, manifest: &Manifest, folder: &Path) -> Brings {
    let plugin = ActivePlugin { name: manifest.name.clone(), folder: folder.to_owned(), manifest: manifest.clone() };
    Brings::of_plugin(env, &plugin)
}

/// What is brought now and was not before, and the other way round.
fn other_rows(old: &[BroughtRow], new: &[BroughtRow]) -> Vec<String> {
    // What a server is given may stand in the list of a marketplace, and in no file of the plugin.
    let given = |one: &BroughtRow| if one.kind == SERVER { one.says.clone() } else { String::new() };
    let is_same = |one: &BroughtRow, other: &BroughtRow| {
        (&one.kind, &one.name, &one.runs, given(one)) == (&other.kind, &other.name, &other.runs, given(other))
    };
    let only = |sign: &str, these: &[BroughtRow], those: &[BroughtRow]| {
        let only = these.iter().filter(|one| !those.iter().any(|other| is_same(one, other)));
        let line = |one: &BroughtRow| {
            let line = format!("{sign} {} {} {}", one.kind, one.name, one.runs);
            let given = given(one);
            std::iter::once(line.trim_end().to_owned()).chain(given.lines().map(str::to_owned).collect::<Vec<_>>())
        };
        only.flat_map(line).collect::<Vec<_>>()
    };
    [only("+", new, old), only("-", old, new)].concat()
}

/// What became of a file, with the lines that changed where it is a text; nothing where it is the same.
pub(crate) fn file_change(name: &Path, old: &Path, new: &Path) -> Vec<String> {
    let read = |folder: &Path| fs::read(folder.join(name)).ok();
    let (before, now) = (read(old), read(new));
    let what = match (&before, &now) {
        _ if before == now => return Vec::new(),
        (Some(_), Some(_)) => "changed",
        (Some(_), None) => "removed",
        (None, _) => "added",
    };
    let mut lines = vec![format!("{what} {}", visible_line(&name.display().to_string()))];
    let is_text = |bytes: &Vec<u8>| !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    if let Some(now) = now.filter(is_text)
        && before.iter().all(is_text)
    {
        let unified = change("", before.as_deref(), &now).diff.unified;
        let all: Vec<&str> = unified.lines().collect();
        lines.extend(all.iter().take(SHOWN_LINES).map(|line| format!("  | {}", visible(line))));
        let more = all.len().saturating_sub(SHOWN_LINES);
        if more > 0 {
            lines.push(format!("  | … and {}", figures::count(more as u64, "more line")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_and_a_long_one_cut() {
        let place = tempfile::tempdir().unwrap();
        let (old, new) = (place.path().join("old"), place.path().join("new"));
        let write = |folder: &Path, name: &str, bytes: &[u8]| {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), bytes).unwrap();
        };
        write(&old, "a.sh", b"echo one\n");
        write(&new, "a.sh", b"echo two\x1b\n");
        write(&old, "b", b"\0");
        write(&new, "b", b"\0\0");
        write(&new, "c", "x\n".repeat(100).as_bytes());
        let of = |name: &str| file_change(Path::new(name), &old, &new);
        let changed = of("a.sh");
        assert_eq!(changed[0], "changed a.sh");
        assert!(changed.contains(&"  | -echo one".to_owned()) && changed.contains(&"  | +echo two\\x1b".to_owned()));
        assert_eq!(of("b"), ["changed b"], "it is no text");
        let added = of("c");
        assert!(added.len() == SHOWN_LINES + 2 && added[0] == "added c", "{added:?}");
        assert!(added.last().unwrap().contains("more lines"), "{added:?}");
        assert!(of("none").is_empty());
    }
}
