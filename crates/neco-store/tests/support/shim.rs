//! The library that stands between a test and the C library; see `shim.c`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles it; says why not, where that can't be done.
pub fn library() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join(format!("neco-store-shim-{}.so", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/shim.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&library, &source])
        .arg("-lpthread")
        .output()
        .map_err(|error| format!("no C compiler: {error}"))?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Ok(library)
}

/// Something that happened to a file.
#[derive(Debug)]
pub enum Record {
    /// It was made.
    Create(PathBuf),
    /// Bytes were written at an offset.
    Write(PathBuf, usize, Vec<u8>),
    /// It was made shorter or longer.
    Truncate(PathBuf, usize),
    /// What was written before is on the disk; for a folder, what was named before.
    Sync(PathBuf),
    /// Its name was removed.
    Unlink(PathBuf),
    /// It has another name.
    Rename(PathBuf, PathBuf),
}

/// What the library has recorded.
pub fn records(log: &Path) -> Vec<Record> {
    let bytes = std::fs::read(log).unwrap();
    let mut rest = bytes.as_slice();
    let mut records = Vec::new();
    while let Some((what, after)) = rest.split_first() {
        rest = after;
        let length = number(&mut rest, 4);
        let path = PathBuf::from(String::from_utf8(take(&mut rest, length).to_vec()).unwrap());
        let offset = number(&mut rest, 8);
        let length = number(&mut rest, 4);
        let data = take(&mut rest, length).to_vec();
        records.push(match what {
            b'C' => Record::Create(path),
            b'W' => Record::Write(path, offset, data),
            b'T' => Record::Truncate(path, offset),
            b'S' => Record::Sync(path),
            b'U' => Record::Unlink(path),
            b'R' => Record::Rename(path, PathBuf::from(String::from_utf8(data).unwrap())),
            other => panic!("a record of kind {other}"),
        });
    }
    records
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(length);
    *rest = after;
    taken
}

fn number(rest: &mut &[u8], length: usize) -> usize {
    take(rest, length).iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
