//! What a front end can ask of the whole program, beside one session: requests and their answers, one file a topic.
//!
//! Invariants: requests and answers are data, so every wire can carry them; each request names its route once, and
//! routers, descriptions and clients are made from that; no answer holds a key, and none is a sentence that somebody
//! would have to read to find out what happened; a value of an enum that a newer version adds can be read in every answer.
//!
//! Reading order: [`request`] (what a request is), [`caller`] (who asks), [`error`], [`known`] (words of newer
//! versions), [`origin`], then the topics: [`opening`], [`sessions`], [`history`], [`changes`], [`exchanges`], [`blobs`], [`port`], [`workflows`],
//! [`agents`], [`memory`], [`plans`], [`models`], [`rules`], [`settings`], [`doctor`], [`keys`], [`trust`], [`project`], [`files`], [`folders`], [`commands`], [`skills`], [`plugins`], [`tools`], [`mcp`], [`mcp_use`], [`setups`], [`usage`], [`shell`], [`access`].

pub mod access;
pub mod agents;
pub mod blobs;
pub mod caller;
pub mod changes;
pub mod commands;
pub mod doctor;
pub mod error;
pub mod exchanges;
pub mod files;
pub mod folders;
pub mod history;
pub mod keys;
pub mod known;
pub mod mcp;
pub mod mcp_use;
pub mod memory;
pub mod models;
pub mod opening;
pub mod origin;
pub mod plans;
pub mod plugins;
pub mod port;
pub mod project;
pub mod request;
pub mod rules;
pub mod sessions;
pub mod settings;
pub mod setups;
pub mod shell;
pub mod skills;
pub mod tools;
pub mod trust;
pub mod usage;
pub mod workflows;

use std::ops::Range;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use serde_json::Value;

pub use caller::{Caller, Scope};
pub use error::{AppError, Trouble};
pub use known::Known;
pub use origin::Origin;
pub use request::{Call, Described, Page, Request, Route, Verb, Watch};

use crate::client::Client;
use crate::ids::SessionId;
use blobs::{BlobId, BlobPiece, ReadBytes};
use opening::{OpenSession, OpenedSession};

/// The program without a face.
///
/// It is called in process and over wires alike, so a front end that is written against it works with both. Dropping a
/// call cancels it.
///
/// ```
/// use futures::FutureExt;
/// use futures::future::BoxFuture;
/// use neco_proto::app::sessions::{ListSessions, SessionPage};
/// use neco_proto::app::{App, AppError, Call, Caller};
/// use serde_json::Value;
///
/// /// A program without sessions.
/// struct Empty;
///
/// impl App for Empty {
///     fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
///         async move { call.answer::<ListSessions>(SessionPage::default()) }.boxed()
///     }
/// }
///
/// let app: &dyn App = &Empty;
/// let page = app.ask(&Caller::person(), &ListSessions::default()).now_or_never().unwrap().unwrap();
/// assert!(page.sessions.is_empty());
/// ```
pub trait App: Send + Sync {
    /// Answers a call as wires carry it; [`dyn App::ask`](trait.App.html#method.ask) is the same with types.
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>>;

