//! Whether the person has seen the question on the screen, and whether their keys are for it or for the field.

use neco_proto::CallId;
use neco_view::ask::Rule;

/// A question that was on the screen for a shorter time was hardly read, in milliseconds.
pub const READ_MS: i64 = 400;

/// Whoever pressed a key so shortly before is still at what they did when the question came, in milliseconds.
const QUIET_MS: i64 = 150;

/// A key that follows an answer so closely was meant for it, in milliseconds.
const REPEATED_MS: i64 = 800;

/// Letters that follow one another so closely are a word, in milliseconds.
const WORD_MS: i64 = 250;

/// Whoever has emptied the field so long ago writes nothing more, in milliseconds.
const EMPTIED_MS: i64 = 1200;

/// What keys are for while a question waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The question.
    Box,
    Field,
}

/// The question that the person has before them. Questions are told apart by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Facing {
    shown: Option<(u64, i64)>,
    /// The question that takes keys: it was read, and no key was on its way.
    settled: Option<u64>,
    /// When a key came before that.
    early_ms: Option<i64>,
    went: Option<(u64, Place)>,
    /// The rule that waits for its second key, and when a letter asked for it.
    armed: Option<(u64, Rule, Option<i64>)>,
    /// The question that came upon something that stood in the field.
    interrupted: Option<u64>,
    /// The question that came while the person wrote.
    came_upon_words: Option<u64>,
    /// A letter that came before its question could be read, and when.
    held: Option<(u64, char, i64)>,
    answered_ms: Option<i64>,
    /// When what was written while it waited was sent, or taken away.
    emptied_ms: Option<i64>,
    /// Since when it is on the screen that keys are for the question; none while it says that they are for the field.
    answers_since: Option<i64>,
    /// The other calls below it that `Y` says yes to.
    pub named: Vec<CallId>,
}

impl Facing {
    /// A frame was drawn with this question, or without one; `writes` when something stood in the field, `just_now`
    /// when the person was at it.
    pub fn draw(&mut self, question: Option<u64>, writes: bool, just_now: bool, now_ms: i64) {
        if self.shown.map(|(shown, _)| shown) != question {
            self.shown = question.map(|question| (question, now_ms));
            (self.settled, self.early_ms) = (None, None);
            self.interrupted = question.filter(|_| writes);
            self.came_upon_words = question.filter(|_| just_now);
            self.armed = None;
        }
        if !writes {
            self.interrupted = None;
        }
    }

    /// The question was drawn with the keys that answer it, or with `elsewhere` where they are for the field.
    pub fn draw_keys(&mut self, elsewhere: bool, now_ms: i64) {
        self.answers_since = if elsewhere { None } else { self.answers_since.or(Some(now_ms)) };
    }

    /// Of a question that has the keys: whether the field gave them back by itself, too short ago to be read.
    pub fn was_just_given_back(&self, question: u64, now_ms: i64) -> bool {
        let by_itself = self.went == Some((question, Place::Field));
        by_itself && self.answers_since.is_none_or(|since| now_ms - since < READ_MS)
    }

    /// What was drawn has not reached the terminal: it is not read yet.
    pub fn unseen(&mut self, now_ms: i64) {
        if let Some((_, since)) = &mut self.shown {
            *since = now_ms;
            self.settled = None;
        }
    }

    /// Whether what is being written was begun before the question was there.
    pub fn is_interrupted(&self, question: u64) -> bool {
        self.interrupted == Some(question) || self.shown.is_none_or(|(shown, _)| shown != question)
    }

    /// Whether it came while the person wrote; unknown before it was on the screen.
    pub fn came_upon_words(&self, question: u64) -> Option<bool> {
        self.shown.filter(|(shown, _)| *shown == question)?;
        Some(self.came_upon_words == Some(question))
    }

    /// A letter came before the question could be read: it decides nothing, and is no message by itself. Gives the
    /// letter before it when the two are a word that somebody writes.
    pub fn hold(&mut self, question: u64, letter: char, now_ms: i64) -> Option<char> {
        let before = self.held_before(question, letter, now_ms);
        self.held = before.is_none().then_some((question, letter, now_ms));
        before
    }

    /// The letter that was held just before this one, when the two are the beginning of a word.
    pub fn held_before(&mut self, question: u64, letter: char, now_ms: i64) -> Option<char> {
        let (asked, held, when) = self.held.take()?;
        // A key that is held down is no word.
        (asked == question && held != letter && now_ms - when < WORD_MS).then_some(held)
    }

    /// Whether it was on the screen for long enough to be read.
    pub fn is_read(&self, question: u64, now_ms: i64) -> bool {
        self.shown.is_some_and(|(shown, since)| shown == question && now_ms - since >= READ_MS)
    }

    /// Whether it takes a key that comes now: it was on the screen for long enough, and no key came just before.
    pub fn takes_key(&mut self, question: u64, typed_ms: Option<i64>, now_ms: i64) -> bool {
        if self.settled == Some(question) {
            return true;
        }
        let is_read = self.is_read(question, now_ms);
        let last = self.early_ms.replace(now_ms).max(typed_ms);
        let is_quiet = last.is_none_or(|last| now_ms - last >= QUIET_MS);
        if is_read && is_quiet {
            self.settled = Some(question);
        }
        is_read && is_quiet
    }

    /// Where the person went last while it waited. A field that they emptied gives the keys back after a while.
    pub fn place(&self, question: u64, writes: bool, now_ms: i64) -> Option<Place> {
        let is_done = !writes && self.emptied_ms.is_some_and(|emptied| now_ms - emptied >= EMPTIED_MS);
        let went = self.went.filter(|(asked, _)| *asked == question).map(|(_, place)| place);
        went.map(|place| if is_done { Place::Box } else { place })
    }

    /// The person goes there.
    pub fn go(&mut self, question: u64, place: Place) {
        self.went = Some((question, place));
        self.emptied_ms = None;
        // Whoever goes to it has read it.
        if place == Place::Box {
            self.settled = Some(question);
        }
    }

    /// What stood in the field was sent, or taken away.
    pub fn emptied(&mut self, now_ms: i64) {
        self.emptied_ms = Some(now_ms);
    }

    /// A rule is asked for: it takes another key to make it.
    /// `letter_ms` is when, where it was by a letter, which may begin a word.
    pub fn arm(&mut self, question: u64, rule: Rule, letter_ms: Option<i64>) {
        self.armed = Some((question, rule, letter_ms));
    }

    /// Whether a letter that comes now belongs to the one that asked for the rule: both begin a word.
    pub fn is_word(&self, now_ms: i64) -> bool {
        self.armed.and_then(|(_, _, letter_ms)| letter_ms).is_some_and(|when| now_ms - when < WORD_MS)
    }

    /// The rule that waits for its second key.
    pub fn armed(&self, question: u64) -> Option<Rule> {
        self.armed.filter(|(asked, ..)| *asked == question).map(|(_, rule, _)| rule)
    }

    /// It is not wanted after all.
    pub fn disarm(&mut self) {
        self.armed = None;
    }

    /// The person has answered.
    pub fn answered(&mut self, now_ms: i64) {
        self.armed = None;
        self.answered_ms = Some(now_ms);
    }

    /// Whether nothing was answered after that moment.
    pub fn has_not_answered_since(&self, ms: i64) -> bool {
        self.answered_ms.is_none_or(|answered| answered < ms)
    }

    /// Whether they did so just now.
    pub fn just_answered(&self, now_ms: i64) -> bool {
        self.answered_ms.is_some_and(|answered| now_ms - answered < REPEATED_MS)
    }
}
