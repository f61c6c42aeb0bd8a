//! The two halves of a connection: lines of a Unix socket, or messages of a WebSocket.

use std::io;
use std::time::Duration;

use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::lines::{Lines, Read, write_lines};

/// How often the server's side of a WebSocket shows that it is there.
const BEAT: Duration = Duration::from_secs(20);

/// How long a WebSocket may be silent: both sides hear of each other with every beat.
const SILENCE: Duration = Duration::from_secs(75);

/// How long a message may wait to be taken before its reader is cut off.
const PROGRESS: Duration = Duration::from_secs(30);

/// Bytes that are read at a time.
const BUFFER: usize = 8 * 1024;

/// What a WebSocket is spoken over.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A WebSocket over anything.
pub(crate) type Web = WebSocketStream<Box<dyn Duplex>>;

/// The half that is read.
pub(crate) enum Reader {
    Lines(Lines<OwnedReadHalf>),
    Web(SplitStream<Web>),
}

/// The half that is written.
pub(crate) enum Writer {
    Lines(OwnedWriteHalf),
    Web(SplitSink<Web, Message>),
}

/// How a WebSocket is set up whose messages have at most so many bytes: with buffers that a thousand of them can have.
pub(crate) fn config(longest: usize) -> WebSocketConfig {
    let config = WebSocketConfig::default().max_message_size(Some(longest)).max_frame_size(Some(longest));
    config.read_buffer_size(BUFFER).write_buffer_size(0)
}

/// The halves of a WebSocket.
pub(crate) fn halves(web: Web) -> (Reader, Writer) {
    let (write, read) = web.split();
    (Reader::Web(read), Writer::Web(write))
}

impl Reader {
    /// The next line.
    pub async fn next(&mut self) -> io::Result<Read> {
        let web = match self {
            Self::Lines(lines) => return lines.next().await,
            Self::Web(web) => web,
        };
        loop {
            let Ok(message) = tokio::time::timeout(SILENCE, web.next()).await else { return Ok(Read::End) };
            match message {
                Some(Ok(Message::Text(text))) => return Ok(Read::Line(text.as_bytes().to_vec())),
                Some(Ok(Message::Binary(bytes))) => return Ok(Read::Line(bytes.to_vec())),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Ok(Read::End),
                Some(Err(Error::Capacity(_))) => return Ok(Read::TooLong),
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
    }

    /// From now on lines may have so many bytes; those of WebSockets may have from the start, since whoever speaks there
    /// has shown who it is.
    pub fn allow(&mut self, most: usize) {
        if let Self::Lines(lines) = self {
            lines.allow(most);
        }
    }
}

impl Writer {
    /// Says one line.
    pub async fn say(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Lines(write) => write.write_all(line).await,
            Self::Web(web) => web.send(text(line)?).await.map_err(io::Error::other),
        }
    }

    /// Says the lines of `outbox` until there are no more. Whoever takes no line of a WebSocket for long is cut off: all
    /// that it did not hear is in the log.
    pub async fn say_all<L: AsRef<[u8]>>(self, mut outbox: mpsc::Receiver<L>) -> io::Result<()> {
        let mut web = match self {
            Self::Lines(write) => return write_lines(write, outbox).await,
            Self::Web(web) => web,
        };
        let slow = || io::Error::new(io::ErrorKind::TimedOut, "nothing was read for too long");
        loop {
            let message = match tokio::time::timeout(BEAT, outbox.recv()).await {
                Ok(Some(line)) => text(line.as_ref())?,
                Ok(None) => break,
                Err(_) => Message::Ping(Vec::new().into()),
            };
            let sent = tokio::time::timeout(PROGRESS, web.send(message)).await;
            sent.map_err(|_| slow())?.map_err(io::Error::other)?;
        }
        let bye = CloseFrame { code: CloseCode::Restart, reason: "go on after the last seq that you have".into() };
        let closed = tokio::time::timeout(PROGRESS, web.send(Message::Close(Some(bye)))).await;
        closed.map_err(|_| slow())?.map_err(io::Error::other)
    }
}

/// A line as a message: without its end.
fn text(line: &[u8]) -> io::Result<Message> {
    let text = std::str::from_utf8(line).map_err(io::Error::other)?;
    Ok(Message::text(text.trim_end_matches('\n')))
}
