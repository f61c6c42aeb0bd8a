//! How full the context is: counted as it grows, corrected by what vendors count.

use neco_model::tokens::Family;
use neco_model::{Entry, History, TokenCount};
use neco_proto::{Message, Usage};

use super::assemble::Assembled;

/// A running count of everything that would be sent.
#[derive(Debug, Default)]
pub struct Meter {
    count: TokenCount,
    /// Messages that are counted.
    counted: usize,
    /// The prompt that is counted.
    number: Option<u64>,
    family: Family,
}

impl Meter {
    /// Tokens of the next request. Only what is new is looked at.
    pub fn measure(&mut self, assembled: &Assembled, history: &History, family: Family) -> u64 {
        if self.number != Some(assembled.number) || self.family != family || history.len() < self.counted {
            *self = Self { count: TokenCount::new(family), counted: 0, number: Some(assembled.number), family };
            self.count.add_tokens(assembled.tokens());
        }
        for entry in history.iter().skip(self.counted) {
            self.count.add(entry.message());
        }
        self.counted = history.len();
        self.count.total()
    }

    /// What was measured is asked now.
    pub fn asked(&mut self) {
        self.count.asked();
    }

    /// What the vendor counted of what was asked.
    pub fn corrected_by(&mut self, usage: &Usage) {
        self.count.corrected_by(usage);
    }

    /// The conversation was changed and not only added to.
    pub fn start_over(&mut self) {
        *self = Self::default();
    }
}

/// About how many tokens a message has.
#[must_use]
pub fn tokens_of(message: &Message, family: Family) -> u64 {
    let mut count = TokenCount::new(family);
    count.add(message);
    count.total()
}

/// About how many tokens a history has.
#[must_use]
pub fn tokens_of_all(history: &History, family: Family) -> u64 {
    let mut count = TokenCount::new(family);
    history.iter().map(Entry::message).for_each(|message| count.add(message));
    count.total()
}
