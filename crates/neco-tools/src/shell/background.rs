//! Processes in the background of one agent.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_safety::world::{Exit, Process, ProcessInput, Progress, Stop, Stops};
use neco_toolkit::InBackground;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::box_words::aftermath_words;
use super::follow::GRACE;
use super::plain_text::plain_text;
use super::wording::{ending, exit_code, last_bytes, last_lines, one_line, seconds};

/// Bytes of the end of a process's output that are kept.
const KEPT: usize = 256 * 1024;

/// How many may run at once, and how many that are over are remembered.
const MOST_RUNNING: usize = 32;
const MOST_OVER: usize = 32;

/// A process that fails does so soon after its start.
const SETTLE: Duration = Duration::from_millis(150);

/// The background processes of one agent. Dropping it kills them.
#[derive(Debug, Default)]
pub(super) struct Processes {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    started: u32,
    processes: Vec<Arc<Background>>,
}

/// A process in the background. Dropping it kills its group.
#[derive(Debug)]
pub(super) struct Background {
    id: String,
    pub(super) command: String,
    started: Instant,
    handle: Arc<dyn Stops>,
    /// What it reads, until that is closed.
    pub(super) input: tokio::sync::Mutex<Option<Box<dyn ProcessInput>>>,
    record: Arc<Record>,
    reading: AbortHandle,
}

/// What is known of a process, shared with the task that reads its output.
#[derive(Debug)]
struct Record {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The end of its output.
    kept: VecDeque<u8>,
    bytes: u64,
    lines: u64,
    /// Of `lines` and `bytes`, those that were there at the last look.
    seen_lines: u64,
    seen_bytes: u64,
    over: Option<(Exit, Duration)>,
    /// Whether the person ended it.
    ended_by_person: bool,
    /// What its box did about what it made.
    aftermath: Option<String>,
    /// Files that it changed and that act later, until the person is told of them.
    changed_later: Vec<PathBuf>,
}

/// A look at a process.
pub(super) struct Look {
    pub(super) state: String,
    /// How it ended; nothing while it runs.
    pub(super) exit: Option<Exit>,
    /// The end of its output as plain text.
    pub(super) text: String,
    /// Lines that came since the last look.
    pub(super) new_lines: u64,
    pub(super) lines: u64,
}

impl Processes {
    /// Whether one more may be there.
    /// Fails when as many run as may; the number of those is told.
    pub(super) fn check_room(&self) -> Result<(), usize> {
        Some(self.running()).filter(|running| *running >= MOST_RUNNING).map_or(Ok(()), Err)
    }

    pub(super) fn running(&self) -> usize {
        self.list().processes.iter().filter(|process| process.exit().is_none()).count()
    }

    /// Takes over a process and reads its output from now on.
    pub(super) fn add(&self, command: &str, running: Box<dyn Process>) -> Arc<Background> {
        let mut list = self.list();
        list.started += 1;
        let process = Arc::new(Background::new(format!("bg-{}", list.started), command, running));
        list.processes.push(Arc::clone(&process));
        let over: Vec<String> =
            list.processes.iter().filter(|one| one.exit().is_some()).map(|one| one.id.clone()).collect();
        let forgotten = over.len().saturating_sub(MOST_OVER);
        list.processes.retain(|one| !over.iter().take(forgotten).any(|id| *id == one.id));
        process
    }

    /// Files that those changed which are over and that act later, each once.
    pub(super) fn take_changed_later(&self) -> Vec<PathBuf> {
        self.list().processes.iter().flat_map(|process| process.take_changed_later()).collect()
    }

    /// All of them, oldest first.
    pub(super) fn all(&self) -> Vec<Arc<Background>> {
        self.list().processes.clone()
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Background {
    fn new(id: String, command: &str, mut running: Box<dyn Process>) -> Self {
        let started = Instant::now();
        let record = Arc::new(Record { state: Mutex::default(), changed: watch::Sender::new(()) });
        let handle = running.handle();
        let input = tokio::sync::Mutex::new(running.take_input());
        let reading = tokio::spawn(read_to_the_end(running, Arc::clone(&record), started)).abort_handle();
        Self { id, command: command.to_owned(), started, handle, input, record, reading }
    }

    /// The name the model calls it by.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// How it ended; nothing while it runs.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.record.state().over.map(|(exit, _)| exit)
    }

    pub(super) fn state(&self) -> String {
        let record = self.record.state();
        match record.over {
            Some((exit, took)) => {
                let aftermath = record.aftermath.as_ref().map(|words| format!("; {words}")).unwrap_or_default();
                let by = if record.ended_by_person { ", ended by the user" } else { "" };
                format!("{} is over{by}: {} after {}{aftermath}", self.id, ending(exit), seconds(took))
            }
            None => format!("{} has been running for {}", self.id, seconds(self.started.elapsed())),
        }
    }

    /// Files that it changed and that act later, once it is over and nobody has taken them.
    pub(super) fn take_changed_later(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.record.state().changed_later)
    }

