//! What is told of a session, and when: what it asks once nobody looks, and that its work has ended.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::clean::clean_line;
use neco_proto::event::CompleteReason;
use neco_proto::{Answer, Client, Event, EventBody, Query, Seq, SessionId, SessionSnapshot};
use neco_safety::secrets::{Redactor, Scope};
use neco_view::reduce::IdleTracker;
use serde::Serialize;
use tokio::task::JoinHandle;

use super::tell::Teller;
use super::watched::Followers;

/// How long somebody who follows may take to be handed what is asked, and whoever asks in a script to look: what is
/// answered by then is not told.
const GRACE: Duration = Duration::from_secs(2);

/// Characters of a title, and of a tool's name.
const LONGEST: usize = 80;

/// What a person is told of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Notice {
    /// What happened.
    pub what: What,
    /// The session.
    pub session: SessionId,
    /// What it is called.
    pub title: String,
    /// The folder that it works in.
    pub folder: String,
    /// The same in a line for people.
    pub text: String,
}

impl Notice {
    /// All of it in a line.
    pub fn line(&self) -> String {
        let name = Path::new(&self.folder).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let whose = if self.title.is_empty() { name.into_owned() } else { format!("{} ({name})", self.title) };
        format!("{whose} {}", self.text)
    }
}

/// What happened in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// It waits for a person.
    Asks,
    /// Its work is done.
    Done,
    /// Its work has ended, and is not done.
    Ended,
}

impl What {
    /// The name of the event, as webhooks have it.
    pub fn event(self) -> &'static str {
        match self {
            Self::Asks => "session.asks",
            Self::Done => "session.done",
            Self::Ended => "session.ended",
        }
    }
}

/// The task that watches a session, which ends with this.
pub(crate) struct Watching(JoinHandle<()>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watching {
    /// Watches a session from now on, whose events after `since` are new.
    pub fn begin(
        client: Arc<dyn Client>,
        since: Seq,
        followers: Arc<Followers>,
        redactor: Redactor,
        teller: Teller,
    ) -> Self {
        Self(tokio::spawn(Watch { client, followers, redactor, teller, asked: None, ended: None }.follow(since)))
    }
}

struct Watch {
    client: Arc<dyn Client>,
    followers: Arc<Followers>,
    redactor: Redactor,
    teller: Teller,
    /// The last event that asks something, until it was told or waits no longer.
    asked: Option<Seq>,
    /// The last event that ended the work, and why, which was not looked at yet.
    ended: Option<(Seq, CompleteReason)>,
}

impl Watch {
    async fn follow(mut self, since: Seq) {
        let Some(snapshot) = self.snapshot().await else { return };
        let mut idle = IdleTracker::of(snapshot.root_agent);
        let mut events = self.client.events(since);
        let followers = Arc::clone(&self.followers);
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => self.take(&event, &mut idle),
                    Some(Err(_)) | None => return,
                },
                // Whoever seemed to be there may long have been gone.
                () = followers.are_gone(), if self.asked.is_some() => {}
            }
            if self.asked.is_none() && self.ended.is_none() {
                continue;
            }
            let until = tokio::time::Instant::now() + GRACE;
            while let Ok(next) = tokio::time::timeout_at(until, events.next()).await {
                let Some(Ok(event)) = next else { return };
                self.take(&event, &mut idle);
            }
            // What comes while this is asked is taken next.
            self.tell(&idle).await;
        }
    }

    fn take(&mut self, event: &Event, idle: &mut IdleTracker) {
        idle.apply(event);
        match &event.body {
            EventBody::PermissionRequest(_) | EventBody::Question(_) => self.asked = Some(event.seq),
            EventBody::AgentComplete(complete) if idle.is_root(event) => {
                self.ended = Some((event.seq, complete.reason));
            }
            // Nothing else waits for a person, and nothing else ends the work.
            _ => {}
        }
    }

    async fn snapshot(&self) -> Option<SessionSnapshot> {
        match self.client.ask(Query::Snapshot).await {
            Ok(Answer::Snapshot(snapshot)) => Some(snapshot),
            Ok(_) | Err(_) => None,
        }
    }

    /// Tells what nobody has seen, as far as it still holds. What is asked while somebody follows is told when they are gone
    /// and it still waits.
    async fn tell(&mut self, idle: &IdleTracker) {
        let asked = if self.followers.are_there() { None } else { self.asked.take() };
        // Those below the root may work on; then the work has not ended.
        let ended = if idle.is_over() { self.ended.take() } else { None };
        let ended = ended.filter(|(seq, _)| !self.followers.know(*seq));
        if asked.is_none() && ended.is_none() {
            return;
        }
        let Some(snapshot) = self.snapshot().await else { return };
        let said = match (asked, ended) {
            (Some(_), _) if is_waiting(&snapshot) => Some((What::Asks, asks(&snapshot))),
            (_, Some((_, reason))) if !snapshot.state.is_at_work() => ends(reason),
            (_, _) => None,
        };
        if let Some((what, text)) = said {
            self.teller.tell(self.notice(what, text, &snapshot));
        }
    }

    fn notice(&self, what: What, text: String, snapshot: &SessionSnapshot) -> Notice {
        let line = |text: &str| bounded(&self.redactor.redact(text, Scope::Outside));
        Notice {
            what,
            session: snapshot.session_id,
            title: line(&snapshot.title),
            folder: line(&snapshot.cwd),
            text: line(&text),
        }
    }
}

fn is_waiting(snapshot: &SessionSnapshot) -> bool {
    !snapshot.pending.is_empty() || !snapshot.questions.is_empty()
}

/// What is waited for: the tool by its name, and nothing of what it would do.
fn asks(snapshot: &SessionSnapshot) -> String {
    match (snapshot.pending.as_slice(), snapshot.questions.len()) {
        ([only], 0) => format!("waits for you: may it use {}?", bounded(&only.tool)),
        ([], 1) => "waits for you: it has a question".to_owned(),
        (calls, questions) => format!("waits for you: {} questions", calls.len() + questions),
    }
}

/// How the work has ended; nothing where the person ended it.
fn ends(reason: CompleteReason) -> Option<(What, String)> {
    match reason {
        CompleteReason::Natural => Some((What::Done, "is done".to_owned())),
        CompleteReason::Cancelled => None,
        reason => Some((What::Ended, format!("has ended and is not done: {reason}"))),
    }
}

fn bounded(text: &str) -> String {
    clean_line(text).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_long_or_dirty_line_gets_out() {
        assert_eq!(bounded("a\u{1b}[31mb\nc"), clean_line("a\u{1b}[31mb\nc"));
        assert!(!bounded("a\u{1b}[31mb\nc").contains(['\u{1b}', '\n']));
        assert_eq!(bounded(&"x".repeat(1000)).len(), LONGEST);
        assert_eq!(ends(CompleteReason::Cancelled), None);
        assert!(matches!(ends(CompleteReason::Failed), Some((What::Ended, text)) if text.contains("failed")));
    }
}
