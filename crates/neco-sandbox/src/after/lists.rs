//! The lists of what stands in and of what is to be put right.
//!
//! Each process keeps a list of its own in the state folder and holds a lock on it; a list whose lock
//! is free belongs to a process that was killed, and whoever comes next cleans up after it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use neco_safety::is_listed;
use rustix::fs::{FlockOperation, flock};

use crate::after::hands::Hands;
use crate::after::masks::hands_for;
use crate::after::traces::{self, Note};
use crate::plan::names::START_UP;
use crate::survey::unreadable::first_entries;

/// The list of this process, locked.
#[derive(Debug)]
pub(crate) struct OwnList {
    file: File,
    path: PathBuf,
}

impl OwnList {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let path = folder.join(format!("{}-{:x}", std::process::id(), now.as_nanos()));
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { file, path })
    }

    pub(crate) fn add(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)
    }

    /// Leaves nothing in the list but this.
    pub(crate) fn write_anew(&mut self, folder: &Path, lines: &[u8]) -> io::Result<()> {
        if lines.is_empty() {
            return self.file.set_len(0);
        }
        // Whoever is killed in between leaves both.
        let mut fresh = Self::open(folder)?;
        fresh.add(lines)?;
        std::mem::replace(self, fresh).remove();
        Ok(())
    }

    pub(crate) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

pub(crate) fn line_of(stand_in: &Path) -> Vec<u8> {
    [stand_in.as_os_str().as_bytes(), &[0]].concat()
}

/// The stand-ins of other processes that live.
pub(crate) fn stand_ins_of_others(folder: &Path, own: Option<&OwnList>) -> Vec<PathBuf> {
    let Ok(entries) = first_entries(folder, usize::MAX) else { return Vec::new() };
    let lists = entries.into_iter().map(|entry| folder.join(entry.name));
    let others = lists.filter(|path| Some(path) != own.map(|own| &own.path));
    others.filter_map(|path| read(&path)).filter(|list| list.alive).flat_map(|list| list.stand_ins).collect()
}

/// Removes the stand-ins of processes that are gone, and puts right what their commands left.
pub(crate) fn clean_up(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut alive = Vec::new();
    let mut left = Vec::new();
    let mut traces = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(list) = read(&path) else { continue };
        if list.alive {
            alive.extend(list.stand_ins);
        } else {
            left.extend(list.stand_ins);
            // In one step, so that two that come next don't both do it.
            if fs::remove_file(&path).is_ok() {
                traces.push((list.notes, list.written));
            }
        }
    }
    for path in left.iter().filter(|path| !alive.contains(path)) {
        if let Ok(hands) = hands_for(path) {
            StandIn::at(path).remove(&hands, path, None);
        }
    }
    traces.iter().for_each(|(notes, written)| traces::put_right(notes, *written));
}

/// The list of a process.
struct List {
    /// Whether the process lives, and so holds its list.
    alive: bool,
    stand_ins: Vec<PathBuf>,
    notes: Vec<Note>,
    /// When something was last written to it.
    written: Option<SystemTime>,
}

fn read(path: &Path) -> Option<List> {
    let mut list = File::open(path).ok()?;
    let alive = flock(&list, FlockOperation::NonBlockingLockShared).is_err();
    let mut text = Vec::new();
    list.read_to_end(&mut text).ok()?;
    let written = list.metadata().and_then(|found| found.modified()).ok();
    let mut read = List { alive, stand_ins: Vec::new(), notes: Vec::new(), written };
    for line in text.split(|byte| *byte == 0) {
        match line.first() {
            Some(b'/') => read.stand_ins.push(PathBuf::from(OsString::from_vec(line.to_vec()))),
            Some(_) => read.notes.extend(Note::read(line)),
            None => {}
        }
    }
    Some(read)
}

/// What stands in; its name decides.
pub(crate) enum StandIn {
    /// An empty folder with this mode.
    Folder(u32),
    /// A file with this text.
    File(&'static str),
}

impl StandIn {
    pub(crate) fn at(path: &Path) -> Self {
        match path.file_name().and_then(|name| name.to_str()) {
            // Where a repository's shared folder is: here. Git takes an empty one for a broken repository.
            Some("commondir") => Self::File(".\n"),
            Some("config.worktree") => Self::File(""),
            Some(name) if is_listed(name, START_UP) => Self::File(""),
            // Git wants to enter these before it takes what they are in for a repository.
            Some("refs" | "objects") => Self::Folder(0o444),
            Some(_) | None => Self::Folder(0o755),
        }
    }

    /// Makes it where nothing is.
    pub(crate) fn make(&self, hands: &Hands, path: &Path) -> io::Result<()> {
        match self {
            Self::Folder(mode) => hands.make_folder(path, *mode),
            Self::File("") => hands.make_file(path, b""),
            // Programs outside read it.
            Self::File(text) => hands.make_file_at_once(path, text.as_bytes()),
        }
    }

    /// Removes it, and only if it still is one: as it was made, and the one that was made where its number is known.
    pub(crate) fn remove(&self, hands: &Hands, path: &Path, number: Option<u64>) {
        if number.is_some() && number != hands.number_of(path) {
            return;
        }
        match self {
            // A folder with something in it refuses to go, and a file is none of ours.
            Self::Folder(_) => drop(hands.remove_folder(path)),
            Self::File(text) if hands.holds(path, text.as_bytes()) => drop(hands.remove(path)),
            Self::File(_) => {}
        }
    }
}
