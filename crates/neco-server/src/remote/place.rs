//! Where the sockets of sessions are.
//!
//! A socket lies beside the session's lock, in a folder of its owner alone. The system takes only
//! short paths for sockets; where that one is too long the socket lies in a fresh folder elsewhere,
//! and a link in its place says where.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_proto::SessionId;
use tokio::net::UnixStream;

/// Bytes of a path that every Unix takes for a socket.
const LONGEST: usize = 100;

/// How folders elsewhere begin.
const ELSEWHERE: &str = "neco-";

/// How long somebody who may be dead is waited for.
const LOOK: Duration = Duration::from_millis(200);

/// The folder of sockets, and folders with short paths.
#[derive(Clone, Debug)]
pub struct SocketPlaces {
    folder: PathBuf,
    short: Vec<PathBuf>,
}

/// A socket that is listened at; gone when it is dropped.
///
/// Only the holder of the session's lock may have it: the name is taken from whoever had it before.
#[derive(Debug)]
pub(crate) struct Bound {
    named: PathBuf,
}

/// What tells a file from another one that has its name or its number later: both, and when it was made.
type Identity = (u64, u64, i64, i64);

/// A socket that somebody may have left behind.
struct Left {
    named: PathBuf,
    /// Where it is listened, if anywhere.
    socket: Option<PathBuf>,
    identity: Option<Identity>,
}

impl SocketPlaces {
    /// Sockets in `folder`; where its path is too long, in the first of the `short` ones that will do.
    pub fn new(folder: PathBuf, short: Vec<PathBuf>) -> Self {
        Self { folder, short }
    }

    /// Listens for windows of `session`.
    pub(super) fn bind(&self, session: SessionId) -> io::Result<(UnixListener, Bound)> {
        self.bind_as(&session.to_string())
    }

    /// Listens under a name.
    pub(crate) fn bind_as(&self, name: &str) -> io::Result<(UnixListener, Bound)> {
        make_private(&self.folder)?;
        let named = self.named(name);
        let before = fs::read_link(&named);
        // Under another name until somebody listens, so that a name that is found can be used.
        let fresh = named.with_extension("new");
        let _ = fs::remove_file(&fresh);
        let listener = if fits(&named) {
            listen(&fresh)?
        } else {
            let socket = self.elsewhere()?.join("socket");
            let listener = listen(&socket)?;
            symlink(&socket, &fresh)?;
            listener
        };
        fs::rename(&fresh, &named)?;
        // Not before: nothing that is made has the number of what somebody may be about to sweep away.
        before.iter().for_each(|socket| clear_elsewhere(socket));
        Ok((listener, Bound { named }))
    }

    /// Where `session` may be listening.
    pub(super) fn find(&self, session: SessionId) -> Option<PathBuf> {
        self.find_as(&session.to_string())
    }

    /// Where somebody may be listening under a name.
    pub(crate) fn find_as(&self, name: &str) -> Option<PathBuf> {
        let named = self.named(name);
        let there = fs::symlink_metadata(&named).ok()?;
        if !there.is_symlink() {
            return Some(named);
        }
        let socket = fs::read_link(&named).ok()?;
        let folder = fs::metadata(socket.parent()?).ok()?;
        // Others can't put a socket of theirs into a folder that only we can open.
        (folder.uid() == own_user() && folder.mode() & 0o077 == 0).then_some(socket)
    }

    /// Removes what dead processes left behind.
    pub(super) async fn sweep(&self) {
        for left in self.blocking(Self::all).await.unwrap_or_default() {
            if is_dead(left.socket.as_deref()).await {
                // Whoever opens that session just now has put another one in its place.
                self.blocking(move |_| clear_if_same(&left)).await;
            }
        }
    }

