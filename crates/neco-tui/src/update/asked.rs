//! The keys of questions.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::event::PermissionRequest;
use neco_proto::{CallId, Command, Decision, Reply, Risk};

use super::effect::Effect;
use crate::app::{App, Purpose};
use crate::ask::{Asked, Choice, Key, Outcome, answer};

/// Somebody who typed so shortly before a question came did not mean it, in milliseconds.
const MEANT_MS: i64 = 400;

impl App {
    /// What a key means to the question on the screen; none when it is for the field. Keys of the box
    /// hold only while nothing is written, so that words never decide by their letters.
    pub(super) fn question_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        if !self.prompt.text.is_empty() || self.purpose != Purpose::Message || held || self.panels.help {
            return None;
        }
        self.desk.present()?;
        if key.code != KeyCode::Esc && self.startled {
            self.typed_ms = Some(self.now_ms);
            self.tell("a question came while you typed");
            return Some(Vec::new());
        }
        match self.desk.present()? {
            Asked::Approval(_) => self.approval_key(key),
            Asked::Choices(..) => self.choices_key(key),
            Asked::Plan(..) => self.plan_key(key),
            Asked::Loop(id, _) => {
                let reply = match key.code {
                    KeyCode::Char('y') => Reply::GoOn { comments: None },
                    KeyCode::Char('n') | KeyCode::Esc => Reply::Dismiss,
                    _ => return None,
                };
                Some(vec![Effect::Send(answer(*id, reply))])
            }
        }
    }

    /// Whether the person typed just now.
    pub(crate) fn is_typing(&self) -> bool {
        self.typed_ms.is_some_and(|typed| self.now_ms - typed < MEANT_MS)
    }

    fn approval_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
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
        let outcome = approval.key(pressed);
        Some(match outcome {
            Outcome::Send(command) => vec![Effect::Send(command)],
            Outcome::All(decision) => {
                let further = self.further_calls();
                self.rest = (!further.is_empty()).then(|| (decision.clone(), further));
                self.desk.decide_all(&decision).into_iter().map(Effect::Send).collect()
            }
            Outcome::AskWhy => {
                self.purpose = Purpose::Reason(approval.request.call_id.clone());
                Vec::new()
            }
            Outcome::Edit => vec![Effect::EditCall(approval.request.call_id.clone(), approval.request.args.clone())],
            Outcome::Show => {
                approval.was_shown = true;
                let rows = approval.whole(self.width, &self.theme);
                self.transcript.show(rows);
                Vec::new()
            }
            Outcome::Nothing => Vec::new(),
        })
    }

    /// The calls of this turn that nobody was asked about yet; only while the root asks.
    pub(crate) fn further_calls(&self) -> Vec<CallId> {
        if !self.desk.is_of_root() {
            return Vec::new();
        }
        self.transcript.pending().into_iter().filter(|call| !self.desk.holds_call(call)).collect()
    }

    /// What the person said of the rest of the turn, if this call is of it. What could do much harm is asked about
    /// all the same: they saw a line of it at most.
    pub(crate) fn said_before(&self, request: &PermissionRequest) -> Option<Command> {
        let (decision, calls) = self.rest.as_ref()?;
        let holds = calls.contains(&request.call_id) && (*decision != Decision::Once || request.risk < Risk::High);
        holds.then(|| Command::Approve { call_id: request.call_id.clone(), decision: decision.clone() })
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
