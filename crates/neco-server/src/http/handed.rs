//! The sessions that another server handed over: opened as they were open there, or handed on.

use futures::future::BoxFuture;
use neco_proto::app::AppError;
use neco_proto::app::opening::{OpenSession, WhichSession};
use tokio::sync::{Mutex, watch};

/// How often it is tried to open a session that was handed over.
const TRIES: usize = 3;

/// Those that are not open yet. Held while one of them is opened: nobody opens it otherwise meanwhile.
pub(crate) struct Handed(Mutex<Vec<Waiting>>);

/// One of them, and how often it could not be opened.
struct Waiting {
    wanted: OpenSession,
    tried: usize,
}

impl Waiting {
    fn is_meant(&self, id: &str) -> bool {
        self.tried < TRIES && matches!(&self.wanted.which, WhichSession::Id(own) if own.starts_with(id))
    }
}

impl Handed {
    pub fn new(sessions: Vec<OpenSession>) -> Self {
        Self(Mutex::new(sessions.into_iter().map(|wanted| Waiting { wanted, tried: 0 }).collect()))
    }

    /// Has those opened whose ids begin so, as long as sessions are opened. One that can't be is tried again when somebody
    /// asks for it, a few times.
    pub async fn open<'a>(
        &self,
        id: &str,
        mut ready: watch::Receiver<bool>,
        open: impl Fn(OpenSession) -> BoxFuture<'a, Result<(), AppError>>,
    ) {
        let (mut all, mut at) = (self.0.lock().await, 0);
        while let Some(found) = all.iter().skip(at).position(|waiting| waiting.is_meant(id)) {
            at += found;
            let Some(waiting) = all.get_mut(at) else { return };
            // It stays here until it is open: whoever comes after this server is given it otherwise.
            let opened = tokio::select! {
                biased;
                _ = ready.wait_for(|ready| !ready) => return,
                opened = open(waiting.wanted.clone()) => opened,
            };
            match opened {
                Ok(()) => drop(all.remove(at)),
                Err(error) => {
                    tracing::error!(%error, "a session that was handed over could not be opened");
                    waiting.tried += 1;
                    at += 1;
                }
            }
        }
    }

    /// Those that are not open.
    pub async fn left(&self) -> Vec<OpenSession> {
        self.0.lock().await.iter().map(|waiting| waiting.wanted.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;
    use neco_proto::app::Trouble;

    use super::*;

    fn named(id: &str) -> OpenSession {
        OpenSession { which: WhichSession::Id(id.to_owned()), ..OpenSession::default() }
    }

    #[tokio::test]
    async fn what_is_not_open_when_the_server_ends_is_handed_on() {
        let handed = Handed::new(["a1", "b1", "slow", "c1"].map(named).into());
        let (ends, ready) = watch::channel(true);
        let open = |wanted: OpenSession| match &wanted.which {
            WhichSession::Id(id) if id == "slow" => std::future::pending().boxed(),
            WhichSession::Id(id) if id == "b1" => {
                async { Err(AppError::new(Trouble::Failed, "its folder is gone")) }.boxed()
            }
            _ => async { Ok(()) }.boxed(),
        };
        handed.open("a", ready.clone(), open).await;
        assert_eq!(handed.left().await, ["b1", "slow", "c1"].map(named));
        let opening = async {
            tokio::join!(handed.open("", ready, open), async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let _ = ends.send(false);
            })
        };
        tokio::time::timeout(Duration::from_secs(20), opening).await.expect("it waits for what is opened slowly");
        assert_eq!(handed.left().await, ["b1", "slow", "c1"].map(named));
    }
}
