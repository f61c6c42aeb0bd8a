//! Builds the files of a box, inside its new namespaces: a read-only machine with fresh system folders,
//! and the places of the plan as they are to be seen.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{chdir, fchdir, pivot_root};

use super::mounts::{Depth, Links, PLAIN, READ_ONLY, copied, fresh, look_up, machine, put, set};
use crate::boxed::walls::Walls;
use crate::plan::layout::Seen;
use crate::survey::search::Identity;

/// Folders for temporary files, which are the box's own, as is `/run`.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Devices that every program may expect.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// What programs expect beside them.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("fd", "/proc/self/fd"),
    ("core", "/proc/kcore"),
    ("ptmx", "pts/ptmx"),
];

/// What of `/proc` is about the whole machine.
const MACHINE_IN_PROC: &[&str] = &["proc/sys", "proc/sysrq-trigger", "proc/irq", "proc/bus"];

/// A box that is being built.
struct Site<'a> {
    walls: &'a Walls,
    /// The machine's root.
    machine: OwnedFd,
    /// The root of the box.
    root: OwnedFd,
    /// What was put in its place and is what was found there, and the folders that commands work in: what lies below is
    /// looked up from these. Another command can exchange the folders above a repository, but none inside it.
    held: Vec<(PathBuf, OwnedFd)>,
}

/// Builds the walls and moves in. To be called with all capabilities in a mount namespace of its own.
pub(crate) fn build(walls: &Walls, terminal: bool) -> io::Result<()> {
    // What is mounted on the machine later is none of the box's.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let machine = machine()?;
    let temporary = look_up(machine.as_fd(), &walls.temporary, Links::Refused).map_err(at(&walls.temporary))?;
    // Before the root is put over it.
    let own_temporary = [copied(&temporary, PLAIN)?, copied(&temporary, PLAIN)?];
    let root = copied(&machine, READ_ONLY)?;
    put(&root, &temporary)?;
    let mut site = Site { walls, machine, root, held: Vec::new() };
    site.system_folders(terminal)?;
    for (folder, own) in TEMPORARY.iter().zip(own_temporary) {
        match look_up(site.root.as_fd(), Path::new(folder), Links::Followed) {
            Ok(over) => put(&own, &over)?,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(at(Path::new(folder))(error)),
        }
    }
    for (path, seen) in &walls.places {
        site.place(path, *seen).map_err(|error| named(path, &error))?;
    }
    // What lies in them was put there as it is to be seen.
    for path in site.emptied() {
        set(site.inside(path)?, READ_ONLY, Depth::Alone)?;
    }
    set(look_up(site.root.as_fd(), Path::new("/run"), Links::Followed)?, READ_ONLY, Depth::Alone)?;
    site.move_in()
}

