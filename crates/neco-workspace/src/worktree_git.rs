//! How git is run for worktrees. What looks into a working tree enters the repositories in it, whoever made them,
//! and starts the programs that they name: that is done in a box, where there is one. The rest reads and writes
//! nothing but the person's own git folder.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::changed::changed_files;
use crate::worktree::WorktreeError;

/// What git is told before everything else: no hook, no watcher, no submodule, no key.
const QUIET: &str = "\
    -c core.hooksPath=/dev/null -c core.fsmonitor=false -c submodule.recurse=false -c core.pager=cat -c \
    commit.gpgSign=false -c gc.auto=0";

/// What looks into working trees.
const LOOKS: [&str; 4] = ["status", "add", "diff", "commit"];

/// Variables of a hook that Neco may have been started from: they lead git elsewhere, or start programs.
pub const LEADS_ELSEWHERE: [&str; 17] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_ATTR_SOURCE",
];

/// What git printed, and whether it did what it was to do.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Whether it succeeded.
    pub succeeded: bool,
    /// Its output.
    pub output: Vec<u8>,
    /// What it said besides.
    pub errors: Vec<u8>,
}

/// Runs git with these words in a folder, the only one that what it starts may change besides the repository.
pub type RunInBox = dyn Fn(&Path, &[OsString]) -> io::Result<Ran> + Send + Sync;

/// What the box of git is made by. It is the program's, not a folder's: it is set once, before anything else starts, and
/// reads the settings of the folder that it is asked about each time.
static IN_BOX: OnceLock<Box<RunInBox>> = OnceLock::new();

/// From now on git looks into working trees in a box. The first one stays.
pub fn look_in_box(run: Box<RunInBox>) {
    let _ = IN_BOX.set(run);
}

/// Runs git in a folder and gives what it printed, without the last line break. No hook is run.
pub(crate) fn git<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<String, WorktreeError> {
    let output = git_bytes(folder, arguments)?;
    Ok(String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned())
}

/// The same, to the last byte.
pub(crate) fn git_bytes<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<Vec<u8>, WorktreeError> {
    let words: Vec<OsString> =
        QUIET.split(' ').map(OsString::from).chain(arguments.iter().map(|word| word.as_ref().to_owned())).collect();
    let failed = |said: String| {
        let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
        WorktreeError::Git { what: words.take(3).collect::<Vec<_>>().join(" "), said }
    };
    let ran = match IN_BOX.get().filter(|_| looks(arguments)) {
        Some(run) => run(folder, &words),
        None => run_plainly(folder, &words),
    };
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    if ran.succeeded {
        return Ok(ran.output);
    }
    Err(failed(String::from_utf8_lossy(&ran.errors).trim().chars().take(500).collect()))
}

/// How many files of the repository that a folder lies in are not committed, new ones included; nothing where there is
/// none, where it is so large that looking takes long, or where git can't say. It may block.
pub fn uncommitted_files(folder: &Path) -> Option<usize> {
    changed_files(folder)?;
    let status = git(folder, &["status", "--porcelain", "--ignore-submodules=dirty"]).ok()?;
    Some(status.lines().count())
}

/// Runs git without a box.
pub fn run_plainly(folder: &Path, words: &[OsString]) -> io::Result<Ran> {
    let mut command = Command::new("git");
    for name in LEADS_ELSEWHERE {
        command.env_remove(name);
    }
    let done = command.arg("-C").arg(folder).args(words).env("GIT_TERMINAL_PROMPT", "0").output()?;
    Ok(Ran { succeeded: done.status.success(), output: done.stdout, errors: done.stderr })
}

/// Whether git looks into a working tree: by the first word that is none of its own options.
fn looks<S: AsRef<OsStr>>(arguments: &[S]) -> bool {
    let mut words = arguments.iter().map(AsRef::as_ref);
    while let Some(word) = words.next() {
        if word == "-c" {
            words.next();
        } else {
            return LOOKS.iter().any(|look| word == *look);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(uncommitted_files(folder.path()), None, "there is no repository");
        let run = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert!(run_plainly(folder.path(), &words).unwrap().succeeded, "{words:?}");
        };
        run(&["init", "--quiet"]);
        std::fs::write(folder.path().join("staged"), "a").unwrap();
        run(&["add", "staged"]);
        std::fs::write(folder.path().join("new"), "b").unwrap();
        assert_eq!(uncommitted_files(folder.path()), Some(2));
    }

    #[test]
    fn what_looks_into_a_working_tree_is_known_behind_options() {
        assert!(looks(&["status", "--porcelain"]) && looks(&["-c", "x=y", "commit", "-m", "x"]));
        assert!(!looks(&["rev-parse", "HEAD"]) && !looks(&["worktree", "add"]) && !looks::<&str>(&[]));
    }
}
