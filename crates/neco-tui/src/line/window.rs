//! What a person sees of a session and is asked about it, whichever process has it open.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use neco_proto::event::{PermissionRequest, QuestionAnswer};
use neco_proto::{Client, ClientError, Command, Decision, Event, EventBody, Question};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;

use super::ask::channel::Channel;
use super::ask::desk::Desk;
use super::ask::editor::Programs;
use super::ask::question::{Place, Typed};
use super::ask::tty::Number;
use super::loop_event::LoopEvent;
use super::print::Printer;
use super::signals::InterruptMask;

/// A person who can be asked, and how.
pub struct Person {
    /// The way to them.
    pub channel: Channel,
    /// How that place is.
    pub place: Place,
    /// Their own programs.
    pub programs: Programs,
}

/// A window on a session that is nothing but lines.
pub struct LineWindow {
    client: Arc<dyn Client>,
    runtime: Handle,
    printer: Printer,
    /// Where a person is asked, if there is one.
    desk: Option<Desk>,
    /// What happened while a question was on the screen and is not drawn yet. It has no bound: all of it is drawn in the
    /// end, and no more comes than what other agents do within their limits while the person thinks.
    held: VecDeque<Box<Event>>,
    /// What other agents did and asked since the line began that the root writes. It is drawn when that is whole.
    later: VecDeque<Box<Event>>,
    /// Why nothing is printed any more.
    unread: Option<io::Error>,
}

impl LineWindow {
    /// A window that prints with `printer` and asks `person`. What they type goes to `sender`.
    pub fn new(
        client: Arc<dyn Client>,
        runtime: &Handle,
        printer: Printer,
        person: Option<Person>,
        mask: InterruptMask,
        sender: Sender<LoopEvent>,
    ) -> Self {
        let desk = person.map(|Person { channel, place, programs }| {
            let take = move |number, typed| {
                // Nobody takes it any more when the run is over.
                let _ = sender.blocking_send(LoopEvent::Typed(number, typed));
            };
            Desk::new(channel, place, programs, mask, Arc::new(take))
        });
        Self {
            client,
            runtime: runtime.clone(),
            printer,
            desk,
            held: VecDeque::new(),
            later: VecDeque::new(),
            unread: None,
        }
    }

    /// Tells the session something and waits until it is taken.
    pub fn send(&self, command: Command) -> Result<neco_proto::Receipt, ClientError> {
        self.runtime.block_on(self.client.send(command))
    }

    /// The session, and where tasks run.
    pub fn way(&self) -> (Arc<dyn Client>, Handle) {
        (Arc::clone(&self.client), self.runtime.clone())
    }

    /// Shows an event that happens now. While a question is on the screen it is drawn when that is answered, and what
    /// another agent does or asks in the middle of a sentence when that is said.
    pub fn event(&mut self, event: Box<Event>) {
        self.draw_waiting();
        if !self.is_asking() && self.printer.tears(&event) {
            self.later.push_back(event);
            return;
        }
        self.take(event);
        self.draw_waiting();
    }

    fn take(&mut self, event: Box<Event>) {
        if self.is_asking() {
            self.tell_desk(&event);
            self.held.push_back(event);
        } else {
            self.draw(&event);
            self.tell_desk(&event);
        }
    }

    /// Shows an event of the past: nothing is asked about it.
    pub fn past(&mut self, event: &Event) {
        self.draw(event);
    }

    /// Asks about what waits already.
    pub fn ask(&mut self, pending: Vec<PermissionRequest>, questions: Vec<Question>) {
        if let Some(desk) = &mut self.desk {
            pending.into_iter().for_each(|request| desk.ask(request));
            questions.into_iter().for_each(|question| desk.inquire(question));
        }
    }

    /// Takes what was typed for want `number`.
    pub fn typed(&mut self, number: Number, typed: Typed) {
        let decided = self.desk.as_mut().and_then(|desk| desk.typed(number, typed));
        let Some(command) = decided else { return };
        let answer = self.send(command);
        let Some(desk) = &mut self.desk else { return };
        match answer {
            Ok(_) | Err(ClientError::Gone) => desk.taken(),
            // A question that another window has answered meanwhile is settled by its event.
            Err(ClientError::Refused(words)) => desk.refused(&words),
            Err(ClientError::Failed { message, .. }) => desk.refused(&message),
        }
        self.draw_waiting();
    }

    /// Shows that time goes by.
    pub fn tick(&mut self) {
        if !self.is_asking() && self.unread.is_none() {
            let printed = self.printer.tick(Instant::now());
            self.printed(printed);
        }
    }

    /// A line for the person, where words are printed for one.
    pub fn note(&mut self, words: &str) {
        let printed = self.printer.note(words);
        self.printed(printed);
    }

    /// A line for the person, however the run is printed.
    pub fn tell(&mut self, words: &str) {
        let printed = self.printer.tell(words);
        self.printed(printed);
    }

