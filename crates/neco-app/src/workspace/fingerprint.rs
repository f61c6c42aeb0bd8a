//! Whether files were edited: what the system says of them, without reading them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_workspace::GitFacts;

/// What a folder, and those above it in its repository, may bring.
const OF_FOLDERS: [&str; 5] =
    [".neco", ".claude/settings.json", ".claude/settings.local.json", ".claude/agents", ".agents"];

/// What lies in the home folder besides our own settings.
const OF_HOME: [&str; 3] = [".claude/settings.json", ".claude/agents", ".agents/agents"];

/// How deep below those places files are looked at, and how many at most.
const DEPTH: usize = 3;
const MOST: usize = 4000;

/// The files that decide about work in a folder, as the system sees them: when each was changed, how long it is, which
/// one it is. Rules files are not among them: they bring along others from anywhere, and are read anew instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(Vec<(PathBuf, (i64, i64), u64, u64)>);

impl Fingerprint {
    /// The files for work in a folder, as they are now.
    #[must_use]
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
        print.0.sort();
        print.0.dedup();
        print
    }

    fn add(&mut self, path: &Path, without: &Path, depth: usize) {
        let Ok(file) = fs::metadata(path) else { return };
        // What an agent remembers changes while it works, and decides nothing.
        if path == without || path.ends_with(".neco/memory") || self.0.len() >= MOST {
            return;
        }
        if !file.is_dir() {
            self.0.push((path.to_owned(), (file.mtime(), file.mtime_nsec()), file.len(), file.ino()));
        } else if depth > 0 {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                self.add(&entry.path(), without, depth - 1);
            }
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
        assert_eq!(before, print());
        fs::write(env.data_dir().join("neco.db"), "x").unwrap();
        fs::write(folder.join("main.rs"), "x").unwrap();
        assert_eq!(before, print(), "neither is a file that decides anything");
        fs::write(folder.join(".neco/agents/a.md"), "x").unwrap();
        let one = print();
        assert_ne!(before, one);
        fs::write(own.join("config.toml"), "").unwrap();
        let two = print();
        assert_ne!(one, two);
        fs::remove_file(folder.join(".neco/agents/a.md")).unwrap();
        assert_ne!(two, print());
    }
}
