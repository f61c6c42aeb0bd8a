//! Stopping: the work first, with the next key those who still work; nothing is spent after the person believes so.

use neco_proto::clean::clean_line;
use neco_proto::event::CompleteReason;
use neco_proto::{Command, Event, EventBody};
use neco_view::agent_ask;
use ratatui::text::{Line, Span};

use super::effect::Effect;
use super::taking_back;
use crate::app::WindowState;
use crate::text::figures;
use crate::text::wrap::cut;

/// Stops the work of the root, and says what comes then. Whoever does so wants what they said for it back.
pub(super) fn stop_work(window: &mut WindowState, then: &str) -> Vec<Effect> {
    tell_stopping(window, then);
    std::iter::once(Effect::Send(Command::Cancel)).chain(taking_back::take_back_all(window)).collect()
}

/// Says who still works; when that was said, stops them.
pub(super) fn stop_agents(window: &mut WindowState) -> Vec<Effect> {
    if std::mem::replace(&mut window.stopped, true) {
        return stop_all(window, "");
    }
    Vec::new()
}

pub(super) fn stop_all(window: &mut WindowState, then: &str) -> Vec<Effect> {
    tell_stopping(window, then);
    std::iter::once(Effect::Send(Command::StopAll)).chain(taking_back::take_back_all(window)).collect()
}

fn tell_stopping(window: &mut WindowState, then: &str) {
    window.tell(format!("stopping …{then}"));
    window.stopping = true;
}

/// Takes the word away that it is being stopped: it has.
pub(crate) fn has_stopped(window: &mut WindowState) {
    if std::mem::take(&mut window.stopping) {
        window.word = None;
    }
}

/// Leaves; whoever works is stopped before, also where the session goes on in another process.
pub(super) fn leave(window: &WindowState) -> Effect {
    let works = window.standing.works() || window.agents.working().count() > 0;
    if works { Effect::StopAndQuit } else { Effect::Quit }
}

/// What leaving means now.
pub(super) fn leaving(window: &WindowState) -> String {
    let names: Vec<String> = window.agents.working().map(|node| clean_line(&node.name)).collect();
    match names.is_empty() {
        true => "again leaves".to_owned(),
        false => format!("again pauses {} and leaves", names.join(", ")),
    }
}

/// Whether the next Esc stops those who still work.
pub(crate) fn offers_stop(window: &WindowState) -> bool {
    window.stopped && !window.standing.works() && window.agents.working().count() > 0
}

/// An event of the root may begin or end the time in which it is offered to stop its agents.
pub(crate) fn note_stop(window: &mut WindowState, event: &Event) {
    match &event.body {
        EventBody::AgentComplete(complete) => {
            window.stopped = complete.reason == CompleteReason::Cancelled;
            // Whoever stopped it with Ctrl-C is told what the next one does.
            if window.stopped && window.person.pressed.is_some_and(|(key, _)| key == 'c') && offers_stop(window) {
                window.tell(leaving(window));
            }
        }
        EventBody::TurnStart(_) => window.stopped = false,
        EventBody::Stop(_) => {
            window.stopped = false;
            has_stopped(window);
        }
        _ => {}
    }
}

/// Who still works although the work was stopped, what they cost, and the key that stops them.
pub(crate) fn still_work(window: &WindowState, width: usize) -> Option<Line<'static>> {
    let words = agent_ask::still_work(window.agents.working().count()).filter(|_| offers_stop(window))?;
    let cost: f64 = window.agents.working().filter_map(|node| node.usage.cost).sum();
    let cost = if cost > 0.0 { format!(", {} so far", figures::cost(cost)) } else { String::new() };
    let them = if window.agents.working().count() == 1 { "it" } else { "them" };
    let spans = vec![
        Span::styled(format!("⊘ {words}{cost}"), window.theme.warning),
        Span::styled(format!(" · Esc pauses {them} · Ctrl-T shows {them}"), window.theme.dim),
    ];
    Some(cut(&Line::from(spans), width))
}
