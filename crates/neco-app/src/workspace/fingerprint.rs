//! Whether files were edited: what the system says of them, without reading them.

use std::fs;
use std::path::Path;

use neco_config::Env;
use neco_ext::folder_files::FolderFiles;
use neco_ext::plugins::{LIMITS, PluginStore};
use neco_workspace::{GitFacts, Watched};

/// What a folder, and those above it in its repository, may bring.
const OF_FOLDERS: [&str; 6] =
    [".neco", ".claude/settings.json", ".claude/settings.local.json", ".claude/agents", ".agents", ".mcp.json"];

/// What lies in the home folder besides our own settings.
const OF_HOME: [&str; 3] = [".claude/settings.json", ".claude/agents", ".agents/agents"];

/// How deep below those places files are looked at, and how many at most.
const DEPTH: usize = 3;
const MOST: usize = 4000;

/// The files that decide about work in a folder, as the system sees them. Rules files are not among them: they bring
/// along others from anywhere; nor are skills, which are watched as they are found.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    files: Watched,
    /// The folders in which more of them may come.
    folders: Watched,
}

impl Fingerprint {
    /// The files for work in a folder, as they are now.
    pub fn take(env: &Env, folder: &Path) -> Self {
        let root = GitFacts::of(folder).map_or_else(|| folder.to_owned(), |facts| facts.root);
        let folders = folder.ancestors().take_while(|above| above.starts_with(&root));
        let of_folders = folders.flat_map(|folder| OF_FOLDERS.map(|name| folder.join(name)));
        let of_home = OF_HOME.map(|name| env.home().join(name));
        let mut print = Self::default();
        // What is kept may lie below the settings, and changes all the time.
        for place in std::iter::once(env.config_dir().to_owned()).chain(of_home).chain(of_folders) {
            print.add(&place, env.data_dir(), DEPTH);
        }
        let store = PluginStore::new(env.config_dir());
        let plugins = store.plugins().unwrap_or_default();
        plugins
            .iter()
            .filter(|plugin| plugin.is_for(folder))
            .for_each(|on| print.add_plugin(&store.folder_of(&on.name)));
        print
    }

    /// Whether nothing was edited since: a question to the system for each file and folder, and nothing is read.
    pub fn is_current(&self) -> bool {
        self.files.is_current() && self.folders.is_current()
    }

    /// Whether the same files are there, none of them edited, whatever else lies beside them.
    pub fn is_of_the_same_files(&self, other: &Self) -> bool {
        self.files == other.files
    }

    fn add(&mut self, path: &Path, without: &Path, depth: usize) {
        // What an agent remembers changes while it works, and decides nothing.
        if path == without || path.ends_with(".neco/memory") || self.files.len() >= MOST {
            return;
        }
        match fs::metadata(path) {
            Ok(file) if !file.is_dir() => self.files.add_found(path, &file),
            Ok(_) if path.file_name().is_some_and(|name| name == "skills") => {}
            Ok(folder) if depth > 0 => {
                self.folders.add_found(path, &folder);
                for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                    self.add(&entry.path(), without, depth - 1);
                }
            }
            Ok(_) => {}
            Err(_) => self.folders.add(path),
        }
    }

    /// Every file of a plugin is pinned.
    fn add_plugin(&mut self, folder: &Path) {
        self.folders.add(folder);
        for name in FolderFiles::of(folder, LIMITS).unwrap_or_default().names() {
            let file = folder.join(name);
            file.parent().into_iter().for_each(|around| self.folders.add(around));
            self.files.add(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_seen_and_what_is_kept_is_not() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        let env = Env::for_test([("NECO_HOME", own.to_str().unwrap())], home.path());
        let folder = home.path().join("project");
        fs::create_dir_all(folder.join(".neco/agents")).unwrap();
        fs::create_dir_all(env.data_dir()).unwrap();
        let print = || Fingerprint::take(&env, &folder);
        let before = print();
        let is_seen = |before: &Fingerprint| !before.is_of_the_same_files(&print()) && !before.is_current();
        assert!(before.is_current() && before.is_of_the_same_files(&print()));
        fs::write(env.data_dir().join("neco.db"), "x").unwrap();
        fs::write(folder.join("main.rs"), "x").unwrap();
        assert!(before.is_of_the_same_files(&print()), "neither is a file that decides anything");
        fs::write(folder.join(".neco/agents/a.md"), "x").unwrap();
        assert!(is_seen(&before));
        let one = print();
        fs::write(own.join("config.toml"), "").unwrap();
        assert!(is_seen(&one));
        let shared = print();
        fs::write(folder.join(".mcp.json"), "{}").unwrap();
        assert!(is_seen(&shared));
        let two = print();
        fs::remove_file(folder.join(".neco/agents/a.md")).unwrap();
        assert!(is_seen(&two));
        let plugin = own.join("plugins/installed/kit");
        fs::create_dir_all(plugin.join("hooks/deep/er")).unwrap();
        fs::write(plugin.join("hooks/deep/er/run.sh"), "one").unwrap();
        let on = r#"{"plugins": [{"name": "kit", "source": {"folder": "/x"}, "hash": "", "enabled": true}]}"#;
        fs::write(own.join("plugins/plugins.json"), on).unwrap();
        let on = print();
        assert!(on.is_current());
        fs::write(plugin.join("hooks/deep/er/run.sh"), "another").unwrap();
        assert!(is_seen(&on));
        let three = print();
        fs::create_dir(folder.join(".agents")).unwrap();
        assert!(!three.is_current() && three.is_of_the_same_files(&print()), "a folder is no file yet");
    }
}
