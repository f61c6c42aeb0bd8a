//! The letters that wait for one agent: bounded, and yet no end of a child is ever lost.

use std::collections::VecDeque;

use neco_proto::event::{AgentMessage, Letter, Up};

/// Letters that wait until the agent's next turn.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    letters: VecDeque<AgentMessage>,
    /// How many letters from above, and how many questions, may wait.
    most: usize,
}

impl Mailbox {
    /// A mailbox for `most` letters besides reports and ends, of which there is one a child at most.
    pub fn new(most: usize) -> Self {
        Self { letters: VecDeque::new(), most }
    }

    /// Puts a letter in, whether there is room or not: of reports only the newest of a child matters.
    pub fn put(&mut self, letter: AgentMessage) {
        let is_report = |letter: &AgentMessage| matches!(letter.letter, Letter::Up(Up::Report { .. }));
        if is_report(&letter) {
            let child = letter.from.agent();
            self.letters.retain(|old| !is_report(old) || old.from.agent() != child);
        }
        self.letters.push_back(letter);
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
    pub fn is_full<'a>(&'a self, under_way: impl IntoIterator<Item = &'a AgentMessage>) -> bool {
        self.letters.iter().chain(under_way).filter(|letter| is_bounded(letter)).count() >= self.most
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
                mailbox.put(up(*child, report));
            }
        }
        assert_eq!(mailbox.iter().count(), 3);
        for _ in 0..2 {
            assert!(!mailbox.is_full([]));
            mailbox.put(up(children[0], Up::Question { text: "which?".into() }));
        }
        for child in &children {
            let result = NodeResult::Output { output: Value::Null };
            mailbox.put(up(*child, Up::Ended { result }));
        }
        assert!(mailbox.is_full([]));
        let letters = mailbox.take();
        let on_its_way: Vec<AgentMessage> = letters.iter().filter(|letter| is_bounded(letter)).cloned().collect();
        assert!(mailbox.is_full(&on_its_way), "what is on its way counts");
        assert!(!mailbox.is_full(on_its_way.first()));
        assert_eq!((letters.len(), mailbox.iter().count()), (8, 0));
        let last = |letter: &AgentMessage| matches!(&letter.letter, Letter::Up(Up::Report { message, .. }) if message == "999");
        assert!(letters.iter().take(3).all(last));
    }
}
