//! The session on the screen, and a message in it from when it is said until the agent is done with it.

use std::io;
use std::sync::{Arc, Mutex};

use neco_proto::event::CompleteReason;
use neco_proto::{Answer, Client, ClientError, Command, EventBody, Query, Receipt};
use tokio::sync::mpsc::{self, Receiver};

use super::meanwhile::Seen;
use super::process::Surroundings;
use super::signals::{Course, locked};
use crate::host::Wanted;
use crate::line::LineWindow;
use crate::line::loop_event::{LoopEvent, QUEUE, bring_events};
use crate::line::say::out;

/// The session on the screen, and how far it was shown.
pub(super) struct LineSession {
    pub around: Surroundings,
    pub client: Arc<dyn Client>,
    /// What goes on in it.
    pub course: Arc<Mutex<Course>>,
    /// How far it was shown.
    pub seen: Seen,
}

impl LineSession {
    /// A session of which all that happened is known.
    pub fn new(around: Surroundings, client: Arc<dyn Client>) -> Self {
        let seen = around.runtime.block_on(Seen::now(client.as_ref()));
        let course = Arc::new(Mutex::new(Course::of(&client, None)));
        Self { around, client, course, seen }
    }

    /// Puts another session in its place.
    pub fn open(&mut self, wanted: Wanted) -> Result<(), String> {
        let runtime = &self.around.runtime;
        let client = runtime.block_on(self.around.host.open(wanted)).map_err(|error| error.words())?;
        self.around.host.shown(&client);
        let before = std::mem::replace(&mut self.client, client);
        locked(&self.course).client = Arc::clone(&self.client);
        self.seen = runtime.block_on(Seen::now(self.client.as_ref()));
        runtime.block_on(self.around.host.close(before));
        Ok(())
    }

    pub fn ask(&self, query: Query) -> Result<Answer, ClientError> {
        self.around.runtime.block_on(self.client.ask(query))
    }

    /// Tells it something; what is said of that, with `done` for when it is taken.
    pub fn tell(&self, command: Command, done: &str) -> String {
        match self.around.runtime.block_on(self.client.send(command)) {
            Ok(_) => done.to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Says something and shows what comes of it until the agent is done.
    pub fn turn(&mut self, asked: Command) -> io::Result<()> {
        self.at_work(|session, window, happenings| {
            let receipt = match window.send(asked) {
                Ok(receipt) => receipt,
                Err(error) => return out(&format!("! {error}\n")),
            };
            session.until_done(window, happenings, receipt);
            Ok(())
        })
    }

    /// Waits for something that is no work of the session; nothing where Ctrl-C stops it, which drops it.
    pub fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let (sender, mut stopped) = mpsc::channel(QUEUE);
        *locked(&self.course) = Course::waiting(&self.client, sender);
        let done = self.around.runtime.block_on(async {
            tokio::select! {
                biased;
                done = work => Some(done),
                _ = stopped.recv() => None,
            }
        });
        *locked(&self.course) = Course::of(&self.client, None);
        done
    }

    /// Opens a window on what happens from where the session was shown, and lets `watch` look.
    pub fn at_work(
        &mut self,
        watch: impl FnOnce(&mut Self, &mut LineWindow, &mut Receiver<LoopEvent>) -> io::Result<()>,
    ) -> io::Result<()> {
        let (sender, mut happenings) = mpsc::channel(QUEUE);
        *locked(&self.course) = Course::of(&self.client, Some(sender.clone()));
        let Surroundings { host, seat, runtime, mask, .. } = &self.around;
        let (mut printer, person) = seat(host.folder());
        self.seen.lend(&mut printer);
        let client = Arc::clone(&self.client);
        let mut window = LineWindow::new(client, runtime, printer, person, mask.clone(), sender.clone());
        let events = runtime.spawn(bring_events(Arc::clone(&self.client), self.seen.seq, sender));
        let outcome = watch(self, &mut window, &mut happenings);
        events.abort();
        self.seen.take_back(window.into_printer());
        *locked(&self.course) = Course::of(&self.client, None);
        outcome
    }

    fn until_done(&mut self, window: &mut LineWindow, happenings: &mut Receiver<LoopEvent>, receipt: Receipt) {
        // What the root does already comes before it.
        let mut heard = receipt.message_id.is_none();
        let mut done = false;
        while !done {
            match happenings.blocking_recv() {
                Some(LoopEvent::Event(event)) => {
                    self.seen.take(&event);
                    let own = self.seen.rest.is_root(&event);
                    match &event.body {
                        EventBody::Message(message) => heard |= receipt.message_id == Some(message.id),
                        EventBody::AgentComplete(complete) if own => {
                            done = heard || complete.reason != CompleteReason::Natural;
                        }
                        // A note is remembered, and nobody works.
                        EventBody::MemoryUpdate(_) => done |= receipt.message_id.is_none(),
                        _ => {}
                    }
                    window.event(event);
                }
                Some(happening) => done = !goes_on(window, happening),
                None => done = true,
            }
        }
    }
}

/// Takes in what is no event; whether there is more to come.
pub(super) fn goes_on(window: &mut LineWindow, happening: LoopEvent) -> bool {
    match happening {
        LoopEvent::Event(event) => window.event(event),
        LoopEvent::Typed(number, typed) => window.typed(number, typed),
        LoopEvent::Tick => window.tick(),
        LoopEvent::Stopped(_) => window.note("stopping… press Ctrl-C again to stop everything and quit"),
        LoopEvent::Lost(error) => {
            window.note(&format!("✗ {error}"));
            return false;
        }
        LoopEvent::Over | LoopEvent::Leave { .. } => return false,
    }
    true
}
