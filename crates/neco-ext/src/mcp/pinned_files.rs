//! The files of a repository that the start of one of its servers names: the server is trusted with them as they are.

use std::path::{Path, PathBuf};

use super::settings::ServerProgram;
use crate::hooks::program_files;

/// What stands for files that are not looked at.
const TOO_MUCH: &str = "files that are too many or too large";

/// The files that a start names, as they were when they were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedFiles {
    /// The folder that brings the server.
    folder: PathBuf,
    /// What tells whether they are still the same.
    hash: String,
}

impl PinnedFiles {
    /// Those of a program that `folder` brings, and what of them can't be known or watched, in words. Reads them.
    pub(super) fn look(program: &ServerProgram, folder: &Path) -> (Self, Vec<String>) {
        let line: Vec<String> = std::iter::once(&program.program).chain(&program.arguments).cloned().collect();
        let at = program.folder.as_deref().unwrap_or(folder);
        let folder = folder.to_owned();
        match program_files::of_start(&line, at, &folder) {
            Ok(files) => (Self { folder, hash: files.hash }, files.unknown),
            Err(_) => (Self { folder, hash: TOO_MUCH.to_owned() }, vec![TOO_MUCH.to_owned()]),
        }
    }

    /// Whether a program's files are no longer these. Reads them.
    pub(super) fn are_others(&self, program: &ServerProgram) -> bool {
        Self::look(program, &self.folder).0 != *self
    }

    /// What tells whether they are still the same.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }
}
