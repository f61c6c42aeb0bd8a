//! What stands in for something that is not there and must not be made.

use std::io;
use std::path::Path;

use crate::after::hands::Hands;
use crate::plan::names::START_UP;
use neco_safety::is_listed;

/// What stands in; its name decides.
pub(crate) enum StandIn {
    /// An empty folder with this mode.
    Folder(u32),
    /// A file with this text.
    File(&'static str),
}

impl StandIn {
    pub(crate) fn at(path: &Path) -> Self {
        match path.file_name().and_then(|name| name.to_str()) {
            // Where a repository's shared folder is: here. Git takes an empty one for a broken repository.
            Some("commondir") => Self::File(".\n"),
            Some("config.worktree") => Self::File(""),
            Some(name) if is_listed(name, START_UP) => Self::File(""),
            // Git wants to enter these before it takes what they are in for a repository.
            Some("refs" | "objects") => Self::Folder(0o444),
            Some(_) | None => Self::Folder(0o755),
        }
    }

    /// Makes it where nothing is.
    pub(crate) fn make(&self, hands: &Hands, path: &Path) -> io::Result<()> {
        match self {
            Self::Folder(mode) => hands.make_folder(path, *mode),
            Self::File("") => hands.make_file(path, b""),
            // Programs outside read it.
            Self::File(text) => hands.make_file_at_once(path, text.as_bytes()),
        }
    }

    /// Removes it, and only if it still is one: as it was made, and the one that was made where its number is known.
    pub(crate) fn remove(&self, hands: &Hands, path: &Path, number: Option<u64>) {
        if number.is_some() && number != hands.number_of(path) {
            return;
        }
        match self {
            // A folder with something in it refuses to go, and a file is none of ours.
            Self::Folder(_) => drop(hands.remove_folder(path)),
            Self::File(text) if hands.holds(path, text.as_bytes()) => drop(hands.remove(path)),
            Self::File(_) => {}
        }
    }
}
