//! Whoever was let in, as a connection serves them: all sessions of the hall, with no more rights than they have.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::StatusCode;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, AppError, Call, Caller, Trouble, Verb};
use neco_proto::{Client, ClientError, Receipt, SessionId};
use tokio::sync::watch;

use super::House;
use super::access::Rights;
use super::guard::Asker;
use super::hall::{Hall, broke, to_the_end};
use super::once::Turn;
use super::problem;
use crate::remote::desk::{Host, Over};
use crate::remote::frames::{Opened, Reply, Sent};

/// Somebody who was let in, as a connection serves them.
pub(crate) struct Visitor {
    pub house: Arc<House>,
    pub hall: Arc<Hall>,
    pub rights: Rights,
    pub asker: Asker,
}

impl Visitor {
    fn session(&self, session: Option<SessionId>) -> Result<SessionId, ClientError> {
        session.ok_or_else(|| ClientError::Refused("name the session: {\"id\":…,\"session\":…,\"says\":…}".to_owned()))
    }
}

/// An error of the program, as sessions say it.
fn as_client(error: AppError) -> ClientError {
    match error.code {
        Some(code) => ClientError::Failed { code, message: error.message },
        None if error.trouble == Trouble::Gone => ClientError::Gone,
        None => ClientError::Refused(error.message),
    }
}

impl Host for Visitor {
    fn version(&self) -> &str {
        &self.hall.version
    }

    /// A session that is not held is opened when something is asked of it.
    fn serves(&self, _: Option<SessionId>) -> bool {
        true
    }

    fn may_ask(&self) -> bool {
        self.house.guard.may_ask(self.asker, &self.rights)
    }

    fn over(&self) -> watch::Receiver<Over> {
        self.hall.over()
    }

    fn client(&self, session: Option<SessionId>) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>> {
        async move {
            let id = self.session(session)?;
            self.hall.living(&self.rights.own(), id).await.map_err(as_client)
        }
        .boxed()
    }

    fn send(&self, session: Option<SessionId>, sent: Sent) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        async move {
            let id = self.session(session)?;
            let (hall, rights) = (Arc::clone(&self.hall), self.rights.clone());
            let sent = to_the_end(async move { hall.send(&rights, id, sent).await }).await;
            sent.unwrap_or_else(|| Err(broke())).map_err(as_client)
        }
        .boxed()
    }

    fn app(&self) -> &dyn App {
        self.hall.app.as_ref()
    }

    fn caller(&self, claimed: Caller) -> Caller {
        self.rights.caller(claimed)
    }

    fn changes(&self, call: &Call) -> bool {
        let described = self.house.calls.iter().find(|described| described.route.name == call.name);
        described.is_some_and(|described| described.route.verb != Verb::Get)
    }

    fn once(&self, key: Option<String>, asked: Vec<u8>, work: BoxFuture<'static, Reply>) -> BoxFuture<'static, Reply> {
        let (house, who) = (Arc::clone(&self.house), format!("{:?}", self.rights.actor));
        // The key is taken when this begins, which goes on to its end from then on: what was dropped before took none.
        let work = to_the_end(async move {
            let turn = key.map(|key| house.once.begin_as(&who, &key, "/ws", &asked));
            let key = match turn.transpose() {
                Ok(Some(Turn::Again(answer))) => return said_again(&answer),
                Ok(Some(Turn::Do(key))) => key,
                Ok(None) => None,
                Err(problem) => return Reply::NotCalled(problem.into()),
            };
            drop(asked);
            let reply = work.await;
            if let Some(key) = key {
                house.once.end(key, answered(&reply));
            }
            reply
        });
        work.map(|reply| reply.unwrap_or_else(|| Reply::NotCalled(broke()))).boxed()
    }

    fn open(&self, wanted: OpenSession) -> BoxFuture<'_, Result<Opened, AppError>> {
        async move { self.hall.open(&self.rights.own(), wanted).await }.boxed()
    }
}

/// A reply as it is kept for a key.
fn answered(reply: &Reply) -> problem::Answer {
    let status = match reply {
        Reply::NotCalled(_) | Reply::Error(_) => StatusCode::CONFLICT,
        _ => StatusCode::OK,
    };
    let body = serde_json::to_vec(reply).unwrap_or_default().into();
    problem::Answer { status, kind: "application/json", body, again: None }
}

/// The reply that was kept.
fn said_again(answer: &problem::Answer) -> Reply {
    let not_kept = || AppError::new(Trouble::InUse, "this was done; its answer was not kept");
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| Reply::NotCalled(not_kept()))
}