    /// Asks nothing any more, draws what is left, and gives the printer for the last words.
    pub fn close(&mut self) -> &mut Printer {
        self.desk = None;
        self.draw_waiting();
        for event in std::mem::take(&mut self.held).into_iter().chain(std::mem::take(&mut self.later)) {
            self.draw(&event);
        }
        &mut self.printer
    }

    /// The same, for a printer that is needed when the window is gone.
    pub fn into_printer(mut self) -> Printer {
        self.close();
        self.printer
    }

    /// Takes how printing went.
    pub fn printed(&mut self, printed: io::Result<()>) {
        if let Err(error) = printed {
            self.unread.get_or_insert(error);
        }
    }

    /// Why nobody reads what is printed, if so.
    pub fn unread(&self) -> Option<&io::Error> {
        self.unread.as_ref()
    }

    fn is_asking(&self) -> bool {
        self.desk.as_ref().is_some_and(Desk::is_asking)
    }

    /// Draws what waits, the oldest first, as far as it tears no line apart. While a question is on the screen, who asks
    /// hears of what came later, and nothing is drawn.
    fn draw_waiting(&mut self) {
        loop {
            while !self.is_asking()
                && let Some(at) = self.held.iter().position(|event| !self.printer.tears(event))
                && let Some(event) = self.held.remove(at)
            {
                self.draw(&event);
            }
            let (is_asking, printer) = (self.is_asking(), &self.printer);
            let Some(event) = self.later.pop_front_if(|event| is_asking || !printer.tears(event)) else { return };
            self.take(event);
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
            EventBody::PermissionRequest(request) => {
                // Another process that goes on with the session asks again.
                desk.settled(&request.call_id, "asked again");
                desk.ask(request.clone());
            }
            EventBody::PermissionDecision(decided) => desk.settled(&decided.call_id, &elsewhere(&decided.decision)),
            EventBody::ToolCallEnd(end) => desk.settled(&end.call_id, "no longer asked: the call is over"),
            EventBody::Question(question) => desk.inquire(question.clone()),
            EventBody::QuestionAnswer(QuestionAnswer { question_id, reply, .. }) => {
                let answered = if reply.is_some() { "answered in another window" } else { "no longer asked" };
                desk.withdrawn(*question_id, answered);
            }
            // Nothing else asks anybody.
            _ => {}
        }
    }
}

/// What the person is told of a decision that somebody else made about what is on the screen.
fn elsewhere(decision: &Decision) -> String {
    let how = match decision {
        Decision::Once => "allowed once",
        Decision::Session => "allowed for this session",
        Decision::Always => "allowed always",
        Decision::Edit { .. } => "changed and allowed",
        Decision::Reject { .. } => "rejected",
    };
    format!("answered in another window: {how}")
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use futures::{FutureExt, StreamExt};
    use jiff::Timestamp;
    use neco_proto::event::StreamChunk;
    use neco_proto::{Actor, AgentId, Answer, EventStream, Query, QuestionId, Receipt, SessionId, Subject};

    use super::*;
    use crate::line::print::tests::Shared;
    use crate::line::print::{Look, Screen, TextPrinter};

    struct Nobody;

    impl Client for Nobody {
        fn send_as(&self, _: Actor, _: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
            async { Err(ClientError::Gone) }.boxed()
        }

        fn events(&self, _: u64) -> EventStream {
            futures::stream::pending().boxed()
        }

        fn ask(&self, _: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            async { Err(ClientError::Gone) }.boxed()
        }
    }

    #[tokio::test]
    async fn what_was_held_by_a_question_tears_no_line_apart() {
        let shown = Shared::default();
        let look = Look { colour: false, overwrites: false, streams: true, width: 80 };
        let screen = Screen::new(Box::new(shown.clone()), Box::new(shown.clone()), look);
        let (session_id, root, child) = (SessionId::new(), AgentId::new(), AgentId::new());
        let mut printer = TextPrinter::new(screen, 8);
        printer.set_root(root);
        let (sender, _receiver) = tokio::sync::mpsc::channel(1);
        let (printer, mask) = (Printer::Text(Box::new(printer)), InterruptMask::default());
        let mut window = LineWindow::new(Arc::new(Nobody), &Handle::current(), printer, None, mask, sender);
        let event = |agent, body| Box::new(Event::new(1, Timestamp::UNIX_EPOCH, session_id, agent, None, body));
        let says = |text: &str| event(root, EventBody::StreamChunk(StreamChunk { text: text.to_owned() }));
        let asks = || {
            let subject = Subject::Choices { items: Vec::new() };
            event(child, EventBody::Question(Question { question_id: QuestionId::new(), call_id: None, subject }))
        };
        window.held.extend([says("Half a sen"), asks()]);
        window.draw_waiting();
        window.event(asks());
        assert_eq!((window.held.len(), window.later.len()), (1, 1), "both wait for the end of the line");
        window.event(says("tence.\n"));
        assert_eq!((window.held.len(), window.later.len()), (0, 0));
        assert_eq!(shown.text(), "Half a sentence.\n");
    }
}
