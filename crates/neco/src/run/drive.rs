//! The main thread's loop: draws what happens, asks the person, ends with the agent's work.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use neco_proto::{Client, ClientError, Command, Event, EventBody};
use neco_session::Session;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::mpsc::{self, Receiver};

use super::happening::{Happening, QUEUE, Stopped, bring_events, hear_signals, tell_time};
use crate::ask::desk::Desk;
use crate::ask::editor::Programs;
use crate::ask::question::{Place, Typed};
use crate::ask::tty::{Number, Tty};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::say;
use crate::signals::{Deaf, Signal, Signals};
use crate::wire::Services;

/// A person who can be asked, and how.
pub struct Person {
    /// Where they sit.
    pub tty: Tty,
    /// How that place is.
    pub place: Place,
    /// Their own programs.
    pub programs: Programs,
}

/// Sends `asked` to `session`, draws what happens and asks `person`, until the agent is done.
///
/// # Errors
/// When the run can't begin.
pub fn see_through(
    runtime: &Runtime,
    services: &Services,
    session: &Session,
    printer: Printer,
    person: Option<Person>,
    asked: Command,
) -> Result<Exit, Failure> {
    let (sender, mut happenings) = mpsc::channel(QUEUE);
    let deaf = Deaf::default();
    let signals = {
        let _entered = runtime.enter();
        Signals::listen(deaf.clone())
            .map_err(|error| Failure::new(Exit::Failed, format!("signals can't be heard: {error}")))?
    };
    let stopped = Stopped::default();
    let write_all = services.write_all();
    runtime.spawn(hear_signals(signals, session.clone(), sender.clone(), Arc::clone(&stopped), write_all));
    if printer.shows_time() {
        runtime.spawn(tell_time(sender.clone()));
    }
    runtime.spawn(bring_events(session.clone(), session.first_seq(), sender.clone()));
    let desk = person.map(|Person { tty, place, programs }| {
        let take = move |number, typed| {
            // Nobody takes it any more when the run is over.
            let _ = sender.blocking_send(Happening::Typed(number, typed));
        };
        Desk::new(tty, place, programs, deaf, Arc::new(take))
    });
    runtime.block_on(session.send(asked))?;
    let mut drive = Drive {
        session: session.clone(),
        runtime: runtime.handle().clone(),
        printer,
        desk,
        outcome: Outcome::default(),
        held: VecDeque::new(),
        stopped,
        unread: None,
    };
    Ok(drive.until_done(&mut happenings))
}

/// What the main thread has in its hands.
struct Drive {
    session: Session,
    runtime: Handle,
    printer: Printer,
    /// Where a person is asked, if there is one.
    desk: Option<Desk>,
    outcome: Outcome,
    held: VecDeque<Box<Event>>,
    stopped: Stopped,
    /// Why nothing is printed any more.
    unread: Option<io::Error>,
}

impl Drive {
    /// Draws until the agent is done; gives how the process ends.
    fn until_done(&mut self, happenings: &mut Receiver<Happening>) -> Exit {
        while self.outcome.complete.is_none() {
            match happenings.blocking_recv() {
                Some(Happening::Event(event)) => self.event(event),
                Some(Happening::Typed(number, typed)) => self.typed(number, typed),
                Some(Happening::Tick) => self.tick(),
                Some(Happening::Stopped(signal)) => self.stop(signal),
                Some(Happening::Lost(error)) => {
                    self.lost(&error);
                    break;
                }
                None => break,
            }
        }
        self.desk = None;
        self.draw_held();
        let exit = Exit::of(&self.outcome, self.stopped.get().copied());
        let printed = self.printer.finish(&self.outcome, Some(self.session.id()), exit);
        self.printed(printed);
        if let Some(error) = self.unread.as_ref().filter(|error| error.kind() != io::ErrorKind::BrokenPipe) {
            say::note(&format!("the output could not be written: {error}"));
            return Exit::Failed;
        }
        // A reader that has had enough (`| head`) stopped the work, and nobody else.
        match exit {
            Exit::Stopped(_) if self.unread.is_some() && self.stopped.get().is_none() => Exit::Unread,
            exit => exit,
        }
    }

