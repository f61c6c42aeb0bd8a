//! What agents do while nothing is asked: shown before the next line, and waited for by an empty one.

use std::collections::VecDeque;
use std::io;

use neco_proto::event::{CompleteReason, ToolCallEnd};
use neco_proto::{Answer, Client, Display, Event, EventBody, Query, Seq, SessionSnapshot};
use neco_view::reduce::{Agents, IdleTracker};
use neco_view::slash;

use super::signals::locked;
use super::turn::{LineSession, goes_on};
use crate::line::LoopEvent;
use crate::line::print::Printer;
use crate::line::say::out;

/// Calls whose outcome can be shown again.
const CALLS: usize = 20;

/// How far a session was shown, and who works in it.
#[derive(Default)]
pub(super) struct Seen {
    /// The last event that was shown.
    pub seq: Seq,
    /// Who works.
    pub rest: IdleTracker,
    /// Whether the root is at it.
    pub root_works: bool,
    /// Who was said to work last.
    told: String,
    /// The agents that were shown.
    agents: Agents,
    /// The last answer of the root.
    pub answer: String,
    /// What calls of the root came to, the last one at the end, and how many of them were shown whole.
    calls: VecDeque<ToolCallEnd>,
    expanded: usize,
}

impl Seen {
    /// All that is there is known.
    pub async fn now(client: &dyn Client) -> Self {
        match client.ask(Query::Snapshot).await {
            Ok(Answer::Snapshot(snapshot)) => Self {
                seq: snapshot.last_seq,
                rest: IdleTracker::of(snapshot.root_agent),
                root_works: snapshot.state.is_at_work(),
                ..Self::default()
            },
            Ok(_) | Err(_) => Self::default(),
        }
    }

    /// A printer knows what an earlier one has shown.
    pub fn lend(&mut self, printer: &mut Printer) {
        if let Printer::Text(text) = printer {
            text.follow(self.rest.clone(), std::mem::take(&mut self.agents));
        }
    }

    /// It writes its last words, and what it has shown is known for the next one.
    pub fn take_back(&mut self, printer: Printer) {
        if let Printer::Text(mut text) = printer {
            // Whoever does not read it misses nothing that is kept.
            let _ = text.finish();
            self.agents = text.into_agents();
        }
    }

    /// The next event is shown.
    pub fn take(&mut self, event: &Event) {
        self.seq = event.seq;
        self.rest.apply(event);
        if !self.rest.is_root(event) {
            return;
        }
        match &event.body {
            EventBody::StateChange(change) => self.root_works = change.to.is_at_work(),
            EventBody::AgentComplete(complete) => {
                self.answer.clone_from(&complete.final_text);
                if complete.reason == CompleteReason::Cancelled {
                    // Whoever stopped the work is told who still works.
                    self.told.clear();
                }
            }
            EventBody::ToolCallEnd(end) => {
                self.calls.push_back(end.clone());
                self.expanded = 0;
                if self.calls.len() > CALLS {
                    self.calls.pop_front();
                }
            }
            _ => {}
        }
    }

    /// All that came of the last call; when asked again, of the one before it.
    pub fn expand(&mut self) -> String {
        let Some(end) = self.calls.iter().rev().nth(self.expanded) else {
            self.expanded = 0;
            return slash::NO_CALL.to_owned();
        };
        self.expanded += 1;
        let all = match &end.display {
            Some(Display::Diff { files }) => {
                files.iter().map(|file| format!("{}\n{}", file.path, file.unified)).collect()
            }
            Some(Display::Text { .. } | Display::Terminal { .. } | Display::List { .. }) | None => end.output.clone(),
        };
        let kept = end.spilled_to.as_ref().map(|file| format!("\nall of it: {file}")).unwrap_or_default();
        format!("{}\n{}{kept}", end.summary, all.trim_end())
    }

    /// Whether somebody works, or something is on its way that lets the root go on.
    fn goes_on(&self) -> bool {
        self.root_works || self.rest.working().next().is_some() || (self.rest.root_is_done() && !self.rest.is_over())
    }

    fn working(&self) -> String {
        self.rest.working().collect::<Vec<_>>().join(", ")
    }
}

impl LineSession {
    /// Shows what happened since, and says who works and who waits for the person.
    pub(super) fn catch_up(&mut self) -> io::Result<()> {
        let Some(snapshot) = self.snapshot() else { return Ok(()) };
        if snapshot.last_seq > self.seen.seq {
            self.at_work(|session, window, happenings| {
                while session.seen.seq < snapshot.last_seq {
                    match happenings.blocking_recv() {
                        Some(LoopEvent::Event(event)) => {
                            session.seen.take(&event);
                            window.past(&event);
                        }
                        Some(happening) => {
                            if !goes_on(window, happening) {
                                break;
                            }
                        }
                        None => break,
                    }
                }
                Ok(())
            })?;
        }
        let waits = snapshot.pending.len() + snapshot.questions.len();
        if waits > 0 {
            return out("You are asked something: an empty line shows it.\n");
        }
        let working = self.seen.working();
        let news = working != self.seen.told;
        self.seen.told.clone_from(&working);
        match working.is_empty() || !news {
            true => Ok(()),
            false => out(&format!(
                "Working: {working}. Ctrl-C pauses them; an empty line waits and shows what happens; /agents messages, \
                 pauses or stops one.\n"
            )),
        }
    }

    /// Shows what happens until nobody works, and asks what is to be asked; Ctrl-C stops the waiting, and the work of
    /// the root if it was woken meanwhile.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let Some(snapshot) = self.snapshot() else { return Ok(()) };
        let asked = !snapshot.pending.is_empty() || !snapshot.questions.is_empty();
        if !asked && !self.seen.goes_on() {
            return Ok(());
        }
        self.at_work(|session, window, happenings| {
            locked(&session.course).waits = !session.seen.root_works;
            window.ask(snapshot.pending, snapshot.questions);
            loop {
                match happenings.blocking_recv() {
                    Some(LoopEvent::Event(event)) => {
                        session.seen.take(&event);
                        locked(&session.course).waits = !session.seen.root_works;
                        window.event(event);
                        if !session.seen.goes_on() {
                            return Ok(());
                        }
                    }
                    Some(LoopEvent::Stopped(_)) => {
                        session.seen.told.clear();
                        return Ok(());
                    }
                    Some(happening) => {
                        if !goes_on(window, happening) {
                            return Ok(());
                        }
                    }
                    None => return Ok(()),
                }
            }
        })
    }

    fn snapshot(&self) -> Option<SessionSnapshot> {
        match self.ask(Query::Snapshot) {
            Ok(Answer::Snapshot(snapshot)) => Some(snapshot),
            Ok(_) | Err(_) => None,
        }
    }
}
