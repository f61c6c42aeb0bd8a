//! How the sessions of a process were opened, each in a file: one that it puts away and opens again, or that it had open in
//! a crash, works again as it did.
//!
//! Invariants: an opening that says itself how the session is to work counts by itself; only the owner reads the files,
//! since they may have secrets of MCP servers.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use neco_proto::SessionId;
use neco_proto::app::AppError;
use neco_proto::app::opening::OpenSession;

use crate::error::failed;

/// The openings of a process, in a folder.
#[derive(Clone)]
pub struct KeptOpenings {
    folder: PathBuf,
    /// Settings that hold in the whole process: the next one has its own.
    of_all: Vec<String>,
}

impl KeptOpenings {
    /// Of a process with settings that hold for all of its sessions.
    pub(crate) fn new(folder: PathBuf, of_all: &[String]) -> Self {
        Self { folder, of_all: of_all.to_vec() }
    }

    /// How a session is opened that was opened so before; nothing where it was not, or where `wanted` says how it is to
    /// work. It reads a file.
    pub(crate) fn again(&self, id: SessionId, wanted: &OpenSession) -> Result<Option<OpenSession>, AppError> {
        if wanted.says_how() {
            return Ok(None);
        }
        // Without its rules it would be allowed more than was said.
        let unreadable = |error: &dyn std::fmt::Display| {
            let words = "say how it is to work, such as its approval mode, when you open it";
            failed(format!("how the session was opened can't be read: {error}")).hint(words)
        };
        let text = match fs::read(self.file(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| unreadable(&error))?,
        };
        let before: OpenSession = serde_json::from_slice(&text).map_err(|error| unreadable(&error))?;
        let asked = wanted.clone();
        let folder = if asked.folder.is_empty() { before.folder.clone() } else { asked.folder };
        Ok(Some(OpenSession {
            which: asked.which,
            folder,
            chose_folder: asked.chose_folder,
            environment: asked.environment.or(before.environment.clone()),
            attended: asked.attended,
            interactive: asked.interactive,
            ..before
        }))
    }

    /// Keeps how a session is opened. It writes a file.
    pub(crate) fn keep(&self, id: SessionId, opening: OpenSession) {
        let settings = opening.settings.iter().filter(|setting| !self.of_all.contains(setting)).cloned().collect();
        let opening = OpenSession { settings, ..opening };
        if let Err(error) = self.write(&self.file(id), &opening) {
            tracing::warn!(session = %id, %error, "how a session was opened can't be kept");
        }
    }

    fn write(&self, file: &Path, opening: &OpenSession) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        // Only its owner reads what is made so.
        let mut written = tempfile::NamedTempFile::new_in(&self.folder)?;
        written.write_all(&serde_json::to_vec(opening)?)?;
        written.persist(file).map(drop).map_err(|error| error.error)
    }

    /// Nothing is kept any more of a session. It removes a file.
    pub(crate) fn forget(&self, id: SessionId) {
        let _ = fs::remove_file(self.file(id));
    }

    /// Nothing is kept any more of sessions that are not among these. It reads the folder.
    pub(crate) fn forget_but(&self, there: &HashSet<SessionId>) {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let of = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<SessionId>().ok();
        names.filter_map(|path| of(&path)).filter(|id| !there.contains(id)).for_each(|id| self.forget(id));
    }

    fn file(&self, id: SessionId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}
