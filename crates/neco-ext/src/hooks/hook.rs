//! One hook.

use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_proto::event::HookEvent;

use super::fingerprint::{self, Fingerprint, FingerprintError};
use super::matcher::Matcher;

/// How long a hook may take that does not say itself.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The same at the end of a session: nobody waits a minute for a program to end.
const TIMEOUT_AT_THE_END: Duration = Duration::from_secs(5);

/// The longest that a hook can ask for.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Where a hook comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's own settings.
    User {
        /// The file.
        file: PathBuf,
    },
    /// The settings of a repository: these run only when they are trusted.
    Repository {
        /// The file.
        file: PathBuf,
        /// The folder that has to be trusted.
        folder: PathBuf,
    },
}

impl Origin {
    /// The file it is written in.
    pub fn file(&self) -> &Path {
        match self {
            Self::User { file } | Self::Repository { file, .. } => file,
        }
    }

    /// The folder that has to be trusted, if one has to be.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::User { .. } => None,
            Self::Repository { folder, .. } => Some(folder),
        }
    }
}

/// A command that runs at a moment of an agent's work.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The moment.
    pub event: HookEvent,
    /// Which tools, sources or reasons it is for.
    pub matcher: Matcher,
    /// The command line.
    pub command: String,
    /// How long it may take; `None` stands for the default.
    pub timeout: Option<Duration>,
    /// Where it comes from.
    pub origin: Origin,
    /// What a person trusted, for a repository's hook: it does not run when it is something else by then.
    pub trusted_as: Option<String>,
}

impl Hook {
    /// How long it may take.
    pub fn limit(&self) -> Duration {
        let usual = if self.event == HookEvent::SessionEnd { TIMEOUT_AT_THE_END } else { TIMEOUT };
        self.timeout.unwrap_or(usual).min(LONGEST)
    }

    /// What trust in it is trust in: the hook as it is written, and the files of its folder that its
    /// command names, as they are now. Reads those files.
    ///
    /// # Errors
    /// When it names too much to be looked at before every run: such a hook can't be trusted.
    pub fn fingerprint(&self) -> Result<Fingerprint, FingerprintError> {
        fingerprint::of(self)
    }
}

/// Seconds as people write them; nothing for what is no time.
pub(super) fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok().filter(|time| !time.is_zero())
}
