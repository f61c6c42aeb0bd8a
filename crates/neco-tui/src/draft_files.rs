//! What stands in the field of a window and was not sent: a file for each session, for its owner alone.
//!
//! It is there for whoever comes back after a window was killed. A window holds a lock on the file as long as the draft
//! is its own, so that no other window of the session shows what is being written in this one.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use neco_proto::SessionId;

/// Most bytes of a draft that is kept.
const MOST: usize = 64 * 1024;

/// What is typed within this time is written together.
const TOGETHER: Duration = Duration::from_millis(500);

/// A draft that nobody came back for goes after so long.
const OLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The drafts of all sessions.
pub struct DraftFiles {
    folder: PathBuf,
    writer: mpsc::Sender<(SessionId, String)>,
}

impl DraftFiles {
    /// Those in `folder`, which `redact` takes the secrets out for. Nothing is read or made yet.
    pub fn new(folder: PathBuf, redact: fn(&str) -> String) -> Self {
        let (writer, drafts) = mpsc::channel();
        let mut keeper = DraftKeeper { folder: folder.clone(), redact, held: None };
        // Ends with the last sender; without threads no draft is kept, and nothing else is lost.
        let _ = std::thread::Builder::new().name("drafts".to_owned()).spawn(move || keeper.run(&drafts));
        Self { folder, writer }
    }

    /// The draft of a session; none while a window has it in its field. May block.
    pub fn read(&self, session: SessionId) -> Option<String> {
        let file = free(&path_of(&self.folder, session))?;
        let mut bytes = Vec::new();
        // What is taken out may be longer than what it stands for.
        file.take(2 * MOST as u64).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.trim().is_empty())
    }

    /// Keeps the draft of a session, soon; an empty one takes it away. Whoever calls does not wait for the disk.
    pub fn keep(&self, session: SessionId, text: String) {
        let _ = self.writer.send((session, text));
    }
}

/// What writes drafts, one at a time.
struct DraftKeeper {
    folder: PathBuf,
    redact: fn(&str) -> String,
    /// The draft of this window, which no other window shows meanwhile.
    held: Option<(SessionId, File)>,
}

impl DraftKeeper {
    fn run(&mut self, drafts: &mpsc::Receiver<(SessionId, String)>) {
        forget_old(&self.folder);
        while let Ok((mut session, mut text)) = drafts.recv() {
            let until = Instant::now() + TOGETHER;
            while let Ok(newer) = drafts.recv_timeout(until.saturating_duration_since(Instant::now())) {
                (session, text) = newer;
            }
            if let Err(error) = self.keep(session, &text) {
                tracing::warn!(%error, "the draft can't be kept");
            }
        }
    }

    /// As in the history, what begins with a blank is not kept.
    fn keep(&mut self, session: SessionId, text: &str) -> io::Result<()> {
        let is_kept = !text.trim().is_empty() && !text.starts_with(' ') && text.len() <= MOST;
        let path = path_of(&self.folder, session);
        if let Some((left, _)) = self.held.take_if(|(held, _)| *held != session || !is_kept) {
            fs::remove_file(path_of(&self.folder, left))?;
        }
        if !is_kept {
            // It may be there from before.
            return if free(&path).is_some() { fs::remove_file(path) } else { Ok(()) };
        }
        if self.held.is_none() {
            let file = private(&self.folder, &path)?;
            if file.try_lock().is_err() {
                return Ok(());
            }
            self.held = Some((session, file));
        }
        let Some((_, file)) = &mut self.held else { return Ok(()) };
        let text = (self.redact)(text);
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(text.as_bytes())
    }
}

fn path_of(folder: &Path, session: SessionId) -> PathBuf {
    folder.join(format!("{session}.txt"))
}

/// A draft that no window has in its field.
fn free(path: &Path) -> Option<File> {
    File::open(path).ok().filter(|file| file.try_lock().is_ok())
}

fn private(folder: &Path, path: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    // What another window wrote is left until it is known that nobody has it.
    let file = File::options().create(true).write(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Takes away what was left long ago, as far as that can be done.
fn forget_old(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|facts| facts.modified());
        if written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > OLD)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper(folder: &Path) -> DraftKeeper {
        let redact = |text: &str| text.replace("secret", "***");
        DraftKeeper { folder: folder.to_path_buf(), redact, held: None }
    }

    fn drafts(folder: &Path) -> DraftFiles {
        DraftFiles { folder: folder.to_path_buf(), writer: mpsc::channel().0 }
    }

    #[test]
    fn a_draft_is_there_once_its_window_is_gone_and_for_nobody_else() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("drafts");
        let (session, other) = (SessionId::new(), SessionId::new());
        let mut window = keeper(&folder);
        window.keep(session, "fix the\nlonger secret words").unwrap();
        window.keep(session, "fix the\nsecret").unwrap();
        assert_eq!(drafts(&folder).read(session), None, "it stands in a field");
        // Another window of the session does not take its place.
        keeper(&folder).keep(session, "mine").unwrap();
        keeper(&folder).keep(session, "").unwrap();
        drop(window);
        assert_eq!(drafts(&folder).read(session).as_deref(), Some("fix the\n***"));
        assert_eq!(drafts(&folder).read(other), None);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path_of(&folder, session))), (0o700, 0o600));
    }

    #[test]
    fn what_is_sent_or_goes_with_the_person_to_another_session_is_not_kept_twice() {
        let home = tempfile::tempdir().unwrap();
        let (session, other) = (SessionId::new(), SessionId::new());
        keeper(home.path()).keep(session, "left by a window that was killed").unwrap();
        // It was sent before it was written again.
        keeper(home.path()).keep(session, "").unwrap();
        assert!(!path_of(home.path(), session).exists());
        let mut window = keeper(home.path());
        window.keep(session, "hello").unwrap();
        window.keep(other, "hello there").unwrap();
        assert!(!path_of(home.path(), session).exists() && path_of(home.path(), other).exists());
        window.keep(other, &"x".repeat(MOST + 1)).unwrap();
        window.keep(other, " not this").unwrap();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_nobody_came_back_for_goes() {
        let home = tempfile::tempdir().unwrap();
        let (session, other) = (SessionId::new(), SessionId::new());
        keeper(home.path()).keep(session, "old").unwrap();
        keeper(home.path()).keep(other, "new").unwrap();
        let file = File::options().write(true).open(path_of(home.path(), session)).unwrap();
        file.set_modified(std::time::SystemTime::now() - 2 * OLD).unwrap();
        forget_old(home.path());
        assert!(!path_of(home.path(), session).exists() && path_of(home.path(), other).exists());
    }

    #[test]
    fn the_last_of_what_is_typed_is_written() {
        let home = tempfile::tempdir().unwrap();
        let session = SessionId::new();
        let window = DraftFiles::new(home.path().to_path_buf(), str::to_owned);
        ["h", "he", "hello"].into_iter().for_each(|text| window.keep(session, text.to_owned()));
        drop(window);
        let begun = Instant::now();
        while drafts(home.path()).read(session).as_deref() != Some("hello") {
            assert!(begun.elapsed().as_secs() < 30);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
