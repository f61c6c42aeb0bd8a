//! Where a command would run, and what a path on its line means there: by its text alone, without looking.

use std::path::{Component, Path, PathBuf};

/// Where a command would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The folder the person works in.
    pub workspace: PathBuf,
    /// The folder the command starts in.
    pub folder: PathBuf,
    /// The person's home folder, where it is known.
    pub home: Option<PathBuf>,
    /// Further folders the person opened.
    pub roots: Vec<PathBuf>,
    /// Folders that are read as the person's own are, wherever they lie: those of skills and plugins.
    pub readable: Vec<PathBuf>,
}

impl Place {
    /// A place in which the command starts in the workspace itself.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        let workspace = workspace.into();
        Self { folder: workspace.clone(), workspace, home: None, roots: Vec::new(), readable: Vec::new() }
    }

    /// The same place with a home folder.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The readable folders that lie in none which may be changed, for whoever works in `cwd` with these roots.
    pub fn read_only(&self, cwd: &Path, roots: &[PathBuf]) -> Vec<PathBuf> {
        let is_open = |folder: &Path| folder.starts_with(cwd) || roots.iter().any(|root| folder.starts_with(root));
        self.readable.iter().filter(|folder| !is_open(folder)).cloned().collect()
    }

    /// The absolute path that `text` means, with `.` and `..` taken away as names.
    pub(crate) fn absolute(&self, text: &str) -> PathBuf {
        self.absolute_from(&self.folder, text)
    }

    /// The same from another folder.
    pub(crate) fn absolute_from(&self, folder: &Path, text: &str) -> PathBuf {
        let path = straighten(folder.join(text));
        if !path.as_os_str().as_encoded_bytes().starts_with(b"/proc/") {
            return path;
        }
        // Every process sees the root, and its own folder, there too.
        let mut names = path.iter().skip(1).map(|name| name.to_str().unwrap_or_default());
        match (names.next(), names.next(), names.next()) {
            (Some("proc"), Some(_), Some("root")) => Path::new("/").join(path.iter().skip(4).collect::<PathBuf>()),
            (Some("proc"), Some(_), Some("cwd")) => self.folder.join(path.iter().skip(4).collect::<PathBuf>()),
            _ => path,
        }
    }

    /// The folder the person opened that a path lies in.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        std::iter::once(&self.workspace).chain(&self.roots).map(PathBuf::as_path).find(|root| path.starts_with(root))
    }
}

/// A path without `.` and `..`; what would climb above the root stays there, as the system does it.
pub(crate) fn straighten(path: PathBuf) -> PathBuf {
    if is_straight(&path) {
        return path;
    }
    let mut straight = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                straight.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => straight.push(component),
        }
    }
    straight
}

/// Whether an absolute path has nothing in it to be taken away, as nearly all have.
fn is_straight(path: &Path) -> bool {
    let mut names = path.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/');
    names.next() == Some(b"") && names.all(|name| !matches!(name, b"" | b"." | b".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_their_names() {
        let mut place = Place::new("/w/app");
        place.folder = PathBuf::from("/w/app/src");
        assert_eq!(place.absolute("a/./b/../c"), Path::new("/w/app/src/a/c"));
        assert_eq!(place.absolute("../../../../.."), Path::new("/"));
        // Equal paths may be written differently; these are compared as texts.
        for (text, path) in [
            ("/etc//passwd", "/etc/passwd"),
            ("a/", "/w/app/src/a"),
            ("./b", "/w/app/src/b"),
            ("/", "/"),
            ("x/.", "/w/app/src/x"),
        ] {
            assert_eq!(place.absolute(text).as_os_str(), path, "{text}");
        }
        assert_eq!(place.absolute("/proc/1/root/etc/x"), Path::new("/etc/x"));
        assert_eq!(place.absolute("/proc/self/cwd/x"), Path::new("/w/app/src/x"));
        assert_eq!(place.root_of(&place.absolute("..")), Some(Path::new("/w/app")));
        assert_eq!(place.root_of(&place.absolute("../..")), None);
    }
}
