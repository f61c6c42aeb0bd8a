//! Everything but some places: Landlock knows only what is allowed, with all below it.

use std::fs;
use std::path::{Path, PathBuf};

/// Of folders with more entries, and something hidden in them, the rest is not seen.
const MOST_ENTRIES: usize = 50_000;

/// What is left of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Carved {
    /// The largest files and folders that have none of the holes in them.
    pub(crate) allowed: Vec<PathBuf>,
    /// The folders that were looked into for that: as long as they stay as they are, so does the rest.
    pub(crate) looked_into: Vec<PathBuf>,
}

/// All below `root` but the `holes`.
pub(crate) fn all_but(root: &Path, holes: &[PathBuf]) -> Carved {
    let mut carved = Carved::default();
    carve(root, holes, &mut carved);
    carved
}

fn carve(path: &Path, holes: &[PathBuf], carved: &mut Carved) {
    if holes.iter().any(|hole| path.starts_with(hole)) {
        return;
    }
    if !holes.iter().any(|hole| hole.starts_with(path)) {
        carved.allowed.push(path.to_path_buf());
        return;
    }
    carved.looked_into.push(path.to_path_buf());
    let Ok(entries) = fs::read_dir(path) else { return };
    for (number, entry) in entries.flatten().enumerate() {
        if number >= MOST_ENTRIES {
            tracing::warn!(folder = %path.display(), "too many files beside hidden ones: commands don't see all of them");
            return;
        }
        // What a link leads to has a place of its own.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            carve(&entry.path(), holes, carved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_left_out_and_everything_beside_them_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["a/b/secret", "a/c", "d"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink("/etc", at("a/link")).unwrap();
        let mut carved = all_but(folder.path(), &[at("a/b/secret")]);
        carved.allowed.sort();
        assert_eq!(carved.allowed, [at("a/b/file"), at("a/c"), at("d")]);
        assert_eq!(carved.looked_into, [at(""), at("a"), at("a/b")]);
        assert_eq!(all_but(folder.path(), &[]).allowed, [folder.path()]);
        assert_eq!(all_but(folder.path(), &[folder.path().to_path_buf()]), Carved::default());
    }
}
