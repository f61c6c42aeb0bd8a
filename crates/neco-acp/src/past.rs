//! What is past of a session, told again from its log. What goes on there is known to whoever follows then.

use std::ops::RangeInclusive;
use std::vec;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use futures::StreamExt;
use neco_proto::{Client, Event, Seq, TurnId};
use neco_view::reduce::{Outline, Reader};

use crate::failure;
use crate::transcript::Transcript;

/// The events of a session until one of them.
pub(crate) async fn past_of(client: &dyn Client, last: Seq) -> Result<Vec<Event>, Error> {
    let mut past = Vec::new();
    let mut events = client.events(0);
    while past.last().is_none_or(|event: &Event| event.seq < last) && last > 0 {
        match events.next().await {
            Some(event) => past.push(event.map_err(failure::of_client)?),
            None => break,
        }
    }
    Ok(past)
}

/// What is past and not told yet.
pub(crate) struct Retelling {
    past: vec::IntoIter<Event>,
    /// What does not count any more.
    gone: Vec<RangeInclusive<Seq>>,
    reader: Reader,
    /// Whether the editor is told; else it is only read what goes on.
    is_shown: bool,
    /// The last turn of the root.
    turn: Option<TurnId>,
}

impl Retelling {
    pub fn new(past: Vec<Event>, is_shown: bool) -> Self {
        let mut outline = Outline::default();
        past.iter().for_each(|event| outline.read(event));
        Self { past: past.into_iter(), gone: outline.taken_back(), reader: Reader::default(), is_shown, turn: None }
    }

    /// An editor that is told everything knows nothing of it.
    pub fn begin(&self, transcript: &mut Transcript) {
        if self.is_shown {
            transcript.forget();
        }
    }

    /// What the next event comes to; nothing where there is none.
    pub fn next(&mut self, transcript: &mut Transcript) -> Option<Vec<acp::SessionUpdate>> {
        let event = self.past.next()?;
        let seen = self.reader.read(&event);
        let counts = self.is_shown && !self.gone.iter().any(|range| range.contains(&event.seq));
        let Some(view) = self.reader.view() else { return Some(Vec::new()) };
        if view.is_own(&event) {
            self.turn = event.turn_id.or(self.turn);
        }
        if !counts {
            return Some(Vec::new());
        }
        let mut updates = Vec::new();
        for seen in seen {
            updates.extend(transcript.whole(&seen.block.body, &seen.printed, &event, view));
        }
        updates.extend(transcript.begun(&event, view));
        updates.extend(transcript.aside_of(&event, view));
        Some(updates)
    }

    /// What goes on, from which it is followed, and how everything stands. Nobody goes on with it where nobody is `at_work`.
    pub fn rest(self, transcript: &mut Transcript, at_work: bool) -> Vec<acp::SessionUpdate> {
        let Self { reader, is_shown, turn, .. } = self;
        let mut view = reader.into_view();
        let mut updates = if is_shown { transcript.open(&view, turn) } else { Vec::new() };
        if transcript.is_new() {
            if !at_work {
                view.stop();
            }
            transcript.follow(view);
        }
        if is_shown {
            updates.extend(transcript.stands());
        }
        updates
    }
}
