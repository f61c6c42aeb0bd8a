//! Whoever was let in, as a connection serves them: all sessions of the hall, with no more rights than they have.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, AppError, Caller, Trouble};
use neco_proto::{Client, ClientError, Receipt, SessionId};
use tokio::sync::watch;

use super::access::Rights;
use super::hall::{Hall, to_the_end};
use crate::remote::desk::Host;
use crate::remote::frames::{Opened, Sent};

/// Somebody who was let in, as a connection serves them.
pub(crate) struct Visitor {
    pub hall: Arc<Hall>,
    pub rights: Rights,
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

    fn over(&self) -> watch::Receiver<bool> {
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
            to_the_end(async move { hall.send(&rights, id, sent).await }).await.map_err(as_client)
        }
        .boxed()
    }

    fn app(&self) -> &dyn App {
        self.hall.app.as_ref()
    }

    fn caller(&self, claimed: Caller) -> Caller {
        self.rights.caller(claimed)
    }

    fn open(&self, wanted: OpenSession) -> BoxFuture<'_, Result<Opened, AppError>> {
        async move { self.hall.open(&self.rights.own(), wanted).await }.boxed()
    }
}
