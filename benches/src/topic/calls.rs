//! What a turn asks of the system: how often it waits for the disk, and how often it looks whether a file is there.
//!
//! The run reads and edits and starts no other program, so that every call is Neco's own. What a hello asks for is
//! taken off: it is the start's.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::json;

use super::Setting;
use crate::answer::Turn;
use crate::figure::{Figure, Target, Unit};
use crate::processes;
use crate::report::Report;
use crate::stage::Stage;

const ROUNDS: usize = 20;
const TRACED: &str = "trace=fsync,fdatasync,?stat,?lstat,newfstatat,statx";

/// How often each was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    /// Waits for the disk, of the log.
    log_flushes: usize,
    /// The same of files in the workspace and their folders.
    file_flushes: usize,
    /// Looks at a file.
    stats: usize,
}

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let Some(strace) = processes::strace() else {
        report.skip("system calls of a turn", "strace is not installed");
        return Ok(());
    };
    let stage = Stage::new(setting.folder)?;
    let turns = script();
    fill(&stage)?;
    setting.program.rehearse(&stage, &turns)?;
    let hello = trace(&strace, setting, &stage, &[Turn::Text("Done.")])?;
    fill(&stage)?;
    let all = trace(&strace, setting, &stage, &turns)?;
    let each = |all: usize, hello: usize, by: usize| all.saturating_sub(hello) as f64 / by as f64;
    let figure = |name, value, limit| Figure::info(name, Unit::Each, value).promised(Target::AtMost(limit));
    report.add(figure("log_flushes_a_turn", each(all.log_flushes, hello.log_flushes, 2 * ROUNDS), 2.0));
    report.add(figure("flushes_a_written_file", each(all.file_flushes, hello.file_flushes, ROUNDS), 2.0));
    report.add(figure("stats_a_turn", each(all.stats, hello.stats, 2 * ROUNDS), 40.0));
    Ok(())
}

fn trace(strace: &Path, setting: &Setting<'_>, stage: &Stage, turns: &[Turn]) -> anyhow::Result<Calls> {
    let log = stage.notes("trace");
    let before = ["-f", "-y", "-qq", "-e", TRACED, "-o"].map(OsString::from);
    let before: Vec<OsString> = before.into_iter().chain([log.clone().into()]).collect();
    setting.program.run_under(strace, &before, stage, turns)?;
    let trace = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    Ok(count(&trace, &stage.workspace().to_string_lossy()))
}

/// Counts the calls of a trace in which descriptors have their paths, each where it begins.
fn count(trace: &str, workspace: &str) -> Calls {
    let mut calls = Calls::default();
    for line in trace.lines() {
        if line.contains("sync(") {
            calls.log_flushes += usize::from(line.contains("neco.db"));
            calls.file_flushes += usize::from(line.contains(&format!("<{workspace}")));
        } else if ["stat(", "fstatat(", "statx("].iter().any(|call| line.contains(call)) {
            calls.stats += 1;
        }
    }
    calls
}

fn fill(stage: &Stage) -> anyhow::Result<()> {
    stage.write("notes.txt", "# Notes\n\nvalue = 0\n\nThe value above counts the edits.\n")
}

fn script() -> Vec<Turn> {
    let round = |number: usize| {
        let (old, new) = (format!("value = {number}\n"), format!("value = {}\n", number + 1));
        [
            Turn::call("read_file", json!({ "path": "notes.txt" })),
            Turn::call("edit_file", json!({ "path": "notes.txt", "old_string": old, "new_string": new })),
        ]
    };
    (0..ROUNDS).flat_map(round).chain([Turn::Text("Done.")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_are_told_apart_by_their_files_and_counted_where_they_begin() {
        let trace = "\
            7 fsync(12</home/data/neco.db-wal> <unfinished ...>\n\
            8 statx(AT_FDCWD</project>, \"/project/.git\", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mode=S_IFDIR}) = 0\n\
            7 <... fsync resumed>) = 0\n\
            7 fdatasync(9</project/notes.txt.new>) = 0\n\
            7 fsync(9</project>) = 0\n\
            7 fsync(9</home/data/checkpoints/1/git>) = 0\n\
            7 newfstatat(AT_FDCWD</project>, \"/project/a\", 0x7ffd, 0) = -1 ENOENT (No such file or directory)\n";
        assert_eq!(count(trace, "/project"), Calls { log_flushes: 1, file_flushes: 2, stats: 2 });
    }
}
