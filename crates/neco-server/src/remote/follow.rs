//! The events of a session of another process, over a connection of their own: a window that draws
//! slowly keeps no answer waiting.

use std::sync::Arc;

use neco_proto::{ClientError, Event, EventStream, Seq};

use super::address::{Address, Connection};
use super::client::{AttachError, not_expected, not_understood};
use super::frames::{Numbered, Reply, Request, id_of, line};
use super::lines::Read;

/// All events after `since`, without gaps: after a broken connection it goes on where it was.
pub(super) fn events(address: Arc<Address>, since: Seq) -> EventStream {
    let follower = Follower { address, seen: since, connection: None, failures: 0, over: false };
    Box::pin(futures::stream::unfold(follower, |mut follower| async move {
        follower.next().await.map(|event| (event, follower))
    }))
}

struct Follower {
    address: Arc<Address>,
    seen: Seq,
    connection: Option<Connection>,
    /// Connections that gave nothing, since the last event.
    failures: u32,
    over: bool,
}

/// What the next line means.
enum Heard {
    Event(Box<Event>),
    End(Option<ClientError>),
    /// Something that only a newer version knows.
    Nothing,
    /// The connection is of no use any more.
    Lost,
}

impl Follower {
    async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        while !self.over {
            match self.hear().await {
                Heard::Nothing => {}
                Heard::Event(event) if event.seq <= self.seen => {}
                Heard::Event(event) if event.seq == self.seen + 1 => {
                    (self.seen, self.failures) = (event.seq, 0);
                    return Some(Ok(*event));
                }
                Heard::Event(_) | Heard::Lost => self.begin_again().await,
                Heard::End(error) => {
                    self.over = true;
                    return error.map(Err);
                }
            }
        }
        None
    }

    async fn begin_again(&mut self) {
        self.connection = None;
        self.failures += 1;
        if self.failures > 1 {
            tokio::time::sleep(self.address.patience().1).await;
        }
    }

    async fn hear(&mut self) -> Heard {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => match self.connect().await {
                Ok(connection) => self.connection.insert(connection),
                Err(heard) => return heard,
            },
        };
        match connection.lines.next().await {
            Ok(Read::Line(line)) => heard(&line),
            Ok(Read::TooLong) => Heard::End(Some(not_understood("an event without an end"))),
            Ok(Read::End) | Err(_) => Heard::Lost,
        }
    }

    async fn connect(&self) -> Result<Connection, Heard> {
        if self.failures >= self.address.patience().0 {
            return Err(Heard::End(Some(ClientError::Gone)));
        }
        let mut connection = match self.address.connect().await {
            Ok(connection) => connection,
            Err(AttachError::NotThere | AttachError::Broken(_)) => return Err(Heard::Lost),
            // A server that another one takes the place of answers when that listens.
            Err(AttachError::Silent) if matches!(*self.address, Address::Web(_)) => return Err(Heard::Lost),
            Err(error @ (AttachError::Silent | AttachError::NotWelcome(_))) => {
                return Err(Heard::End(Some(error.into())));
            }
        };
        let request = line(1, Request::Events { since: self.seen }).map_err(|_| Heard::Lost)?;
        connection.write.say(&request).await.map_err(|_| Heard::Lost)?;
        Ok(connection)
    }
}

fn heard(line: &[u8]) -> Heard {
    match serde_json::from_slice(line) {
        Ok(Numbered { says: Reply::Event(event), .. }) => Heard::Event(event),
        Ok(Numbered { says: Reply::End, .. }) => Heard::End(None),
        Ok(Numbered { says, .. }) => Heard::End(Some(not_expected(says))),
        // A newer version may say more than this one knows; whoever says nothing that can be read at all is another matter.
        Err(_) if id_of(line).is_some() => Heard::Nothing,
        Err(error) => Heard::End(Some(not_understood(&error.to_string()))),
    }
}
