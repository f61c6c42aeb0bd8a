//! One question after the other.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::Arc;

use neco_proto::event::PermissionRequest;
use neco_proto::{CallId, Decision};

use super::edit::Draft;
use super::editor;
use super::question::{Question, Step, Typed, Want};
use super::tty::Tty;
use crate::print::paint::Paint;
use crate::signals::Deaf;

/// Takes what was typed; called on a thread that may wait.
pub type TakeTyped = Arc<dyn Fn(Typed) + Send + Sync>;

/// Asks a person about calls that wait.
pub struct Desk {
    tty: Tty,
    paint: Paint,
    editor: OsString,
    deaf: Deaf,
    waiting: VecDeque<PermissionRequest>,
    asking: Option<Question>,
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
    pub fn new(tty: Tty, paint: Paint, editor: OsString, deaf: Deaf, take: TakeTyped) -> Self {
        Self { tty, paint, editor, deaf, waiting: VecDeque::new(), asking: None, take }
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

    /// Takes what was typed; gives the answer, if it is one. Call [`Desk::taken`] or
    /// [`Desk::refused`] with what the session said to it.
    pub fn typed(&mut self, typed: Typed) -> Option<Decided> {
        let question = self.asking.as_mut()?;
        let (words, step) = question.on(typed);
        self.tty.write(&words);
        match step {
            Step::Read(want) => {
                self.read(want);
                None
            }
            Step::Decide(decision) => {
                let call_id = question.request().call_id.clone();
                Some(Decided { call_id, decision })
            }
            Step::Edit => self.edit(),
        }
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
        let question = Question::new(request, self.paint);
        self.tty.forget_typed();
        self.tty.write(&question.shown(self.waiting.len()));
        self.asking = Some(question);
        self.read(Want::Key);
    }

    fn read(&mut self, want: Want) {
        if self.tty.read(want, &self.take).is_err() {
            // Nobody can be asked there: that is a no. Not said on this thread, which `take` may wait for.
            let take = Arc::clone(&self.take);
            std::thread::spawn(move || take(Typed::End));
        }
    }

    fn edit(&mut self) -> Option<Decided> {
        let request = self.asking.as_ref()?.request().clone();
        let draft = Draft::of(&request);
        let saved = match self.tty.lend() {
            Ok(terminal) => self.deaf.during(|| editor::edit(&draft.text, &draft.ending, &self.editor, &terminal)),
            Err(error) => Err(format!("the terminal can't be used: {error}")),
        };
        match saved.and_then(|saved| draft.arguments(&request, &saved)) {
            Ok(Some(arguments)) => Some(Decided { call_id: request.call_id, decision: Decision::Edit { arguments } }),
            Ok(None) => {
                self.refused("nothing was changed");
                None
            }
            Err(words) => {
                self.refused(&words);
                None
            }
        }
    }
}
