//! What can be done to an agent, a workflow or a command in the background: a menu behind Ctrl-X, so that no bare letter pauses or ends anything.

use crossterm::event::KeyEvent;
use neco_proto::clean::clean_line;
use neco_proto::event::NodeState;
use neco_proto::{AgentId, AgentOrder, Command, WorkflowId, WorkflowOrder};
use neco_view::slash::Outside;

use super::effect::Effect;
use super::{background, picking, session_menu, watching};
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, Purpose, WindowState, settle_field};

pub(super) const HINT: &str = "↑↓ Enter or its number or letter   Esc back";

/// What starting an agent over means.
const FORGETS: &str = "it forgets what it said and did; those below it are stopped";

/// Whether an entry belongs to a menu.
pub(super) fn is_order(picked: &Picked) -> bool {
    matches!(picked, Picked::Order(..) | Picked::Write(_) | Picked::Print(_) | Picked::OfSession(..))
}

/// Whose menu an entry belongs to.
pub(super) fn owner(picked: &Picked) -> Option<Picked> {
    match picked {
        Picked::Write(agent) | Picked::Print(agent) => Some(Picked::Agent(*agent)),
        Picked::OfSession(_, _, id) => Some(Picked::Session(id.clone())),
        Picked::Order(_, command) => match command.as_ref() {
            Command::AgentCommand { agent_id, .. } => Some(Picked::Agent(*agent_id)),
            Command::WorkflowCommand { workflow_id, .. } => Some(Picked::Workflow(*workflow_id)),
            Command::StopBackground { agent_id, name } => Some(Picked::Background(*agent_id, name.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// The menu of the entry that is chosen in a list of agents, workflows, commands in the background or sessions; of a
/// model there is one thing to do.
pub(super) fn menu_of_chosen(window: &mut WindowState) -> Vec<Effect> {
    match chosen(window) {
        Some(Picked::Agent(agent)) => agent_menu(window, agent),
        Some(Picked::Workflow(workflow)) => workflow_menu(window, workflow),
        Some(Picked::Background(agent, name)) => background::menu(window, agent, &name),
        Some(Picked::Session(id)) => session_menu::open(window, &id),
        Some(Picked::Model(model)) => return make_default(window, &model),
        Some(_) | None => {}
    }
    Vec::new()
}

/// Makes a model the one that is asked where nothing else is said.
fn make_default(window: &mut WindowState, model: &str) -> Vec<Effect> {
    if !model.contains('/') {
        return window.only_tell("A group can't be the default: choose a model");
    }
    window.picker = None;
    vec![Effect::Outside(Outside::Config, format!("model \"{model}\""))]
}

/// What can be done to an agent.
pub(super) fn agent_menu(window: &mut WindowState, agent: AgentId) {
    let Some(node) = window.agents().node(agent) else { return };
    let order = |letter: char, text: &str, about: &str, order: AgentOrder| {
        let picked = Picked::Order(letter, Box::new(Command::AgentCommand { agent_id: agent, order }));
        (letter, text.to_owned(), about.to_owned(), picked)
    };
    let retry = || order('t', "Start over", FORGETS, AgentOrder::Retry);
    let pauses = match node.state {
        NodeState::Created | NodeState::Running => {
            order('p', "Pause", "it keeps what it has, and those below it too", AgentOrder::Pause)
        }
        NodeState::Paused => order('p', "Resume", "it goes on where it was paused", AgentOrder::Resume),
        NodeState::Failed | NodeState::Cancelled => {
            let name = clean_line(&node.name);
            window.picker = Some(Picker::new(name, HINT, Letters::Command, numbered(vec![retry()])));
            return;
        }
        NodeState::Completed => return window.tell("It has ended"),
    };
    let is_paused = node.state == NodeState::Paused;
    let reads = if is_paused { "when it is resumed" } else { "at its next turn" };
    let reads = format!("a correction; it reads it {reads}");
    let entry = |letter, text: &str, about: &str, picked| (letter, text.to_owned(), about.to_owned(), picked);
    let is_open = window.watched.as_ref().is_some_and(|watched| watched.agent == agent);
    let print = || entry('o', "Print", "everything it did, into the scrollback", Picked::Print(agent));
    let mut entries = vec![
        pauses,
        entry('r', "Redirect", &reads, Picked::Write(agent)),
        order('x', "Stop", "with those below it; whoever started it is told", AgentOrder::Cancel),
    ];
    entries.extend(is_open.then(print));
    entries.push(retry());
    window.picker = Some(Picker::new(clean_line(&node.name), HINT, Letters::Command, numbered(entries)));
}

/// Prints what the agent did that is looked at.
pub(super) fn print(window: &mut WindowState, agent: AgentId) -> Vec<Effect> {
    let effects = leave_menu(window, Some(Picked::Agent(agent)));
    watching::print_watched(window);
    effects
}

/// The agent that loses its conversation by what was chosen in its menu, which is asked about first.
pub(super) fn forgets(window: &WindowState, picked: &Picked) -> Option<AgentId> {
    let Picked::Order('t', command) = picked else { return None };
    let Command::AgentCommand { agent_id, order: AgentOrder::Retry } = command.as_ref() else { return None };
    window.agents().node(*agent_id).filter(|node| node.state.is_live()).map(|node| node.id)
}

/// Asks before an agent that works, or waits, begins its task anew.
pub(super) fn ask_to_start_over(window: &mut WindowState, agent: AgentId) -> Vec<Effect> {
    let Some(node) = window.agents().node(agent) else { return Vec::new() };
    let heading = format!("Start {} over?", clean_line(&node.name));
    let retry = Command::AgentCommand { agent_id: agent, order: AgentOrder::Retry };
    let entries = vec![
        Entry::new("Yes, start it over", FORGETS, Picked::Order('y', Box::new(retry))),
        Entry::new("No, leave it as it is", "", Picked::Leave),
    ];
    let hint = "y or Enter confirm   n or Esc cancel";
    window.picker = Some(Picker::new(heading, hint, Letters::Command, entries));
    Vec::new()
}

fn workflow_menu(window: &mut WindowState, workflow_id: WorkflowId) {
    let order = |letter: char, text: &str, about: &str, order: WorkflowOrder| {
        let picked = Picked::Order(letter, Box::new(Command::WorkflowCommand { workflow_id, order }));
        (letter, text.to_owned(), about.to_owned(), picked)
    };
    let entries = vec![
        order('r', "Resume", "what is completed stays so", WorkflowOrder::Resume),
        order('x', "Stop", "with everything it started", WorkflowOrder::Cancel),
    ];
    window.picker = Some(Picker::new("workflow", HINT, Letters::Command, numbered(entries)));
}

/// The entries of a menu: a number, what is done, the letter that means it.
pub(super) fn numbered(entries: Vec<(char, String, String, Picked)>) -> Vec<Entry> {
    let entry = |(index, (letter, text, about, picked)): (usize, (char, String, String, Picked))| {
        Entry::spaced(format!("{}  {text:<11} {letter}", index + 1), &about, picked)
    };
    entries.into_iter().enumerate().map(entry).collect()
}

/// Back to where the menu was opened: the agent that is looked at, or the list.
pub(super) fn leave_menu(window: &mut WindowState, of: Option<Picked>) -> Vec<Effect> {
    window.picker = None;
    if let Some(Picked::Session(id)) = of {
        return session_menu::list_again(window, Some(id));
    }
    if window.watched.is_some() {
        return Vec::new();
    }
    match of {
        Some(Picked::Background(..)) => background::list(window),
        Some(_) | None => picking::list_agents(window),
    }
    if let (Some(picker), Some(of)) = (&mut window.picker, of) {
        picker.choose(|picked| *picked == of);
    }
    Vec::new()
}

/// A letter in the list begins a message to the chosen agent; in a menu it chooses.
pub(super) fn letter(window: &mut WindowState, key: KeyEvent, letter: char) -> Vec<Effect> {
    let in_menu = window.picker.as_ref().is_some_and(|picker| picker.holds(is_order));
    match chosen(window) {
        _ if in_menu => choose(window, letter),
        Some(Picked::Agent(agent)) if !window.agents().is_live(agent) => {
            window.only_tell("It has ended and reads no messages")
        }
        Some(Picked::Agent(_)) => leave_for_field(window).into_iter().chain(window.key(key)).collect(),
        Some(Picked::Workflow(_)) => window.only_tell("Ctrl-X resumes or stops it"),
        Some(_) | None => Vec::new(),
    }
}

/// Something is put into the field: an open list closes, and the field is for the agent that was chosen in it.
pub(super) fn leave_for_field(window: &mut WindowState) -> Vec<Effect> {
    let Some(Picked::Agent(agent)) = chosen(window) else {
        window.picker = None;
        return Vec::new();
    };
    write_to(window, agent)
}

/// Opens an agent, and the field is for it; what is asked stays on the screen.
pub(super) fn write_to(window: &mut WindowState, agent: AgentId) -> Vec<Effect> {
    window.picker = None;
    let is_open = window.watched.as_ref().is_some_and(|watched| watched.agent == agent);
    let looks = if is_open { Vec::new() } else { watching::watch(window, agent) };
    window.watched.iter_mut().filter(|_| !is_open).for_each(|watched| watched.over = None);
    window.purpose = Purpose::Agent(agent);
    // What was written to another one makes room before the first letter comes.
    settle_field(window);
    looks
}

/// A message went to an agent: where a question stood above it, the list is there again with that agent, so that the
/// next key is not for the question.
pub(super) fn has_written(window: &mut WindowState, agent: AgentId) {
    if window.asking().is_some() {
        window.watched = None;
        leave_menu(window, Some(Picked::Agent(agent)));
    }
}

fn choose(window: &mut WindowState, letter: char) -> Vec<Effect> {
    let means = |picked: &Picked| match letter {
        'r' => matches!(picked, Picked::Write(_) | Picked::Order('r', _)),
        'o' => matches!(picked, Picked::Print(_)),
        letter => matches!(picked, Picked::Order(key, _) | Picked::OfSession(key, ..) if *key == letter),
    };
    let Some(picker) = &mut window.picker else { return Vec::new() };
    match letter.to_digit(10).and_then(|number| usize::try_from(number).ok()) {
        Some(number) if picker.choose_number(number) => {}
        None if picker.holds(means) => picker.choose(means),
        Some(_) | None => return Vec::new(),
    }
    picking::picked(window)
}

/// What is chosen in the list that is open.
pub(super) fn chosen(window: &WindowState) -> Option<Picked> {
    window.picker.as_ref().and_then(Picker::chosen).map(|entry| entry.picked.clone())
}
