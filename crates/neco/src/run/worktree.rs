//! A session in a worktree of its own.

use std::path::{Path, PathBuf};

use neco_app::sessions::{begin_worktree, end_worktree};
use neco_config::Env;
pub use neco_view::wording::worktrees::{listed, removed};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::say;

/// The folder to work in: a worktree of the repository that `folder` lies in where one is asked for, else the same.
pub fn begin(folder: PathBuf, args: &RunArgs, message: &str, env: &Env) -> Result<PathBuf, Failure> {
    let Some(how) = args.worktree else { return Ok(folder) };
    let (inside, notes) = begin_worktree(&folder, how, message, env.data_dir())?;
    notes.iter().for_each(|words| say::note(words));
    Ok(inside)
}

/// Brings back what came of the work in `folder`, should that be in a worktree, and says what to do next.
pub fn end(folder: &Path, title: &str, session: &str, env: &Env) {
    end_worktree(folder, title, session, env.data_dir()).iter().for_each(|words| say::note(words));
}
