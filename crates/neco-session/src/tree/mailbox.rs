//! The letters that wait for one agent: bounded, and yet no end of a child is ever lost.

use std::collections::VecDeque;

use neco_proto::event::{AgentMessage, Letter, Up};

/// Letters that wait until the agent's next turn.
#[derive(Clone, Debug)]
pub struct Mailbox {
    letters: VecDeque<AgentMessage>,
    /// How many letters from above, and how many questions, may wait.
    most: usize,
}

/// What became of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// It waits.
    Waits,
    /// It took the place of an older report of the same child.
    Replaced,
    /// There are too many: the sender is told to wait.
    Full,
}

impl Mailbox {
    /// A mailbox for `most` letters besides reports and ends, of which there is one a child at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { letters: VecDeque::new(), most }
    }

    /// Puts a letter in.
    pub fn post(&mut self, letter: AgentMessage) -> Posted {
        match &letter.letter {
            Letter::Up(Up::Report { .. }) => self.report(letter),
            // A child ends once, so these have a bound of their own.
            Letter::Up(Up::Ended { .. } | Up::Stopped { .. }) => {
                self.letters.push_back(letter);
                Posted::Waits
            }
            Letter::Up(Up::Question { .. }) | Letter::Down(_) if self.is_full([]) => Posted::Full,
            Letter::Up(Up::Question { .. }) | Letter::Down(_) => {
                self.letters.push_back(letter);
                Posted::Waits
            }
        }
    }

    /// Puts a letter back that was in before, or on its way: it was sent when there was room.
    pub fn put_back(&mut self, letter: AgentMessage) {
        match &letter.letter {
            Letter::Up(Up::Report { .. }) => drop(self.report(letter)),
            Letter::Up(Up::Ended { .. } | Up::Stopped { .. } | Up::Question { .. }) | Letter::Down(_) => {
                self.letters.push_back(letter);
            }
        }
    }

    /// Everything that waits, oldest first.
    pub fn take(&mut self) -> Vec<AgentMessage> {
        self.letters.drain(..).collect()
    }

    /// What waits, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &AgentMessage> {
        self.letters.iter()
    }

    /// Whether no order and no question fits in any more besides those that are `under_way`.
    #[must_use]
    pub fn is_full<'a>(&'a self, under_way: impl IntoIterator<Item = &'a AgentMessage>) -> bool {
        self.letters.iter().chain(under_way).filter(|letter| is_bounded(letter)).count() >= self.most
    }

    /// How many letters wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Only the newest report of a child matters.
    fn report(&mut self, letter: AgentMessage) -> Posted {
        let before = self.letters.len();
        let child = letter.from.agent();
        self.letters.retain(|old| !matches!(old.letter, Letter::Up(Up::Report { .. })) || old.from.agent() != child);
        let replaced = self.letters.len() < before;
        self.letters.push_back(letter);
        if replaced { Posted::Replaced } else { Posted::Waits }
    }
}

/// Whether there may be only so many of its kind.
fn is_bounded(letter: &AgentMessage) -> bool {
    match letter.letter {
        Letter::Up(Up::Question { .. }) | Letter::Down(_) => true,
        Letter::Up(Up::Report { .. } | Up::Ended { .. } | Up::Stopped { .. }) => false,
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::event::NodeResult;
    use neco_proto::{Actor, AgentId, MessageId};
    use serde_json::Value;

    use super::*;

    fn up(from: AgentId, letter: Up) -> AgentMessage {
        AgentMessage {
            from: Actor::Agent { id: from },
            to: AgentId::new(),
            letter: Letter::Up(letter),
            message_id: MessageId::new(),
        }
    }

    #[test]
    fn a_flood_of_reports_is_one_and_no_end_is_lost() {
        let mut mailbox = Mailbox::new(2);
        let children: Vec<AgentId> = (0..3).map(|_| AgentId::new()).collect();
        for step in 0..1000 {
            for child in &children {
                let report = Up::Report { progress: f64::from(step) / 1000.0, message: step.to_string() };
                mailbox.post(up(*child, report));
            }
        }
        assert_eq!(mailbox.len(), 3);
        let question = || up(children[0], Up::Question { text: "which?".into() });
        let posted: Vec<Posted> = (0..4).map(|_| mailbox.post(question())).collect();
        assert_eq!(posted, [Posted::Waits, Posted::Waits, Posted::Full, Posted::Full]);
        for child in &children {
            let result = NodeResult::Output { output: Value::Null };
            assert_eq!(mailbox.post(up(*child, Up::Ended { result })), Posted::Waits);
        }
        assert!(mailbox.is_full([]));
        let letters = mailbox.take();
        let on_its_way: Vec<AgentMessage> = letters.iter().filter(|letter| is_bounded(letter)).cloned().collect();
        assert!(mailbox.is_full(&on_its_way), "what is on its way counts");
        assert!(!mailbox.is_full(on_its_way.first()));
        assert_eq!((letters.len(), mailbox.is_empty()), (8, true));
        let last = |letter: &AgentMessage| matches!(&letter.letter, Letter::Up(Up::Report { message, .. }) if message == "999");
        assert!(letters.iter().take(3).all(last));
    }
}