    /// What happens while a question is on the screen is drawn when it is answered.
    fn event(&mut self, event: Box<Event>) {
        self.outcome.apply(&event);
        log::event(&event);
        if self.is_asking() {
            self.tell_desk(&event);
            self.held.push_back(event);
        } else {
            self.draw(&event);
            self.tell_desk(&event);
        }
        self.draw_held();
    }

    fn is_asking(&self) -> bool {
        self.desk.as_ref().is_some_and(Desk::is_asking)
    }

    fn draw_held(&mut self) {
        while !self.is_asking()
            && let Some(event) = self.held.pop_front()
        {
            self.draw(&event);
        }
    }

    fn draw(&mut self, event: &Event) {
        if self.unread.is_none() {
            let printed = self.printer.event(event);
            self.printed(printed);
        }
    }

    fn tell_desk(&mut self, event: &Event) {
        let Some(desk) = &mut self.desk else { return };
        match &event.body {
            EventBody::PermissionRequest(request) => desk.ask(request.clone()),
            EventBody::PermissionDecision(decided) => desk.settled(&decided.call_id),
            EventBody::ToolCallEnd(end) => desk.settled(&end.call_id),
            EventBody::Question(question) => desk.inquire(question.clone()),
            EventBody::QuestionAnswer(answer) => desk.withdrawn(answer.question_id),
            EventBody::SessionStart(_)
            | EventBody::StateChange(_)
            | EventBody::TurnStart(_)
            | EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::ModelRetry(_)
            | EventBody::ModelSwitch(_)
            | EventBody::ToolCallUpdate(_)
            | EventBody::ToolOutputChunk(_)
            | EventBody::HookRun(_)
            | EventBody::TodoUpdate(_)
            | EventBody::PlanUpdate(_)
            | EventBody::MemoryUpdate(_)
            | EventBody::ModeChange(_)
            | EventBody::Usage(_)
            | EventBody::Notification(_)
            | EventBody::Environment(_)
            | EventBody::IdeContext(_)
            | EventBody::ContextTrim(_)
            | EventBody::Compaction(_)
            | EventBody::MessageQueued(_)
            | EventBody::Message(_)
            | EventBody::Error(_)
            | EventBody::TurnEnd(_)
            | EventBody::AgentComplete(_) => {}
        }
    }

    fn tick(&mut self) {
        if !self.is_asking() && self.unread.is_none() {
            let printed = self.printer.tick(Instant::now());
            self.printed(printed);
        }
    }

    fn typed(&mut self, number: Number, typed: Typed) {
        let decided = self.desk.as_mut().and_then(|desk| desk.typed(number, typed));
        let Some(command) = decided else { return };
        let answer = self.runtime.block_on(self.session.send(command));
        let Some(desk) = &mut self.desk else { return };
        match answer {
            Ok(_) | Err(ClientError::Gone) => desk.taken(),
            // A question that another window has answered meanwhile is settled by its event.
            Err(ClientError::Refused(words)) => desk.refused(&words),
            Err(ClientError::Failed { message, .. }) => desk.refused(&message),
        }
        self.draw_held();
    }

    fn stop(&mut self, signal: Signal) {
        let words = match signal {
            Signal::Interrupt => "cancelling… press Ctrl-C again to quit",
            Signal::Terminate | Signal::HangUp => "asked to end; cancelling…",
        };
        if let Printer::Text(text) = &mut self.printer {
            let printed = text.note(words);
            self.printed(printed);
        }
    }

    fn lost(&mut self, error: &ClientError) {
        let code = match error {
            ClientError::Failed { code, .. } => Some(*code),
            ClientError::Gone | ClientError::Refused(_) => None,
        };
        self.outcome.error = Some(RunError { code, message: error.to_string() });
        let words = format!("✗ the session is lost: {error}");
        match &mut self.printer {
            Printer::Text(text) => {
                let printed = text.note(&words);
                self.printed(printed);
            }
            Printer::Json(_) | Printer::StreamJson(_) => say::note(&words),
        }
    }

    /// When nobody reads what is printed the work is stopped, once.
    fn printed(&mut self, printed: io::Result<()>) {
        let Err(error) = printed else { return };
        if self.unread.is_none() && self.outcome.complete.is_none() {
            // A session that is gone has stopped its work.
            let _ = self.runtime.block_on(self.session.send(Command::Cancel));
        }
        self.unread.get_or_insert(error);
    }
}
