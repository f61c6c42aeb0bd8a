//! A run as JSON, one object a line.

use std::io::{self, Write};
use std::time::Instant;

use neco_proto::{AgentId, Event, EventBody, visible};
use neco_view::figures;
use neco_view::reduce::View;
use neco_view::wording::notices as told;

use super::patience::Patience;
use super::waits::Waits;

/// Writes objects to `out`; fails once nobody reads them any more.
pub struct JsonPrinter {
    out: Box<dyn Write>,
    /// Tells a person what can't stand among the objects.
    pub(super) note: fn(&str),
    waiting: Box<Waiting>,
}

/// What somebody who waits for the last object is told of meanwhile.
#[derive(Default)]
struct Waiting {
    view: View,
    waits: Waits,
    patience: Patience,
}

impl JsonPrinter {
    /// Writes to `out`, and tells a person with `note`.
    pub fn new(out: Box<dyn Write>, note: fn(&str)) -> Self {
        Self { out, note, waiting: Box::default() }
    }

    /// The root of the session, for whoever has not seen its beginning.
    pub fn set_root(&mut self, root: AgentId) {
        self.waiting.view = View::of(root);
    }

    /// Writes an event as the log has it.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let line = serde_json::to_string(event).map_err(io::Error::other)?;
        self.line(&visible::json(&line))
    }

    /// A program that waits for one object at the end has somebody who wonders why it takes so long.
    pub(super) fn tell(&mut self, event: &Event) {
        match &event.body {
            EventBody::ModelRetry(retry) => (self.note)(&told::retry(retry)),
            EventBody::ModelSwitch(switch) => (self.note)(&told::switch(switch)),
            // Everything else is in the object.
            _ => {}
        }
        let Waiting { view, waits, .. } = &mut *self.waiting;
        view.apply(event).iter().for_each(|change| waits.apply(view, change));
        // Nobody looks at what is over.
        drop(view.take_over());
    }

    /// Tells of a model or a call that takes long, once a while.
    pub(super) fn tell_of_wait(&mut self, now: Instant) {
        let Waiting { waits, patience, .. } = &mut *self.waiting;
        if let Some(wait) = waits.now()
            && patience.is_over(wait.since, now)
        {
            let elapsed = figures::elapsed(now.saturating_duration_since(wait.since));
            (self.note)(&format!("waiting for {} · {elapsed}", wait.words));
        }
    }

    /// Writes an object.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        // One write a line: a reader never sees half of one.
        self.out.write_all(format!("{line}\n").as_bytes())?;
        self.out.flush()
    }
}
