//! The sessions that single calls are made in: one call at a time in each of them, and all of them have the same tools.

use std::sync::Arc;

use neco_proto::app::opening::OpenedSession;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Client, SessionId};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Calls that are made in one session. It has no model that could sum them up, so that another goes on after these.
const MOST_IN_ONE: usize = 100;

/// The sessions that are open for calls.
#[derive(Default)]
pub(super) struct CallSessions(Mutex<Vec<CallSession>>);

struct CallSession {
    opened: OpenedSession,
    /// Whether a person can be asked in it.
    asks: bool,
    /// How many calls were made in it.
    calls: usize,
    /// Held by whoever makes one.
    turn: Arc<Mutex<()>>,
}

/// A session for one call, which nobody else has until this is dropped.
pub(super) struct TakenSession {
    pub id: SessionId,
    pub client: Arc<dyn Client>,
    _turn: OwnedMutexGuard<()>,
}

impl CallSession {
    fn new(opened: OpenedSession, asks: bool) -> Self {
        Self { opened, asks, calls: 0, turn: Arc::default() }
    }

    /// What is needed to close it.
    fn parts(self) -> (SessionId, Arc<dyn Client>) {
        (self.opened.id, self.opened.client)
    }

    fn is_used_up(&self) -> bool {
        self.calls >= MOST_IN_ONE
    }

    /// The session, if nobody has it.
    fn take(&mut self) -> Option<TakenSession> {
        let turn = Arc::clone(&self.turn).try_lock_owned().ok()?;
        self.calls += 1;
        Some(TakenSession { id: self.opened.id, client: Arc::clone(&self.opened.client), _turn: turn })
    }
}

impl CallSessions {
    /// A session that is free, or one that `open` makes: beside the one of this id, where there is one.
    pub async fn take<O>(&self, asks: bool, open: impl FnOnce(Option<String>) -> O) -> Result<TakenSession, AppError>
    where
        O: Future<Output = Result<OpenedSession, AppError>>,
    {
        // Held until a new one is there: the next to be opened stands beside it.
        let mut sessions = self.0.lock().await;
        let fitting = sessions.iter_mut().filter(|session| session.asks == asks && !session.is_used_up());
        if let Some(taken) = fitting.into_iter().find_map(CallSession::take) {
            return Ok(taken);
        }
        let beside = sessions.first().map(|session| session.opened.id.to_string());
        let mut session = CallSession::new(open(beside).await?, asks);
        let taken = session.take().ok_or_else(|| AppError::new(Trouble::Failed, "a new session is not free"))?;
        sessions.push(session);
        Ok(taken)
    }

    /// Takes out those that are used up and free, to be closed; one stays that others can be opened beside.
    pub async fn used_up(&self) -> Vec<(SessionId, Arc<dyn Client>)> {
        let mut sessions = self.0.lock().await;
        if sessions.iter().all(CallSession::is_used_up) {
            return Vec::new();
        }
        let is_over = |session: &mut CallSession| session.is_used_up() && session.turn.try_lock().is_ok();
        sessions.extract_if(.., is_over).map(CallSession::parts).collect()
    }

    /// Takes out one that does not answer any more, to be closed.
    pub async fn forget(&self, id: SessionId) -> Option<(SessionId, Arc<dyn Client>)> {
        let mut sessions = self.0.lock().await;
        let at = sessions.iter().position(|session| session.opened.id == id)?;
        Some(sessions.remove(at).parts())
    }

    /// Takes out all of them, to be closed.
    pub async fn all(&self) -> Vec<(SessionId, Arc<dyn Client>)> {
        std::mem::take(&mut *self.0.lock().await).into_iter().map(CallSession::parts).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as Ledger;

    use futures::future::BoxFuture;
    use futures::{FutureExt, StreamExt, stream};
    use neco_proto::{Actor, Answer, ClientError, Command, EventStream, Query, Receipt, Seq};

    use super::*;

    struct Nobody;

    impl Client for Nobody {
        fn send_as(&self, _: Actor, _: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
            std::future::ready(Err(ClientError::Gone)).boxed()
        }

        fn events(&self, _: Seq) -> EventStream {
            stream::empty().boxed()
        }

        fn ask(&self, _: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            std::future::ready(Err(ClientError::Gone)).boxed()
        }
    }

    /// Sessions, and beside which each of them was opened.
    #[derive(Default)]
    struct House {
        sessions: CallSessions,
        opened: Ledger<Vec<Option<String>>>,
    }

    impl House {
        async fn take(&self, asks: bool) -> TakenSession {
            let open = async |beside| {
                self.opened.lock().unwrap().push(beside);
                let (id, client): (_, Arc<dyn Client>) = (SessionId::new(), Arc::new(Nobody));
                let (folder, notes) = (String::new(), Vec::new());
                Ok(OpenedSession { id, client, folder, owner: None, since: Seq::default(), notes })
            };
            self.sessions.take(asks, open).await.unwrap()
        }

        fn opened(&self) -> Vec<Option<String>> {
            self.opened.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn a_call_has_a_session_alone_and_the_next_one_takes_it_over() {
        let house = House::default();
        let first = house.take(true).await;
        let (id, beside) = (first.id, Some(first.id.to_string()));
        let second = house.take(true).await;
        assert_ne!(second.id, id);
        assert_eq!(house.opened(), [None, beside.clone()]);
        drop(first);
        assert_eq!(house.take(true).await.id, id);
        assert_ne!(house.take(false).await.id, id, "nobody can be asked in it");
        assert_eq!(house.opened(), [None, beside.clone(), beside]);
        assert!(house.sessions.forget(id).await.is_some() && house.sessions.forget(id).await.is_none());
        assert_eq!(house.sessions.all().await.len(), 2);
    }

    #[tokio::test]
    async fn a_session_that_is_used_up_is_closed_when_another_stands_beside_it() {
        let house = House::default();
        let id = house.take(true).await.id;
        for _ in 1..MOST_IN_ONE {
            assert_eq!(house.take(true).await.id, id);
        }
        assert!(house.sessions.used_up().await.is_empty(), "none could be opened beside it");
        assert_ne!(house.take(true).await.id, id);
        assert_eq!(house.opened(), [None, Some(id.to_string())]);
        assert_eq!(house.sessions.used_up().await.len(), 1);
        assert_eq!(house.sessions.all().await.len(), 1);
    }
}
