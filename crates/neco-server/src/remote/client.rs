//! A session of another process, as a window holds it.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::{App, AppError, Call, Caller, Trouble};
use neco_proto::{
    Actor, Answer, Client, ClientError, Command, EventStream, Query, Receipt, Seq, SessionId, SessionSnapshot,
};
use serde_json::Value;

use super::address::Address;
use super::calls::{Calls, Unanswered};
use super::follow;
use super::frames::{Asked, Opened, Reply, Request, Sent};
use super::place::SocketPlaces;
use super::watch;

/// Why a session of another process can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// Nobody serves it.
    #[error("nobody serves the session")]
    NotThere,
    /// Somebody serves it and says nothing.
    #[error("it does not answer; a process that was stopped with Ctrl-Z goes on with `fg`")]
    Silent,
    /// The owner does not want to.
    #[error("{0}")]
    NotWelcome(String),
    /// The socket fails.
    #[error("its socket fails: {0}")]
    Broken(String),
}

impl From<AttachError> for ClientError {
    fn from(error: AttachError) -> Self {
        match error {
            AttachError::NotThere => Self::Gone,
            error @ (AttachError::Silent | AttachError::NotWelcome(_) | AttachError::Broken(_)) => {
                Self::Refused(error.to_string())
            }
        }
    }
}

/// A session that another process has open.
pub struct RemoteClient {
    address: Arc<Address>,
    owner: Owner,
    calls: Calls,
}

/// The process that has a session open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
}

impl RemoteClient {
    /// Attaches to the process that has `session` open.
    ///
    /// # Errors
    /// When nobody has it open, or whoever has it can't be talked to.
    pub async fn attach(places: &SocketPlaces, session: SessionId) -> Result<Self, AttachError> {
        Self::at(Address::Socket { places: places.clone(), session }).await
    }

    /// Attaches to whoever serves at `address`.
    pub(crate) async fn at(address: Address) -> Result<Self, AttachError> {
        let address = Arc::new(address);
        let connection = address.connect().await?;
        let owner = connection.owner.clone();
        let calls = Calls::new(Arc::clone(&address), connection);
        Ok(Self { address, owner, calls })
    }

    /// Who has it open.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }
}

impl Client for RemoteClient {
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        Box::pin(async move {
            match self.calls.call(&Request::Send(Sent { by, command })).await.map_err(not_sent)? {
                Reply::Taken { seq, message_id } => Ok(Receipt { seq, message_id }),
                reply => Err(not_expected(reply)),
            }
        })
    }

    fn events(&self, since: Seq) -> EventStream {
        follow::events(Arc::clone(&self.address), since)
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            match self.calls.call(&Request::Ask(query)).await.map_err(not_asked)? {
                Reply::Answer(answer) => Ok(*answer),
                reply => Err(not_expected(reply)),
            }
        })
    }
}

impl App for RemoteClient {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        Box::pin(async move {
            let asked = Request::Call(Asked { caller: caller.clone(), call });
            match self.calls.call(&asked).await.map_err(not_asked)? {
                Reply::Called(answer) => Ok(answer),
                Reply::NotCalled(error) => Err(error),
                reply => Err(not_expected(reply).into()),
            }
        })
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        watch::watch(Arc::clone(&self.address), Asked { caller: caller.clone(), call })
    }

    /// Has a server open one. With a process that only has its own session open, attaches to one that a process has
    /// open: none is opened for others.
    fn open<'a>(&'a self, _: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        Box::pin(async move {
            let (places, own) = match self.address.as_ref() {
                Address::Socket { places, session } => (places, *session),
                Address::Web(web) => {
                    let opened = match self.calls.call(&Request::Open(Box::new(wanted))).await.map_err(not_asked)? {
                        Reply::Opened(opened) => opened,
                        Reply::NotCalled(error) => return Err(error),
                        reply => return Err(not_expected(reply).into()),
                    };
                    let client = Self::at(Address::Web(web.with(opened.id))).await.map_err(ClientError::from)?;
                    let Opened { id, folder, since, was_open, notes } = opened;
                    let owner = was_open.then_some(client.owner.pid);
                    return Ok(OpenedSession { id, client: Arc::new(client), folder, owner, since, notes });
                }
            };
            let session = match &wanted.which {
                WhichSession::Id(id) if !id.is_empty() && own.to_string().starts_with(id.as_str()) => Some(own),
                WhichSession::Id(id) => id.parse().ok(),
                WhichSession::New | WhichSession::Latest => None,
            };
            let session = session.ok_or_else(|| AppError::unsupported("opens no sessions for others"))?;
            let client = Self::attach(places, session).await.map_err(|error| match error {
                AttachError::NotThere => AppError::unsupported("opens no sessions for others, and nobody has it open"),
                error => AppError::new(Trouble::Failed, error.to_string()),
            })?;
            let Answer::Snapshot(SessionSnapshot { cwd: folder, last_seq: since, .. }) =
                client.ask(Query::Snapshot).await?
            else {
                return Err(not_understood("how the session stands").into());
            };
            let owner = Some(client.owner.pid);
            let note =
                "the session is open already: what was said of its model, mode, tools, rules and limits does not hold";
            let notes = wanted.says_how().then(|| note.to_owned()).into_iter().collect();
            Ok(OpenedSession { id: session, client: Arc::new(client), folder, owner, since, notes })
        })
    }

    /// It goes on in the process that has it open.
    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, Result<Option<SessionId>, AppError>> {
        Box::pin(async move { Ok(client.said().await.unwrap_or_default()) })
    }
}

/// Whoever says a command again must know that it was not heard.
fn not_sent(unanswered: Unanswered) -> ClientError {
    match unanswered {
        Unanswered::Unsaid(error) => error,
        Unanswered::Lost => ClientError::Refused(
            "the connection to the process that has the session open broke before it answered; whether it heard this \
             is not known: look with `neco session show` before you say it again"
                .to_owned(),
        ),
    }
}

/// A question can be asked again.
fn not_asked(unanswered: Unanswered) -> ClientError {
    match unanswered {
        Unanswered::Unsaid(error) => error,
        Unanswered::Lost => ClientError::Gone,
    }
}

/// What a reply of another kind means.
pub(super) fn not_expected(reply: Reply) -> ClientError {
    let Reply::Error(trouble) = reply else { return not_understood("an answer to something else") };
    trouble.into()
}

/// The other side says what this one does not know.
pub(super) fn not_understood(what: &str) -> ClientError {
    ClientError::Refused(format!("the process that has the session open is not understood: {what}"))
}
