//! A server in the place of another one: the new process is given where the old one listens and what makes it the server,
//! and goes on with its sessions. Who connects meanwhile waits and is not turned away.
//!
//! Whoever wants to take over connects to a Unix socket of the server, which only processes of the same user may and no
//! command of an agent, and waits. The answer comes when all that works is between two turns: the listener and the lock,
//! as open files, and [`HandedOver`]. When the new one says that it listens, the old one is gone.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use neco_proto::app::opening::OpenSession;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use tokio::net::UnixListener;

use super::found::Lock;
use super::tls::TlsFiles;
use crate::remote::SocketPlaces;
use crate::remote::peer;
use crate::remote::place::Bound;

/// What the socket is called.
const NAME: &str = "server";

/// How long a server may take until its agents are between two turns and its sessions are handed over.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long the new one may take until it listens.
const LISTENS: Duration = Duration::from_secs(30);

/// Bytes that tell how many there are of the rest.
const LENGTH: usize = 8;

/// Bytes of what is told beside the open files.
const LONGEST: u64 = 256 * 1024 * 1024;

/// What a server tells the one that takes its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandedOver {
    /// The sessions that it had open, as the new one opens them.
    pub sessions: Vec<OpenSession>,
    /// Names that it has besides its address.
    pub names: Vec<String>,
    /// Whether somebody else ends TLS before it.
    pub behind_proxy: bool,
    /// Its certificate, where it speaks TLS itself.
    pub tls: Option<TlsFiles>,
    /// Whether it ends when nobody needs it.
    pub on_demand: bool,
    /// Settings that it was started with.
    pub settings: Vec<String>,
}

/// Where a server is asked to hand over what it is.
pub struct Handover {
    listener: UnixListener,
    /// Its name, as long as it listens.
    _bound: Bound,
}

impl Handover {
    /// Listens; needs a runtime.
    ///
    /// # Errors
    /// When there is no place for the socket.
    pub fn listen(places: &SocketPlaces) -> io::Result<Self> {
        let (listener, bound) = places.bind_as(NAME)?;
        Ok(Self { listener: UnixListener::from_std(listener)?, _bound: bound })
    }

    /// The next process that wants to take over.
    pub async fn asked(&self) -> Successor {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => match peer::check(&stream).await {
                    Ok(()) => {
                        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(Pid::from_raw);
                        match stream.into_std() {
                            Ok(stream) => return Successor { stream, pid },
                            Err(error) => tracing::warn!(%error, "whoever wants to take over can't be talked to"),
                        }
                    }
                    Err(why) => tracing::warn!(%why, "somebody who may not wanted to take over"),
                },
                Err(error) => {
                    tracing::warn!(%error, "whoever wants to take over can't be heard");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// A process that takes over.
pub struct Successor {
    stream: UnixStream,
    pid: Option<Pid>,
}

impl Successor {
    /// Whether it is still there: it says nothing before it was given what it needs.
    #[must_use]
    pub fn waits(&self) -> bool {
        let said = (&self.stream).read(&mut [0]);
        said.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Gives it all that it needs, and waits until it listens. May block.
    ///
    /// # Errors
    /// When it is gone, or takes too long and is ended for it: then this process is the server as before.
    pub fn give(self, lock: Lock, listener: &dyn AsFd, told: &HandedOver) -> Result<(), (Lock, io::Error)> {
        match self.takes(&lock, listener, told) {
            Ok(()) => {
                lock.leave();
                Ok(())
            }
            Err(error) => {
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
                    self.end();
                }
                Err((lock, error))
            }
        }
    }

    /// Ends its process, which may have what makes it the server by now: there is one.
    fn end(&self) {
        match self.pid.map(|pid| kill_process(pid, Signal::KILL)) {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::warn!(%error, "whoever was to take over can't be ended"),
            None => tracing::warn!("whoever was to take over can't be ended: its process is not known"),
        }
    }

    fn takes(&self, lock: &Lock, listener: &dyn AsFd, told: &HandedOver) -> io::Result<()> {
        let mut stream = &self.stream;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LISTENS))?;
        stream.set_write_timeout(Some(LISTENS))?;
        let text = serde_json::to_vec(told)?;
        let file = lock.file().ok_or_else(|| io::Error::other("this process is not the server"))?;
        let files = [listener.as_fd(), file.as_fd()];
        send(stream.as_fd(), &files, &u64::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes())?;
        stream.write_all(&text)?;
        let mut listens = [0];
        stream.read_exact(&mut listens)
    }
}

/// What a process has that takes over.
pub struct Taken {
    /// Where the old one listened.
    pub listener: TcpListener,
    /// What makes this process the server.
    pub lock: Lock,
    /// What the old one told.
    pub told: HandedOver,
    stream: UnixStream,
}

impl Taken {
    /// Asks the server of `folder` to hand over, and waits for it; nothing where no server can be asked. May block.
    ///
    /// # Errors
    /// When it does not hand over.
    pub fn ask(places: &SocketPlaces, folder: &Path) -> io::Result<Option<Self>> {
        let Some(socket) = places.find_as(NAME) else { return Ok(None) };
        let mut stream = match UnixStream::connect(socket) {
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
                return Ok(None);
            }
            connected => connected?,
        };
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut length = [0; LENGTH];
        let mut files = receive(stream.as_fd(), &mut length)?.into_iter();
        let (Some(listener), Some(lock), None) = (files.next(), files.next(), files.next()) else {
            return Err(io::Error::other("the server did not say where it listens"));
        };
        let length = u64::from_le_bytes(length);
        if length > LONGEST {
            return Err(io::Error::other("the server says more than can be read"));
        }
        let mut text = Vec::new();
        (&mut stream).take(length).read_to_end(&mut text)?;
        let told = serde_json::from_slice(&text)?;
        let (listener, lock) = (TcpListener::from(listener), Lock::of(folder, File::from(lock)));
        Ok(Some(Self { listener, lock, told, stream }))
    }

    /// Tells the old one that this process listens.
    ///
    /// # Errors
    /// When it is gone; this process is the server all the same.
    pub fn listens(stream: &mut UnixStream) -> io::Result<()> {
        stream.write_all(&[1])
    }

    /// What it has, and the way to the old one.
    pub fn parts(self) -> (TcpListener, Lock, HandedOver, UnixStream) {
        (self.listener, self.lock, self.told, self.stream)
    }
}

/// Sends bytes with open files.
fn send(to: BorrowedFd<'_>, files: &[BorrowedFd<'_>], bytes: &[u8]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("there are too many open files to be passed on"));
    }
    match sendmsg(to, &[IoSlice::new(bytes)], &mut beside, SendFlags::empty())? {
        sent if sent == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Fills `bytes`; the open files that came with them.
fn receive(from: BorrowedFd<'_>, bytes: &mut [u8; LENGTH]) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(from, &mut [IoSliceMut::new(bytes)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let files = beside.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let files: Vec<OwnedFd> = files.collect();
    match got.bytes == bytes.len() {
        true => Ok(files),
        false => Err(io::Error::other("the server ended without handing over")),
    }
}
