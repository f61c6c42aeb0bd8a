//! The files of the workspace, as a person names them after `@`.

use std::path::Path;
use std::time::{Duration, Instant};

use neco_workspace::{Scope, walker};

/// Names that are given at most.
const MOST: usize = 50_000;

/// How long the folder is walked at most: whoever waits for names has begun to type one.
const LONGEST: Duration = Duration::from_secs(3);

/// The files and folders below `folder`, what git ignores left out, in the order of their names; folders end
/// with a slash. As many as there are in a few seconds.
#[must_use]
pub fn list(folder: &Path) -> Vec<String> {
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
        assert_eq!(list(path), [".github/", ".github/ci.yml", ".gitignore", "src/", "src/a.rs", "漢字.md"]);
    }
}
