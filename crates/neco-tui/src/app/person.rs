//! The person at the keys: whether they look, when they typed, and what they wait for.

use crossterm::event::KeyCode;
use neco_proto::{ApprovalMode, Event, EventBody, Mode};

/// Somebody who did not type for so long may look elsewhere, in milliseconds.
const AWAY_MS: i64 = 10_000;

/// How long the second press of a key counts as one, in milliseconds.
const AGAIN_MS: i64 = 1500;

/// How long a mode that was asked for may take until it is in effect, in milliseconds.
const SENT_MS: i64 = 1000;

/// What is known of the person at the keys.
#[derive(Clone, Debug, Default)]
pub struct Person {
    /// Whether they look at this terminal, once it has said so.
    pub focused: Option<bool>,
    /// When they typed last, in milliseconds.
    pub typed_ms: Option<i64>,
    /// When a key was pressed that means more the second time.
    pub pressed: Option<(char, i64)>,
    /// The mode that a key asked for last, and when.
    mode_sent: Option<((Mode, ApprovalMode), i64)>,
    /// How many keys changed what is written, sent it, or left what was under way.
    strokes: u64,
    /// How many there were when a list was asked for that has not come yet.
    list_asked: Option<u64>,
    /// Work that took longer is worth a notification when it ends.
    long_ms: i64,
}

impl Person {
    /// Somebody who is told of work that took longer than this.
    pub(super) fn new(long_ms: i64) -> Self {
        Self { long_ms, ..Self::default() }
    }

    /// A key was pressed in the field; Enter begins nothing where nothing is written.
    pub(crate) fn types(&mut self, key: KeyCode, is_empty: bool, now_ms: i64) {
        self.typed_ms = Some(now_ms);
        let acts = matches!(key, KeyCode::Char(_) | KeyCode::Esc) || (key == KeyCode::Enter && !is_empty);
        self.strokes += u64::from(acts);
    }

    /// Something was put into the field.
    pub(crate) fn pastes(&mut self) {
        self.strokes += 1;
    }

    /// A list was left, or something in it chosen: one that was asked for before does not open over what comes next.
    pub(crate) fn leaves_list(&mut self) {
        self.strokes += 1;
    }

    /// Whether a key was pressed before, just now.
    pub(crate) fn is_again(key: char, pressed: Option<(char, i64)>, now_ms: i64) -> bool {
        pressed.is_some_and(|(before, when)| before == key && now_ms - when <= AGAIN_MS)
    }

    /// A key asks for another mode.
    pub(crate) fn sends_mode(&mut self, mode: (Mode, ApprovalMode), now_ms: i64) {
        self.mode_sent = Some((mode, now_ms));
    }

    /// The mode that a key asked for just now: the session may not have it yet.
    pub(crate) fn mode_sent(&self, now_ms: i64) -> Option<(Mode, ApprovalMode)> {
        self.mode_sent.filter(|(_, when)| now_ms - when <= SENT_MS).map(|(mode, _)| mode)
    }

    /// They ask for a list; it opens when it comes only if they have not begun something else.
    pub(crate) fn asks_for_list(&mut self) {
        self.list_asked = Some(self.strokes);
    }

    /// Whether a list that they asked for has not come yet.
    pub(crate) fn waits_for_list(&self) -> bool {
        self.list_asked.is_some()
    }

    /// No list is waited for any more; says whether one that has come may open: keys that are under way are not for it.
    pub(crate) fn list_came(&mut self) -> bool {
        self.list_asked.take().is_none_or(|strokes| strokes == self.strokes)
    }

    /// Many terminals do not say where the person looks; one who did not type for a while may look elsewhere.
    fn looks_elsewhere(&self, now_ms: i64) -> bool {
        match self.focused {
            Some(focused) => !focused,
            None => self.typed_ms.is_none_or(|typed| now_ms - typed >= AWAY_MS),
        }
    }

    /// What they should know of an event when they look elsewhere; `was_free` when nothing was asked before it.
    pub(super) fn notification(&self, event: &Event, is_child: bool, was_free: bool, now_ms: i64) -> Option<String> {
        if !self.looks_elsewhere(now_ms) {
            return None;
        }
        match &event.body {
            EventBody::PermissionRequest(request) if was_free => Some(format!("waits for you: {}", request.summary)),
            EventBody::Question(_) if was_free => Some("has a question".to_owned()),
            EventBody::AgentComplete(complete) if !is_child => {
                let worked = i64::try_from(complete.duration_ms).unwrap_or(i64::MAX);
                (worked >= self.long_ms).then(|| "is done".to_owned())
            }
            _ => None,
        }
    }
}
