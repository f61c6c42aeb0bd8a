//! Looking at one of the other agents, and telling it something.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::{AgentId, Event, Seq};

use super::effect::Effect;
use super::{menu, picking};
use crate::app::{Picked, Purpose, Watched, WindowState};
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
pub(super) fn looked(window: &mut WindowState, agent: AgentId, past: Vec<Event>, last: Seq) {
    let works = window.agents().is_live(agent);
    if let Some(watched) = window.watched.as_mut().filter(|watched| watched.agent == agent) {
        watched.catch_up(past, last, works);
    }
}

/// A key while an agent is open; none when it is for what is being written to it.
pub(super) fn watched_key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    let agent = window.watched.as_ref()?.agent;
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let is_for_field = match window.purpose {
        Purpose::Message => false,
        Purpose::Agent(written_to) if written_to == agent => belongs_to_text(window, key.code, held),
        Purpose::Agent(_) | Purpose::Reason(_) | Purpose::Revision(_) | Purpose::Rule => true,
    };
    if is_for_field || window.panels.help {
        return None;
    }
    let watched = window.watched.as_mut()?;
    match key.code {
        KeyCode::Up => watched.scroll(1),
        KeyCode::Down => watched.scroll(-1),
        KeyCode::PageUp => watched.scroll(PAGE),
        KeyCode::PageDown => watched.scroll(-PAGE),
        KeyCode::Home => watched.scroll(isize::MAX),
        KeyCode::End => watched.scroll(isize::MIN),
        KeyCode::Char('o') if held => print_watched(window),
        // Back to the root: nobody is looked at or written to any more.
        KeyCode::Esc => (window.watched, window.purpose) = (None, Purpose::Message),
        KeyCode::Char('c') if held => (window.watched, window.purpose) = (None, Purpose::Message),
        KeyCode::Char('t') if held => {
            window.watched = None;
            let effects = picking::panel(window);
            // The list is where it was left.
            window.picker.iter_mut().for_each(|picker| picker.choose(|picked| *picked == Picked::Agent(agent)));
            return Some(effects);
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

/// Whether a key is for what is being written to the agent, which is looked at all the same.
fn belongs_to_text(window: &WindowState, key: KeyCode, held: bool) -> bool {
    let is_written = !window.prompt.text.is_empty();
    match key {
        KeyCode::Enter | KeyCode::Esc => true,
        KeyCode::Up | KeyCode::Down | KeyCode::Home | KeyCode::End => is_written,
        KeyCode::Char('c') => is_written || !held,
        KeyCode::Char(_) => !held,
        _ => false,
    }
}

/// All of it, into the scrollback.
pub(super) fn print_watched(window: &mut WindowState) {
    let theme = window.theme;
    let with = Drawn { expanded: true, sends_away: false, ..window.drawn(&theme) };
    let rows = window.watched.as_mut().map(|watched| watched.all(with)).unwrap_or_default();
    window.transcript.show(rows);
    window.tell("It is in the scrollback when you go back");
}
