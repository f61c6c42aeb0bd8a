//! One question after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use neco_proto::event::PermissionRequest;
use neco_proto::{CallId, Command, QuestionId, Reply};

use super::channel::Channel;
use super::edit::{Draft, Saved};
use super::editor::{self, Open, Programs};
use super::inquiry::Inquiry;
use super::question::{Place, Question, Step, Typed, Want};
use super::tty::Number;
use crate::line::signals::InterruptMask;

/// The file that a plan is edited in.
const PLAN_FILE: &str = "plan.md";

/// Takes what was typed, with the number of the want that it answers; called on a thread that may wait.
pub type TakeTyped = Arc<dyn Fn(Number, Typed) + Send + Sync>;

/// What a person is asked, or is to be asked.
enum Asking {
    Call(Box<Question>),
    Question(Inquiry),
}

impl Asking {
    fn is_about(&self, call: &CallId) -> bool {
        match self {
            Self::Call(question) => question.request().call_id == *call,
            Self::Question(inquiry) => inquiry.question.call_id.as_ref() == Some(call),
        }
    }

    fn is_question(&self, id: QuestionId) -> bool {
        matches!(self, Self::Question(inquiry) if inquiry.question.question_id == id)
    }

    /// The terminal may have another size than when it began to wait.
    fn fit(&mut self, size: Option<(usize, usize)>) {
        let place = match self {
            Self::Call(question) => &mut question.place,
            Self::Question(inquiry) => &mut inquiry.place,
        };
        (place.rows, place.width) = size.unwrap_or((place.rows, place.width));
    }

    fn shown(&self, more_waiting: usize) -> String {
        match self {
            Self::Call(question) => question.shown(more_waiting),
            Self::Question(inquiry) => inquiry.shown(),
        }
    }

    fn first_want(&self) -> Want {
        match self {
            Self::Call(_) => Want::Key,
            Self::Question(inquiry) => inquiry.want(),
        }
    }

    fn on(&mut self, typed: Typed) -> (String, Step) {
        match self {
            Self::Call(question) => question.on(typed),
            Self::Question(inquiry) => inquiry.on(typed),
        }
    }

    fn again(&self, words: &str) -> String {
        match self {
            Self::Call(question) => question.again(words),
            Self::Question(inquiry) => inquiry.again(words),
        }
    }

    fn keys_again(&self) -> String {
        match self {
            Self::Call(question) => question.keys_again(),
            Self::Question(inquiry) => inquiry.keys_again(),
        }
    }
}

/// Asks a person about calls that wait, and what the agent wants to know.
pub struct Desk {
    channel: Channel,
    place: Place,
    programs: Programs,
    mask: InterruptMask,
    waiting: VecDeque<Asking>,
    asking: Option<Asking>,
    /// The want that is not answered yet. What answers an older one was typed for something else.
    wanted: Number,
    take: TakeTyped,
}

impl Desk {
    /// A desk that asks over `channel`. What is typed goes to `take`, and from there to [`Desk::typed`].
    pub fn new(channel: Channel, place: Place, programs: Programs, mask: InterruptMask, take: TakeTyped) -> Self {
        Self { channel, place, programs, mask, waiting: VecDeque::new(), asking: None, wanted: 0, take }
    }

    /// Asks about a call, now or when the questions before it are answered.
    pub fn ask(&mut self, request: PermissionRequest) {
        self.waiting.push_back(Asking::Call(Box::new(Question::new(request, self.place.clone()))));
        self.next();
    }

    /// Asks what the agent wants to know, now or when the questions before it are answered.
    pub fn inquire(&mut self, question: neco_proto::Question) {
        self.waiting.push_back(Asking::Question(Inquiry::new(question, self.place.clone())));
        self.next();
    }

    /// Whether a question is on the screen.
    pub fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// A call does not wait any more, whoever saw to that; `how` is said where it is being asked about.
    pub fn settled(&mut self, call: &CallId, how: &str) {
        self.waiting.retain(|waiting| !waiting.is_about(call));
        if self.asking.as_ref().is_some_and(|asking| asking.is_about(call)) {
            self.put_away(how);
        }
    }

    /// A question does not wait any more, whoever saw to that; `how` is said where it is being asked.
    pub fn withdrawn(&mut self, id: QuestionId, how: &str) {
        self.waiting.retain(|waiting| !waiting.is_question(id));
        if self.asking.as_ref().is_some_and(|asking| asking.is_question(id)) {
            self.put_away(how);
        }
    }

    fn put_away(&mut self, how: &str) {
        self.asking = None;
        self.channel.restore();
        let words = self.place.paint.dim(&format!("  {how}"));
        self.channel.write(&format!("\n{words}\n"));
        self.next();
    }

