//! Stopping: the work first, with the next key those who still work; nothing is spent after the person believes so.
//! Commands in the background cost nothing and go on: they are named, and ended by themselves.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, CompleteReason, NodeState};
use neco_proto::{AgentOrder, Command, Event, EventBody};
use neco_view::agent_ask;
use neco_view::short_id::short_id;
use neco_view::wording::background as words;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::effect::Effect;
use super::{asked, picking, sending, taking_back};
use crate::app::{Place, Purpose, WindowState};
use crate::ask::Esc;
use crate::input::Action;
use crate::text::figures;
use crate::transcript::block::Tone;
use crate::transcript::ledger;
use crate::view::before_keys;

/// What is said to an agent that was stopped and is to go on.
const GO_ON: &str = "continue";

/// The same where agents that were paused go on with it: it was told that they are paused.
const ALL_GO_ON: &str = "continue; the agents that were paused go on as well";

/// Stops the work of the root. Whoever does so wants what they said for it back.
pub(super) fn stop_work(window: &mut WindowState) -> Vec<Effect> {
    tell_stopping(window);
    std::iter::once(Effect::Send(Command::Cancel)).chain(taking_back::take_back_all(window)).collect()
}

/// Says who still works; when that was said, stops them.
pub(super) fn stop_rest(window: &mut WindowState) -> Vec<Effect> {
    if !std::mem::replace(&mut window.stopped, true) {
        return Vec::new();
    }
    tell_stopping(window);
    std::iter::once(Effect::Send(Command::StopAll)).chain(taking_back::take_back_all(window)).collect()
}

fn tell_stopping(window: &mut WindowState) {
    window.tell("Stopping …");
    window.stopping = true;
}

/// Takes the word away that it is being stopped: it has.
pub(crate) fn has_stopped(window: &mut WindowState) {
    if std::mem::take(&mut window.stopping) {
        window.word = None;
    }
}

/// Whether somebody works.
pub(super) fn works(window: &WindowState) -> bool {
    window.standing().works() || window.agents().working().count() > 0
}

/// Whether leaving would stop something.
pub(super) fn holds(window: &WindowState) -> bool {
    works(window) || window.background.running().next().is_some()
}

/// Leaves; whoever works is told to stop before anything is waited for, and what runs in the background is named. What
/// another process does goes on there.
pub(super) fn leave(window: &mut WindowState) -> Vec<Effect> {
    tell_ended_with_session(window);
    let stops = works(window) && !window.attached;
    stops.then_some(Effect::Send(Command::StopAll)).into_iter().chain([Effect::Quit]).collect()
}

/// Says which commands in the background end with the session.
pub(super) fn tell_ended_with_session(window: &mut WindowState) {
    let named = words::named(window.background.running());
    if !named.is_empty() && !window.attached {
        window.transcript.say(Tone::Plain, format!("Stopped in the background: {named}"));
    }
}

/// Whether the person was told what leaving means, and still sees it.
pub(super) fn said_leaving(window: &WindowState) -> bool {
    window.leaving_said && window.word.is_some()
}

/// Says what leaving means now; the key of this action once more does it.
pub(super) fn tell_leaving(window: &mut WindowState, action: Action, before: &str) -> Vec<Effect> {
    let key = window.keymap.keys(action);
    let names: Vec<String> = window.agents().working().map(|node| clean_line(&node.name)).collect();
    // What is cut off where there is no room is a name, never the key.
    let room = window.width.saturating_sub(before.width() + 2);
    let fitting = |whole: String, key_first: String| if whole.width() <= room { whole } else { key_first };
    let words = match names.as_slice() {
        _ if window.attached && works(window) => {
            format!("It goes on in the other window, Esc stops it. {key} again leaves")
        }
        [] if window.background.running().next().is_some() && !window.attached => {
            let named = words::named(window.background.running());
            let (run, them) = match window.background.running().count() {
                1 => ("runs", "it"),
                _ => ("run", "them"),
            };
            let whole = format!("{named} {run} in the background; leaving stops {them}. {key} again leaves");
            fitting(whole, format!("{key} again leaves and stops {named}"))
        }
        // Whoever interrupts it has stopped it already.
        [] if matches!(action, Action::Leave) && works(window) && !window.passing => {
            let whole = format!("{key} again leaves and stops the work; /detach has it go on in the background");
            fitting(whole, format!("{key} again leaves and stops; /detach goes on"))
        }
        [] => {
            let id = window.standing().session_id.parse().map(short_id).unwrap_or_default();
            let resume = window.resume.as_ref().filter(|_| !id.is_empty());
            let back = resume.map(|resume| format!(" · {resume} {id} comes back")).unwrap_or_default();
            format!("{key} again leaves{back}")
        }
        [name] => {
            let whole = format!("{name} is working; leaving pauses it. {key} again leaves");
            fitting(whole, format!("{key} again leaves and pauses {name}"))
        }
        names => {
            let names = names.join(", ");
            let whole = format!("{names} are working; leaving pauses them. {key} again leaves");
            fitting(whole, format!("{key} again leaves and pauses {names}"))
        }
    };
    let is_stopping = window.stopping;
    window.tell(format!("{before}{words}"));
    (window.leaving_said, window.stopping) = (true, is_stopping);
    Vec::new()
}

