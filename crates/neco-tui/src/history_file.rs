//! What was written in earlier windows of a folder: a file for its owner alone, one JSON text a line.
//!
//! Whoever opens it says how secrets are taken out, and a line that begins with a blank is not kept, as in
//! shells. Whoever changes the file holds a lock beside it: several windows of a folder write to the same one.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// Messages that are kept.
const KEPT: usize = 1000;

/// The file is written anew when it has more lines than this.
const TOO_MANY: usize = 2 * KEPT;

/// Bytes of it that are read at most, from its end; a larger file is written anew.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Bytes of one message that are kept: who pastes a book does not want it back.
const MOST_OF_ONE: usize = 64 * 1024;

/// The history of a folder.
pub struct HistoryFile {
    path: PathBuf,
    writer: mpsc::Sender<String>,
}

impl HistoryFile {
    /// The one at `path`, which `redact` takes the secrets out for. Nothing is read or made yet.
    pub fn new(path: PathBuf, redact: fn(&str) -> String) -> Self {
        let (writer, lines) = mpsc::channel();
        let file = path.clone();
        // Ends with the last sender; without threads there is no history, and nothing else is lost.
        let _ = std::thread::Builder::new().name("history".to_owned()).spawn(move || keep(&file, &lines, redact));
        Self { path, writer }
    }

    /// What was written, oldest first. A file that can't be read is none.
    pub fn read(&self) -> Vec<String> {
        let mut entries = read(&self.path);
        if entries.len() > TOO_MANY || fs::metadata(&self.path).is_ok_and(|file| file.len() > MOST_BYTES) {
            // Another window may be at it, and the next one is soon enough.
            let _ = shorten(&self.path);
        }
        entries.drain(..entries.len().saturating_sub(KEPT));
        entries
    }

    /// Keeps what was written, soon; whoever calls does not wait for the disk.
    pub fn remember(&self, text: &str) {
        if !text.trim().is_empty() && !text.starts_with(' ') && text.len() <= MOST_OF_ONE {
            let _ = self.writer.send(text.to_owned());
        }
    }
}

fn keep(path: &Path, lines: &mpsc::Receiver<String>, redact: fn(&str) -> String) {
    while let Ok(text) = lines.recv() {
        if let Err(error) = append(path, &redact(&text)) {
            tracing::warn!(%error, "the history can't be kept");
        }
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    let line = serde_json::to_string(text)? + "\n";
    let lock = lock_of(path)?;
    lock.lock()?;
    private(path, true)?.write_all(line.as_bytes())
}

/// Leaves the newest entries, unless another window does something to the file.
fn shorten(path: &Path) -> io::Result<()> {
    let lock = lock_of(path)?;
    lock.try_lock()?;
    let entries = read(path);
    let new = path.with_extension("new");
    let mut file = private(&new, false)?;
    for entry in entries.iter().skip(entries.len().saturating_sub(KEPT)) {
        file.write_all((serde_json::to_string(entry)? + "\n").as_bytes())?;
    }
    fs::rename(new, path)
}

/// Held by whoever changes the file; not the file itself, whose place another one takes.
fn lock_of(path: &Path) -> io::Result<File> {
    private(&path.with_extension("lock"), true)
}

fn private(path: &Path, append: bool) -> io::Result<File> {
    let file = File::options().create(true).append(append).write(true).truncate(!append).mode(0o600).open(path)?;
    // One that was there keeps its mode otherwise.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// The entries of the end of the file; a line that is torn, or begins before it, is none.
fn read(path: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let before = file.metadata()?.len().saturating_sub(MOST_BYTES);
        file.seek(SeekFrom::Start(before))?;
        file.take(MOST_BYTES).read_to_end(&mut bytes)
    });
    if read.is_err() {
        return Vec::new();
    }
    String::from_utf8_lossy(&bytes).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_was_written_is_there_in_the_next_window_and_for_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history/a.jsonl");
        append(&path, "one\ntwo").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        append(&path, "漢字").unwrap();
        assert_eq!(read(&path), ["one\ntwo", "漢字"]);
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let history = HistoryFile { path: path.clone(), writer: mpsc::channel().0 };
        (0..TOO_MANY).for_each(|number| append(&path, &number.to_string()).unwrap());
        assert_eq!(history.read().len(), KEPT);
        assert_eq!(read(&path).len(), KEPT);
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn of_a_big_file_the_newest_are_read_and_it_gets_smaller() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let long = "x".repeat(MOST_OF_ONE);
        (0..200).for_each(|number| append(&path, &format!("{number} {long}")).unwrap());
        let history = HistoryFile { path: path.clone(), writer: mpsc::channel().0 };
        assert!(history.read().last().unwrap().starts_with("199 "));
        assert!(fs::metadata(&path).unwrap().len() <= MOST_BYTES);
        // Whoever is in the middle of it is left alone.
        (0..200).for_each(|number| append(&path, &format!("{number} {long}")).unwrap());
        let held = lock_of(&path).unwrap();
        held.lock().unwrap();
        assert!(!history.read().is_empty());
        assert!(fs::metadata(&path).unwrap().len() > MOST_BYTES);
    }

    #[test]
    fn no_secret_is_kept_and_nothing_that_begins_with_a_blank() {
        let folder = tempfile::tempdir().unwrap();
        let history = HistoryFile::new(folder.path().join("history/a.jsonl"), |text| text.replace("secret", "***"));
        history.remember(" not this");
        history.remember("use secret please");
        history.remember("last");
        let begun = std::time::Instant::now();
        while history.read().last().map(String::as_str) != Some("last") {
            assert!(begun.elapsed().as_secs() < 30);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(history.read(), ["use *** please", "last"]);
    }

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "\"one\"\n\"tw\n\u{fffd}\n\"three\"\n").unwrap();
        assert_eq!(read(&path), ["one", "three"]);
    }
}
