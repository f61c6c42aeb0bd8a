//! A message, from when it is said until the agent is done with it.

use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::{Client, Command, EventBody};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Sender};

use super::open::Repl;
use crate::args::OutputFormat;
use crate::ask::Tty;
use crate::ask::editor::Programs;
use crate::ask::question::Place;
use crate::failure::Failure;
use crate::print::Printer;
use crate::run::happening::{Happening, QUEUE, bring_events, quit};
use crate::run::window::{Person, Window};
use crate::say;
use crate::signals::{Signal, Signals};
use crate::terminal::Terminal;

/// What goes on now, for whoever hears signals.
#[derive(Default)]
pub struct Course {
    /// The session that works, and who is told.
    work: Option<(Arc<dyn Client>, Sender<Happening>)>,
    /// Signals since it began.
    heard: u32,
}

impl Repl {
    /// Says something and shows what comes of it until the agent is done.
    ///
    /// # Errors
    /// When the session does not take it.
    pub(super) fn turn(&mut self, runtime: &Runtime, asked: Command) -> Result<(), Failure> {
        let (sender, mut happenings) = mpsc::channel(QUEUE);
        *self.course() = Course { work: Some((Arc::clone(&self.client), sender.clone())), heard: 0 };
        let outcome = self.watch(runtime, asked, sender, &mut happenings);
        *self.course() = Course::default();
        outcome
    }

    fn watch(
        &mut self,
        runtime: &Runtime,
        asked: Command,
        sender: Sender<Happening>,
        happenings: &mut mpsc::Receiver<Happening>,
    ) -> Result<(), Failure> {
        let terminal = Terminal::look_at(&self.env);
        let printer = Printer::new(OutputFormat::Text, &terminal);
        let person = Tty::open().map(|tty| {
            let folder = self.host.folder();
            let place = Place { paint: terminal.paint(), width: terminal.width, rows: terminal.rows, folder };
            Person { tty, place, programs: Programs::wanted(&self.env) }
        });
        let client = Arc::clone(&self.client);
        let mut window = Window::new(Arc::clone(&client), runtime, printer, person, self.deaf.clone(), sender.clone());
        let receipt = match window.send(asked) {
            Ok(receipt) => receipt,
            Err(error) => return say::out(&format!("! {error}\n")),
        };
        let events = runtime.spawn(bring_events(client, receipt.seq, sender));
        let mut done = false;
        while !done {
            match happenings.blocking_recv() {
                Some(Happening::Event(event)) => {
                    done = matches!(event.body, EventBody::AgentComplete(_));
                    // A note is remembered, and nobody works.
                    done |= receipt.message_id.is_none() && matches!(event.body, EventBody::MemoryUpdate(_));
                    window.event(event);
                }
                Some(Happening::Typed(number, typed)) => window.typed(number, typed),
                Some(Happening::Tick) => window.tick(),
                Some(Happening::Stopped(_)) => window.note("cancelling… press Ctrl-C again to quit"),
                Some(Happening::Lost(error)) => {
                    window.note(&format!("✗ {error}"));
                    done = true;
                }
                Some(Happening::Over | Happening::Leave { .. }) | None => done = true,
            }
        }
        events.abort();
        window.close();
        Ok(())
    }

    fn course(&self) -> std::sync::MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears signals: the first Ctrl-C while the agent works stops the work, a second one ends the process, as every
/// other signal does.
pub async fn hear_signals(mut signals: Signals, course: Arc<Mutex<Course>>) {
    loop {
        let signal = signals.next().await;
        let (work, heard) = {
            let mut course = course.lock().unwrap_or_else(PoisonError::into_inner);
            course.heard += 1;
            (course.work.clone(), course.heard)
        };
        match (signal, work) {
            (Signal::Interrupt, Some((client, sender))) if heard == 1 => {
                tokio::spawn(async move {
                    let _ = client.send(Command::Cancel).await;
                    let _ = sender.send(Happening::Stopped(signal)).await;
                });
            }
            (Signal::Interrupt, None) if heard == 1 => say::note("Ctrl-C again leaves"),
            (Signal::Interrupt | Signal::HangUp | Signal::Terminate, _) => quit(signal),
        }
    }
}