/// Enter alone goes on: agents that were paused do, and so does the root, which after a stop hears of nobody before the
/// person says something. Agents that still work keep nobody from it.
pub(super) fn go_on(window: &mut WindowState) -> Vec<Effect> {
    let rests = window.purpose == Purpose::Message && window.desk.is_empty() && window.watched.is_none();
    if !rests || window.standing().works() || !window.can_go_on {
        return Vec::new();
    }
    let paused = window.agents().all().filter(|node| node.state == NodeState::Paused);
    let order = |node: &AgentNode| Effect::Send(Command::AgentCommand { agent_id: node.id, order: AgentOrder::Resume });
    let resumed: Vec<Effect> = paused.map(order).collect();
    let words = if resumed.is_empty() { GO_ON } else { ALL_GO_ON };
    window.can_go_on = false;
    resumed.into_iter().chain(sending::say_to_agent(window, words.to_owned())).collect()
}

/// The root goes on where its work ended, whatever others ask or wait for: the person was asked about the root.
pub(super) fn root_goes_on(window: &mut WindowState) -> Vec<Effect> {
    if window.standing().works() || !std::mem::take(&mut window.can_go_on) {
        return Vec::new();
    }
    sending::say_to_agent(window, GO_ON.to_owned())
}

/// Whether the next Esc stops those who still work.
pub(crate) fn offers_stop(window: &WindowState) -> bool {
    window.stopped && !window.standing().works() && window.agents().working().count() > 0
}

/// Whether Esc does so although something is asked: a question that has the keys says itself what Esc does.
fn esc_pauses(window: &WindowState) -> bool {
    let Some(question) = window.asking() else { return true };
    let is_at_request = window.desk.is_approval() && asked::question_place(window) == Place::Box;
    let is_plain = !window.desk.shows_details() && window.facing.armed(question).is_none();
    is_at_request && is_plain && window.purpose == Purpose::Message && asked::esc(window) == Esc::Pauses
}

/// Whether work that ended so can go on where it was: it was stopped, reached its limit, or had no model to answer it.
pub(crate) fn can_go_on(reason: CompleteReason) -> bool {
    matches!(reason, CompleteReason::Cancelled | CompleteReason::IterationLimit | CompleteReason::Failed)
}

/// An event of the root may begin or end the time in which it is offered to stop its agents.
pub(crate) fn note_stop(window: &mut WindowState, event: &Event) {
    match &event.body {
        EventBody::AgentComplete(complete) => {
            let told = said_leaving(window) || window.leaving_said && complete.reason == CompleteReason::Cancelled;
            window.stopped = complete.reason == CompleteReason::Cancelled;
            let is_limit = complete.reason == CompleteReason::IterationLimit;
            window.can_go_on = can_go_on(complete.reason);
            if is_limit {
                picking::ask_to_go_on(window, complete.turns);
            }
            // Whoever stopped it with a key is told what the next one does.
            if window.stopped && told {
                tell_leaving(window, Action::Interrupt, "");
            }
        }
        EventBody::TurnStart(_) => (window.stopped, window.can_go_on) = (false, false),
        EventBody::Stop(stop) => {
            window.stopped = false;
            window.can_go_on |= !stop.paused.is_empty();
            has_stopped(window);
        }
        _ => {}
    }
}

/// Who still works although the work was stopped, what they cost, and the key that stops them; what runs in the
/// background, and where it is ended.
pub(crate) fn still_work(window: &WindowState, width: usize) -> Option<Line<'static>> {
    if !window.stopped || window.standing().works() {
        return None;
    }
    let (working, running) = (window.agents().working().count(), window.background.running().count());
    let (pauses, look) = match (working, running) {
        (0, 0) => return None,
        (0, _) => (None, ("/ps", "look and stop")),
        (1, 0) => (Some("pause it too"), ("Ctrl-T", "look")),
        (_, 0) => (Some("pause them too"), ("Ctrl-T", "look")),
        (1, _) => (Some("pause the agent too"), ("Ctrl-T, /ps", "look")),
        (_, _) => (Some("pause the agents too"), ("Ctrl-T, /ps", "look")),
    };
    let esc = pauses.filter(|_| esc_pauses(window)).map(|does| ("Esc", does));
    let enter = if window.prompt.text.is_empty() { "go on" } else { "send" };
    let go_on = (window.can_go_on && window.desk.is_empty()).then_some(("Enter", enter));
    let all: Vec<(&str, &str)> = match pauses {
        Some(_) => [esc, go_on, Some(look)].into_iter().flatten().collect(),
        None => [Some(look), go_on].into_iter().flatten().collect(),
    };
    let commands = match (working, running) {
        (_, 0) => String::new(),
        (0, 1) => "1 command still runs in the background".to_owned(),
        (0, many) => format!("{many} commands still run in the background"),
        (_, 1) => ", 1 command in the background".to_owned(),
        (_, many) => format!(", {many} commands in the background"),
    };
    let cost: f64 = window.agents().working().filter_map(|node| node.usage.cost).sum();
    let cost = if cost > 0.0 { format!(", {} so far", figures::cost(cost)) } else { String::new() };
    let agents = agent_ask::still_work(working).unwrap_or_default();
    // The keys are wanted more than the cost.
    let keys = |count: usize| ledger::keys(all.get(..count).unwrap_or_default(), &window.theme);
    let measured = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    let fits = |left: &str, right: &[Span<'static>]| left.width() + measured(right) + 4 <= width;
    let full = Some(format!(" ⊘ {agents}{cost}{commands}")).filter(|left| fits(left, &keys(1)));
    let left = full.unwrap_or_else(|| format!(" ⊘ {agents}{commands}"));
    let right = (1..=all.len()).rev().map(keys).find(|right| fits(&left, right)).unwrap_or_else(|| keys(1));
    Some(before_keys(vec![Span::styled(left, window.theme.warning)], right, width))
}
