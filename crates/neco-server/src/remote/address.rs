//! Where a session, or a whole program, is reached; also again, after its owner has changed.

use std::io;
use std::time::Duration;

use neco_proto::{PROTOCOL, SessionId};
use tokio::net::UnixStream;

use super::client::{AttachError, Owner};
use super::desk::LONGEST_REPLY;
use super::frames::{ALIKE, Numbered, OLDEST, Reply, Request, line};
use super::lines::{Lines, Read};
use super::peer::of_own_user;
use super::place::SocketPlaces;
use super::transport::{Reader, Writer};
use crate::http::client::WebAddress;

/// How long the other side may take to say welcome.
const WELCOME: Duration = Duration::from_secs(3);

/// The same over a network.
const WEB_WELCOME: Duration = Duration::from_secs(15);

/// The version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// Where somebody serves.
pub(crate) enum Address {
    /// A process of this machine that has one session open.
    Socket { places: SocketPlaces, session: SessionId },
    /// A server.
    Web(WebAddress),
}

/// A connection after its hello.
pub(super) struct Connection {
    pub lines: Reader,
    pub write: Writer,
    pub owner: Owner,
}

impl Address {
    /// How often a connection that broke is made again before what is followed counts as gone, and how long is waited
    /// before each.
    pub fn patience(&self) -> (u32, Duration) {
        match self {
            Self::Socket { .. } => (4, Duration::from_millis(50)),
            Self::Web(_) => (60, Duration::from_millis(250)),
        }
    }

    /// Connects and says hello.
    pub(super) async fn connect(&self) -> Result<Connection, AttachError> {
        let welcome = match self {
            Self::Socket { .. } => WELCOME,
            Self::Web(_) => WEB_WELCOME,
        };
        tokio::time::timeout(welcome, self.hello()).await.map_err(|_| AttachError::Silent)?
    }

    async fn halves(&self) -> Result<(Reader, Writer), AttachError> {
        let (places, session) = match self {
            Self::Socket { places, session } => (places.clone(), *session),
            Self::Web(web) => return web.connect().await,
        };
        let found = tokio::task::spawn_blocking(move || places.find(session)).await;
        let socket = found.ok().flatten().ok_or(AttachError::NotThere)?;
        let stream = UnixStream::connect(socket).await.map_err(|error| not_reached(&error))?;
        if !of_own_user(&stream) {
            return Err(AttachError::NotWelcome("its socket belongs to another user".to_owned()));
        }
        let (read, write) = stream.into_split();
        Ok((Reader::Lines(Lines::new(read, LONGEST_REPLY)), Writer::Lines(write)))
    }

    fn session(&self) -> Option<SessionId> {
        match self {
            Self::Socket { session, .. } => Some(*session),
            Self::Web(web) => web.session,
        }
    }

    async fn hello(&self) -> Result<Connection, AttachError> {
        let (mut lines, mut write) = self.halves().await?;
        let hello = Request::Hello { protocol: PROTOCOL, session_id: self.session(), version: Some(OWN.to_owned()) };
        let hello = line(0, hello).map_err(|error| AttachError::Broken(error.to_string()))?;
        write.say(&hello).await.map_err(|error| not_reached(&error))?;
        let first = match lines.next().await.map_err(|error| not_reached(&error))? {
            Read::Line(first) => first,
            // It left between listening and hearing.
            Read::End => return Err(AttachError::NotThere),
            Read::TooLong => return Err(AttachError::Broken("a hello without an end".to_owned())),
        };
        match serde_json::from_slice(&first) {
            Ok(Numbered { says: Reply::Welcome { protocol, version, .. }, .. })
                if !(OLDEST..=PROTOCOL).contains(&protocol) =>
            {
                Err(AttachError::NotWelcome(format!(
                    "it runs neco {version}, which speaks version {protocol} of the protocol; this is neco {OWN}, which \
                     speaks {OLDEST} to {PROTOCOL}: {ALIKE}"
                )))
            }
            Ok(Numbered { says: Reply::Welcome { pid, version, .. }, .. }) => {
                Ok(Connection { lines, write, owner: Owner { pid, version } })
            }
            Ok(Numbered { says: Reply::NotWelcome { why }, .. }) => Err(AttachError::NotWelcome(why)),
            Ok(Numbered { .. }) | Err(_) => {
                Err(AttachError::NotWelcome("it speaks another language: is it another version of neco?".to_owned()))
            }
        }
    }
}

pub(crate) fn not_reached(error: &io::Error) -> AttachError {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
    match error.kind() {
        NotFound | ConnectionRefused | ConnectionReset | BrokenPipe => AttachError::NotThere,
        _ => AttachError::Broken(error.to_string()),
    }
}
