//! Where hooks come from: the user's settings, and those of the project.

use std::path::{Path, PathBuf};

use neco_config::section::HooksSection;
use neco_config::{Env, Loaded, read_small_file};
use neco_proto::event::HookEvent;

use super::hook::{Hook, Origin, seconds};
use super::matcher::Matcher;
use super::settings_file;

/// The hook files of a project, in its folder.
const PROJECT_FILES: [&str; 3] = [".claude/settings.json", ".claude/settings.local.json", ".neco/hooks.json"];

/// The hooks that there are, trusted or not.
#[derive(Debug, Default)]
pub struct Found {
    /// The user's first, then the project's, each in the order of its files.
    pub hooks: Vec<Hook>,
    /// What is to be said about the files.
    pub notices: Vec<String>,
}

/// Looks for all hooks that hold in `cwd`. Reads files; runs nothing.
pub fn find(env: &Env, cwd: &Path, loaded: &Loaded) -> Found {
    let mut found = Found::default();
    let user_file = env.config_dir().join("config.toml");
    found.add_section(&loaded.config.hooks, &Origin::User { file: user_file });
    let users = env.home().join(".claude/settings.json");
    found.add_file(&users, &Origin::User { file: users.clone() });
    if let Some(folder) = project_folder(cwd) {
        for name in PROJECT_FILES {
            let file = folder.join(name);
            // In the home folder the user's own file lies where a project's would.
            if !same_file(&file, &users) {
                found.add_file(&file, &Origin::Repository { file: file.clone(), folder: folder.clone() });
            }
        }
    }
    for hooks in &loaded.repository_hooks {
        // `.neco/config.toml` belongs to the folder that `.neco` lies in.
        let folder = hooks.file.parent().and_then(Path::parent).unwrap_or(cwd).to_owned();
        found.add_section(&hooks.hooks, &Origin::Repository { file: hooks.file.clone(), folder });
    }
    found
}

/// The nearest folder with hook files; a git repository is not left, and outside of one only the
/// folder itself counts: the folders above it may be anybody's.
fn project_folder(cwd: &Path) -> Option<PathBuf> {
    let cwd = std::path::absolute(cwd).ok()?;
    let in_repository = cwd.ancestors().any(is_repository);
    for folder in cwd.ancestors().take(if in_repository { usize::MAX } else { 1 }) {
        if PROJECT_FILES.iter().any(|name| folder.join(name).exists()) {
            return Some(folder.to_owned());
        }
        if is_repository(folder) {
            return None;
        }
    }
    None
}

fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists()
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (_, _) => false,
    }
}

impl Found {
    fn add_file(&mut self, file: &Path, origin: &Origin) {
        match read_small_file(file, origin.folder().is_some()) {
            Ok(Some(text)) => {
                let (hooks, notices) = settings_file::parse(&text, origin);
                self.hooks.extend(hooks);
                self.notices.extend(notices);
            }
            Ok(None) => {}
            Err(error) => self.notices.push(format!("File {} is left out: {error}", file.display())),
        }
    }

    fn add_section(&mut self, section: &HooksSection, origin: &Origin) {
        for event in HookEvent::ALL {
            for hook in section.of(*event) {
                match Matcher::new(&hook.matcher) {
                    Ok(matcher) => self.hooks.push(Hook {
                        event: *event,
                        matcher,
                        command: hook.command.clone(),
                        timeout: hook.timeout.and_then(seconds),
                        origin: origin.clone(),
                        trusted_as: None,
                    }),
                    Err(error) => self.notices.push(format!("File {}: {event}: {error}", origin.file().display())),
                }
            }
        }
    }
}
