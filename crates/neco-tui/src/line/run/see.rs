//! A run of the process that has the session open: what brings its happenings to the main thread.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use neco_proto::app::{AppError, Trouble};
use neco_proto::{Answer, Client, Command, Query, Seq, SessionId};
use neco_view::reduce::IdleTracker;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::mpsc::{self, Receiver};

use super::drive::{Drive, Judge, Stopped, unjudged};
use super::exit::Exit;
use super::stop::hear_signals;
use crate::line::loop_event::{QUEUE, bring_events, tell_time};
use crate::line::print::Printer;
use crate::line::signals::{InterruptMask, Signal, Signals};
use crate::line::{LineWindow, LoopEvent, Person, say};

/// What a run is seen with.
pub struct RunUi {
    /// What draws it.
    pub printer: Printer,
    /// Who is asked.
    pub person: Option<Person>,
    /// What it has to come to.
    pub judge: Judge,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Ends the process at once.
    pub quit: fn(Signal),
}

impl RunUi {
    /// A run of which nothing in particular has to come.
    #[must_use]
    pub fn new(printer: Printer, person: Option<Person>, quit: fn(Signal)) -> Self {
        Self { printer, person, judge: unjudged(), timeout: None, quit }
    }
}

/// A session that a run is about.
pub struct Run<W> {
    /// The session.
    pub id: SessionId,
    /// The way to it.
    pub client: Arc<dyn Client>,
    /// Its last event before.
    pub since: Seq,
    /// Writes what waits, when the process ends at once.
    pub write_all: W,
}

/// Sends `asked` to a session, draws what happens and asks the person, until the agent is done and does not go on for
/// somebody else.
pub fn see_through<W: Future<Output = ()> + Send + 'static>(
    runtime: &Runtime,
    run: Run<W>,
    mut ui: RunUi,
    asked: Command,
    goes_on: impl Fn() -> bool,
) -> Result<Exit, AppError> {
    let (id, client) = (run.id, Arc::clone(&run.client));
    // The first line of that form names them.
    if let Printer::Claude(claude) = &mut ui.printer
        && let Ok(Answer::Prompt(report)) = runtime.block_on(client.ask(Query::Prompt))
    {
        let declared = report.tools.into_iter().map(|tool| tool.name);
        claude.set_tools(declared.chain(report.context.tools.catalogue).collect());
    }
    let (window, mut happenings, stopped) = window_on(runtime, run, (ui.printer, ui.person), ui.quit)?;
    let mut rest = IdleTracker::default();
    // Those that an earlier run left paused.
    if let Ok(Answer::Tree { nodes }) = runtime.block_on(client.ask(Query::Tree)) {
        rest.found(&nodes);
    }
    let timed_out = timed(ui.timeout, runtime.handle(), client);
    let mut drive = Drive::new(id, window, rest, (stopped, timed_out), ui.judge);
    drive.say(asked, &mut happenings)?;
    Ok(drive.until_done(&mut happenings, goes_on))
}

/// A window on a session of this process, what the main thread waits for, and the signal that stops it.
pub(super) fn window_on<W: Future<Output = ()> + Send + 'static>(
    runtime: &Runtime,
    Run { client, since, write_all, .. }: Run<W>,
    (printer, person): (Printer, Option<Person>),
    quit: fn(Signal),
) -> Result<(LineWindow, Receiver<LoopEvent>, Stopped), AppError> {
    let (sender, happenings) = mpsc::channel(QUEUE);
    let (mask, stopped) = (InterruptMask::default(), Stopped::default());
    let heard = (Arc::clone(&client), sender.clone(), Arc::clone(&stopped));
    runtime.spawn(hear_signals(listen(runtime, &mask)?, heard, write_all, quit));
    if printer.shows_time() {
        runtime.spawn(tell_time(sender.clone()));
    }
    runtime.spawn(bring_events(Arc::clone(&client), since, sender.clone()));
    Ok((LineWindow::new(client, runtime.handle(), printer, person, mask, sender), happenings, stopped))
}

/// Stops the work of `client` when its time is over; whether that was so is known by what this gives.
fn timed(timeout: Option<Duration>, runtime: &Handle, client: Arc<dyn Client>) -> Arc<OnceLock<()>> {
    let over = Arc::new(OnceLock::new());
    if let Some(timeout) = timeout {
        let over = Arc::clone(&over);
        runtime.spawn(async move {
            tokio::time::sleep(timeout).await;
            let _ = over.set(());
            say::note(&format!("stopped after {} s: --timeout", timeout.as_secs()));
            // A session that is gone has stopped its work.
            let _ = client.send(Command::StopAll).await;
        });
    }
    over
}

/// Begins to hear signals.
pub fn listen(runtime: &Runtime, mask: &InterruptMask) -> Result<Signals, AppError> {
    let _entered = runtime.enter();
    Signals::listen(mask.clone())
        .map_err(|error| AppError::new(Trouble::Failed, format!("signals can't be received: {error}")))
}