    /// It and its command in one line.
    pub(super) fn describe(&self) -> String {
        format!("{}: {}", self.state(), one_line(&self.command, 80))
    }

    /// Signals it and everything it started.
    pub(super) fn stop(&self, how: Stop) {
        self.handle.stop(how);
    }

    /// The last lines of its output; what is there now counts as seen.
    pub(super) fn look(&self, lines: usize, most_bytes: usize) -> Look {
        let state = self.state();
        let (text, exit, new_lines, all_lines) = {
            let mut record = self.record.state();
            let new_lines = record.take_new_lines();
            (record.raw_text(), record.over.map(|(exit, _)| exit), new_lines, record.lines)
        };
        let text = last_bytes(last_lines(&plain_text(&text), lines), most_bytes).to_owned();
        Look { state, exit, text, new_lines, lines: all_lines }
    }

    /// All of its output that is kept, as plain text; does not count as a look.
    pub(super) fn text(&self) -> String {
        let raw = self.record.state().raw_text();
        plain_text(&raw)
    }

    /// Notices of every change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.record.changed.subscribe()
    }

    /// Waits a moment for a process that ends as soon as it started.
    pub(super) async fn settle(&self, cancel: &CancellationToken) {
        tokio::select! {
            () = self.over() => {}
            () = tokio::time::sleep(SETTLE) => {}
            () = cancel.cancelled() => {}
        }
    }

    /// Ready when it is over.
    async fn over(&self) {
        let mut changes = self.changes();
        while self.exit().is_none() && changes.changed().await.is_ok() {}
    }
}

impl InBackground for Background {
    fn name(&self) -> &str {
        &self.id
    }

    fn command(&self) -> &str {
        &self.command
    }

    fn age(&self) -> Duration {
        self.started.elapsed()
    }

    fn ended(&self) -> Option<(Option<i32>, Duration)> {
        self.record.state().over.map(|(exit, took)| (exit_code(exit), took))
    }

    fn tail(&self, lines: usize) -> String {
        last_lines(&self.text(), lines).to_owned()
    }

    fn end(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if self.exit().is_some() {
                return;
            }
            self.record.state().ended_by_person = true;
            for how in [Stop::Terminate, Stop::Kill] {
                self.stop(how);
                if tokio::time::timeout(GRACE, self.over()).await.is_ok() {
                    return;
                }
            }
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // At once, and not when the runtime gets to it.
        self.handle.stop(Stop::Kill);
        self.reading.abort();
    }
}

async fn read_to_the_end(mut running: Box<dyn Process>, record: Arc<Record>, started: Instant) {
    loop {
        match running.next().await {
            Progress::Output(bytes) => record.state().keep(bytes),
            Progress::Ended(end) => {
                let words = aftermath_words(running.taken_away(), running.left_behind());
                let mut state = record.state();
                state.aftermath = words;
                state.changed_later = running.changed_later().to_vec();
                state.over = Some((end.exit, started.elapsed()));
                drop(state);
                record.changed.send_replace(());
                return;
            }
        }
        record.changed.send_replace(());
    }
}

impl Record {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.kept.extend(bytes);
        let too_many = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..too_many);
    }

    /// Lines that came since the last look; an unfinished one that grew counts as one.
    fn take_new_lines(&mut self) -> u64 {
        let grew = u64::from(self.bytes > self.seen_bytes);
        let new_lines = (self.lines - self.seen_lines).max(grew);
        (self.seen_lines, self.seen_bytes) = (self.lines, self.bytes);
        new_lines
    }

    /// What is kept, from the start of a line when the beginning is gone.
    fn raw_text(&mut self) -> Vec<u8> {
        let cut = self.bytes > self.kept.len() as u64;
        let kept = self.kept.make_contiguous();
        match kept.iter().position(|byte| *byte == b'\n').filter(|_| cut) {
            Some(end) => kept.split_at(end + 1).1.to_vec(),
            None => kept.to_vec(),
        }
    }
}
