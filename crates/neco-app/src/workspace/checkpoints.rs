//! The checkpoints of workspaces, as the settings and the person's own git want them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::section::CheckpointsSection;
use neco_session::hub::OpenCheckpoints;
pub use neco_workspace::checkpoint::stores_in as stores;
use neco_workspace::checkpoint::{Checkpoints, LeaveOutSettings, Place, Unsaved, open, store_folder};

/// No settings of git are nearly as long.
const MOST_BYTES: usize = 1 << 20;

/// Opens the states of any workspace, each once; nothing is read before that. What is `unsaved` is part of them.
pub fn opener(
    section: &CheckpointsSection,
    environment: &[(OsString, OsString)],
    data_dir: &Path,
    unsaved: Unsaved,
) -> OpenCheckpoints {
    if !section.enabled {
        return Arc::new(|_| None);
    }
    let opened: Mutex<HashMap<PathBuf, Arc<dyn Checkpoints>>> = Mutex::default();
    let (section, stores, home) = (section.clone(), stores(data_dir), variable(environment, "HOME"));
    let own = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    let config_home = variable(environment, "XDG_CONFIG_HOME");
    Arc::new(move |root| {
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.get(root) {
            return Some(Arc::clone(known));
        }
        let place = Place {
            root: root.to_path_buf(),
            store: store_folder(&stores, root),
            home: home.as_ref().map(|home| home.canonicalize().unwrap_or_else(|_| home.clone())),
            settings: LeaveOutSettings {
                max_file_bytes: section.max_file_bytes,
                max_files: section.max_files,
                patterns: section.leave_out.clone(),
                excludes_file: excludes_file(&section, home.as_deref(), config_home.as_deref()),
                own: Some(own.clone()),
            },
            unsaved: unsaved.clone(),
        };
        let (checkpoints, notice) = open(section.backend, place);
        if let Some(notice) = notice {
            tracing::info!(%notice);
        }
        opened.insert(root.to_path_buf(), Arc::clone(&checkpoints));
        Some(checkpoints)
    })
}

fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let (_, value) = environment.iter().find(|(own, _)| own.to_str() == Some(name))?;
    let path = PathBuf::from(value);
    path.is_absolute().then_some(path)
}

/// The person's ignore file for all repositories: the setting, else what their git is set to, else where
/// git looks by itself.
fn excludes_file(section: &CheckpointsSection, home: Option<&Path>, config_home: Option<&Path>) -> Option<PathBuf> {
    let in_home = |text: &str| match (text.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => Some(home.join(below)),
        (Some(_), None) => None,
        (None, _) => Some(PathBuf::from(text)),
    };
    if let Some(set) = &section.excludes_file {
        return in_home(set);
    }
    let git = config_home.map(|config| config.join("git")).or_else(|| home.map(|home| home.join(".config/git")));
    // The later one outranks the earlier one.
    let settings = [home.map(|home| home.join(".gitconfig")), git.as_ref().map(|git| git.join("config"))];
    let of_git = settings.into_iter().flatten().find_map(|file| of_git_settings(&file));
    of_git.and_then(|set| in_home(&set)).or_else(|| git.map(|git| git.join("ignore"))).filter(|file| file.is_file())
}

/// `core.excludesFile` of a file of git settings, without those that it includes.
fn of_git_settings(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok().filter(|text| text.len() <= MOST_BYTES)?;
    let (mut in_core, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line.to_ascii_lowercase().starts_with("[core]");
        } else if let Some((name, value)) = line.split_once('=').filter(|_| in_core)
            && name.trim().eq_ignore_ascii_case("excludesfile")
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found.filter(|found| !found.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ignore_file_of_the_persons_own_git_is_found() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let section = CheckpointsSection::default();
        let find = |section: &CheckpointsSection| excludes_file(section, Some(home.path()), None);
        assert_eq!(find(&section), None);
        fs::create_dir_all(at(".config/git")).unwrap();
        fs::write(at(".config/git/ignore"), "*.swp\n").unwrap();
        assert_eq!(find(&section), Some(at(".config/git/ignore")));
        fs::write(at("mine"), "").unwrap();
        fs::write(
            at(".gitconfig"),
            "[user]\n\texcludesFile = no\n[core]\n\tpager = less\n\tExcludesFile = \"~/mine\"\n",
        )
        .unwrap();
        assert_eq!(find(&section), Some(at("mine")));
        let set = CheckpointsSection { excludes_file: Some("~/other".to_owned()), ..section };
        assert_eq!(find(&set), Some(at("other")));
    }

    #[test]
    fn switched_off_there_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let section = CheckpointsSection::default();
        assert!(opener(&section, &[], folder.path(), Unsaved::default())(folder.path()).is_none());
        let on = CheckpointsSection { enabled: true, ..section };
        let open = opener(&on, &[], folder.path(), Unsaved::default());
        let (one, two) = (open(folder.path()).unwrap(), open(folder.path()).unwrap());
        assert!(Arc::ptr_eq(&one, &two), "each workspace is opened once");
        assert!(!stores(folder.path()).exists(), "and nothing is made before it is needed");
    }
}
