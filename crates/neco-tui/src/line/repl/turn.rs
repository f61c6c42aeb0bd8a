//! A message, from when it is said until the agent is done with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_proto::event::{AgentNode, CompleteReason, NodeState};
use neco_proto::{Answer, Client, Command, EventBody, Query, Receipt};
use neco_tui::line::loop_event::{LoopEvent, QUEUE, bring_events};
use neco_tui::line::{LineWindow, Person};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::open::Repl;
use crate::args::OutputFormat;
use crate::ask;
use crate::ask::Tty;
use crate::ask::question::Place;
use crate::ask::tty::restore_terminal;
use crate::failure::Failure;
use crate::log;
use crate::print::clean::clean_line;
use crate::run::stop::quit;
use crate::say;
use crate::signals::{Signal, Signals};
use crate::terminal::Terminal;
use crate::tui::was_said;

/// How long a session may take to say whether anything was said in it, when the process is to end.
const SOON: Duration = Duration::from_millis(500);

/// What goes on now, for whoever hears signals.
#[derive(Default)]
pub struct Course {
    /// The session that works, and who is told.
    work: Option<(Arc<dyn Client>, Sender<LoopEvent>)>,
    /// Signals since it began.
    heard: u32,
    /// Whether it is only waited for, and goes on when the waiting ends.
    waits: bool,
}

impl Course {
    /// Whether a signal ends the waiting only, as there is no work of the root to stop.
    pub(super) fn wait_only(&mut self, waits: bool) {
        self.waits = waits;
    }
}

impl Repl {
    /// Says something and shows what comes of it until the agent is done.
    ///
    /// # Errors
    /// When the session does not take it.
    pub(super) fn turn(&mut self, runtime: &Runtime, asked: Command) -> Result<(), Failure> {
        self.at_work(runtime, |repl, window, happenings| {
            let receipt = match window.send(asked) {
                Ok(receipt) => receipt,
                Err(error) => return say::out(&format!("! {error}\n")),
            };
            repl.until_done(window, happenings, receipt);
            Ok(())
        })
    }

    /// Opens a window on what happens from where the session was shown, and lets `watch` look.
    pub(super) fn at_work(
        &mut self,
        runtime: &Runtime,
        watch: impl FnOnce(&mut Self, &mut LineWindow, &mut Receiver<LoopEvent>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (sender, mut happenings) = mpsc::channel(QUEUE);
        *self.course() = Course { work: Some((Arc::clone(&self.client), sender.clone())), ..Course::default() };
        let mut window = self.window(runtime, sender.clone());
        let events = runtime.spawn(bring_events(Arc::clone(&self.client), self.seen.seq(), sender));
        let outcome = watch(self, &mut window, &mut happenings);
        events.abort();
        self.seen.take_back(window.into_printer());
        *self.course() = Course::default();
        outcome
    }

    fn window(&mut self, runtime: &Runtime, sender: Sender<LoopEvent>) -> LineWindow {
        let terminal = Terminal::look_at(&self.env);
        let mut printer = terminal.printer(OutputFormat::Text);
        self.seen.lend(&mut printer);
        let person = Tty::open().map(|tty| {
            let folder = self.host.folder();
            let place = Place { paint: terminal.paint(), width: terminal.width, rows: terminal.rows, folder };
            Person { tty, place, programs: ask::programs(&self.env) }
        });
        LineWindow::new(Arc::clone(&self.client), runtime, printer, person, self.mask.clone(), sender)
    }

    fn until_done(&mut self, window: &mut LineWindow, happenings: &mut Receiver<LoopEvent>, receipt: Receipt) {
        // What the root does already comes before it.
        let mut heard = receipt.message_id.is_none();
        let mut done = false;
        while !done {
            match happenings.blocking_recv() {
                Some(LoopEvent::Event(event)) => {
                    self.seen.take(&event);
                    let own = self.seen.rest().is_root(&event);
                    match &event.body {
                        EventBody::Message(message) => heard |= receipt.message_id == Some(message.id),
                        EventBody::AgentComplete(complete) if own => {
                            done = heard || complete.reason != CompleteReason::Natural;
                        }
                        // A note is remembered, and nobody works.
                        EventBody::MemoryUpdate(_) => done |= receipt.message_id.is_none(),
                        _ => {}
                    }
                    log::event(&event);
                    window.event(event);
                }
                Some(happening) => done = !goes_on(window, happening),
                None => done = true,
            }
        }
    }

    pub(super) fn course(&self) -> std::sync::MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Hears signals: the first Ctrl-C while the agent works stops the work; one while only its agents do stops those; a
/// second one ends the process, as every other signal does.
/// The terminal gets back what `undone` says.
pub async fn hear_signals(
    mut signals: Signals,
    course: Arc<Mutex<Course>>,
    present: Arc<Mutex<Arc<dyn Client>>>,
    undone: &'static str,
) {
    loop {
        let signal = signals.next().await;
        let (work, heard, waits) = {
            let mut course = course.lock().unwrap_or_else(PoisonError::into_inner);
            course.heard += 1;
            (course.work.clone(), course.heard, course.waits)
        };
        match (signal, work) {
            (Signal::Interrupt, Some((client, sender))) if heard == 1 => {
                tokio::spawn(async move {
                    if !waits {
                        let _ = client.send(Command::Cancel).await;
                    }
                    let _ = sender.send(LoopEvent::Stopped(signal)).await;
                });
            }
            (Signal::Interrupt, None) if heard == 1 => {
                let client = Arc::clone(&present.lock().unwrap_or_else(PoisonError::into_inner));
                match stop_agents(client.as_ref()).await {
                    Some(words) => {
                        say::note(&words);
                        course.lock().unwrap_or_else(PoisonError::into_inner).heard = 0;
                    }
                    None => say::note("Ctrl-C again leaves"),
                }
            }
            (Signal::Interrupt | Signal::HangUp | Signal::Terminate, _) => {
                let client = Arc::clone(&present.lock().unwrap_or_else(PoisonError::into_inner));
                if signal == Signal::Interrupt {
                    // Another process may have the session open, and would go on.
                    let _ = tokio::time::timeout(SOON, client.send(Command::StopAll)).await;
                }
                // The terminal may be gone.
                let _ = say::out(&format!("{undone}\n"));
                last_words(client.as_ref()).await;
                quit(signal);
            }
        }
    }
}

/// Stops everything if an agent below the root works, and says so; nothing when none does.
pub(super) async fn stop_agents(client: &dyn Client) -> Option<String> {
    let Ok(Answer::Tree { nodes }) = client.ask(Query::Tree).await else { return None };
    let works = |node: &&AgentNode| node.parent.is_some() && node.state.is_live() && node.state != NodeState::Paused;
    let names: Vec<String> = nodes.iter().filter(works).map(|node| clean_line(&node.name)).collect();
    if names.is_empty() {
        return None;
    }
    Some(match client.send(Command::StopAll).await {
        Ok(_) => format!("paused: {}; /agents resume NAME lets one go on", names.join(", ")),
        Err(error) => error.to_string(),
    })
}

/// How the session is gone on with, if anything was said in it. The terminal may be gone, and nobody waits for long.
async fn last_words(client: &dyn Client) {
    if let Ok(Ok(Some(id))) = tokio::time::timeout(SOON, was_said(client)).await {
        restore_terminal();
        let _ = say::out(&format!("go on with it: neco --session {id}\n"));
    }
}
