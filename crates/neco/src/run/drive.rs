//! A run of the process that has the session open: what brings its happenings to the main thread.

use std::sync::Arc;

use neco_proto::{Answer, Client, Command, Query, Seq, SessionId};
use neco_tui::line::loop_event::{QUEUE, bring_events, tell_time};
use neco_tui::line::run::Drive;
use neco_tui::line::{LineWindow, Person};
use neco_view::reduce::IdleTracker;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::ends::Ends;
use super::stop::{Stopped, hear_signals};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::Printer;
use crate::say;
use crate::signals::{InterruptMask, Signals};

/// What a run is seen with.
pub struct RunUi {
    /// What draws it.
    pub printer: Printer,
    /// Who is asked.
    pub person: Option<Person>,
    /// What it has to come to.
    pub ends: Ends,
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
    ui: RunUi,
    asked: Command,
    goes_on: impl Fn() -> bool,
) -> Result<Exit, Failure> {
    let Run { id, client, since, write_all } = run;
    let (sender, mut happenings) = mpsc::channel(QUEUE);
    let mask = InterruptMask::default();
    let signals = listen(runtime, &mask)?;
    let stopped = Stopped::default();
    runtime.spawn(hear_signals(signals, Arc::clone(&client), sender.clone(), Arc::clone(&stopped), write_all));
    if ui.printer.shows_time() {
        runtime.spawn(tell_time(sender.clone()));
    }
    runtime.spawn(bring_events(Arc::clone(&client), since, sender.clone()));
    let mut rest = IdleTracker::default();
    // Those that an earlier run left paused.
    if let Ok(Answer::Tree { nodes }) = runtime.block_on(client.ask(Query::Tree)) {
        rest.found(&nodes);
    }
    let timed_out = ui.ends.watch(runtime.handle(), Arc::clone(&client));
    let window = LineWindow::new(client, runtime.handle(), ui.printer, ui.person, mask, sender);
    window.send(asked)?;
    let ends = ui.ends;
    let drive = Drive::new(id, window, rest, stopped, say::note).timed(timed_out);
    let mut drive = drive.judged(Box::new(move |exit, last| ends.after(exit, last)));
    Ok(drive.until_done(&mut happenings, goes_on))
}

/// Begins to hear signals.
pub fn listen(runtime: &Runtime, mask: &InterruptMask) -> Result<Signals, Failure> {
    let _entered = runtime.enter();
    Signals::listen(mask.clone())
        .map_err(|error| Failure::new(Exit::Failed, format!("signals can't be received: {error}")))
}
