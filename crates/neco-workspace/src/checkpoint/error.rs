//! What can go wrong with checkpoints.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum CheckpointError {
    /// Something on the disk can't be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The store does not hold what it should.
    #[error("the checkpoint store is damaged: {0}")]
    Damaged(String),
    /// There is no such state.
    #[error("there is no checkpoint {0}")]
    Unknown(String),
    /// There is no such exchange.
    #[error("there is no commit {0} of a session")]
    UnknownExchange(String),
    /// Several sessions or commits of them are called so.
    #[error("{which} may be any of these: {}. Give more of it", .matches.join(", "))]
    Ambiguous { which: String, matches: Vec<String> },
    /// The store is somebody's backup, or another one that is only looked at.
    #[error("{} is only read", .0.display())]
    OnlyRead(PathBuf),
    /// The workspace has too many files.
    #[error("{} has more than {most} files", root.display())]
    TooManyFiles { root: PathBuf, most: usize },
    /// The workspace is a folder that nobody works on as a whole.
    #[error("{} is {what}: no checkpoints are made of it", root.display())]
    NotAProject { root: PathBuf, what: &'static str },
    /// It took too long.
    #[error("it took longer than {seconds} s")]
    TooSlow { seconds: u64 },
    /// Another process uses the store for a long time.
    #[error("the checkpoint store is in use by another process")]
    Busy,
    /// The repository is of a kind that is not known here.
    #[error("{0}")]
    Unsupported(String),
    /// Whoever was to hear of it first refused.
    #[error("{0}")]
    Refused(String),
    /// Somebody else changed files that would be overwritten, and nobody agreed to that.
    #[error("{} changed since by you or another program: {}", count(paths), shown(paths))]
    ChangedByOthers { paths: Vec<PathBuf> },
    /// Files would be overwritten that a call changed, or somebody else while it ran, and nobody agreed to that.
    #[error("{} changed while a call ran, by it or by you: {}", count(paths), shown(paths))]
    MaybeByOthers { paths: Vec<PathBuf> },
}

impl CheckpointError {
    pub(super) fn at(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_path_buf(), source: source.into() }
    }

    /// That nobody agreed to have files overwritten that others changed, or may have changed; nothing without any.
    pub fn not_agreed(others: Vec<PathBuf>, unsure: Vec<PathBuf>) -> Option<Self> {
        match (others.is_empty(), unsure.is_empty()) {
            (false, _) => Some(Self::ChangedByOthers { paths: others }),
            (true, false) => Some(Self::MaybeByOthers { paths: unsure }),
            (true, true) => None,
        }
    }

    /// Whether the store itself is at fault, so that a new one may help.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

fn count(paths: &[PathBuf]) -> String {
    if paths.len() == 1 { "1 file was".to_owned() } else { format!("{} files were", paths.len()) }
}

fn shown(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> = paths.iter().take(20).map(|path| path.display().to_string()).collect();
    if paths.len() > names.len() {
        names.push("…".to_owned());
    }
    names.join(", ")
}
