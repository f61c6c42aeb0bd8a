//! Whether the person has seen the question on the screen, and whether their keys are for it or for the field.

use neco_proto::CallId;

use crate::ask::Key;

/// A question that was on the screen for a shorter time was hardly read, in milliseconds.
const READ_MS: i64 = 300;

/// A key that follows an answer so closely was meant for it, in milliseconds.
const REPEATED_MS: i64 = 800;

/// What keys are for while a question waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The question.
    Box,
    /// The field.
    Field,
}

/// The question that the person has before them. Questions are told apart by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Facing {
    shown: Option<(u64, i64)>,
    went: Option<(u64, Place)>,
    armed: Option<(u64, Key)>,
    /// The question that came upon something that was being written.
    interrupted: Option<u64>,
    answered_ms: Option<i64>,
    /// The other calls that were named below it.
    pub named: Vec<CallId>,
}

impl Facing {
    /// A frame was drawn with this question, or without one; `writes` when something stood in the field.
    pub fn draw(&mut self, question: Option<u64>, writes: bool, now_ms: i64) {
        if self.shown.map(|(shown, _)| shown) != question {
            self.shown = question.map(|question| (question, now_ms));
            self.interrupted = question.filter(|_| writes);
            self.armed = None;
        }
        if !writes {
            self.interrupted = None;
        }
    }

    /// What was drawn has not reached the terminal: it is not read yet.
    pub fn unseen(&mut self, now_ms: i64) {
        if let Some((_, since)) = &mut self.shown {
            *since = now_ms;
        }
    }

    /// Whether what is being written was begun before the question was there.
    #[must_use]
    pub fn is_interrupted(&self, question: u64) -> bool {
        self.interrupted == Some(question) || self.shown.is_none_or(|(shown, _)| shown != question)
    }

    /// Whether it was on the screen for long enough to be decided about.
    #[must_use]
    pub fn is_read(&self, question: u64, now_ms: i64) -> bool {
        self.shown.is_some_and(|(shown, since)| shown == question && now_ms - since >= READ_MS)
    }

    /// Where the person went last while it waited.
    #[must_use]
    pub fn place(&self, question: u64) -> Option<Place> {
        self.went.filter(|(asked, _)| *asked == question).map(|(_, place)| place)
    }

    /// The person goes there.
    pub fn go(&mut self, question: u64, place: Place) {
        self.went = Some((question, place));
    }

    /// A rule is asked for: it takes Enter to make it.
    pub fn arm(&mut self, question: u64, key: Key) {
        self.armed = Some((question, key));
    }

    /// The rule that waits for Enter.
    #[must_use]
    pub fn armed(&self, question: u64) -> Option<Key> {
        self.armed.filter(|(asked, _)| *asked == question).map(|(_, key)| key)
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

    /// Whether they did so just now.
    #[must_use]
    pub fn just_answered(&self, now_ms: i64) -> bool {
        self.answered_ms.is_some_and(|answered| now_ms - answered < REPEATED_MS)
    }
}
