//! Repositories that a command made: what in them would start a program is put aside, whoever enters them next.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::git_config::without_programs;
use super::hands::Hands;
use super::linked_git::{self, gitdir_of, shared_by};
use crate::path::open_without_links;

/// No settings that git wrote are longer.
const MOST_BYTES: u64 = 64 * 1024;

/// What became of what must not be there.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// It was put aside, or removed.
    pub(crate) taken: Vec<PathBuf>,
    /// It is still there.
    pub(crate) left: Vec<PathBuf>,
}

impl Aftermath {
    /// Notes what became of one thing.
    pub(super) fn note<T>(&mut self, path: &Path, done: io::Result<T>) {
        match done {
            Ok(_) => {
                tracing::warn!(path = %path.display(), "a command made what it must not make; it was put aside");
                self.taken.push(path.to_path_buf());
            }
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "a command made what it must not make, and it is still there");
                self.left.push(path.to_path_buf());
            }
        }
    }
}

/// The git folders that something called `.git` leads to: its own, the one that it shares, those of submodules.
pub(super) fn folders_of(dot_git: &Path) -> Vec<PathBuf> {
    let own = match fs::metadata(dot_git) {
        Ok(found) if found.is_dir() => fs::canonicalize(dot_git).ok(),
        Ok(_) => gitdir_of(dot_git),
        Err(_) => None,
    };
    let mut folders: Vec<PathBuf> = own.into_iter().collect();
    folders.extend(folders.first().and_then(|own| shared_by(own)));
    let modules: Vec<PathBuf> =
        folders.iter().flat_map(|git| linked_git::modules_of(git).unwrap_or_default()).collect();
    folders.extend(modules);
    folders.dedup();
    folders
}

/// Puts aside what in a git folder would start a program.
pub(super) fn mend(git: &Path, hands: &Hands, aftermath: &mut Aftermath) {
    for name in ["config", "config.worktree"] {
        mend_settings(&git.join(name), hands, aftermath);
    }
    let hooks = git.join("hooks");
    if has_hooks(&hooks) {
        aftermath.note(&hooks, hands.put_aside(&hooks, "refused"));
    }
    let elsewhere = git.join("commondir");
    if hands.is_there(&elsewhere) && !is_of_worktree(git) && !leads_here(&elsewhere) {
        aftermath.note(&elsewhere, hands.put_aside(&elsewhere, "refused"));
    }
    if linked_git::modules_of(git).is_none() {
        let modules = git.join("modules");
        aftermath.note(&modules, hands.put_aside(&modules, "refused"));
    }
}

fn mend_settings(path: &Path, hands: &Hands, aftermath: &mut Aftermath) {
    if !hands.is_there(path) {
        return;
    }
    let left = match settings(path) {
        Some(text) => match without_programs(&text) {
            Some(left) => left,
            None => return,
        },
        // A link, a folder, a pipe, or too long.
        None => Vec::new(),
    };
    let done = hands.put_aside(path, "refused").and_then(|_| hands.make_file(path, &left));
    aftermath.note(path, done);
}

fn settings(path: &Path) -> Option<Vec<u8>> {
    let file = open_without_links(path).ok()?;
    file.metadata().ok().filter(|found| found.is_file() && found.len() <= MOST_BYTES)?;
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Samples don't run.
fn has_hooks(folder: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(folder) else { return false };
    if found.is_symlink() {
        return true;
    }
    let is_sample = |name: &std::ffi::OsStr| Path::new(name).extension().is_some_and(|end| end == "sample");
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| !is_sample(&entry.file_name()))
}

/// What stands in for a missing one while a command runs says so.
fn leads_here(commondir: &Path) -> bool {
    settings(commondir).is_some_and(|text| text.trim_ascii() == b".")
}

/// Whether a git folder is the one that a worktree has in the repository that it shares.
fn is_of_worktree(git: &Path) -> bool {
    let above = git.parent().filter(|above| above.file_name().is_some_and(|name| name == "worktrees"));
    above.and_then(Path::parent).is_some_and(|shared| shared_by(git).as_deref() == Some(shared))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn repository() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let made = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap();
        assert!(made.success());
        let git = folder.path().join(".git");
        (folder, git)
    }

    fn names(aftermath: &Aftermath) -> Vec<&str> {
        assert!(aftermath.left.is_empty(), "{aftermath:?}");
        aftermath.taken.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn a_repository_as_git_makes_it_is_left_alone_and_one_that_starts_programs_is_not() {
        let (folder, git) = repository();
        let hands = Hands::open(folder.path()).unwrap();
        let mut aftermath = Aftermath::default();
        mend(&git, &hands, &mut aftermath);
        assert!(names(&aftermath).is_empty(), "{aftermath:?}");
        let text = fs::read_to_string(git.join("config")).unwrap();
        fs::write(git.join("config"), format!("{text}\tfsmonitor = /w/evil\n")).unwrap();
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("hooks/pre-commit"), "evil").unwrap();
        fs::write(git.join("commondir"), "../evil").unwrap();
        mend(&git, &hands, &mut aftermath);
        assert_eq!(names(&aftermath), ["config", "hooks", "commondir"]);
        assert_eq!(fs::read_to_string(git.join("config")).unwrap(), text, "what is harmless stays");
        assert!(git.join("config.refused-1").is_file() && git.join("hooks.refused-1/pre-commit").is_file());
    }

    #[test]
    fn links_and_pipes_in_the_place_of_settings_are_put_aside_without_being_followed() {
        let (folder, git) = repository();
        let hands = Hands::open(folder.path()).unwrap();
        fs::remove_file(git.join("config")).unwrap();
        symlink(folder.path().join("evil"), git.join("config")).unwrap();
        let _ = fs::remove_dir_all(git.join("hooks"));
        symlink("/nowhere", git.join("hooks")).unwrap();
        let made = Command::new("mkfifo").arg(git.join("config.worktree")).status().unwrap();
        assert!(made.success());
        let mut aftermath = Aftermath::default();
        mend(&git, &hands, &mut aftermath);
        assert_eq!(names(&aftermath), ["config", "config.worktree", "hooks"]);
        assert_eq!(fs::read(git.join("config")).unwrap(), b"");
    }

    #[test]
    fn all_folders_that_git_would_use_are_known() {
        let (folder, git) = repository();
        let script = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git worktree add -q tree && \
            mkdir -p .git/modules/m && echo x >.git/modules/m/HEAD";
        assert!(Command::new("sh").args(["-c", script]).current_dir(folder.path()).status().unwrap().success());
        assert_eq!(folders_of(&git), [git.clone(), git.join("modules/m")]);
        let own = git.join("worktrees/tree");
        assert_eq!(folders_of(&folder.path().join("tree/.git")), [own.clone(), git.clone(), git.join("modules/m")]);
        assert!(is_of_worktree(&own) && !is_of_worktree(&git));
    }
}
