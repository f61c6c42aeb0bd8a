//! How many processes a run starts, itself included.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::answer::Turn;
use crate::program::Program;
use crate::stage::Stage;

/// How processes were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By tracing every call that makes one.
    Traced,
    /// By looking at the table of processes again and again.
    Watched,
}

impl How {
    /// What that way can't see.
    pub fn weakness(self) -> Option<&'static str> {
        match self {
            Self::Traced => None,
            Self::Watched => Some("strace can't be used here; a process that lives very briefly may have been missed"),
        }
    }
}

/// Where strace is, if it is installed.
pub fn strace() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("strace")).find(|file| file.is_file())
}

/// Counts the processes of a run.
pub fn count(program: &Program, stage: &Stage, turns: &[Turn]) -> anyhow::Result<(usize, How)> {
    if let Some(strace) = strace()
        && let Ok(count) = trace(&strace, program, stage, turns)
    {
        return Ok((count, How::Traced));
    }
    Ok((watch(program, stage, turns)?, How::Watched))
}

fn trace(strace: &Path, program: &Program, stage: &Stage, turns: &[Turn]) -> anyhow::Result<usize> {
    let log = stage.notes("trace");
    let before = ["-f", "-qq", "-e", "trace=clone,clone3,fork,vfork", "-o"].map(OsString::from);
    let before: Vec<OsString> = before.into_iter().chain([log.clone().into()]).collect();
    program.run_under(strace, &before, stage, turns)?;
    Ok(1 + started(&fs::read_to_string(&log)?))
}

/// Calls in a trace that made a process: not a thread, not refused, each counted where it begins.
fn started(trace: &str) -> usize {
    let makes = |line: &&str| {
        ["clone(", "clone3(", "fork(", "vfork("].iter().any(|call| line.contains(call))
            && !line.contains("CLONE_THREAD")
            && !line.contains("= -1 ")
    };
    trace.lines().filter(makes).count()
}

fn watch(program: &Program, stage: &Stage, turns: &[Turn]) -> anyhow::Result<usize> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut seen = HashSet::new();
            while !over.load(Ordering::SeqCst) {
                note_descendants(std::process::id(), &mut seen);
            }
            seen.len()
        });
        let run = program.run(stage, turns);
        over.store(true, Ordering::SeqCst);
        let seen = watching.join().map_err(|_| anyhow::anyhow!("watching the processes failed"))?;
        run?;
        // The process that measures is one of them.
        Ok(seen.saturating_sub(1))
    })
}

fn note_descendants(process: u32, seen: &mut HashSet<u32>) {
    let Ok(tasks) = fs::read_dir(PathBuf::from(format!("/proc/{process}/task"))) else { return };
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            seen.insert(child);
            note_descendants(child, seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_refusals_are_no_processes() {
        let trace = "\
            1 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} => {parent_tid=[2]}, 88) = 2\n\
            1 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD} <unfinished ...>\n\
            1 <... clone3 resumed>) = 3\n\
            3 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = -1 EAGAIN (Resource)\n\
            3 vfork() = 4\n";
        assert_eq!(started(trace), 2);
    }
}
