//! The field: what stands in it, what it is for, and whom it goes to.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentState, NodeState};
use neco_proto::{AgentId, Mode};
use ratatui::text::Line;

use crate::app::{Picked, Place, Purpose, WindowState, dots, looks_like_key};
use crate::input::{Completion, FieldLook, Prompt};
use crate::term::screen::Cursor;
use crate::update::asked;

/// Rows of the field at most.
const MOST_OF_FIELD: usize = 10;

/// What is said beside a field with a text that is shown as dots.
const LIKE_KEY: &str = "looks like a key";

/// The field, with what it is for.
pub(super) fn field(window: &WindowState, width: usize, height: usize) -> (Vec<Line<'static>>, Cursor) {
    if let Some(secret) = &window.secret {
        let hint = format!("Paste or type the key of {}; it is shown as dots", clean_line(&secret.provider));
        let look = FieldLook { hint: &hint, to: "Enter saves it   Esc back", edge: window.theme.warning, sign: None };
        let mut dots = Prompt::default();
        dots.text.set(secret.dots());
        return dots.rows(width, 1, &look, &window.theme);
    }
    let most = (height / 3).clamp(1, MOST_OF_FIELD);
    // What is typed while a list is open searches it; what was being written is there again afterwards.
    if let Some(picker) = window.picker.as_ref().filter(|picker| picker.searches()) {
        // Whoever has no model yet may put a key where its name goes.
        let is_key = window.set_up && looks_like_key(picker.filter());
        let to = if is_key { LIKE_KEY.to_owned() } else { picker.found() };
        let look = FieldLook { hint: picker.heading(), to: &to, edge: window.theme.accent, sign: None };
        let text = if is_key { dots(picker.filter()) } else { picker.filter().to_owned() };
        return Prompt::of(&text).rows(width, most, &look, &window.theme);
    }
    let (hint, to) = (hint(window), addressee(window));
    let is_list = window.picker.as_ref().is_some_and(|picker| !picker.is_tree());
    let asks =
        is_list || window.picker.is_none() && !window.desk.is_empty() && asked::question_place(window) == Place::Box;
    let edge = match window.standing().mode {
        _ if asks => window.theme.line,
        Mode::Plan => window.theme.plan,
        _ => window.theme.accent,
    };
    let sign = asks.then_some(window.theme.dim);
    // The same where an address goes.
    if window.set_up && window.prompt.holds(looks_like_key) {
        let look = FieldLook { hint: &hint, to: LIKE_KEY, edge, sign };
        return Prompt::of(&dots(window.prompt.text.as_str())).rows(width, most, &look, &window.theme);
    }
    let look = FieldLook { hint: &hint, to: &to, edge, sign };
    window.prompt.rows(width, most, &look, &window.theme)
}

/// Whom what is written goes to, or what it is, when it is no message.
fn addressee(window: &WindowState) -> String {
    if let Some(agent) = chosen_agent(window) {
        return named(window, agent);
    }
    if let Some(count) = window.prompt.completion.as_ref().and_then(Completion::commands) {
        return count;
    }
    if let Some(argument) = window.offers.argument(&window.prompt).filter(|_| window.purpose == Purpose::Message) {
        return format!("takes {}", clean_line(argument));
    }
    match &window.purpose {
        Purpose::Message if window.asking().is_some() && asked::question_place(window) == Place::Field => {
            // What is written beside the question of another agent is not for that agent.
            let what = match (asked::is_answer(window), window.desk.is_of_child()) {
                (true, _) => "your answer",
                (false, true) => "a message to root",
                (false, false) => "a message",
            };
            let stays = window.desk.wants_words() || window.desk.is_answered();
            format!("{what}{}", if stays { "" } else { "   Esc back to the question" })
        }
        Purpose::Message => window.watched.as_ref().map_or_else(String::new, |watched| named(window, watched.agent)),
        Purpose::Reason(_) => "why not".to_owned(),
        Purpose::Revision(_) => "for the plan".to_owned(),
        Purpose::Agent(agent) => named(window, *agent),
        Purpose::Rule => "a rule".to_owned(),
    }
}

/// The agent that is chosen among all of them.
fn chosen_agent(window: &WindowState) -> Option<AgentId> {
    match window.picker.as_ref().filter(|picker| picker.is_tree())?.chosen()?.picked {
        Picked::Agent(agent) => Some(agent),
        _ => None,
    }
}

/// An agent as the one that something goes to.
fn named(window: &WindowState, agent: AgentId) -> String {
    window.agents().name(agent).map(|name| format!("to {name}")).unwrap_or_default()
}

/// What an empty field says that writes to an agent.
fn message_to(window: &WindowState, agent: AgentId) -> String {
    let name = window.agents().name(agent).unwrap_or_else(|| "it".to_owned());
    let is_paused = window.agents().node(agent).is_some_and(|node| node.state == NodeState::Paused);
    match window.agents().is_live(agent) {
        true if is_paused => format!("Message {name}; it reads it when it is resumed"),
        true => format!("Message {name}; it reads it at its next turn"),
        false => format!("{name} has ended"),
    }
}

/// What an empty field says.
fn hint(window: &WindowState) -> String {
    if let Some(agent) = chosen_agent(window) {
        return message_to(window, agent);
    }
    if window.picker.is_some() {
        return String::new();
    }
    let asks = window.purpose == Purpose::Message && window.asking().is_some();
    if let Some(hint) = window.desk.hint().filter(|_| asks) {
        let at_box = asked::question_place(window) == Place::Box || window.desk.takes_words();
        return if at_box { hint.to_owned() } else { "for the next turn".to_owned() };
    }
    if let Some(watched) = &window.watched
        && window.purpose == Purpose::Message
    {
        return message_to(window, watched.agent);
    }
    if window.set_up {
        let words = if window.standing().works() { "one moment · Esc stops it" } else { "one moment" };
        return words.to_owned();
    }
    if window.standing().going_back.is_some() && window.purpose == Purpose::Message {
        return "Enter sends it when the session is back".to_owned();
    }
    if window.opening && window.purpose == Purpose::Message {
        return "Opening the session …".to_owned();
    }
    match (&window.purpose, window.standing().works()) {
        (Purpose::Reason(_), _) => "What should it do instead? Enter sends   Esc back".to_owned(),
        (Purpose::Revision(_), _) => "What should be different in the plan?".to_owned(),
        (Purpose::Agent(agent), _) if !window.agents().is_live(*agent) => message_to(window, *agent),
        (Purpose::Agent(agent), _) => {
            format!("What should {} do instead?", window.agents().name(*agent).unwrap_or_else(|| "it".to_owned()))
        }
        (Purpose::Rule, _) => "For example: allow bash(cargo test *) · deny edit(src/**)".to_owned(),
        (Purpose::Message, true) => "Add to the work; read at the next turn".to_owned(),
        (Purpose::Message, false) if window.can_go_on && window.standing().state == AgentState::Failed => {
            "Say what to do instead; Enter alone tries again".to_owned()
        }
        (Purpose::Message, false) if window.can_go_on => "Say what to do instead; Enter alone continues".to_owned(),
        (Purpose::Message, false) if window.transcript.has_left() => "Ask, or say what to do next".to_owned(),
        (Purpose::Message, false) => {
            let folder = window.standing().cwd.rsplit('/').next().map(clean_line).filter(|name| !name.is_empty());
            folder.map_or_else(
                || "Ask, or say what to do".to_owned(),
                |folder| format!("Ask, or say what to do in {folder}"),
            )
        }
    }
}
