//! A session as windows in this process hold it.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use neco_proto::event::Notification;
use neco_proto::{Actor, Answer, Client, ClientError, Command, EventBody, EventStream, Query, Receipt, Seq, SessionId};
use neco_safety::policy::Rule;
use tokio::sync::{mpsc, oneshot, watch};

use super::run::{ActorSetup, Mail, SessionActor};
use crate::aside::Aside;
use crate::journal::Journal;

/// Commands that may wait; a window that sends more waits itself.
const MAILBOX: usize = 64;

/// A session. Clones are the same session; it ends with [`Command::Shutdown`] or with the last clone.
#[derive(Clone)]
pub struct Session {
    id: SessionId,
    first_seq: Seq,
    journal: Arc<Journal>,
    mailbox: mpsc::Sender<Mail>,
    ended: watch::Receiver<bool>,
    aside: Aside,
}

impl Session {
    /// Starts the actor.
    pub fn start(setup: ActorSetup) -> Self {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let (done, ended) = watch::channel(false);
        let session = Self {
            id: setup.ctx.id(),
            first_seq: setup.first_seq,
            journal: Arc::clone(&setup.ctx.journal),
            mailbox: sender,
            ended,
            aside: setup.ctx.aside.clone(),
        };
        let actor = SessionActor::new(setup, mailbox, session.aside.clone());
        tokio::spawn(async move {
            actor.run().await;
            // Nobody may be left to hear it.
            let _ = done.send(true);
        });
        session
    }

    /// Its id.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// The last event before it was opened this time: a window that wants only the present run asks
    /// for the events after it.
    pub fn first_seq(&self) -> Seq {
        self.first_seq
    }

    /// The permission rules that are kept for good changed: they hold from now on, in this session too.
    pub async fn renew_kept(&self, rules: Vec<Rule>) {
        // A session that has ended is judged by no rules.
        self.tell(|reply| Mail::KeptRules(rules, reply)).await;
    }

    /// Begins no turn any more, until it is released or handed over; the present one goes on to its end.
    pub async fn hold(&self) {
        self.tell(|reply| Mail::Hold(true, reply)).await;
    }

    /// Begins turns again.
    pub async fn release(&self) {
        self.tell(|reply| Mail::Hold(false, reply)).await;
    }

    /// Whether nothing would be cut short if it were handed over now: its agents have nothing to do, wait for a person or
    /// are held between two turns.
    pub async fn is_at_boundary(&self) -> bool {
        // One that has ended cuts nothing short.
        self.tell(Mail::AtBoundary).await.unwrap_or(true)
    }

    /// Ends the session as it is, so that another process goes on with its work. What runs then is cut short; a question to
    /// the person is asked again there.
    ///
    /// # Errors
    /// When that can't be written: it is then as after a crash.
    pub async fn hand_over(mut self) -> Result<(), ClientError> {
        let done = self.tell(Mail::HandOver).await.unwrap_or(Err(ClientError::Gone));
        let _ = self.ended.wait_for(|ended| *ended).await;
        done
    }

    /// What the actor answers; nothing when it is gone.
    async fn tell<T>(&self, mail: impl FnOnce(oneshot::Sender<T>) -> Mail) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(mail(reply)).await.ok()?;
        answer.await.ok()
    }

    /// Ends the session; ready when everything is on the disk. Gives what the person should know of what was
    /// done at its end.
    pub async fn close(mut self) -> Vec<Notification> {
        let before = self.journal.standing().last_seq;
        // An actor that is gone already has done what this asks for.
        let _ = self.send(Command::Shutdown).await;
        let _ = self.ended.wait_for(|ended| *ended).await;
        self.told_between(before, self.journal.standing().last_seq).await
    }

    async fn told_between(&self, before: Seq, last: Seq) -> Vec<Notification> {
        let mut told = Vec::new();
        if last <= before {
            return told;
        }
        let mut events = self.journal.events(before);
        while let Some(Ok(event)) = events.next().await {
            if let EventBody::Notification(notification) = event.body {
                told.push(notification);
            }
            if event.seq >= last {
                break;
            }
        }
        told
    }
}

impl Client for Session {
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        Box::pin(async move {
            // At once, whatever the session is at: also when it is about to end.
            self.aside.hear(&command);
            let (reply, answer) = oneshot::channel();
            self.mailbox.send(Mail::Command(by, command, reply)).await.map_err(|_| ClientError::Gone)?;
            answer.await.map_err(|_| ClientError::Gone)?
        })
    }

    fn events(&self, since: Seq) -> EventStream {
        self.journal.events(since)
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.mailbox.send(Mail::Query(query, reply)).await.map_err(|_| ClientError::Gone)?;
            answer.await.map_err(|_| ClientError::Gone)?
        })
    }
}
