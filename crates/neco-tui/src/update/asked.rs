//! The keys of questions.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::event::PermissionRequest;
use neco_proto::{Command, Decision, QuestionId, Reply};

use super::effect::Effect;
use super::stopping;
use crate::app::{Place, Purpose, WindowState};
use crate::ask::{Asked, Choice, Key, Mark, Other, Outcome, Rest, answer};
use crate::input::{Edit, ViMode};

/// Whoever typed so shortly before a question came is in the middle of a sentence, in milliseconds.
const WRITING_MS: i64 = 3000;

impl WindowState {
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
        // A word that was begun before the question could be read goes on.
        if let KeyCode::Char(letter) = key.code
            && let Some(before) = self.facing.held_before(question, letter, self.now_ms)
        {
            return self.write_on(before, question);
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
            // What was written before the question came waits: it is not sent by a key that was meant for the question.
            (None, KeyCode::Enter) if self.desk.is_approval() => {
                self.tell("Enter answers nothing here: y yes, n no; Tab goes to the field");
                Some(Vec::new())
            }
            // Whoever writes, writes.
            (
                None,
                KeyCode::Char(_) | KeyCode::Up | KeyCode::Down | KeyCode::Backspace | KeyCode::Left | KeyCode::Right,
            ) => {
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
        let goes_on = writes && self.facing.came_upon_words(question).unwrap_or_else(|| self.is_writing());
        let went = self.facing.place(question, writes, self.now_ms);
        went.unwrap_or(if goes_on { Place::Field } else { Place::Box })
    }

    /// Whether the person is in the middle of a sentence. What stands in the field since longer waits, as a draft does.
    pub(crate) fn is_writing(&self) -> bool {
        // Whoever has answered a question since then is at the questions.
        let typed = self.typed_ms.filter(|typed| self.facing.has_not_answered_since(*typed));
        let just_now = typed.is_some_and(|typed| self.now_ms - typed < WRITING_MS);
        just_now && (!self.prompt.text.is_empty() || self.prompt.vi_mode() == Some(ViMode::Normal))
    }

    /// Something was put into the field: the keys are for that now.
    pub(super) fn go_to_field(&mut self) {
        if let Some(question) = self.desk.front() {
            self.facing.go(question, Place::Field);
        }
    }

    /// Esc in the field goes back to the question; where only words answer it, what is written goes first.
    fn leave_field(&mut self, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
        let puts_away = key.code == KeyCode::Esc && self.desk.wants_words() && !self.prompt.text.is_empty();
        if puts_away && self.prompt.vi_mode() != Some(ViMode::Insert) {
            self.prompt.put_away();
            self.tell("↑ brings it back; Esc again gives no answer");
            return Some(Vec::new());
        }
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

    /// A key that comes before the question could be read decides nothing and is no message; whoever writes a word
    /// loses nothing of it.
    fn too_soon(&mut self, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
        if let KeyCode::Char(letter) = key.code
            && !self.facing.just_answered(self.now_ms)
            && let Some(before) = self.facing.hold(question, letter, self.now_ms)
        {
            return self.write_on(before, question);
        }
        self.tell("a question came just now: that key did nothing");
        Some(Vec::new())
    }

    /// The letter before this one was the beginning of a word.
    fn write_on(&mut self, before: char, question: u64) -> Option<Vec<Effect>> {
        self.facing.go(question, Place::Field);
        self.prompt.edit(Edit::Insert(before));
        None
    }

    /// Notes what was answered: the question takes no more keys.
    pub(crate) fn answers(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &effects {
            if let Effect::Send(command @ (Command::Approve { .. } | Command::Answer { .. })) = effect {
                self.desk.answer(command);
                self.facing.answered(self.now_ms);
                self.word = None;
            }
        }
        effects
    }

    fn approval_key(&mut self, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
        if let Some(armed) = self.facing.armed(question) {
            let is_word = self.facing.is_word(self.now_ms);
            self.facing.disarm();
            return match key.code {
                KeyCode::Enter => self.decide(armed),
                KeyCode::Char('y') if !is_word => self.decide(armed),
                KeyCode::Char('n') if !is_word => Some(Vec::new()),
                // It was the beginning of a word.
                KeyCode::Char(_) if is_word => {
                    self.prompt.edit(Edit::Insert(if armed == Key::Always { 'a' } else { 's' }));
                    None
                }
                KeyCode::Char(_) => {
                    self.tell("no rule was made: that takes Enter or y");
                    Some(Vec::new())
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
            // A child asks while the root rests: there is no work that Esc could stop, unless it was just offered to
            // stop whoever still works.
            KeyCode::Esc if !self.standing.works() && !stopping::offers_stop(self) => Key::No,
            // Esc stops the work, as it does without a question.
            _ => return None,
        };
        let Some(Asked::Approval(approval)) = self.desk.present() else { return None };
        // A rule holds for longer than the moment in which a letter is typed.
        if matches!(pressed, Key::Session | Key::Always) {
            if approval.key(pressed) != Outcome::Nothing {
                self.facing.arm(question, pressed, self.now_ms);
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
        let ahead = self.desk.ahead();
        let commands = match decision {
            Decision::Once if self.facing.named.is_empty() => {
                self.tell("nothing else would be covered: y says yes to this one");
                return Vec::new();
            }
            Decision::Once => {
                self.rest = Some(Rest::yes(&ahead, &self.facing.named).after(self.rest.take()));
                self.desk.allow_named(&self.facing.named)
            }
            Decision::Session | Decision::Always | Decision::Edit { .. } | Decision::Reject { .. } => {
                self.rest = Some(Rest::no(&ahead));
                self.desk.refuse_all()
            }
        };
        commands.into_iter().map(Effect::Send).collect()
    }

    /// What else will be asked about besides the question on the screen.
    pub(crate) fn others(&self) -> Vec<Other> {
        let ahead = self.desk.ahead().into_iter().map(|ahead| {
            let mark = match &self.rest {
                Some(rest) if rest.says_yes(&ahead.call_id) => Mark::Said,
                Some(_) | None => Mark::of(ahead.risk, &ahead.summary),
            };
            Other { call: ahead.call_id, mark, who: None, risk: ahead.risk, summary: ahead.summary }
        });
        self.desk.others().into_iter().chain(ahead).collect()
    }

    /// What the person said of this call before its turn came. What looks worse than it did then is asked about all
    /// the same, and says so.
    pub(crate) fn said_before(&mut self, request: &PermissionRequest) -> Option<Command> {
        match self.rest.as_ref()?.of(request)? {
            Ok(decision) => Some(Command::Approve { call_id: request.call_id.clone(), decision }),
            Err(words) => {
                self.desk.note(&request.call_id, words);
                None
            }
        }
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
        let begun_before = self.facing.is_interrupted(question) && !self.set_up;
        !self.desk.is_approval() && !self.desk.is_answered() && !begun_before
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
