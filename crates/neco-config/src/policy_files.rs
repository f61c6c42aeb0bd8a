//! Which files hold rules, and what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::find::read_small_file;
use crate::origin::Layer;

/// A file that holds rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Whose it is: the user's or the project's.
    pub layer: Layer,
    /// What is written in it.
    pub format: PolicyFormat,
    /// Its path as it is shown to people.
    pub shown: String,
    /// The folder that it is about: the project's, or the home folder.
    pub folder: PathBuf,
    /// Its text, or why it can't be read.
    pub text: Result<String, PolicyFileError>,
}

/// Why a file that holds rules can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFileError {
    /// It is something else than text.
    #[error("it is not UTF-8 text")]
    NoText,
    /// The system does not let us.
    #[error("it can't be read: {0}")]
    Unreadable(String),
}

/// What is written in a file that holds rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyFormat {
    /// Tables of rules.
    Toml,
    /// Settings of Claude Code, with permissions among them.
    ClaudeSettings,
}

/// The folder of the user's policy files.
pub fn policy_folder(env: &Env) -> PathBuf {
    env.config_dir().join("policy")
}

/// Every file that holds rules for work in `cwd`: the user's, then those of the project from the
/// outermost folder to `cwd`. A git repository is not left; outside of one only `cwd` counts.
pub fn policy_files(env: &Env, cwd: &Path) -> Vec<PolicyFile> {
    let mut search = Search { env, files: Vec::new() };
    let home = env.home().to_path_buf();
    search.folder(Layer::User, &policy_folder(env), &home);
    search.claude(Layer::User, &home, "settings.json");
    for folder in project_folders(cwd) {
        // The home folder, or what stands in for it, is the user's, whoever works in it.
        if folder == home {
            continue;
        }
        let neco = folder.join(".neco");
        if neco != *env.config_dir() {
            search.folder(Layer::Project, &neco.join("policy"), &folder);
        }
        search.claude(Layer::Project, &folder, "settings.json");
        search.claude(Layer::Project, &folder, "settings.local.json");
    }
    search.files
}

struct Search<'a> {
    env: &'a Env,
    files: Vec<PolicyFile>,
}

impl Search<'_> {
    fn folder(&mut self, layer: Layer, policy: &Path, folder: &Path) {
        let Ok(entries) = fs::read_dir(policy) else { return };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
        paths.sort();
        for path in paths {
            self.file(layer, PolicyFormat::Toml, &path, folder);
        }
    }

    fn claude(&mut self, layer: Layer, folder: &Path, name: &str) {
        self.file(layer, PolicyFormat::ClaudeSettings, &folder.join(".claude").join(name), folder);
    }

    fn file(&mut self, layer: Layer, format: PolicyFormat, path: &Path, folder: &Path) {
        let text = match read_small_file(path, layer.is_from_repository()) {
            Ok(None) => return,
            Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| PolicyFileError::NoText),
            Err(error) => Err(PolicyFileError::Unreadable(error.to_string())),
        };
        let (shown, folder) = (self.env.shown(path), folder.to_path_buf());
        self.files.push(PolicyFile { layer, format, shown, folder, text });
    }
}

/// From the outermost folder of the repository to `cwd`.
pub(crate) fn project_folders(cwd: &Path) -> Vec<PathBuf> {
    let cwd = std::path::absolute(cwd).unwrap_or_else(|_| cwd.to_owned());
    let depth = cwd.ancestors().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    let mut folders: Vec<PathBuf> = cwd.ancestors().take(depth + 1).map(Path::to_path_buf).collect();
    folders.reverse();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "# x").unwrap();
    }

    #[test]
    fn the_users_come_first_then_those_of_the_repository_inwards() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in [
            "home/.config/neco/policy/b.toml",
            "home/.config/neco/policy/a.toml",
            "home/.config/neco/policy/notes.md",
            "home/.claude/settings.json",
            "outside/.neco/policy/no.toml",
            "outside/repo/.git",
            "outside/repo/.neco/policy/outer.toml",
            "outside/repo/.claude/settings.json",
            "outside/repo/part/.neco/policy/inner.toml",
        ] {
            write(root, path);
        }
        let env = Env::for_test([], root.join("home"));
        let found = |cwd: &str| -> Vec<String> {
            let files = policy_files(&env, &root.join(cwd));
            files.iter().map(|file| format!("{} {}", file.layer, file.shown.rsplit('/').next().unwrap())).collect()
        };
        let user = ["user a.toml", "user b.toml", "user settings.json"];
        let repository = ["project outer.toml", "project settings.json", "project inner.toml"];
        assert_eq!(found("outside/repo/part"), [&user[..], &repository[..]].concat());
        assert_eq!(found("home"), user, "the home folder is no project");
        assert_eq!(found("outside"), [&user[..], &["project no.toml"]].concat());
        assert_eq!(found("outside/other"), user, "folders above may be anybody's");
    }
}
