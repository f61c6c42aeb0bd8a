//! Which of what was said counts, after going back and taking that back.

use neco_proto::clean::clean_line;
use neco_proto::event::Rewind;
use neco_proto::rewinds::{Effective, Rewinds};
use neco_proto::{Event, EventBody, Message, MessageId, Role, Seq};

use super::block::WentBack;

/// Characters of a message that name it.
const WORDS: usize = 40;

/// What a log says about that.
#[derive(Clone, Debug, Default)]
pub(super) struct Counting {
    /// What the person said: its event, its id and its first words.
    said: Vec<(Seq, MessageId, String)>,
    rewinds: Rewinds,
    /// Which rewinds took another one back.
    undos: Vec<Seq>,
}

impl Counting {
    /// Takes note of the next event; `own` are the root's.
    pub(super) fn note(&mut self, event: &Event, own: bool) {
        match &event.body {
            EventBody::Message(message) if own && message.role == Role::User && !message.is_neco() => {
                self.said.push((event.seq, message.id, first_words(Message::written(&message.text()))));
            }
            // What it changes is told when it is taken in.
            EventBody::Rewind(_) if own => return,
            _ => {}
        }
        self.rewinds.note(event);
    }

    /// Whether the person said something.
    pub(super) fn has_said(&self) -> bool {
        !self.said.is_empty()
    }

    /// What counts up to an event.
    pub(super) fn effective(&self, last: Seq) -> Effective {
        self.rewinds.effective(last)
    }

    /// Takes in that the root went back: what that did to what was said.
    pub(super) fn went_back(&mut self, event: &Event, rewind: &Rewind) -> WentBack {
        let before = self.rewinds.effective(event.seq.saturating_sub(1));
        self.rewinds.note(event);
        let after = self.rewinds.effective(event.seq);
        let those = |counts: &Effective, other: &Effective| {
            let changed = self.said.iter().filter(|(seq, ..)| counts.counts(*seq) && !other.counts(*seq));
            changed.map(|(.., words)| words.clone()).collect()
        };
        let message = self.said.iter().find(|(_, id, _)| *id == rewind.message_id);
        let redo = rewind.undoes.is_some_and(|undoes| self.undos.contains(&undoes));
        let went_back = WentBack {
            before: message.map(|(.., words)| words.clone()),
            gone: those(&before, &after),
            again: those(&after, &before),
            named: message.is_some_and(|(seq, ..)| rewind.to >= *seq)
                && rewind.undoes.is_none()
                && rewind.reverted.is_empty(),
            redo,
            rewind: rewind.clone(),
        };
        if rewind.undoes.is_some() && !redo {
            self.undos.push(event.seq);
        }
        went_back
    }
}

fn first_words(text: &str) -> String {
    let line = clean_line(text);
    let cut: String = line.chars().take(WORDS).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}
