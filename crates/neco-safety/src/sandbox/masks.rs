//! Stand-ins for what is not there and must not be made: empty folders that a box covers, and small
//! files that change nothing, all removed again when the last box that needs them is gone.
//!
//! Each process keeps a list of its own in the state folder and holds a lock on it; a list whose lock
//! is free belongs to a process that was killed, and whoever comes next cleans up after it. What is to be
//! put right after a command stands in the list too, as long as the command runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use super::names::START_UP;
use super::traces::{self, Note, NoteKind};

/// The stand-ins of this process.
#[derive(Debug)]
pub(super) struct Masks {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The list on disk, locked, once there was something to write down.
    list: Option<(File, PathBuf)>,
    standing: BTreeMap<PathBuf, Standing>,
    /// How many commands run whose traces are to be put right.
    noted: usize,
}

#[derive(Debug)]
struct Standing {
    /// Which file or folder it is, so that no other is removed.
    inode: u64,
    users: usize,
}

/// Keeps stand-ins in place until it is dropped.
#[derive(Debug)]
pub(super) struct MaskGuard {
    masks: Arc<Masks>,
    paths: Vec<PathBuf>,
    noted: bool,
}

impl Masks {
    /// The stand-ins of a process that keeps its list in `folder`. Removes what dead processes left.
    pub(super) fn new(folder: PathBuf) -> Self {
        clean_up(&folder);
        Self { folder, state: Mutex::default() }
    }

    /// Everything that is a stand-in now, of this process and of others: to whoever looks, nothing is there.
    pub(super) fn known(&self) -> BTreeSet<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let own = state.standing.keys().cloned();
        own.chain(self.of_others(&state)).collect()
    }

    /// The stand-ins of other processes that live.
    fn of_others(&self, state: &State) -> Vec<PathBuf> {
        let own = state.list.as_ref().map(|(_, path)| path);
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let others = entries.flatten().map(|entry| entry.path()).filter(|path| Some(path) != own);
        others.filter_map(|path| read_list(&path)).filter(|list| list.alive).flat_map(|list| list.paths).collect()
    }

    /// Writes down what is to be put right if this process is killed while a command runs.
    ///
    /// # Errors
    /// When it can't be written down.
    pub(super) fn note(&self, guard: &mut MaskGuard, notes: &[Note]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for note in notes {
            lines.push(note.kind.sign());
            lines.extend_from_slice(note.path.as_os_str().as_bytes());
            lines.push(0);
        }
        self.list(&mut state)?.write_all(&lines)?;
        state.noted += 1;
        guard.noted = true;
        Ok(())
    }

    fn list<'a>(&self, state: &'a mut State) -> io::Result<&'a mut File> {
        let list = match state.list.take() {
            Some(list) => list,
            None => open_list(&self.folder)?,
        };
        Ok(&mut state.list.insert(list).0)
    }

    /// Puts stand-ins where nothing is. Gives those that could be made; where none can be made because
    /// of where it is, a command can't make anything either.
    ///
    /// # Errors
    /// When one can't be made for another reason, or something is there by now.
    pub(super) fn put(self: &Arc<Self>, wanted: impl Iterator<Item = PathBuf>) -> io::Result<MaskGuard> {
        let mut guard = MaskGuard { masks: Arc::clone(self), paths: Vec::new(), noted: false };
        for path in wanted {
            if self.put_one(&path)? {
                guard.paths.push(path);
            }
        }
        Ok(guard)
    }

    fn put_one(&self, path: &Path) -> io::Result<bool> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standing) = state.standing.get_mut(path) {
            standing.users += 1;
            return Ok(true);
        }
        let Some(inode) = self.make(&mut state, path)? else { return Ok(false) };
        state.standing.insert(path.to_path_buf(), Standing { inode, users: 1 });
        Ok(true)
    }

    /// Written down before it is made: whoever is killed in between leaves a line too many, never a stand-in.
    fn make(&self, state: &mut State, path: &Path) -> io::Result<Option<u64>> {
        let mut line = path.as_os_str().as_bytes().to_vec();
        line.push(0);
        self.list(state)?.write_all(&line)?;
        if let Err(error) = StandIn::at(path).create(path) {
            if nothing_can_be_made(&error) {
                return Ok(None);
            }
            // Another process of ours may have made it, and now both need it.
            let shared =
                error.kind() == io::ErrorKind::AlreadyExists && self.of_others(state).iter().any(|own| own == path);
            if !shared {
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
            }
        }
        Ok(Some(fs::symlink_metadata(path)?.ino()))
    }

    fn release(&self, paths: &[PathBuf], noted: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.noted = state.noted.saturating_sub(usize::from(noted));
        let others = self.of_others(&state);
        for path in paths {
            let Some(standing) = state.standing.get_mut(path) else { continue };
            standing.users -= 1;
            if standing.users == 0 {
                if !others.contains(path) {
                    remove(path, Some(standing.inode));
                }
                state.standing.remove(path);
            }
        }
        if state.standing.is_empty()
            && state.noted == 0
            && let Some((list, _)) = &mut state.list
        {
            // What can't be emptied is looked at once more by whoever comes next, which does no harm.
            let _ = list.set_len(0).and_then(|()| list.seek(SeekFrom::Start(0)));
        }
    }
}

