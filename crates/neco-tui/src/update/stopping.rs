//! Stopping: the work first, with the next key those who still work; nothing is spent after the person believes so.

use neco_proto::clean::clean_line;
use neco_proto::event::CompleteReason;
use neco_proto::{Command, Event, EventBody};
use neco_view::agent_ask;
use ratatui::text::{Line, Span};

use super::effect::Effect;
use crate::app::{STOPPING, WindowState};
use crate::text::figures;
use crate::text::wrap::cut;

impl WindowState {
    /// Stops the work of the root, with a word about it. Whoever does so wants what they said for it back.
    pub(super) fn stop_work(&mut self, word: String) -> Vec<Effect> {
        self.tell(word);
        std::iter::once(Effect::Send(Command::Cancel)).chain(self.take_back_all()).collect()
    }

    /// Says who still works; when that was said, stops them.
    pub(super) fn stop_agents(&mut self) -> Vec<Effect> {
        if std::mem::replace(&mut self.stopped, true) {
            return self.stop_all("");
        }
        Vec::new()
    }

    /// Stops everything.
    pub(super) fn stop_all(&mut self, then: &str) -> Vec<Effect> {
        self.tell(format!("{STOPPING}{then}"));
        std::iter::once(Effect::Send(Command::StopAll)).chain(self.take_back_all()).collect()
    }

    /// Leaves; whoever works is stopped before, also where the session goes on in another process.
    pub(super) fn leave(&self) -> Effect {
        let works = self.standing.works() || self.agents.working().count() > 0;
        if works { Effect::StopAndQuit } else { Effect::Quit }
    }

    /// What leaving means now.
    pub(super) fn leaving(&self) -> String {
        let names: Vec<String> = self.agents.working().map(|node| clean_line(&node.name)).collect();
        match names.is_empty() {
            true => "again leaves".to_owned(),
            false => format!("again pauses {} and leaves", names.join(", ")),
        }
    }

    /// Whether the next Esc stops those who still work.
    pub(crate) fn offers_stop(&self) -> bool {
        self.stopped && !self.standing.works() && self.agents.working().count() > 0
    }

    /// An event of the root may begin or end the time in which it is offered to stop its agents.
    pub(crate) fn note_stop(&mut self, event: &Event) {
        match &event.body {
            EventBody::AgentComplete(complete) => {
                self.stopped = complete.reason == CompleteReason::Cancelled;
                // Whoever stopped it with Ctrl-C is told what the next one does.
                if self.stopped && self.pressed.is_some_and(|(key, _)| key == 'c') && self.offers_stop() {
                    self.tell(self.leaving());
                }
            }
            EventBody::TurnStart(_) => self.stopped = false,
            EventBody::Stop(_) => {
                self.stopped = false;
                self.word.take_if(|(word, _)| word.starts_with(STOPPING));
            }
            _ => {}
        }
    }

    /// Who still works although the work was stopped, what they cost, and the key that stops them.
    pub(crate) fn still_work(&self, width: usize) -> Option<Line<'static>> {
        let words = agent_ask::still_work(self.agents.working().count()).filter(|_| self.offers_stop())?;
        let cost: f64 = self.agents.working().filter_map(|node| node.usage.cost).sum();
        let cost = if cost > 0.0 { format!(", {} so far", figures::cost(cost)) } else { String::new() };
        let them = if self.agents.working().count() == 1 { "it" } else { "them" };
        let spans = vec![
            Span::styled(format!("⊘ {words}{cost}"), self.theme.warning),
            Span::styled(format!(" · Esc pauses {them} · Ctrl-T shows {them}"), self.theme.dim),
        ];
        Some(cut(&Line::from(spans), width))
    }
}
