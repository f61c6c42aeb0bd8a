//! Looking at one of the other agents, and telling it something.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::{AgentId, Event, Seq};

use super::effect::Effect;
use super::{menu, picking};
use crate::app::{Purpose, Watched, WindowState};
use crate::transcript::block::Drawn;

/// Rows of a page.
const PAGE: isize = 10;

/// Opens an agent: what it did is read from the log, what it does is followed. What another one asks waits behind it.
pub(super) fn watch(window: &mut WindowState, agent: AgentId) -> Vec<Effect> {
    window.picker = None;
    window.watched = Some(Watched::new(agent, window.desk.front()));
    vec![Effect::Look(agent)]
}

/// What an agent did, up to an event.
pub(super) fn looked(window: &mut WindowState, agent: AgentId, past: &[Event], last: Seq) {
    let works = window.agents().is_live(agent);
    if let Some(watched) = window.watched.as_mut().filter(|watched| watched.agent == agent) {
        watched.catch_up(past, last, works);
    }
}

/// A key while an agent is open; none when it is for what is being written to it.
pub(super) fn watched_key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    if window.purpose != Purpose::Message || window.panels.help {
        return None;
    }
    let watched = window.watched.as_mut()?;
    let agent = watched.agent;
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    match key.code {
        KeyCode::Up => watched.scroll(1),
        KeyCode::Down => watched.scroll(-1),
        KeyCode::PageUp => watched.scroll(PAGE),
        KeyCode::PageDown => watched.scroll(-PAGE),
        KeyCode::Home => watched.scroll(isize::MAX),
        KeyCode::End => watched.scroll(isize::MIN),
        KeyCode::Char('o') if held => print_watched(window),
        KeyCode::Char('c' | 't') if held => window.watched = None,
        KeyCode::Esc => {
            window.watched = None;
            return Some(picking::panel(window));
        }
        KeyCode::Char('x') if held => menu::agent_menu(window, agent),
        KeyCode::Enter | KeyCode::Char(_) if !held && !window.agents().is_live(agent) => {
            return Some(window.only_tell("It has ended and reads no messages"));
        }
        KeyCode::Enter => window.purpose = Purpose::Agent(agent),
        // Whoever types writes to it; no letter does anything to it.
        KeyCode::Char(_) if !held => {
            window.purpose = Purpose::Agent(agent);
            return None;
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// All of it, into the scrollback.
fn print_watched(window: &mut WindowState) {
    let theme = window.theme;
    let with = Drawn { expanded: true, sends_away: false, ..window.drawn(&theme) };
    let rows = window.watched.as_mut().map(|watched| watched.all(with)).unwrap_or_default();
    window.transcript.show(rows);
}
