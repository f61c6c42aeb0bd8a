//! Looking at one of the other agents, and telling it something.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::{AgentId, Event, Seq};

use super::effect::Effect;
use crate::app::{Purpose, Watched, WindowState};
use crate::transcript::block::Drawn;

/// Rows of a page.
const PAGE: isize = 10;

impl WindowState {
    /// Opens an agent: what it did is read from the log, what it does is followed.
    pub(super) fn watch(&mut self, agent: AgentId) -> Vec<Effect> {
        self.picker = None;
        self.watched = Some(Watched::new(agent));
        vec![Effect::Look(agent)]
    }

    /// What an agent did, up to an event.
    pub(super) fn looked(&mut self, agent: AgentId, past: &[Event], last: Seq) {
        let works = self.agents.is_live(agent);
        if let Some(watched) = self.watched.as_mut().filter(|watched| watched.agent == agent) {
            watched.catch_up(past, last, works);
        }
    }

    /// A key while an agent is open; none when it is for what is being written to it.
    pub(super) fn watched_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if self.purpose != Purpose::Message || self.panels.help {
            return None;
        }
        let watched = self.watched.as_mut()?;
        let agent = watched.agent;
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Up => watched.scroll(1),
            KeyCode::Down => watched.scroll(-1),
            KeyCode::PageUp => watched.scroll(PAGE),
            KeyCode::PageDown => watched.scroll(-PAGE),
            KeyCode::Home => watched.scroll(isize::MAX),
            KeyCode::End => watched.scroll(isize::MIN),
            KeyCode::Char('o') if held => self.print_watched(),
            KeyCode::Char('c' | 't') if held => self.watched = None,
            KeyCode::Esc => {
                self.watched = None;
                return Some(self.panel());
            }
            KeyCode::Char('x') if held => self.agent_menu(agent),
            KeyCode::Enter => self.purpose = Purpose::Agent(agent),
            // Whoever types writes to it; no letter does anything to it.
            KeyCode::Char(_) if !held => {
                self.purpose = Purpose::Agent(agent);
                return None;
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// All of it, into the scrollback.
    fn print_watched(&mut self) {
        let (theme, width) = (self.theme, self.width);
        let with = Drawn { width, theme: &theme, now_ms: self.now_ms, frame: self.frame, expanded: true };
        let rows = self.watched.as_mut().map(|watched| watched.all(with)).unwrap_or_default();
        self.transcript.show(rows);
    }
}