impl Site<'_> {
    /// `/dev`, `/proc` and `/run` of the box's own.
    fn system_folders(&self, terminal: bool) -> io::Result<()> {
        let nosuid = MountAttrFlags::MOUNT_ATTR_NOSUID;
        let noexec = MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let over =
            |path: &str| look_up(self.root.as_fd(), Path::new(path), Links::Followed).map_err(at(Path::new(path)));
        let devices = fresh("tmpfs", &[("mode", Some("0755"))], nosuid)?;
        put(&devices, over("/dev")?)?;
        for name in DEVICES {
            let device = look_up(self.machine.as_fd(), &Path::new("/dev").join(name), Links::Followed)?;
            put(copied(device, nosuid | noexec)?, file_in(&devices, name)?)?;
        }
        if let Some(path) =
            terminal.then(|| rustix::termios::ttyname(rustix::stdio::stdin(), Vec::new()).ok()).flatten()
        {
            let device = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            put(copied(device, nosuid | noexec)?, file_in(&devices, "console")?)?;
        }
        for (name, target) in DEVICE_LINKS {
            symlinkat(*target, &devices, *name)?;
        }
        for (name, mode) in [("shm", 0o1777), ("pts", 0o755)] {
            mkdirat(&devices, name, Mode::from_raw_mode(0o755))?;
            rustix::fs::chmodat(&devices, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
        let options = [("newinstance", None), ("ptmxmode", Some("0666")), ("mode", Some("620"))];
        let options = options.map(|(name, value)| (name, value));
        put(fresh("devpts", &options, nosuid | noexec)?, look_up(devices.as_fd(), Path::new("pts"), Links::Refused)?)?;
        put(fresh("proc", &[], PLAIN | noexec)?, over("/proc")?)?;
        for path in MACHINE_IN_PROC {
            match look_up(self.root.as_fd(), Path::new(path), Links::Refused) {
                Ok(place) => put(copied(&place, READ_ONLY | noexec)?, place)?,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        put(fresh("tmpfs", &[("mode", Some("0755"))], PLAIN)?, over("/run")?)?;
        for path in &self.walls.from_run {
            let source = look_up(self.machine.as_fd(), path, Links::Refused).map_err(at(path))?;
            let over = self.made(path, is_folder(&source)?)?;
            put(copied(source, READ_ONLY)?, over)?;
        }
        Ok(())
    }

    fn place(&mut self, path: &Path, seen: Seen) -> io::Result<()> {
        let covers = &self.walls.covers;
        let (source, attributes) = match seen {
            Seen::Root | Seen::Writable => (path, PLAIN),
            Seen::ReadOnly | Seen::StandInFile => (path, READ_ONLY),
            Seen::StandIn => (covers.empty_folder.as_path(), READ_ONLY),
            Seen::HiddenFile => (self.walls.cover_of_file(path), READ_ONLY),
            Seen::HiddenFolder => (covers.closed_folder.as_path(), READ_ONLY),
            Seen::Emptied => {
                return put(fresh("tmpfs", &[("mode", Some("0700"))], PLAIN)?, self.there(path, || Ok(true))?);
            }
        };
        let is_itself = source == path && !self.is_of_boxes(path);
        if is_itself && attributes == READ_ONLY {
            // What is there is covered with itself: no other can come between.
            let over = self.inside(path)?;
            self.check(path, &over, None)?;
            return put(copied(&over, attributes)?, over);
        }
        let source = look_up(self.machine.as_fd(), source, Links::Refused)?;
        let over = self.there(path, || is_folder(&source))?;
        self.check(path, &over, is_itself.then_some(&source))?;
        let mount = copied(source, attributes)?;
        put(&mount, over)?;
        if seen == Seen::Root || seen == Seen::Writable && self.identities_of(path).next().is_some() {
            self.held.push((path.to_path_buf(), mount));
        }
        Ok(())
    }

    /// What was found at a place.
    fn identities_of(&self, path: &Path) -> impl Iterator<Item = Identity> {
        self.walls.identities.iter().filter(move |(own, _)| **own == *path).map(|(_, known)| *known)
    }

    /// What is covered here must be what was found there, and what it is covered with where that is itself: another
    /// command may exchange folders meanwhile, and one that is covered with another is open where it is then.
    fn check(&self, path: &Path, over: &OwnedFd, itself: Option<&OwnedFd>) -> io::Result<()> {
        let copied = itself.map(identity).transpose()?;
        let wanted: Vec<Identity> = self.identities_of(path).chain(copied).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let found = identity(over)?;
        match wanted.into_iter().all(|wanted| wanted == found) {
            true => Ok(()),
            false => Err(io::Error::other("something else was put in its place just now; run the command again")),
        }
    }

    /// Whether what boxes see at a place is none of the machine's.
    fn is_of_boxes(&self, path: &Path) -> bool {
        TEMPORARY.iter().any(|folder| Path::new(folder) == path) || self.may_be_made(path)
    }

    /// What is at a place, which is made where only boxes see it: a folder or a file.
    fn there(&self, path: &Path, is_folder: impl Fn() -> io::Result<bool>) -> io::Result<OwnedFd> {
        match self.inside(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.may_be_made(path) => {
                self.made(path, is_folder()?)
            }
            other => other,
        }
    }

    fn inside(&self, path: &Path) -> io::Result<OwnedFd> {
        let above = self.held.iter().filter(|(above, _)| path != above && path.starts_with(above));
        let found = match above.max_by_key(|(above, _)| above.components().count()) {
            Some((above, mount)) => look_up(mount.as_fd(), path.strip_prefix(above).unwrap_or(path), Links::Refused),
            None => look_up(self.root.as_fd(), path, Links::Refused),
        };
        Ok(found?)
    }

    fn emptied(&self) -> impl Iterator<Item = &Path> {
        self.walls.places.iter().filter(|(_, seen)| *seen == Seen::Emptied).map(|(path, _)| &**path)
    }

    /// Nothing is made but in folders that only boxes see: the nearest one above decides, be it in a folder of the
    /// machine or the other way round.
    fn may_be_made(&self, path: &Path) -> bool {
        let of_boxes = TEMPORARY.iter().chain(&["/run"]).map(|folder| (Path::new(*folder), true));
        let of_the_plan = self.walls.places.iter().map(|(place, seen)| (&**place, *seen == Seen::Emptied));
        let above = of_boxes.chain(of_the_plan).filter(|(folder, _)| path != *folder && path.starts_with(folder));
        // Of two that are the same one, what the plan says of it counts: it comes later.
        above.max_by_key(|(folder, _)| folder.components().count()).is_some_and(|(_, only_boxes)| only_boxes)
    }

    /// Something empty to be covered, and the folders above it: level by level and through no link, as others may change
    /// what lies above meanwhile.
    fn made(&self, path: &Path, folder: bool) -> io::Result<OwnedFd> {
        let mut above = PathBuf::from("/");
        for part in path.strip_prefix("/").unwrap_or(path).parent().into_iter().flat_map(Path::iter) {
            make_folder(&self.inside(&above)?, part)?;
            above.push(part);
        }
        let (parent, name) = (self.inside(&above)?, path.file_name().ok_or(io::ErrorKind::NotFound)?);
        match folder {
            true => make_folder(&parent, name)?,
            false => {
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                openat(&parent, name, flags, Mode::from_raw_mode(0o600))?;
            }
        }
        self.inside(path)
    }

    /// The box's root becomes the root, and the machine's is gone for good.
    fn move_in(&self) -> io::Result<()> {
        fchdir(&self.root)?;
        pivot_root(".", ".")?;
        unmount(".", UnmountFlags::DETACH)?;
        chdir("/")?;
        chdir(&self.walls.folder).map_err(at(&self.walls.folder))
    }
}

fn make_folder(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn file_in(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
    Ok(look_up(folder.as_fd(), Path::new(name), Links::Refused)?)
}

fn identity(place: &OwnedFd) -> io::Result<Identity> {
    let found = fstat(place)?;
    Ok((found.st_dev, found.st_ino))
}

fn is_folder(place: &OwnedFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(place)?.st_mode).is_dir())
}

fn at(path: &Path) -> impl Fn(Errno) -> io::Error + '_ {
    move |error| named(path, &error.into())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