impl Drop for Masks {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (path, standing) in &state.standing {
            remove(path, Some(standing.inode));
        }
        if let Some((_, path)) = &state.list {
            let _ = fs::remove_file(path);
        }
    }
}

impl MaskGuard {
    /// Everything that is a stand-in now.
    pub(super) fn known(&self) -> BTreeSet<PathBuf> {
        self.masks.known()
    }

    /// Whether a stand-in is here.
    pub(super) fn holds(&self, path: &Path) -> bool {
        self.paths.iter().any(|own| own == path)
    }
}

impl Drop for MaskGuard {
    fn drop(&mut self) {
        self.masks.release(&self.paths, self.noted);
    }
}

fn open_list(folder: &Path) -> io::Result<(File, PathBuf)> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let now = SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let path = folder.join(format!("{}-{:x}", std::process::id(), now.as_nanos()));
    let list = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    flock(&list, FlockOperation::NonBlockingLockExclusive)?;
    Ok((list, path))
}

/// Removes the stand-ins of processes that are gone, and puts right what their commands left.
pub(crate) fn clean_up(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut alive = Vec::new();
    let mut left = Vec::new();
    let mut traces = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(list) = read_list(&path) else { continue };
        if list.alive {
            alive.extend(list.paths);
        } else {
            left.extend(list.paths);
            // In one step, so that two that come next don't both do it.
            if fs::remove_file(&path).is_ok() {
                traces.push((list.notes, list.written));
            }
        }
    }
    left.iter().filter(|path| !alive.contains(path)).for_each(|path| remove(path, None));
    traces.iter().for_each(|(notes, written)| traces::put_right(notes, *written));
}

/// The list of a process.
struct List {
    /// Whether the process lives, and so holds its list.
    alive: bool,
    paths: Vec<PathBuf>,
    notes: Vec<Note>,
    /// When something was last written to it.
    written: Option<SystemTime>,
}

fn read_list(path: &Path) -> Option<List> {
    let mut list = File::open(path).ok()?;
    let alive = flock(&list, FlockOperation::NonBlockingLockShared).is_err();
    let mut text = Vec::new();
    list.read_to_end(&mut text).ok()?;
    let written = list.metadata().and_then(|found| found.modified()).ok();
    let mut read = List { alive, paths: Vec::new(), notes: Vec::new(), written };
    let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
    for line in text.split(|byte| *byte == 0) {
        match line.split_first() {
            Some((b'/', _)) => read.paths.push(path(line)),
            Some((sign, rest)) => {
                read.notes.extend(NoteKind::of(*sign).map(|kind| Note { kind, path: path(rest) }));
            }
            None => {}
        }
    }
    Some(read)
}

/// Removes a stand-in, and only if it still is one: as it was made, and the one that was made where that is known.
fn remove(path: &Path, inode: Option<u64>) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if inode.is_some_and(|inode| inode != found.ino()) {
        return;
    }
    match StandIn::at(path) {
        // A folder with something in it refuses to go, and a file is none of ours.
        StandIn::Folder(_) => drop(fs::remove_dir(path)),
        StandIn::File(text) => {
            let unchanged = found.is_file()
                && found.len() == text.len() as u64
                && fs::read(path).is_ok_and(|now| now == text.as_bytes());
            if unchanged {
                drop(fs::remove_file(path));
            }
        }
    }
}

