//! What a program does to files, seen from outside: see `recorder.c`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "for tests: what goes wrong here is theirs")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the recorder ends where it is not allowed to watch.
const NOT_ALLOWED: i32 = 4;

/// Something that a program did, as `recorder.c` says it.
#[derive(Debug)]
pub struct Record {
    /// A letter that says what.
    pub what: u8,
    /// The file.
    pub path: PathBuf,
    /// An offset, or a length.
    pub number: usize,
    /// What was written, or another path.
    pub bytes: Vec<u8>,
}

impl Record {
    /// Whether something is certain from here on.
    pub fn syncs(&self) -> bool {
        matches!(self.what, b'S' | b'A')
    }
}

/// Runs a program that must end well, and gives what it did to the files below `folder`, whose path has no links in it.
///
/// # Errors
/// Why that can't be done here.
///
/// # Panics
/// When the program does not end well.
pub fn watch(folder: &Path, program: &Command) -> Result<Vec<Record>, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (recorder, log) = (compiled(place.path())?, place.path().join("log"));
    let mut watched = Command::new(recorder);
    watched.arg(folder).arg(&log).arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => watched.env(name, value),
            None => watched.env_remove(name),
        };
    }
    let output = watched.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(NOT_ALLOWED) {
        return Err(said);
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    Ok(records(&log))
}

fn compiled(folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("recorder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/power/recorder.c");
    let compiled = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&program, &source])
        .output()
        .map_err(|error| format!("no C compiler: {error}"))?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Ok(program)
}

fn records(log: &Path) -> Vec<Record> {
    let bytes = fs::read(log).unwrap();
    let mut rest = bytes.as_slice();
    let mut all = Vec::new();
    while let Some((what, after)) = rest.split_first() {
        rest = after;
        let length = number(&mut rest, 4);
        let path = PathBuf::from(OsString::from_vec(take(&mut rest, length).to_vec()));
        let number_of = number(&mut rest, 8);
        let length = number(&mut rest, 4);
        all.push(Record { what: *what, path, number: number_of, bytes: take(&mut rest, length).to_vec() });
    }
    all
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(length);
    *rest = after;
    taken
}

fn number(rest: &mut &[u8], length: usize) -> usize {
    take(rest, length).iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
