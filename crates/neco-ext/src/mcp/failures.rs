//! Which servers could not be reached when that was last tried, when that was and why. It is kept, so that a list says it
//! without reaching them.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::settings::ServerSettings;

/// That a server could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When.
    pub when: Timestamp,
    /// Why.
    pub why: String,
    /// The settings that it had then.
    settings: String,
}

impl Failure {
    /// A server with these settings can't be reached.
    pub fn now(settings: &ServerSettings, why: String) -> Self {
        Self { when: Timestamp::now(), why, settings: settings.hash() }
    }

    /// What was kept of a server, if it is still the same one.
    pub(super) fn load(data_dir: &Path, settings: &ServerSettings) -> Option<Self> {
        let text = std::fs::read(file(data_dir, &settings.name)).ok()?;
        serde_json::from_slice(&text).ok().filter(|failure: &Self| failure.settings == settings.hash())
    }

    /// Keeps it until the server of this name is reached.
    pub(super) fn save(&self, data_dir: &Path, server: &str) -> io::Result<()> {
        let path = file(data_dir, server);
        let folder = path.parent().unwrap_or(data_dir);
        std::fs::create_dir_all(folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut temporary, self)?;
        temporary.persist(&path)?;
        Ok(())
    }
}

/// Forgets what is kept of a server.
pub(super) fn forget(data_dir: &Path, server: &str) {
    // As a rule there is nothing to forget.
    let _ = std::fs::remove_file(file(data_dir, server));
}

fn file(data_dir: &Path, server: &str) -> PathBuf {
    data_dir.join("mcp/failures").join(format!("{server}.json"))
}
