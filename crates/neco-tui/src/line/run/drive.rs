//! The main thread's loop of the process that has the session open: draws what happens, asks the
//! person, ends with the agent's work.

use std::io;
use std::sync::{Arc, OnceLock};

use neco_proto::event::NodeState;
use neco_proto::{ClientError, Command, Event, EventBody, SessionId};
use neco_view::reduce::IdleTracker;
use neco_view::short_id::short_id;
use tokio::sync::mpsc::Receiver;

use super::exit::Exit;
use super::outcome::{Outcome, RunError};
use super::report::Report;
use crate::line::signals::Signal;
use crate::line::{LineWindow, LoopEvent, say};

/// The signal that stopped a run, if one did.
pub type Stopped = Arc<OnceLock<Signal>>;

/// Looks at how a run ended and at the model's last words: gives how the process ends, and why where that is not the same.
pub type Judge = Box<dyn Fn(Exit, &str) -> (Exit, Option<String>)>;

/// What the main thread has in its hands.
pub struct Drive {
    id: SessionId,
    window: LineWindow,
    /// What came of what this process was asked.
    outcome: Outcome,
    /// Whether everybody is done.
    rest: IdleTracker,
    /// Those that were live before this process was asked anything: they are no part of it.
    before: Vec<String>,
    /// Whether everybody is done for now, since the last look.
    over: bool,
    /// Whether what this process was asked is done.
    done: bool,
    stopped: Stopped,
    /// Whether the work was stopped because its time was over.
    timed_out: Arc<OnceLock<()>>,
    /// What the run has to come to.
    judge: Judge,
    /// Whether the work was stopped because nobody reads what is printed.
    told_unread: bool,
    /// Whether the session was lost while it was told what is asked.
    lost: bool,
}

impl Drive {
    /// A run in `window` that a signal has `stopped` or will, or the end of its time; `rest` knows who works already,
    /// and `judge` has the last word about how it ended.
    #[must_use]
    pub fn new(
        id: SessionId,
        window: LineWindow,
        rest: IdleTracker,
        (stopped, timed_out): (Stopped, Arc<OnceLock<()>>),
        judge: Judge,
    ) -> Self {
        let (outcome, over, done, told_unread, lost) = (Outcome::default(), false, false, false, false);
        let before = rest.live().into_iter().map(str::to_owned).collect();
        Self { id, window, outcome, rest, before, over, done, stopped, timed_out, judge, told_unread, lost }
    }

    /// Tells the session what is asked, and draws what happens until that is taken: before it is, what has to be there
    /// first may be waited for.
    ///
    /// # Errors
    /// When it is not taken.
    pub fn say(&mut self, asked: Command, happenings: &mut Receiver<LoopEvent>) -> Result<(), ClientError> {
        let (client, runtime) = self.window.way();
        let mut sending = runtime.spawn(async move { client.send(asked).await });
        while !self.lost {
            let happened = runtime.block_on(async {
                tokio::select! {
                    biased;
                    sent = &mut sending => Err(sent),
                    happened = happenings.recv() => Ok(happened),
                }
            });
            match happened {
                Ok(happened) => self.lost = !self.take(happened),
                Err(sent) => return sent.unwrap_or(Err(ClientError::Gone)).map(drop),
            }
        }
        runtime.block_on(sending).unwrap_or(Err(ClientError::Gone)).map(drop)
    }

    /// Draws until the agent is done and nothing `goes_on`; gives how the process ends.
    pub fn until_done(&mut self, happenings: &mut Receiver<LoopEvent>, goes_on: impl Fn() -> bool) -> Exit {
        while !self.lost && self.take(happenings.blocking_recv()) {
            self.stop_unread();
            if self.over && !goes_on() {
                break;
            }
            if std::mem::take(&mut self.over) {
                self.window.tell("i another window is still working; this process stays until it is done");
            }
        }
        self.end()
    }

    /// Takes in what happened; whether there is more to come.
    fn take(&mut self, happened: Option<LoopEvent>) -> bool {
        match happened {
            Some(LoopEvent::Event(event)) => self.event(event),
            Some(LoopEvent::Typed(number, typed)) => self.window.typed(number, typed),
            Some(LoopEvent::Tick) => self.window.tick(),
            Some(LoopEvent::Stopped(signal)) => self.stop(signal),
            Some(LoopEvent::Lost(error)) => {
                self.lost(&error);
                return false;
            }
            Some(LoopEvent::Over) => {
                self.lost(&ClientError::Gone);
                return false;
            }
            // Nobody leaves a session of their own: it is cancelled.
            Some(LoopEvent::Leave { .. }) => {}
            None => return false,
        }
        true
    }

