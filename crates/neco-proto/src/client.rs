//! A session as a window sees it: commands in, events out, questions answered.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::actor::Actor;
use crate::command::Command;
use crate::error_code::ErrorCode;
use crate::event::Event;
use crate::ids::{MessageId, Seq, SessionId};
use crate::query::{Answer, Query};

/// A stream of events in `seq` order without gaps.
pub type EventStream = BoxStream<'static, Result<Event, ClientError>>;

/// The one face of a session. It is served in process and over sockets alike, so a window that is
/// written against it works with both.
pub trait Client: Send + Sync {
    /// Hands over a command of whom it came from; ready when the session has accepted it.
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>>;

    /// Hands over a command of the person at this machine.
    fn send(&self, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        self.send_as(Actor::Person, command)
    }

    /// All events after `since`, the past ones first, then the live ones until the session ends.
    fn events(&self, since: Seq) -> EventStream;

    /// Asks how things are.
    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>>;
}

impl dyn Client + '_ {
    /// The session, if anything was said in it, also what was gone back over: that can be taken back.
    ///
    /// # Errors
    /// When it can't be asked.
    pub async fn said(&self) -> Result<Option<SessionId>, ClientError> {
        let Answer::Snapshot(snapshot) = self.ask(Query::Snapshot).await? else { return Ok(None) };
        if snapshot.state.is_at_work() {
            return Ok(Some(snapshot.session_id));
        }
        let Answer::RewindPoints { points } = self.ask(Query::RewindPoints).await? else { return Ok(None) };
        let is_said = !points.is_empty() || self.ask(Query::UndoPreview).await.is_ok();
        Ok(is_said.then_some(snapshot.session_id))
    }
}

/// That a command was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The session's last event when the command was accepted: what follows from the command comes after it.
    pub seq: Seq,
    /// The message, when the command said something to the agent: its events name it.
    pub message_id: Option<MessageId>,
}

/// Why a session did not do what a window asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The session has ended or was never there.
    #[error("the session has ended")]
    Gone,
    /// The command makes no sense now, such as an approval of a call that does not wait.
    #[error("{0}")]
    Refused(String),
    /// Something failed; the code says what.
    #[error("{message}")]
    Failed {
        /// The stable code.
        code: ErrorCode,
        /// What happened, for a person.
        message: String,
    },
}
