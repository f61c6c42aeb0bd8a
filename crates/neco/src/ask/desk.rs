//! One question after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use neco_proto::event::PermissionRequest;
use neco_proto::{CallId, Decision};

use super::edit::{Draft, Saved};
use super::editor::{self, Programs};
use super::question::{Place, Question, Step, Typed, Want};
use super::tty::{Number, Tty};
use crate::signals::Deaf;

/// Takes what was typed, with the number of the want that it answers; called on a thread that may wait.
pub type TakeTyped = Arc<dyn Fn(Number, Typed) + Send + Sync>;

/// Asks a person about calls that wait.
pub struct Desk {
    tty: Tty,
    place: Place,
    programs: Programs,
    deaf: Deaf,
    waiting: VecDeque<PermissionRequest>,
    asking: Option<Question>,
    /// The want that is not answered yet. What answers an older one was typed for something else.
    wanted: Number,
    take: TakeTyped,
}

/// An answer for the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The call.
    pub call_id: CallId,
    /// What the person decided.
    pub decision: Decision,
}

impl Desk {
    /// A desk at `tty`. What is typed goes to `take`, and from there to [`Desk::typed`].
    #[must_use]
    pub fn new(tty: Tty, place: Place, programs: Programs, deaf: Deaf, take: TakeTyped) -> Self {
        Self { tty, place, programs, deaf, waiting: VecDeque::new(), asking: None, wanted: 0, take }
    }

    /// Asks about a call, now or when the questions before it are answered.
    pub fn ask(&mut self, request: PermissionRequest) {
        self.waiting.push_back(request);
        self.next();
    }

    /// Whether a question is on the screen.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// A call does not wait any more, whoever saw to that.
    pub fn settled(&mut self, call: &CallId) {
        self.waiting.retain(|request| request.call_id != *call);
        if self.asking.as_ref().is_some_and(|question| question.request().call_id == *call) {
            self.asking = None;
            self.tty.restore();
            self.tty.write("\n");
            self.next();
        }
    }

    /// Takes what was typed for want `number`; gives the answer, if it is one. Call [`Desk::taken`] or
    /// [`Desk::refused`] with what the session said to it.
    pub fn typed(&mut self, number: Number, typed: Typed) -> Option<Decided> {
        if number != self.wanted {
            return None;
        }
        let question = self.asking.as_mut()?;
        let (words, step) = question.on(typed);
        self.tty.write(&words);
        match step {
            Step::Read(want) => self.read(want),
            Step::Decide(decision) => {
                let call_id = question.request().call_id.clone();
                return Some(Decided { call_id, decision });
            }
            Step::Edit => self.edit(),
            Step::Page(text) => self.page(&text),
        }
        None
    }

    /// The session took the answer.
    pub fn taken(&mut self) {
        self.asking = None;
        self.tty.restore();
        self.next();
    }

    /// The session did not take the answer: the question stays.
    pub fn refused(&mut self, words: &str) {
        if let Some(question) = &self.asking {
            let text = question.again(words);
            self.tty.write(&text);
            self.read(Want::Key);
        }
    }

    fn next(&mut self) {
        if self.asking.is_some() {
            return;
        }
        let Some(request) = self.waiting.pop_front() else { return };
        let (rows, width) = self.tty.size().unwrap_or((self.place.rows, self.place.width));
        let question = Question::new(request, Place { rows, width, ..self.place.clone() });
        self.tty.forget_typed();
        self.tty.write(&question.shown(self.waiting.len()));
        self.asking = Some(question);
        self.read(Want::Key);
    }

    fn read(&mut self, want: Want) {
        self.wanted += 1;
        let number = self.wanted;
        if self.tty.read(number, want, &self.take).is_err() {
            // Nobody can be asked there: that is a no. Not said on this thread, which `take` may wait for.
            let take = Arc::clone(&self.take);
            std::thread::spawn(move || take(number, Typed::End));
        }
    }

    /// Opens the call in the person's editor. What they made of it is asked about once more: what
    /// they meant and what is in the file may be two things.
    fn edit(&mut self) {
        let Some(question) = &mut self.asking else { return };
        let arguments = question.arguments().clone();
        let draft = Draft::of(&question.request().tool, &arguments);
        let editor = &self.programs.editor;
        let saved = match self.tty.lend() {
            Ok(terminal) => self.deaf.during(|| editor::edit(&draft.text, &draft.file_name, editor, &terminal)),
            Err(error) => Err(format!("the terminal can't be used: {error}")),
        };
        let text = match saved.and_then(|saved| draft.saved(&arguments, &saved)) {
            Ok(Saved::Changed(changed)) => question.revise(changed),
            Ok(Saved::Same) => question.again("nothing was changed"),
            Ok(Saved::Empty) => question.again("nothing is left of it, so there is nothing to run: n rejects the call"),
            Err(words) => question.again(&words),
        };
        self.tty.forget_typed();
        self.tty.write(&text);
        self.read(Want::Key);
    }

    /// Shows what does not fit on the screen, then the keys again.
    fn page(&mut self, text: &str) {
        let fits = text.lines().count() < self.place.rows;
        let paged = match (&self.programs.pager, self.tty.lend()) {
            (Some(pager), Ok(terminal)) if !fits => self.deaf.during(|| editor::page(text, pager, &terminal)),
            (Some(_) | None, _) => false,
        };
        if !paged {
            self.tty.write(&format!("{text}\n"));
        }
        let again = self.asking.as_ref().map(Question::keys_again).unwrap_or_default();
        self.tty.forget_typed();
        self.tty.write(&again);
        self.read(Want::Key);
    }
}
