//! What was written in earlier windows of a folder: a file for its owner alone, one JSON text a line.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use sha2::{Digest, Sha256};

/// Messages that are kept.
const KEPT: usize = 1000;

/// The file is written anew when it has more lines than this.
const TOO_MANY: usize = 2 * KEPT;

/// Bytes of it that are read at most.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Bytes of one message that are kept: who pastes a book does not want it back.
const MOST_OF_ONE: usize = 64 * 1024;

/// The history of a folder.
pub struct HistoryFile {
    path: PathBuf,
    writer: mpsc::Sender<String>,
}

impl HistoryFile {
    /// That of `folder`. Nothing is read or made yet.
    #[must_use]
    pub fn of(folder: &Path, data_dir: &Path) -> Self {
        let hash = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = data_dir.join("history").join(format!("{name}.jsonl"));
        let (writer, lines) = mpsc::channel();
        let file = path.clone();
        // Ends with the last sender; without threads there is no history, and nothing else is lost.
        let _ = std::thread::Builder::new().name("history".to_owned()).spawn(move || keep(&file, &lines));
        Self { path, writer }
    }

    /// What was written, oldest first. A file that can't be read is none.
    #[must_use]
    pub fn read(&self) -> Vec<String> {
        let mut entries = read(&self.path);
        let beyond = entries.len().saturating_sub(KEPT);
        if entries.len() > TOO_MANY {
            entries.drain(..beyond);
            let _ = replace(&self.path, &entries);
        } else {
            entries.drain(..beyond);
        }
        entries
    }

    /// Keeps what was written, soon; whoever calls does not wait for the disk.
    pub fn remember(&self, text: &str) {
        if !text.trim().is_empty() && text.len() <= MOST_OF_ONE {
            let _ = self.writer.send(text.to_owned());
        }
    }
}

fn keep(path: &Path, lines: &mpsc::Receiver<String>) {
    while let Ok(text) = lines.recv() {
        if let Err(error) = append(path, &text) {
            tracing::warn!(%error, "the history can't be kept");
        }
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let line = serde_json::to_string(text)? + "\n";
    private(path, true)?.write_all(line.as_bytes())
}

fn replace(path: &Path, entries: &[String]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = private(&new, false)?;
    for entry in entries {
        file.write_all((serde_json::to_string(entry)? + "\n").as_bytes())?;
    }
    fs::rename(new, path)
}

fn private(path: &Path, append: bool) -> io::Result<File> {
    File::options().create(true).append(append).write(true).truncate(!append).mode(0o600).open(path)
}

fn read(path: &Path) -> Vec<String> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_written_is_there_in_the_next_window_and_for_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history/a.jsonl");
        append(&path, "one\ntwo").unwrap();
        append(&path, "漢字").unwrap();
        assert_eq!(read(&path), ["one\ntwo", "漢字"]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let history = HistoryFile { path: path.clone(), writer: mpsc::channel().0 };
        (0..TOO_MANY).for_each(|number| append(&path, &number.to_string()).unwrap());
        assert_eq!(history.read().len(), KEPT);
        assert_eq!(read(&path).len(), KEPT);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "\"one\"\n\"tw\n\u{fffd}\n\"three\"\n").unwrap();
        assert_eq!(read(&path), ["one", "three"]);
    }
}