    fn all(&self) -> Vec<Left> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let left = |named: PathBuf| {
            let session = named.file_stem()?.to_str()?.parse().ok()?;
            Some(Left { identity: identity(&named), socket: self.find(session), named })
        };
        names.filter(|named| is_socket_name(named)).filter_map(left).collect()
    }

    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Self) -> T + Send + 'static) -> Option<T> {
        let places = self.clone();
        tokio::task::spawn_blocking(move || work(&places)).await.ok()
    }

    fn named(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.sock"))
    }

    /// A fresh folder with a short path.
    fn elsewhere(&self) -> io::Result<PathBuf> {
        let short = self.short.iter().filter(|folder| folder.as_os_str().as_bytes().len() + 32 <= LONGEST);
        let mut last = io::Error::other("no folder has a path that is short enough for a socket");
        for folder in short {
            let made = tempfile::Builder::new()
                .prefix(ELSEWHERE)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(folder);
            match made {
                Ok(made) => return Ok(made.keep()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        clear(&self.named);
    }
}

/// The user that this process acts for.
pub(super) fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether nobody listens there for certain.
async fn is_dead(socket: Option<&Path>) -> bool {
    let Some(socket) = socket else { return true };
    let dead = [io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound];
    match tokio::time::timeout(LOOK, UnixStream::connect(socket)).await {
        Ok(Err(error)) => dead.contains(&error.kind()),
        Ok(Ok(_)) | Err(_) => false,
    }
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let there = fs::metadata(folder)?;
    if there.uid() != own_user() {
        return Err(io::Error::other(format!("{} belongs to somebody else", folder.display())));
    }
    if there.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes a socket, or a link with what it leads to. What is not there is no trouble.
fn clear(named: &Path) {
    fs::read_link(named).iter().for_each(|socket| clear_elsewhere(socket));
    let _ = fs::remove_file(named);
}

/// Removes a socket that a link leads to, with its folder.
fn clear_elsewhere(socket: &Path) {
    let _ = fs::remove_file(socket);
    let own = |folder: &&Path| folder.file_name().is_some_and(|name| name.as_bytes().starts_with(ELSEWHERE.as_bytes()));
    if let Some(folder) = socket.parent().filter(own) {
        let _ = fs::remove_dir(folder);
    }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().as_bytes().len() <= LONGEST
}

/// Removes what was found, unless somebody who opens that session just now has put another one in its place:
/// under a name of its own it can be looked at without a race, and put back.
fn clear_if_same(left: &Left) {
    let own = left.named.with_extension(format!("{}.old", std::process::id()));
    if identity(&left.named) != left.identity || fs::rename(&left.named, &own).is_err() {
        return;
    }
    match identity(&own) == left.identity {
        true => clear(&own),
        false => match fs::hard_link(&own, &left.named) {
            Ok(()) => drop(fs::remove_file(&own)),
            // A name that was taken meanwhile stays: it is newer still.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => clear(&own),
            Err(_) => drop(fs::rename(&own, &left.named)),
        },
    }
}

fn is_socket_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sock")
}

fn identity(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().map(|there| (there.dev(), there.ino(), there.mtime(), there.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn only_its_owner_can_open_it_and_it_goes_with_its_holder() {
        let home = tempfile::tempdir().unwrap();
        let places = SocketPlaces::new(home.path().join("sockets"), Vec::new());
        let session = SessionId::new();
        assert_eq!(places.find(session), None);
        fs::create_dir(home.path().join("sockets")).unwrap();
        fs::set_permissions(home.path().join("sockets"), Permissions::from_mode(0o755)).unwrap();
        let (_listener, bound) = places.bind(session).unwrap();
        let socket = places.find(session).unwrap();
        assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
        drop(bound);
        assert_eq!(fs::read_dir(home.path().join("sockets")).unwrap().count(), 0);
    }

    #[test]
    fn a_long_path_leads_to_a_short_one_and_nothing_is_left_of_either() {
        let (home, short) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = home.path().join("a long name ".repeat(9)).join("漢字".repeat(9)).join("sockets");
        let places = SocketPlaces::new(folder.clone(), vec![folder.join("x"), short.path().to_owned()]);
        let session = SessionId::new();
        let (_listener, bound) = places.bind(session).unwrap();
        let socket = places.find(session).unwrap();
        assert!(socket.starts_with(short.path()) && mode(socket.parent().unwrap()) == 0o700, "{socket:?}");
        std::os::unix::net::UnixStream::connect(&socket).unwrap();
        fs::set_permissions(socket.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(places.find(session), None, "others could have put it there");
        drop(bound);
        assert_eq!(fs::read_dir(&folder).unwrap().count() + fs::read_dir(short.path()).unwrap().count(), 0);
        assert!(SocketPlaces::new(folder.clone(), vec![folder]).bind(session).is_err());
    }

    #[test]
    fn what_a_dead_process_left_is_taken_over_and_swept() {
        let home = tempfile::tempdir().unwrap();
        let places = SocketPlaces::new(home.path().join("sockets"), Vec::new());
        let (dead, alive) = (SessionId::new(), SessionId::new());
        let (listener, bound) = places.bind(dead).unwrap();
        std::mem::forget(bound);
        drop(listener);
        let (_listener, _bound) = places.bind(alive).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(places.sweep());
        assert_eq!((places.find(dead), places.find(alive).is_some()), (None, true));
        let (listener, bound) = places.bind(dead).unwrap();
        std::mem::forget(bound);
        drop(listener);
        places.bind(dead).unwrap();
    }

    #[test]
    fn only_what_was_found_is_swept_and_nothing_lies_beside_it_then() {
        let home = tempfile::tempdir().unwrap();
        let places = SocketPlaces::new(home.path().join("sockets"), Vec::new());
        let session = SessionId::new();
        let (_old, bound) = places.bind(session).unwrap();
        std::mem::forget(bound);
        let left = places.all().pop().unwrap();
        let (_listener, _bound) = places.bind(session).unwrap();
        assert_ne!(identity(&left.named), left.identity, "a new one is not the one that was found");
        clear_if_same(&left);
        assert!(places.find(session).is_some());
        clear_if_same(&Left { identity: identity(&left.named), ..left });
        assert_eq!(fs::read_dir(home.path().join("sockets")).unwrap().count(), 0);
    }
}