    fn end(&mut self) -> Exit {
        self.tell_of_paused();
        let stopped = self.stopped.get().copied();
        // Who is stopped while others work for it is stopped in its work, also when it was done with its own.
        let left = !self.rest.live().is_empty();
        let exit = match stopped.filter(|_| left) {
            Some(signal) => Exit::Stopped(signal),
            None => Exit::of(&self.outcome, stopped),
        };
        let over = stopped.is_none() && self.timed_out.get().is_some() && matches!(exit, Exit::Stopped(_));
        let exit = if over { Exit::Limit } else { exit };
        let exit = if exit == Exit::Done { self.without_paused() } else { exit };
        let exit = judged(&self.judge, exit, &mut self.outcome, &mut self.window);
        let printed = self.window.close().finish(|| Report::new(&self.outcome, Some(self.id), exit).line());
        self.window.printed(printed);
        match self.window.unread() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                say::note(&format!("the output could not be written: {error}"));
                Exit::Failed
            }
            // A reader that has had enough (`| head`) stopped the work, and nobody else.
            Some(_) if self.stopped.get().is_none() && (left || matches!(exit, Exit::Stopped(_))) => Exit::Unread,
            Some(_) | None => exit,
        }
    }

    /// What other windows ask for afterwards is not what this process was asked.
    fn event(&mut self, event: Box<Event>) {
        let before = self.rest.is_over();
        self.rest.apply(&event);
        let root_ended = matches!(event.body, EventBody::AgentComplete(_)) && self.rest.is_root(&event);
        self.over = self.rest.is_over() && (root_ended || !before);
        // With the root done, only a person pauses the last one that works, and may let it go on.
        let held = match &event.body {
            EventBody::AgentUpdate(update)
                if update.node.state == NodeState::Paused && self.stopped.get().is_none() && !self.told_unread =>
            {
                std::mem::take(&mut self.over).then(|| update.node.name.clone())
            }
            _ => None,
        };
        if !self.done {
            self.outcome.apply(&event);
        }
        self.done |= self.over;
        self.window.event(event);
        if root_ended {
            self.tell_of_others();
        }
        if let Some(name) = held {
            self.window.tell(&format!(
                "i all agents are paused; `neco agents resume {name}` resumes one, Ctrl-C ends this run"
            ));
        }
    }

    /// The root is done: who still works.
    fn tell_of_others(&mut self) {
        let working = self.rest.working().collect::<Vec<_>>().join(", ");
        if !self.over && !working.is_empty() {
            self.window.note(&format!("i waiting for {working}"));
        }
    }

    /// Those that are live when the run ends keep their history: they can go on when the session is opened again.
    fn tell_of_paused(&mut self) {
        let names = self.rest.live();
        if !names.is_empty() {
            let (names, id) = (names.join(", "), short_id(self.id));
            self.window.tell(&format!(
                "! paused, nothing is lost: {names}. Go on with  neco resume {id} -m \"resume {names}\""
            ));
        }
    }

    /// How a run ends whose root is done: with an agent that it left paused, not all was done.
    fn without_paused(&mut self) -> Exit {
        let of_this = |name: &&str| !self.before.iter().any(|before| before == name);
        let paused: Vec<&str> = self.rest.live().into_iter().filter(of_this).collect();
        if paused.is_empty() {
            return Exit::Done;
        }
        let message = format!("not all was done, these agents are still paused: {}", paused.join(", "));
        self.outcome.error = Some(RunError { code: None, message });
        Exit::Failed
    }

    fn stop(&mut self, signal: Signal) {
        // There is no work of the root to cancel: those below it end with the session.
        self.over |= self.rest.root_is_done();
        self.window.note(match signal {
            Signal::Interrupt => "stopping everything… press Ctrl-C again to quit at once",
            Signal::Terminate | Signal::HangUp => "stopping everything…",
        });
    }

    fn lost(&mut self, error: &ClientError) {
        let code = match error {
            ClientError::Failed { code, .. } => Some(*code),
            ClientError::Gone | ClientError::Refused(_) => None,
        };
        self.outcome.error = Some(RunError { code, message: error.to_string() });
        let id = short_id(self.id);
        self.window.tell(&match code {
            Some(code) => format!(
                "✗ {error} ({}). What is saved is safe; when that is fixed, resume it with  neco resume {id}",
                code.number()
            ),
            None => format!("✗ the session has ended: {error}. Resume it with  neco resume {id}"),
        });
    }

    /// When nobody reads what is printed the work is stopped, once.
    fn stop_unread(&mut self) {
        if self.window.unread().is_some() && !self.over && !std::mem::replace(&mut self.told_unread, true) {
            // A session that is gone has stopped its work.
            let _ = self.window.send(Command::StopAll);
        }
    }
}

/// Nothing in particular has to come of a run.
pub(super) fn unjudged() -> Judge {
    Box::new(|exit, _| (exit, None))
}

/// How a process ends; what is wrong with how it ended is told, and stands in what programs read.
pub(super) fn judged(judge: &Judge, exit: Exit, outcome: &mut Outcome, window: &mut LineWindow) -> Exit {
    let last = outcome.complete.as_ref().map(|complete| complete.final_text.as_str()).unwrap_or_default();
    let (exit, why) = judge(exit, last);
    if let Some(message) = why {
        window.tell(&format!("! {message}"));
        outcome.error = Some(RunError { code: None, message });
    }
    exit
}
