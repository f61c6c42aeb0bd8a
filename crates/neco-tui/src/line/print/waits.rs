//! What a run waits for, and since when: the call that has run longest, or else the model.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use neco_proto::clean::clean_line;
use neco_proto::event::CallStatus;
use neco_view::reduce::view::WaitsFor;
use neco_view::reduce::{BlockBody, BlockId, Change, View};

/// Follows the changes of a view, which knows the root's own events from those of its agents.
#[derive(Default)]
pub(super) struct Waits {
    /// The name of the model that the turn was begun with.
    name: String,
    /// What the model is waited for, and since when.
    model: Option<(String, Instant)>,
    /// What the calls that run do, and since when.
    calls: HashMap<BlockId, (String, Instant)>,
}

/// A wait, in words that stand without a mark: `Run make`, `a/one`, `a/one to write write_file`.
pub(super) struct Wait {
    /// What is waited for.
    pub words: String,
    /// When the wait began.
    pub since: Instant,
    /// Whether it is a call, and not the model.
    pub is_call: bool,
}

impl Waits {
    /// Takes in what an event changed in `view`.
    pub(super) fn apply(&mut self, view: &View, change: &Change<'_>) {
        let body = |id: &BlockId| view.block(*id).map(|block| &block.body);
        match change {
            Change::Waits => self.model = self.words(view).map(|words| (words, Instant::now())),
            Change::Said { .. } => self.model = None,
            Change::Added(id) => match body(id) {
                Some(BlockBody::ModelRetry(retry)) => self.ask_again(Duration::from_millis(retry.wait_ms)),
                Some(BlockBody::ModelSwitch(_)) => self.ask_again(Duration::ZERO),
                Some(BlockBody::End(_)) => {
                    self.model = None;
                    self.calls.clear();
                }
                Some(_) | None => {}
            },
            Change::Changed(id) => match body(id) {
                Some(BlockBody::Call(call)) if call.status == CallStatus::Executing => {
                    self.calls.entry(*id).or_insert_with(|| (clean_line(&call.summary), Instant::now()));
                }
                Some(BlockBody::Call(call)) if call.is_over() => {
                    self.calls.remove(id);
                }
                Some(_) | None => {}
            },
            // Who speaks is not waited for; who falls silent is, from then on.
            Change::Grew(id, _) => {
                if matches!(body(id), Some(BlockBody::Answer(_) | BlockBody::Thinking(_))) {
                    self.begin_in(Duration::ZERO);
                }
            }
            Change::Noted(..) => {}
        }
    }

    /// What is waited for now.
    pub(super) fn now(&self) -> Option<Wait> {
        match self.calls.values().min_by_key(|(_, since)| *since) {
            Some((words, since)) => {
                let more = match self.calls.len() {
                    1 => String::new(),
                    count => format!(" (+{} more)", count - 1),
                };
                Some(Wait { words: format!("{words}{more}"), since: *since, is_call: true })
            }
            None => {
                let (words, since) = self.model.as_ref()?;
                Some(Wait { words: words.clone(), since: *since, is_call: false })
            }
        }
    }

    /// What the model is waited for, whatever runs beside it, and since when.
    pub(super) fn model(&self) -> Option<(&str, Instant)> {
        self.model.as_ref().map(|(words, since)| (words.as_str(), *since))
    }

    /// What the view waits for; the model of the turn is named also when it writes a call.
    fn words(&mut self, view: &View) -> Option<String> {
        match view.waits_for.as_ref()? {
            WaitsFor::Model { name } => {
                self.name = clean_line(name);
                Some(self.name.clone())
            }
            WaitsFor::Arguments { tool } => {
                // Whoever was not there when the turn began does not know it.
                let name = if self.name.is_empty() { "the model" } else { self.name.as_str() };
                Some(format!("{name} to write {}", clean_line(tool)))
            }
        }
    }

    /// The model is asked anew after a rest: it does not write a call any more.
    fn ask_again(&mut self, rest: Duration) {
        if let Some((words, _)) = self.model.as_mut().filter(|_| !self.name.is_empty()) {
            words.clone_from(&self.name);
        }
        self.begin_in(rest);
    }

    /// The model, if it is waited for, is so from a moment on.
    fn begin_in(&mut self, rest: Duration) {
        if let Some((_, since)) = &mut self.model {
            let now = Instant::now();
            *since = now.checked_add(rest).unwrap_or(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{StreamChunk, TurnStart};
    use neco_proto::{AgentId, Event, EventBody, Message, Part, Role, SessionId};

    use super::*;

    #[test]
    fn only_the_root_is_waited_for_and_not_while_it_speaks() {
        let (session, root, child) = (SessionId::new(), AgentId::new(), AgentId::new());
        let (mut view, mut waits) = (View::of(root), Waits::default());
        let mut takes = |agent, body| {
            let event = Event::new(1, Timestamp::UNIX_EPOCH, session, agent, None, body);
            view.apply(&event).iter().for_each(|change| waits.apply(&view, change));
            waits.now().map(|wait| (wait.words, wait.since))
        };
        let turn = |model: &str| EventBody::TurnStart(TurnStart { iteration: 1, model: model.into() });
        let say = || EventBody::StreamChunk(StreamChunk { text: "words".into() });
        let said = || EventBody::Message(Message::new(Role::Assistant, vec![Part::Text { text: "words".into() }]));
        let begun = takes(root, turn("a/one")).unwrap();
        assert_eq!(begun.0, "a/one");
        for body in [turn("b/two"), say(), said()] {
            assert_eq!(takes(child, body), Some(begun.clone()), "that is another agent");
        }
        let before = Instant::now();
        assert!(takes(root, say()).unwrap().1 >= before, "it has just spoken");
        assert_eq!(takes(root, said()), None);
    }
}
