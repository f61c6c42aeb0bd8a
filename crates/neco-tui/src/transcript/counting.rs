//! Which of what was said counts, after going back and taking that back.

use neco_proto::clean::clean_line;
use neco_proto::event::Rewind;
use neco_proto::rewinds::{Effective, Rewinds};
use neco_proto::{Event, EventBody, MessageId, Role, Seq};

/// Characters of a message that name it.
const WORDS: usize = 40;

/// What a log says about that.
#[derive(Debug, Default)]
pub struct Counting {
    /// What the person said: its event, its id and its first words.
    said: Vec<(Seq, MessageId, String)>,
    rewinds: Rewinds,
    /// Which rewinds took another one back.
    undos: Vec<Seq>,
}

/// What a rewind did to what was said.
#[derive(Debug, Default)]
pub struct Rewound {
    /// The message that was gone back to before, where it is known.
    pub before: Option<String>,
    /// What no longer counts.
    pub gone: Vec<String>,
    /// What counts again.
    pub again: Vec<String>,
    /// Whether the files were put into a state that somebody named.
    pub is_named: bool,
    /// Whether it takes an undo back.
    pub is_redo: bool,
}

impl Counting {
    /// Takes note of the next event; gives what a rewind did.
    pub fn note(&mut self, event: &Event) -> Rewound {
        let rewound = match &event.body {
            EventBody::Message(message) if message.role == Role::User && !message.is_neco() => {
                self.said.push((event.seq, message.id, first_words(&message.text())));
                Rewound::default()
            }
            EventBody::Rewind(rewind) => return self.went(event, rewind),
            _ => Rewound::default(),
        };
        self.rewinds.note(event);
        rewound
    }

    /// What counts up to an event.
    #[must_use]
    pub fn effective(&self, last: Seq) -> Effective {
        self.rewinds.effective(last)
    }

    fn went(&mut self, event: &Event, rewind: &Rewind) -> Rewound {
        let before = self.rewinds.effective(event.seq.saturating_sub(1));
        self.rewinds.note(event);
        let after = self.rewinds.effective(event.seq);
        let those = |counts: &Effective, other: &Effective| {
            let changed = self.said.iter().filter(|(seq, ..)| counts.counts(*seq) && !other.counts(*seq));
            changed.map(|(.., words)| words.clone()).collect()
        };
        let message = self.said.iter().find(|(_, id, _)| *id == rewind.message_id);
        let is_redo = rewind.undoes.is_some_and(|undoes| self.undos.contains(&undoes));
        let rewound = Rewound {
            before: message.map(|(.., words)| words.clone()),
            gone: those(&before, &after),
            again: those(&after, &before),
            is_named: message.is_some_and(|(seq, ..)| rewind.to >= *seq) && rewind.undoes.is_none(),
            is_redo,
        };
        if rewind.undoes.is_some() && !is_redo {
            self.undos.push(event.seq);
        }
        rewound
    }
}

fn first_words(text: &str) -> String {
    let line = clean_line(text);
    let cut: String = line.chars().take(WORDS).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}
