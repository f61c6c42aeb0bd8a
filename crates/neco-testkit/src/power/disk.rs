//! A disk that loses power: what was done to files, what of it is certain, and what may be left.
//!
//! It is less kind than most: what a file holds is certain when the file was synced, and that it has a name when
//! its folder was. Names that are not certain are there up to some moment, as in a journal; bytes that are not may be
//! there or not, each write by itself.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "for tests: what goes wrong here is theirs")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::record::Record;

#[derive(Clone)]
enum Node {
    Folder,
    File { now: Vec<u8>, synced: Vec<u8>, since: Vec<Change> },
    Link(PathBuf),
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Truncate(length) => bytes.resize(*length, 0),
            Self::Write(offset, data) => {
                let end = offset + data.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*offset..end].copy_from_slice(data);
            }
        }
    }
}

/// A name in a folder.
type Place = (usize, OsString);

/// A change of names: what is no longer where, and what is where now.
struct Naming {
    gone: Option<Place>,
    come: Option<(Place, usize)>,
    is_certain: bool,
}

type Names = BTreeMap<Place, usize>;

fn name(names: &mut Names, naming: &Naming) {
    if let Some(place) = &naming.gone {
        names.remove(place);
    }
    if let Some((place, node)) = &naming.come {
        names.insert(place.clone(), *node);
    }
}

/// The disk below one folder.
pub struct Disk {
    top: PathBuf,
    nodes: Vec<Node>,
    names: Names,
    done: Vec<Naming>,
}

/// What is left of what is not certain.
pub enum Left<'a> {
    /// Nothing.
    Nothing,
    /// All of it.
    Everything,
    /// Names up to a moment, bytes as it falls.
    Some(&'a mut dyn FnMut() -> usize),
}

impl Disk {
    /// A disk as it is now, which is certain.
    ///
    /// # Panics
    /// When it can't be read.
    pub fn of(top: &Path) -> Self {
        let mut disk =
            Self { top: top.to_path_buf(), nodes: vec![Node::Folder], names: Names::new(), done: Vec::new() };
        disk.take_in(top, 0);
        disk.everything_is_certain();
        disk
    }

    fn take_in(&mut self, folder: &Path, at: usize) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            let node = if kind.is_dir() {
                Node::Folder
            } else if kind.is_symlink() {
                Node::Link(fs::read_link(entry.path()).unwrap())
            } else {
                Node::File { now: fs::read(entry.path()).unwrap(), synced: Vec::new(), since: Vec::new() }
            };
            let number = self.add((at, entry.file_name()), node);
            if kind.is_dir() {
                self.take_in(&entry.path(), number);
            }
        }
    }

    fn everything_is_certain(&mut self) {
        self.done.iter_mut().for_each(|naming| naming.is_certain = true);
        self.nodes.iter_mut().for_each(sync);
    }

    fn add(&mut self, place: Place, node: Node) -> usize {
        self.nodes.push(node);
        let number = self.nodes.len() - 1;
        self.rename(None, Some((place, number)));
        number
    }

    fn rename(&mut self, gone: Option<Place>, come: Option<(Place, usize)>) {
        let naming = Naming { gone, come, is_certain: false };
        name(&mut self.names, &naming);
        self.done.push(naming);
    }

    fn find(&self, path: &Path) -> Option<usize> {
        let below = path.strip_prefix(&self.top).unwrap();
        below.iter().try_fold(0, |at, part| self.names.get(&(at, part.to_owned())).copied())
    }

    fn place(&self, path: &Path) -> Place {
        (self.find(path.parent().unwrap()).unwrap(), path.file_name().unwrap().to_owned())
    }

    /// Takes note of what was done next.
    ///
    /// # Panics
    /// When it does not fit what was done before.
    pub fn apply(&mut self, record: &Record) {
        let Record { what, path, number, bytes } = record;
        match what {
            b'C' => {
                let empty = Node::File { now: Vec::new(), synced: Vec::new(), since: Vec::new() };
                self.add(self.place(path), empty);
            }
            b'M' => drop(self.add(self.place(path), Node::Folder)),
            b'Y' => drop(self.add(self.place(path), Node::Link(OsString::from_vec(bytes.clone()).into()))),
            b'W' => self.change(path, Change::Write(*number, bytes.clone())),
            b'T' => self.change(path, Change::Truncate(*number)),
            b'U' | b'D' => self.rename(Some(self.place(path)), None),
            b'R' | b'L' => {
                let to = PathBuf::from(OsString::from_vec(bytes.clone()));
                let node = self.find(path).unwrap();
                let gone = (*what == b'R').then(|| self.place(path));
                self.rename(gone, Some((self.place(&to), node)));
            }
            b'S' => self.sync(path),
            b'A' => self.everything_is_certain(),
            other => panic!("a record of kind {other}"),
        }
    }

    fn change(&mut self, path: &Path, change: Change) {
        let Some(node) = self.find(path) else { return };
        if let Node::File { now, since, .. } = &mut self.nodes[node] {
            change.apply(now);
            since.push(change);
        }
    }

    fn sync(&mut self, path: &Path) {
        let Some(node) = self.find(path) else { return };
        let touches = |naming: &Naming| {
            let gone = naming.gone.as_ref().is_some_and(|(folder, _)| *folder == node);
            gone || naming.come.as_ref().is_some_and(|((folder, _), _)| *folder == node)
        };
        match self.nodes[node] {
            Node::Folder => self.done.iter_mut().filter(|done| touches(done)).for_each(|done| done.is_certain = true),
            Node::File { .. } | Node::Link(_) => sync(&mut self.nodes[node]),
        }
    }

    /// What a file holds now, whatever of it is certain.
    ///
    /// # Panics
    /// When it is no text.
    pub fn text(&self, path: &Path) -> String {
        match self.find(path).map(|node| &self.nodes[node]) {
            Some(Node::File { now, .. }) => String::from_utf8(now.clone()).unwrap(),
            Some(Node::Folder | Node::Link(_)) | None => String::new(),
        }
    }

    /// Builds the folder as it is after a loss of power.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn build(&self, into: &Path, mut left: Left<'_>) {
        let until = match &mut left {
            Left::Nothing => 0,
            Left::Everything => self.done.len(),
            Left::Some(next) => next() % (self.done.len() + 1),
        };
        let mut names = Names::new();
        for (at, naming) in self.done.iter().enumerate() {
            if naming.is_certain || at < until {
                name(&mut names, naming);
            }
        }
        self.build_folder(0, into, &names, &mut left);
    }

    fn build_folder(&self, folder: usize, into: &Path, names: &Names, left: &mut Left<'_>) {
        for ((_, name), node) in names.range((folder, OsString::new())..(folder + 1, OsString::new())) {
            let path = into.join(name);
            match &self.nodes[*node] {
                Node::Folder => {
                    fs::create_dir(&path).unwrap();
                    self.build_folder(*node, &path, names, left);
                }
                Node::Link(target) => symlink(target, &path).unwrap(),
                Node::File { synced, since, .. } => {
                    let mut bytes = synced.clone();
                    let mut stays = || match left {
                        Left::Nothing => false,
                        Left::Everything => true,
                        Left::Some(next) => next().is_multiple_of(2),
                    };
                    since.iter().filter(|_| stays()).for_each(|change| change.apply(&mut bytes));
                    fs::write(&path, bytes).unwrap();
                }
            }
        }
    }
}

fn sync(node: &mut Node) {
    if let Node::File { now, synced, since } = node {
        synced.clone_from(now);
        since.clear();
    }
}
