//! The keys of questions.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::event::PermissionRequest;
use neco_proto::{CallId, Command, Decision, QuestionId, Reply, Risk};

use super::effect::Effect;
use crate::app::{App, Place, Purpose};
use crate::ask::{Asked, Choice, Key, Outcome, answer};
use crate::input::{Edit, ViMode};

/// Why yes to all was not the answer to all.
const ASKED_ALONE: &str = "what is of high risk, or was not named, is asked about by itself";

impl App {
    /// What a key means to the question on the screen; none when it is for the field. A question takes keys only once
    /// it has been read, and none while the person writes: words never decide by their letters.
    pub(super) fn question_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        if self.purpose != Purpose::Message || held || self.panels.help || self.prompt.completion.is_some() {
            return None;
        }
        let question = self.desk.front()?;
        if self.question_place() == Place::Field {
            return self.leave_field(key, question);
        }
        if self.desk.is_answered() {
            return (key.code != KeyCode::Esc).then(Vec::new);
        }
        if key.code != KeyCode::Esc && !self.facing.is_read(question, self.now_ms) {
            return self.too_soon(key, question);
        }
        let meant = match self.desk.present()? {
            Asked::Approval(_) => self.approval_key(key, question),
            Asked::Choices(..) => self.choices_key(key),
            Asked::Plan(..) => self.plan_key(key),
            Asked::Loop(id, _) => loop_key(*id, key),
        };
        match (meant, key.code) {
            (Some(effects), _) => Some(self.answers(effects)),
            (None, KeyCode::Tab) => {
                self.facing.go(question, Place::Field);
                Some(Vec::new())
            }
            // Whoever writes, writes.
            (None, KeyCode::Char(_)) => {
                self.facing.go(question, Place::Field);
                None
            }
            (None, _) => None,
        }
    }

    /// What keys are for while a question waits: for what was begun, until the person says otherwise.
    pub(crate) fn question_place(&self) -> Place {
        let Some(question) = self.desk.front().filter(|_| !self.desk.wants_words()) else { return Place::Field };
        let writes = !self.prompt.text.is_empty() || self.prompt.vi_mode() == Some(ViMode::Normal);
        self.facing.place(question).unwrap_or(if writes { Place::Field } else { Place::Box })
    }

    /// Esc in the field goes back to the question.
    fn leave_field(&mut self, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
        if key.code == KeyCode::Esc && self.desk.wants_words() && self.prompt.text.is_empty() {
            let effects = self.choices_key(key)?;
            return Some(self.answers(effects));
        }
        if key.code != KeyCode::Esc || self.prompt.vi_mode() == Some(ViMode::Insert) || self.desk.wants_words() {
            return None;
        }
        self.facing.go(question, Place::Box);
        Some(Vec::new())
    }

    /// A key that comes before the question could be read decides nothing, and what is written is not lost.
    fn too_soon(&mut self, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
        match key.code {
            KeyCode::Char(_) if !self.facing.just_answered(self.now_ms) => {
                self.facing.go(question, Place::Field);
                None
            }
            _ => {
                self.tell("a question came just now");
                Some(Vec::new())
            }
        }
    }

    /// Notes what was answered: the question takes no more keys.
    pub(crate) fn answers(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &effects {
            if let Effect::Send(command @ (Command::Approve { .. } | Command::Answer { .. })) = effect {
                self.desk.answer(command);
                self.facing.answered(self.now_ms);
            }
        }
        effects
    }

    fn approval_key(&mut self, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
        if let Some(armed) = self.facing.armed(question) {
            self.facing.disarm();
            return match key.code {
                KeyCode::Enter => self.decide(armed),
                // It was the beginning of a word.
                KeyCode::Char(_) => {
                    self.prompt.edit(Edit::Insert(if armed == Key::Always { 'a' } else { 's' }));
                    None
                }
                _ => Some(Vec::new()),
            };
        }
        let pressed = match key.code {
            KeyCode::Char('y') => Key::Yes,
            KeyCode::Char('s') => Key::Session,
            KeyCode::Char('a') => Key::Always,
            KeyCode::Char('e') => Key::Edit,
            KeyCode::Char('n') => Key::No,
            KeyCode::Char('d') => Key::Whole,
            KeyCode::Char('Y') => Key::AllYes,
            KeyCode::Char('N') => Key::AllNo,
            // A child asks while the root rests: there is no work that Esc could stop.
            KeyCode::Esc if !self.standing.works() => Key::No,
            // Esc stops the work, as it does without a question.
            _ => return None,
        };
        let Some(Asked::Approval(approval)) = self.desk.present() else { return None };
        // A rule holds for longer than the moment in which a letter is typed.
        if matches!(pressed, Key::Session | Key::Always) {
            if approval.key(pressed) != Outcome::Nothing {
                self.facing.arm(question, pressed);
            }
            return Some(Vec::new());
        }
        self.decide(pressed)
    }

    fn decide(&mut self, pressed: Key) -> Option<Vec<Effect>> {
        let Some(Asked::Approval(approval)) = self.desk.present() else { return None };
        Some(match approval.key(pressed) {
            Outcome::Send(command) => vec![Effect::Send(command)],
            Outcome::All(decision) => self.decide_all(decision),
            Outcome::AskWhy => {
                self.purpose = Purpose::Reason(approval.request.call_id.clone());
                Vec::new()
            }
            Outcome::Edit => {
                let request = &approval.request;
                vec![Effect::EditCall(request.call_id.clone(), request.tool.clone(), request.args.clone())]
            }
            Outcome::Show => {
                approval.was_shown = true;
                let rows = approval.whole(self.width, &self.theme);
                self.transcript.show(rows);
                Vec::new()
            }
            Outcome::Nothing => Vec::new(),
        })
    }

    /// The same answer for all: no to everything, yes to what was named.
    fn decide_all(&mut self, decision: Decision) -> Vec<Effect> {
        let further = self.further_calls().into_iter().map(|(call, _)| call);
        let (rest, commands): (Vec<CallId>, _) = match decision {
            Decision::Once => {
                let named = &self.facing.named;
                (further.filter(|call| named.contains(call)).collect(), self.desk.allow_named(named))
            }
            Decision::Session | Decision::Always | Decision::Edit { .. } | Decision::Reject { .. } => {
                (further.collect(), self.desk.refuse_all())
            }
        };
        self.rest = (!rest.is_empty()).then_some((decision, rest));
        if commands.len() < self.desk.open_calls() {
            self.tell(ASKED_ALONE);
        }
        commands.into_iter().map(Effect::Send).collect()
    }

    /// The calls of this turn that nobody was asked about yet, with what they are; only while the root asks.
    pub(crate) fn further_calls(&self) -> Vec<(CallId, String)> {
        if !self.desk.is_of_root() {
            return Vec::new();
        }
        self.transcript.pending().into_iter().filter(|(call, _)| !self.desk.holds_call(call)).collect()
    }

    /// What the person said of the rest of the turn, if this call is of it. What could do much harm is asked about
    /// all the same: they saw a line of it at most.
    pub(crate) fn said_before(&mut self, request: &PermissionRequest) -> Option<Command> {
        let (decision, _) = self.rest.as_ref().filter(|(_, calls)| calls.contains(&request.call_id))?;
        let decision = decision.clone();
        if decision == Decision::Once && request.risk >= Risk::High {
            self.tell(ASKED_ALONE);
            return None;
        }
        Some(Command::Approve { call_id: request.call_id.clone(), decision })
    }

    fn choices_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let Some(Asked::Choices(id, choices)) = self.desk.present() else { return None };
        let id = *id;
        if key.code == KeyCode::Esc {
            return Some(vec![Effect::Send(answer(id, Reply::Dismiss))]);
        }
        if choices.wants_words() {
            return None;
        }
        let answers = match key.code {
            KeyCode::Up => {
                choices.step(false);
                None
            }
            KeyCode::Down => {
                choices.step(true);
                None
            }
            KeyCode::Char(' ') => {
                choices.mark();
                None
            }
            KeyCode::Char(digit @ '0'..='9') => choices.digit(digit.to_digit(10)? as usize),
            KeyCode::Enter => choices.choose(),
            _ => return None,
        };
        Some(answers.map(|answers| Effect::Send(answer(id, Reply::Choices { answers }))).into_iter().collect())
    }

    fn plan_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let Some(Asked::Plan(id, plan)) = self.desk.present() else { return None };
        let id = *id;
        let choice = match key.code {
            KeyCode::Up => {
                plan.step(false);
                return Some(Vec::new());
            }
            KeyCode::Down => {
                plan.step(true);
                return Some(Vec::new());
            }
            KeyCode::Char(digit @ '1'..='9') => plan.choice(Some(digit.to_digit(10)? as usize))?,
            KeyCode::Enter => plan.choice(None)?,
            KeyCode::Esc => Choice::Drop,
            _ => return None,
        };
        Some(match choice.reply() {
            Some(reply) => vec![Effect::Send(answer(id, reply))],
            None => {
                self.purpose = Purpose::Revision(id);
                Vec::new()
            }
        })
    }

    /// Whether what is written is the answer to the question on the screen: what was begun before it was there is not.
    pub(crate) fn is_answer(&self) -> bool {
        let Some(question) = self.desk.front() else { return false };
        !self.desk.is_approval() && !self.desk.is_answered() && !self.facing.is_interrupted(question)
    }

    /// Words that were sent while a question waits answer it; none when they are a message.
    pub(super) fn answer_in_words(&mut self, text: &str) -> Option<Vec<Effect>> {
        match self.desk.present()? {
            Asked::Choices(id, choices) => {
                let id = *id;
                let answers = choices.words(text.to_owned());
                Some(answers.map(|answers| Effect::Send(answer(id, Reply::Choices { answers }))).into_iter().collect())
            }
            Asked::Plan(id, _) => {
                Some(vec![Effect::Send(answer(*id, Reply::RevisePlan { comments: text.to_owned() }))])
            }
            Asked::Loop(id, _) => {
                Some(vec![Effect::Send(answer(*id, Reply::GoOn { comments: Some(text.to_owned()) }))])
            }
            Asked::Approval(_) => None,
        }
    }
}

fn loop_key(id: QuestionId, key: KeyEvent) -> Option<Vec<Effect>> {
    let reply = match key.code {
        KeyCode::Char('y') => Reply::GoOn { comments: None },
        KeyCode::Char('n') | KeyCode::Esc => Reply::Dismiss,
        _ => return None,
    };
    Some(vec![Effect::Send(answer(id, reply))])
}