/// What stands in; its name decides.
enum StandIn {
    /// An empty folder with this mode.
    Folder(u32),
    /// A file with this text.
    File(&'static str),
}

impl StandIn {
    fn at(path: &Path) -> Self {
        match path.file_name().and_then(|name| name.to_str()) {
            // Where a repository's shared folder is: here. Git takes an empty one for a broken repository.
            Some("commondir") => Self::File(".\n"),
            Some("config.worktree") => Self::File(""),
            Some(name) if START_UP.contains(&name) => Self::File(""),
            // Git wants to enter these before it takes what they are in for a repository.
            Some("refs" | "objects") => Self::Folder(0o444),
            Some(_) | None => Self::Folder(0o755),
        }
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Folder(mode) => fs::DirBuilder::new().mode(*mode).create(path),
            // In one step: programs outside read it.
            Self::File(text) => {
                let folder = path.parent().unwrap_or(Path::new("/"));
                let mode = fs::Permissions::from_mode(0o644);
                let mut fresh = tempfile::Builder::new().prefix(".neco-").permissions(mode).tempfile_in(folder)?;
                fresh.write_all(text.as_bytes())?;
                fresh.persist_noclobber(path)?;
                Ok(())
            }
        }
    }
}

/// Whether a stand-in could not be made because of where it was to be.
fn nothing_can_be_made(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_shared_and_go_with_the_last_user() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let masks = Arc::new(Masks::new(at("state")));
        let wanted = || [at(".vscode"), at(".mcp.json")].into_iter();
        let first = masks.put(wanted()).unwrap();
        let second = masks.put(wanted()).unwrap();
        assert!(first.holds(&at(".vscode")) && second.holds(&at(".mcp.json")));
        drop(first);
        assert!(at(".vscode").is_dir() && at(".mcp.json").is_dir());
        drop(second);
        assert!(!at(".vscode").exists() && !at(".mcp.json").exists());
        drop(masks);
        assert_eq!(fs::read_dir(at("state")).unwrap().count(), 0, "no list is left");
    }

    #[test]
    fn what_is_there_or_was_filled_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("mine")).unwrap();
        let masks = Arc::new(Masks::new(at("state")));
        let failed = masks.put([at("made"), at("mine")].into_iter()).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::AlreadyExists);
        assert!(at("mine").is_dir() && !at("made").exists(), "nothing is half done");
        let guard = masks.put([at("made"), at("not-there/made")].into_iter()).unwrap();
        assert!(guard.holds(&at("made")) && !guard.holds(&at("not-there/made")));
        fs::write(at("made/file"), "someone's").unwrap();
        drop(guard);
        assert!(at("mine").is_dir() && at("made/file").is_file());
    }

    #[test]
    fn a_mask_that_can_not_be_written_down_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("state"), "no folder").unwrap();
        let masks = Arc::new(Masks::new(folder.path().join("state/masks")));
        assert!(masks.put([folder.path().join(".vscode")].into_iter()).is_err());
        assert!(!folder.path().join(".vscode").exists());
    }

    #[test]
    fn files_stand_in_for_files_and_go_only_as_they_were_made() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let masks = Arc::new(Masks::new(at("state")));
        let guard = masks.put([at("commondir"), at("config.worktree"), at("refs")].into_iter()).unwrap();
        assert_eq!(fs::read_to_string(at("commondir")).unwrap(), ".\n");
        assert_eq!(fs::metadata(at("refs")).unwrap().permissions().mode() & 0o111, 0);
        fs::write(at("config.worktree"), "[someone]").unwrap();
        drop(guard);
        assert!(!at("commondir").exists() && !at("refs").exists() && at("config.worktree").exists());
        // Left by a killed process.
        fs::write(at("commondir"), ".\n").unwrap();
        fs::write(at("state/1-dead"), at("commondir").as_os_str().as_bytes()).unwrap();
        drop(Masks::new(at("state")));
        assert!(!at("commondir").exists());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_and_not_while_another_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let living = Arc::new(Masks::new(at("state")));
        let guard = living.put([at("shared")].into_iter()).unwrap();
        // A list that nobody holds, as after `kill -9`.
        let text = [at("shared"), at("left")].map(|path| path.display().to_string()).join("\0");
        fs::create_dir(at("left")).unwrap();
        fs::write(at("state/1-dead"), text).unwrap();
        drop(Masks::new(at("state")));
        assert!(!at("left").exists() && at("shared").is_dir() && !at("state/1-dead").exists());
        drop(guard);
        assert!(!at("shared").exists());
    }
}
