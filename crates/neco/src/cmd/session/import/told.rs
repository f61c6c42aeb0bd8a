//! What a person is told of an import.

use neco_proto::SessionId;
use serde_json::{Value, json};

use crate::print::clean::clean_line;
use crate::print::figures::count;
use crate::short_id::short_id;
use neco_port::import::Format;

/// What came of one file.
#[derive(Debug)]
pub(super) struct Told {
    /// The session.
    pub session: SessionId,
    /// Who wrote the file.
    pub from: Format,
    /// The session's title.
    pub title: String,
    /// How many events it has.
    pub events: u64,
    /// Whether it was there before.
    pub already: bool,
    /// What should be known of it besides.
    pub notes: Vec<String>,
}

impl Told {
    /// In words, with the line that goes on with it.
    pub(super) fn lines(&self) -> String {
        let title = match clean_line(&self.title).as_str() {
            "" => String::new(),
            title => format!(": {title}"),
        };
        let first = match self.already {
            true => format!("this session is here already{title}"),
            false => format!("imported from {}{title} ({})", self.from.name(), count(self.events, "event")),
        };
        let notes: String = self.notes.iter().map(|note| format!("! {}\n", clean_line(note))).collect();
        let again = if self.already { "to import it a second time, add --again\n" } else { "" };
        format!("{first}\n{notes}{again}to go on with it: neco --session {} -m \"…\"\n", short_id(self.session))
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "session_id": self.session,
            "from": self.from.name(),
            "title": self.title,
            "events": self.events,
            "already": self.already,
            "notes": self.notes,
        })
    }
}
