//! How full the context is: counted as it grows, corrected by what vendors count.

use neco_model::tokens::Family;
use neco_model::{Entry, History, TokenCount};
use neco_proto::{Message, Usage};

use super::assemble::Assembled;

/// What a vendor counted in an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Tokens of all that was sent.
    pub tokens: u64,
    /// How many messages that were, from the first.
    pub messages: usize,
}

/// A running count of everything that would be sent.
#[derive(Debug, Default)]
pub struct Meter {
    count: TokenCount,
    counted: usize,
    /// The prompt that is counted.
    number: Option<u64>,
    family: Family,
    /// What holds for the first prompt that is counted.
    earlier: Option<Counted>,
}

impl Meter {
    /// A meter that knows what was counted in an earlier run.
    pub fn new(earlier: Option<Counted>) -> Self {
        Self { earlier, ..Self::default() }
    }

    /// Tokens of the next request. Only what is new is looked at.
    pub fn measure(&mut self, assembled: &Assembled, history: &History, family: Family) -> u64 {
        if self.number != Some(assembled.number) || self.family != family || history.len() < self.counted {
            let earlier =
                self.earlier.take().filter(|earlier| self.number.is_none() && earlier.messages <= history.len());
            let number = Some(assembled.number);
            *self = Self { count: TokenCount::new(family), counted: 0, number, family, earlier: None };
            self.count.add_tokens(assembled.tokens());
            if let Some(Counted { tokens, messages }) = earlier {
                self.counted = messages;
                self.count.corrected_by(&Usage { input: tokens, ..Usage::default() });
            }
        }
        for entry in history.iter().rev().take(history.len() - self.counted) {
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
pub fn tokens_of(message: &Message, family: Family) -> u64 {
    let mut count = TokenCount::new(family);
    count.add(message);
    count.total()
}

/// About how many tokens a history has.
pub fn tokens_of_all(history: &History, family: Family) -> u64 {
    let mut count = TokenCount::new(family);
    history.iter().map(Entry::message).for_each(|message| count.add(message));
    count.total()
}
