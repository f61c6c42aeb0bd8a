//! What has left for the scrollback and of which more can still be shown: calls, thoughts, and why a model did not
//! answer.

use std::collections::VecDeque;

use neco_view::reduce::block::{BlockBody, Call};
use neco_view::wording::notices::trouble;
use ratatui::text::Line;

use super::block::{Drawn, Tone, note, whole_thought};
use super::card::{self, Fold};
use super::tail::Tail;

/// Calls whose whole output can still be asked for.
const REMEMBERED: usize = 20;

/// Bytes of output that such a call may keep.
const WHOLE: usize = 256 * 1024;

/// Bytes of a thought from which on its one row does not show all of it.
const LONG_THOUGHT: usize = 60;

/// The last of what has left, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Remembered(VecDeque<Kept>);

/// Something that has left and of which more can be shown.
#[derive(Debug)]
enum Kept {
    Call(Box<Call>),
    /// A thought, and how long it took.
    Thought(String, Option<u64>),
    /// All that was said of a model that did not answer.
    Trouble(String),
}

impl Remembered {
    /// Keeps what has left, if there is more of it than was seen. A thought `took_ms` milliseconds.
    pub(super) fn add(&mut self, body: BlockBody, took_ms: Option<u64>) {
        match body {
            BlockBody::Call(call) if card::has_more(&call) && card::size(&call) <= WHOLE => {
                self.0.push_back(Kept::Call(call));
            }
            BlockBody::ModelRetry(retry) if trouble(retry.code, retry.discards).is_some() => {
                self.0.push_back(Kept::Trouble(retry.message));
            }
            BlockBody::ModelSwitch(switch) if trouble(switch.code, switch.discards).is_some() => {
                self.0.push_back(Kept::Trouble(switch.message));
            }
            BlockBody::Thinking(thought) if thought.text.len() <= WHOLE && thought.text.trim().contains('\n') => {
                self.0.push_back(Kept::Thought(thought.text, took_ms));
            }
            BlockBody::Thinking(thought) if (LONG_THOUGHT..=WHOLE).contains(&thought.text.len()) => {
                self.0.push_back(Kept::Thought(thought.text, took_ms));
            }
            _ => {}
        }
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    /// All of the last one, or of the `back`th before it.
    pub(super) fn whole(&self, back: usize, with: Drawn<'_>) -> Option<Vec<Line<'static>>> {
        Some(match self.0.iter().rev().nth(back)? {
            Kept::Call(call) => card::rows(call, &Tail::default(), Fold::Whole, None, with),
            Kept::Thought(text, took) => whole_thought(text, *took, with.width, with.theme),
            Kept::Trouble(message) => note(Tone::Bad, message, with.width, with.theme),
        })
    }

    /// Whether nothing is remembered.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all of it.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
