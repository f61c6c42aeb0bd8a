//! A file that waits beside its place until it is moved there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicU32, Ordering};

use neco_safety::path::Attributes;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::details::Details;
use super::restore::{CHANGED, Reached, is_still, open_chain, split};
use super::scan::USUAL;
use super::tree::{Item, ItemKind, TreeChange};

/// What the name of such a file begins with.
const UNFINISHED: &[u8] = b".neco-restore-";

/// Whether a name is that of a file which a restore was writing.
pub fn is_unfinished(name: &[u8]) -> bool {
    let Some(numbers) = name.strip_prefix(UNFINISHED) else { return false };
    let mut parts = numbers.split(|byte| *byte == b'-');
    let is_number =
        |part: Option<&[u8]>| part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// A file that waits beside its place.
pub struct Beside {
    name: OsString,
    way: Way,
}

/// How it gets into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It becomes the file.
    Rename,
    /// What it holds is written into the file that is there: a new one could not have its owner, permissions, access
    /// list and other attributes.
    InPlace,
}

impl Beside {
    /// Writes it. Gives the file too, to be forced to the disk; a link has none.
    pub fn write(
        reached: &mut Reached<'_>,
        change: &TreeChange,
        item: Item,
        content: &[u8],
        target: &Details,
    ) -> io::Result<(Self, Option<File>)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mode = target.modes.get(&change.path).copied();
        let Some(folder) = reached.folder(&change.path, Some(&target.folders))? else {
            return Err(io::Error::other(CHANGED));
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = [UNFINISHED, format!("{}-{number}", std::process::id()).as_bytes()].concat();
        let name = OsString::from_vec(name);
        let written = match item.kind {
            ItemKind::Link => {
                Ok(rustix::fs::symlinkat(OsStr::from_bytes(content), folder, &name).map(|()| (None, Way::Rename))?)
            }
            ItemKind::File | ItemKind::Program => {
                let there = there(folder, split(&change.path).1);
                write_file(folder, &name, (item.kind, mode), content, there.as_ref())
                    .map(|(file, way)| (Some(file), way))
            }
            ItemKind::Folder => Err(io::Error::other("it is a folder")),
        };
        if written.is_err() {
            let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
        }
        let (file, way) = written?;
        Ok((Self { name, way }, file))
    }

    /// Moves it into its place, if that is as it was seen.
    /// Fails when it is not, or can't be written.
    pub fn move_into_place(&self, reached: &mut Reached<'_>, change: &TreeChange) -> io::Result<()> {
        let (_, name) = split(&change.path);
        let Some(folder) = reached.folder(&change.path, None)? else { return Err(io::Error::other(CHANGED)) };
        if !is_still(folder, name, change.before)? {
            return Err(io::Error::other(CHANGED));
        }
        match self.way {
            Way::Rename => Ok(rustix::fs::renameat(folder, &self.name, folder, name)?),
            Way::InPlace => self.write_into(folder, name),
        }
    }

    fn write_into(&self, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
        let open = |name: &OsStr, flags| {
            let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            rustix::fs::openat(folder, name, flags, Mode::empty()).map(File::from)
        };
        let mut content = Vec::new();
        open(&self.name, OFlags::RDONLY)?.read_to_end(&mut content)?;
        let mut file = open(name, OFlags::WRONLY)?;
        if file.metadata().is_ok_and(|there| std::os::unix::fs::MetadataExt::nlink(&there) > 1) {
            return Err(io::Error::other(
                "its owner and attributes can't be kept, and it has other names (hard links)",
            ));
        }
        file.write_all(&content)?;
        file.set_len(content.len() as u64)?;
        file.sync_all()?;
        Ok(rustix::fs::unlinkat(folder, &self.name, AtFlags::empty())?)
    }

    /// Removes one that did not get into its place.
    pub fn forget(&self, root: &OwnedFd, change: &TreeChange) {
        let (folders, _) = split(&change.path);
        if let Ok(Some(chain)) = open_chain(root, &folders, None) {
            let _ = rustix::fs::unlinkat(chain.last().unwrap_or(root), &self.name, AtFlags::empty());
        }
    }
}

/// What the file that is there has besides its content; nothing when there is none.
fn there(folder: &OwnedFd, name: &OsStr) -> Option<Result<Attributes, rustix::io::Errno>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let opened = rustix::fs::openat(folder, name, flags, Mode::empty());
    Some(opened.and_then(|file| Attributes::of(&File::from(file))))
}

fn write_file(
    folder: &OwnedFd,
    name: &OsStr,
    (kind, mode): (ItemKind, Option<u32>),
    content: &[u8],
    there: Option<&Result<Attributes, rustix::io::Errno>>,
) -> io::Result<(File, Way)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What a new file would get by itself; what is unusual is kept from others from the first moment on.
    let usual = if kind == ItemKind::Program { 0o777 } else { 0o666 };
    let create = if mode.is_some() || there.is_some() { 0o600 } else { usual };
    let handle = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(create))?;
    let mut file = File::from(handle);
    file.write_all(content)?;
    let given = there.is_none_or(|there| there.as_ref().is_ok_and(|there| there.give_to(&file).is_ok()));
    if !given {
        return Ok((file, Way::InPlace));
    }
    let now = rustix::fs::fstat(&file)?.st_mode & 0o7777;
    let ours = if kind == ItemKind::Program { 0o755 } else { 0o644 };
    let is_ours = USUAL.contains(&now) && (now & 0o100 == 0) == (kind == ItemKind::File);
    // What a new file gets here may be another thing than what it was: then it is what the state says. Bits that let
    // a file run as somebody else are never given.
    let wanted = mode.unwrap_or(if is_ours { now } else { ours }) & 0o777;
    if wanted != now {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(wanted))?;
    }
    Ok((file, Way::Rename))
}
