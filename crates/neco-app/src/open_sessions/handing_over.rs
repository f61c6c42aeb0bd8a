//! Handing sessions over: what works here goes on in another process, opened there as it was here.

use std::time::Duration;

use futures::future::join_all;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Answer, Client, Query, SessionId};
use neco_session::Session;

use super::{Kept, OpenSessions, Own};

/// How often it is looked whether a turn is over.
const LOOK: Duration = Duration::from_millis(50);

impl OpenSessions {
    /// Hands a session over; gives how another process opens it.
    pub async fn hand_over(&self, id: SessionId, hurry: impl Future<Output = ()>) -> Result<OpenSession, AppError> {
        let (session, wanted) = self.own(id, |own| (own.session.clone(), own.services.wanted_elsewhere()))?;
        let (wanted, held) = (wanted?, HeldSession::hold(session.clone()).await);
        tokio::select! {
            () = come_to_boundary(&session) => {}
            () = hurry => {}
        }
        let _turn = self.turn(id).await;
        let wanted = wanted.with(session.clone()).await?;
        let own = {
            let mut all = self.kept();
            let place = all.iter().position(|kept| kept.own.is_some() && kept.opened.id == id);
            place.and_then(|place| all.swap_remove(place).own).ok_or_else(not_here)?
        };
        held.keep();
        let Own { services, session, served, keep: _, _held, _watching } = own;
        if let Some(served) = &served {
            served.leave();
        }
        // What it says of itself then is in its log: it goes on as after a crash.
        if let Err(error) = session.hand_over().await {
            tracing::warn!(session = %id, %error, "a session could not be handed over whole");
        }
        if let Some(served) = served {
            served.end().await;
        }
        // It is not here any more: whoever goes on with it has to know of it.
        if let Err(error) = services.leave().await {
            tracing::warn!(session = %id, %error, "what a session said last could not be saved");
        }
        Ok(wanted)
    }

    /// Holds all that this process has open, and waits at most so long until each is between two turns.
    pub async fn hold_all(&self, patience: Duration) -> HeldSessions {
        let all: Vec<Session> =
            self.kept().iter().filter_map(|kept| Some(kept.own.as_ref()?.session.clone())).collect();
        let held = HeldSessions(join_all(all.iter().cloned().map(HeldSession::hold)).await);
        let _ = tokio::time::timeout(patience, join_all(all.iter().map(come_to_boundary))).await;
        held
    }

    /// Hands over all that this process has open, as it is.
    pub async fn hand_all_over(&self) -> Vec<OpenSession> {
        let own = |kept: &Kept| kept.own.is_some().then_some(kept.opened.id);
        let all: Vec<SessionId> = self.kept().iter().filter_map(own).collect();
        let handed = join_all(all.into_iter().map(|id| async move {
            let handed = self.hand_over(id, std::future::ready(())).await;
            handed.inspect_err(|error| tracing::warn!(session = %id, %error, "a session was not handed over")).ok()
        }));
        handed.await.into_iter().flatten().collect()
    }

    /// Leaves the work that this process has open to whoever resumes it: that goes on then as after a crash, and what
    /// waits for a person is asked again.
    pub async fn leave_work(&self) {
        let own = |kept: &Kept| Some((kept.opened.id, kept.own.as_ref()?.session.clone()));
        let all: Vec<(SessionId, Session)> = self.kept().iter().filter_map(own).collect();
        join_all(all.into_iter().map(|(id, session)| async move {
            if is_at_work(&session).await
                && let Err(error) = self.hand_over(id, std::future::ready(())).await
            {
                tracing::warn!(session = %id, %error, "the work of a session could not be left as it is");
            }
        }))
        .await;
    }

    /// What is wanted of a session that this process has open.
    fn own<T>(&self, id: SessionId, of: impl FnOnce(&Own) -> T) -> Result<T, AppError> {
        let all = self.kept();
        let kept = all.iter().find(|kept| kept.opened.id == id);
        kept.and_then(|kept| kept.own.as_ref()).map(of).ok_or_else(not_here)
    }
}

/// Waits until nothing of a session would be cut short.
async fn come_to_boundary(session: &Session) {
    while !session.is_at_boundary().await {
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether agents of a session work, or wait for a person.
async fn is_at_work(session: &Session) -> bool {
    match session.ask(Query::Snapshot).await {
        Ok(Answer::Snapshot(now)) => {
            now.state.is_at_work() || now.agents > 0 || !now.pending.is_empty() || !now.questions.is_empty()
        }
        Ok(_) | Err(_) => false,
    }
}

fn not_here() -> AppError {
    AppError::new(Trouble::InUse, "this process does not have the session open")
}

/// Sessions that begin no turn as long as this is there.
pub struct HeldSessions(#[expect(dead_code, reason = "it is there until it is dropped")] Vec<HeldSession>);

/// A session that begins no turn; it does so again when this is dropped.
struct HeldSession(Option<Session>);

impl HeldSession {
    async fn hold(session: Session) -> Self {
        let held = Self(Some(session.clone()));
        session.hold().await;
        held
    }

    /// It is handed over.
    fn keep(mut self) {
        self.0.take();
    }
}

impl Drop for HeldSession {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            tokio::spawn(async move { session.release().await });
        }
    }
}
