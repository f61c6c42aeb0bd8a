//! The main thread's loop: draws what happens, asks the person, ends with the agent's work.

use std::io;

use neco_proto::{Client, ClientError, Command, Event, EventBody};
use neco_session::Session;
use tokio::runtime::Handle;
use tokio::sync::mpsc::Receiver;

use super::happening::Happening;
use crate::ask::desk::{Decided, Desk};
use crate::ask::question::Typed;
use crate::exit::Exit;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::signals::Signal;

/// What the main thread needs to drive a run.
pub struct Drive {
    /// The session.
    pub session: Session,
    /// The runtime it lives on.
    pub runtime: Handle,
    /// What draws.
    pub printer: Printer,
    /// Where a person is asked, if there is one.
    pub desk: Option<Desk>,
    /// What the run came to so far.
    pub outcome: Outcome,
    /// Who stopped it.
    pub stopped: Option<Signal>,
    /// Why nothing is printed any more.
    pub unread: Option<io::Error>,
}

impl Drive {
    /// A run that is about to begin.
    #[must_use]
    pub fn new(session: Session, runtime: Handle, printer: Printer, desk: Option<Desk>) -> Self {
        Self { session, runtime, printer, desk, outcome: Outcome::default(), stopped: None, unread: None }
    }

    /// Draws until the agent is done; gives how the process ends.
    pub fn until_done(&mut self, happenings: &mut Receiver<Happening>) -> Exit {
        while self.outcome.complete.is_none() {
            match happenings.blocking_recv() {
                Some(Happening::Event(event)) => self.event(&event),
                Some(Happening::Typed(typed)) => self.typed(typed),
                Some(Happening::Stopped(signal)) => self.stop(signal),
                Some(Happening::Lost(error)) => {
                    self.lost(&error);
                    break;
                }
                None => break,
            }
        }
        self.desk = None;
        let exit = self.exit();
        let printed = self.printer.finish(&self.outcome, Some(self.session.id()), exit);
        self.printed(printed);
        exit
    }

    fn exit(&self) -> Exit {
        match &self.unread {
            // Whoever read our output has had enough; that is no error, but the work is not done.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::of(&self.outcome, self.stopped),
            Some(_) => Exit::Failed,
            None => Exit::of(&self.outcome, self.stopped),
        }
    }

    fn event(&mut self, event: &Event) {
        self.outcome.apply(event);
        if self.unread.is_none() {
            let printed = self.printer.event(event);
            self.printed(printed);
        }
        let Some(desk) = &mut self.desk else { return };
        match &event.body {
            EventBody::PermissionRequest(request) => desk.ask(request.clone()),
            EventBody::PermissionDecision(decided) => desk.settled(&decided.call_id),
            EventBody::ToolCallEnd(end) => desk.settled(&end.call_id),
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
            | EventBody::ModeChange(_)
            | EventBody::Usage(_)
            | EventBody::Notification(_)
            | EventBody::MessageQueued(_)
            | EventBody::Message(_)
            | EventBody::Error(_)
            | EventBody::TurnEnd(_)
            | EventBody::AgentComplete(_) => {}
        }
    }

    fn typed(&mut self, typed: Typed) {
        let Some(Decided { call_id, decision }) = self.desk.as_mut().and_then(|desk| desk.typed(typed)) else { return };
        let answer = self.runtime.block_on(self.session.send(Command::Approve { call_id, decision }));
        let Some(desk) = &mut self.desk else { return };
        match answer {
            Ok(_) | Err(ClientError::Gone) => desk.taken(),
            // A question that another window has answered meanwhile is settled by its event.
            Err(ClientError::Refused(words)) => desk.refused(&words),
            Err(ClientError::Failed { message, .. }) => desk.refused(&message),
        }
    }

    fn stop(&mut self, signal: Signal) {
        self.stopped = Some(signal);
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
        if let Printer::Text(text) = &mut self.printer {
            let printed = text.note(&format!("✗ {error}"));
            self.printed(printed);
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