    /// Takes what was typed for want `number`; gives the answer, if it is one. Call [`Desk::taken`] or
    /// [`Desk::refused`] with what the session said to it.
    pub fn typed(&mut self, number: Number, typed: Typed) -> Option<Command> {
        if number != self.wanted {
            return None;
        }
        let asking = self.asking.as_mut()?;
        self.channel.answered(&typed);
        let (words, step) = asking.on(typed);
        self.channel.write(&words);
        match (step, asking) {
            (Step::Decide(decision), Asking::Call(question)) => {
                return Some(Command::Approve { call_id: question.request().call_id.clone(), decision });
            }
            (Step::Reply(reply), Asking::Question(inquiry)) => {
                return Some(Command::Answer { question_id: inquiry.question.question_id, reply });
            }
            (Step::Read(want), _) => self.read(want),
            (Step::Edit, Asking::Call(_)) => self.edit(),
            (Step::Edit, Asking::Question(_)) => return self.edit_plan(),
            (Step::Page(text), _) => self.page(&text),
            (Step::Decide(_) | Step::Reply(_), _) => {}
        }
        None
    }

    /// The session took the answer.
    pub fn taken(&mut self) {
        self.asking = None;
        self.channel.restore();
        self.next();
    }

    /// The session did not take the answer: the question stays.
    pub fn refused(&mut self, words: &str) {
        if let Some(asking) = &self.asking {
            let (text, want) = (asking.again(words), asking.first_want());
            self.channel.write(&text);
            self.read(want);
        }
    }

    fn next(&mut self) {
        if self.asking.is_some() {
            return;
        }
        let Some(mut asking) = self.waiting.pop_front() else { return };
        asking.fit(self.channel.size());
        let want = asking.first_want();
        self.channel.forget_typed();
        self.channel.write(&asking.shown(self.waiting.len()));
        self.asking = Some(asking);
        self.read(want);
    }

    fn read(&mut self, want: Want) {
        self.wanted += 1;
        let number = self.wanted;
        if self.channel.read(number, want, &self.take).is_err() {
            // Nobody can be asked there: that is a no. Not said on this thread, which `take` may wait for.
            let take = Arc::clone(&self.take);
            std::thread::spawn(move || take(number, Typed::End));
        }
    }

    /// Opens the call in the person's editor. What they made of it is asked about once more: what
    /// they meant and what is in the file may be two things.
    fn edit(&mut self) {
        let Some(Asking::Call(question)) = &mut self.asking else { return };
        let arguments = question.request().args.clone();
        let draft = Draft::of(&question.request().tool, &arguments);
        let editor = &self.programs.editor;
        let saved = match self.channel.lend() {
            Ok(terminal) => {
                self.mask.during(|| editor::edit(&draft.text, &draft.file_name, editor, &terminal, &Open::default()))
            }
            Err(error) => Err(format!("the terminal can't be used: {error}")),
        };
        let text = match saved.and_then(|saved| draft.saved(&arguments, &saved)) {
            Ok(Saved::Changed(changed)) => question.revise(changed),
            Ok(Saved::Same) => question.again("nothing was changed"),
            Ok(Saved::Empty) => question.again("it is empty, so there is nothing to run; n rejects the call"),
            Err(words) => question.again(&words),
        };
        self.channel.forget_typed();
        self.channel.write(&text);
        self.read(Want::Key);
    }

    /// Opens the plan in the person's editor. What they made of it is carried out; a plan that is as it was is asked
    /// about again.
    fn edit_plan(&mut self) -> Option<Command> {
        let Some(Asking::Question(inquiry)) = &self.asking else { return None };
        let plan = inquiry.plan()?;
        let editor = &self.programs.editor;
        let saved = match self.channel.lend() {
            Ok(terminal) => self.mask.during(|| editor::edit(plan, PLAN_FILE, editor, &terminal, &Open::default())),
            Err(error) => Err(format!("the terminal can't be used: {error}")),
        };
        let words = match saved {
            Ok(text) if text.trim() == plan.trim() || text.trim().is_empty() => "the plan is as it was".to_owned(),
            Ok(plan) => {
                let reply = Reply::AcceptChangedPlan { plan };
                return Some(Command::Answer { question_id: inquiry.question.question_id, reply });
            }
            Err(words) => words,
        };
        let text = inquiry.again(&words);
        self.channel.forget_typed();
        self.channel.write(&text);
        self.read(Want::Key);
        None
    }

    /// Shows what does not fit on the screen, then the keys again.
    fn page(&mut self, text: &str) {
        let fits = text.lines().count() < self.place.rows;
        let paged = match (&self.programs.pager, self.channel.lend()) {
            (Some(pager), Ok(terminal)) if !fits => self.mask.during(|| editor::page(text, pager, &terminal)),
            (Some(_) | None, _) => false,
        };
        if !paged {
            self.channel.write(&format!("{text}\n"));
        }
        let again = self.asking.as_ref().map(Asking::keys_again).unwrap_or_default();
        self.channel.forget_typed();
        self.channel.write(&again);
        self.read(Want::Key);
    }
}
