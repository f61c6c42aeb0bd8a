//! The files of a folder, as people name them, and the branch that it is on.

use std::path::Path;
use std::time::{Duration, Instant};

use neco_proto::app::AppError;
use neco_proto::app::files::{Branch, FileList, ListFiles, ShowBranch};
use neco_workspace::{GitFacts, Head, Scope, walker};
use tokio::task::spawn_blocking;

use crate::app::StorelessApp;

/// Names that are given at most.
const MOST: usize = 50_000;

/// How long the folder is walked at most: whoever waits for names has begun to type one.
const LONGEST: Duration = Duration::from_secs(3);

pub(crate) async fn list(_: &StorelessApp, request: ListFiles) -> Result<FileList, AppError> {
    let names = spawn_blocking(move || names(Path::new(&request.folder))).await;
    Ok(FileList { names: names.unwrap_or_default() })
}

pub(crate) async fn branch(_: &StorelessApp, request: ShowBranch) -> Result<Branch, AppError> {
    let facts = spawn_blocking(move || GitFacts::of(Path::new(&request.folder))).await;
    let name = facts.ok().flatten().and_then(|facts| match facts.head {
        Head::Branch(name) => Some(name),
        Head::Detached(commit) => Some(format!("({commit})")),
        Head::Unknown => None,
    });
    Ok(Branch { name })
}

/// The files and folders below `folder`, in the order of their names; those of folders end with a slash.
fn names(folder: &Path) -> Vec<String> {
    let until = Instant::now() + LONGEST;
    let mut names = Vec::new();
    for entry in walker(folder, folder, Scope::Hidden).build().flatten() {
        if names.len() >= MOST || Instant::now() > until {
            break;
        }
        let Some(name) = entry.path().strip_prefix(folder).ok().and_then(Path::to_str) else { continue };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if !name.is_empty() && !name.contains(char::is_control) {
            names.push(if is_folder { format!("{name}/") } else { name.to_owned() });
        }
    }
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_ignores_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["src", ".git", "target", ".github"] {
            std::fs::create_dir(path.join(name)).unwrap();
        }
        for name in ["src/a.rs", "target/b", ".git/HEAD", ".github/ci.yml", ".gitignore", "漢字.md"] {
            std::fs::write(path.join(name), "target\n").unwrap();
        }
        assert_eq!(names(path), [".github/", ".github/ci.yml", ".gitignore", "src/", "src/a.rs", "漢字.md"]);
    }
}
