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
        let (reply, done) = oneshot::channel();
        // A session that has ended is judged by no rules.
        if self.mailbox.send(Mail::KeptRules(rules, reply)).await.is_ok() {
            let _ = done.await;
        }
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