    /// Answers a call as wires carry it, bit by bit; [`dyn App::watch`](trait.App.html#method.watch) is the same with
    /// types. Dropping the stream cancels it; nothing comes after an error.
    fn stream<'a>(&'a self, _caller: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        let error = AppError::unsupported(&format!("does not tell {} bit by bit", call.name));
        futures::stream::once(async { Err(error) }).boxed()
    }

    /// Opens a session or makes one; whoever has it open already shares it. Dropping this leaves nothing open.
    ///
    /// A front end that has nothing but the program can begin to work:
    ///
    /// ```
    /// use neco_proto::Command;
    /// use neco_proto::app::opening::{OpenSession, WhichSession};
    /// use neco_proto::app::{App, AppError, Caller};
    ///
    /// async fn say(app: &dyn App, folder: &str, words: &str) -> Result<(), AppError> {
    ///     let new = OpenSession { which: WhichSession::New, folder: folder.to_owned(), ..OpenSession::default() };
    ///     let opened = app.open(&Caller::person(), new).await?;
    ///     let message = Command::UserMessage { content: words.to_owned(), attachments: Vec::new() };
    ///     // What comes of it is told by `opened.client.events(opened.since)`.
    ///     let sent = opened.client.send(message).await;
    ///     app.close(opened.client).await?;
    ///     sent.map(drop).map_err(AppError::from)
    /// }
    /// ```
    fn open<'a>(&'a self, _caller: &'a Caller, _wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        async { Err(AppError::unsupported("opens no sessions")) }.boxed()
    }

    /// Hands back a session that was opened; ready when everything is written. It ends with the last one who hands it
    /// back; one of another process goes on there. Gives its id, unless nothing was said in it: then
    /// nothing stays of one that was made for more than a single request.
    fn close(&self, _client: Arc<dyn Client>) -> BoxFuture<'_, Result<Option<SessionId>, AppError>> {
        async { Ok(None) }.boxed()
    }

    /// Whether windows of other processes are at a session that this one has open: ending it would end them.
    fn is_watched(&self, _session: SessionId) -> bool {
        false
    }
}

impl dyn App + '_ {
    /// Asks for something.
    ///
    /// # Errors
    /// When it can't be had.
    pub async fn ask<R: Request>(&self, caller: &Caller, request: &R) -> Result<R::Answer, AppError> {
        let answer = self.call(caller, Call::of(request)?).await?;
        serde_json::from_value(answer).map_err(|error| AppError::not_understood(R::ROUTE.name, &error))
    }

    /// Asks for something whose answer comes bit by bit.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use neco_proto::app::doctor::{Examine, Health};
    /// use neco_proto::app::{App, AppError, Caller};
    ///
    /// /// Says whether something is wrong as soon as that is known.
    /// async fn is_sick(app: &dyn App, folder: String) -> Result<bool, AppError> {
    ///     let person = Caller::person();
    ///     let mut findings = app.watch(&person, &Examine { folder });
    ///     while let Some(finding) = findings.next().await {
    ///         if finding?.health == Health::Fail {
    ///             return Ok(true);
    ///         }
    ///     }
    ///     Ok(false)
    /// }
    /// ```
    pub fn watch<'a, R: Watch>(&'a self, caller: &'a Caller, request: &R) -> BoxStream<'a, Result<R::Item, AppError>> {
        let read = |item| serde_json::from_value(item).map_err(|error| AppError::not_understood(R::ROUTE.name, &error));
        match Call::of(request) {
            Ok(call) => self.stream(caller, call).map(move |item| item.and_then(read)).boxed(),
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
        }
    }

    /// Reads bytes of a session, as many of `range` as there are.
    ///
    /// # Errors
    /// When there are none.
    ///
    /// ```
    /// use neco_proto::app::blobs::BlobId;
    /// use neco_proto::app::{App, AppError, Caller};
    /// use neco_proto::{Seq, SessionId};
    ///
    /// /// The beginning of an output that was too big for the model.
    /// async fn beginning(app: &dyn App, session: SessionId, seq: Seq) -> Result<Vec<u8>, AppError> {
    ///     app.bytes(&Caller::person(), BlobId { session, seq, part: 0 }, 0..1024).await
    /// }
    /// ```
    pub async fn bytes(&self, caller: &Caller, id: BlobId, range: Range<u64>) -> Result<Vec<u8>, AppError> {
        let Range { mut start, end } = range;
        let mut all = Vec::new();
        while start < end {
            let BlobPiece { bytes, total } = self.ask(caller, &ReadBytes { id, start, end }).await?;
            start += bytes.len() as u64;
            let is_over = bytes.is_empty() || start >= total;
            all.extend(bytes);
            if is_over {
                break;
            }
        }
        Ok(all)
    }
}
