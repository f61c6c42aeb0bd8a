//! Lists to choose from: how they come about, their keys, and what becomes of what is chosen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::{Command, Query};

use super::effect::Effect;
use super::menu::{is_order, owner};
use super::{commands, going_back, menu, watching};
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, Purpose, WindowState};
use crate::host::{ModelEntry, RuleEntry, SessionEntry, Wanted};
use crate::panel;

pub(super) const CHOOSE: &str = "↑↓ and Enter · letters narrow it down · Esc goes back";

/// Asks for a list; it opens when it comes only if the person has not begun something else.
pub(super) fn ask_for_list(window: &mut WindowState, effect: Effect) -> Vec<Effect> {
    window.person.asks_for_list();
    vec![effect]
}

/// Whether a list that has come may open: keys that are under way are not for it.
pub(super) fn is_waited_for(window: &mut WindowState) -> bool {
    let opens = window.person.list_came();
    if !opens {
        window.tell("the list is there, but you write: ask for it again");
    }
    opens
}

/// The sessions that can be opened.
pub(super) fn pick_session(window: &mut WindowState, sessions: Vec<SessionEntry>) {
    if sessions.is_empty() {
        window.tell("there is no earlier session in this folder");
        return;
    }
    if !is_waited_for(window) {
        return;
    }
    let other = sessions.iter().position(|session| session.id != window.standing.session_id);
    let entry = |session: SessionEntry| {
        let here = if session.id == window.standing.session_id { "this one  " } else { "" };
        let about = format!("{here}{}  {}", session.when, session.about);
        Entry::new(&session.title, about.trim(), Picked::Session(session.id))
    };
    let entries = sessions.into_iter().map(entry).collect();
    let picker = Picker::new("which session?", CHOOSE, Letters::Filter, entries);
    window.picker = Some(picker.at(other.unwrap_or_default()));
}

/// The models that can be asked.
pub(super) fn pick_model(window: &mut WindowState, models: Vec<ModelEntry>) {
    if !is_waited_for(window) {
        return;
    }
    let at = models.iter().position(|model| model.name == window.standing.model).unwrap_or_default();
    let entry = |model: ModelEntry| Entry::new(&model.name, &model.about, Picked::Model(model.name.clone()));
    let entries = models.into_iter().map(entry).collect();
    window.picker = Some(Picker::new("which model?", CHOOSE, Letters::Filter, entries).at(at));
}

/// The permission rules.
pub(super) fn pick_rule(window: &mut WindowState, rules: Vec<RuleEntry>) {
    if !is_waited_for(window) {
        return;
    }
    let entry = |rule: RuleEntry| Entry::new(&rule.rule, &rule.from, Picked::Rule(rule.id));
    let new = Entry::new("another rule …", "", Picked::NewRule);
    let entries = std::iter::once(new).chain(rules.into_iter().map(entry)).collect();
    let hint = "Delete takes a rule of yours away · Enter on the first writes another · Esc closes";
    let heading = "what may happen without a question, and what may not";
    let picker = Picker::new(heading, hint, Letters::Filter, entries);
    window.picker = Some(picker.in_place_of(window.picker.take()));
}

/// A rule was added or taken away: a list that is open shows it, one that was closed stays closed.
pub(super) fn rules_again(window: &WindowState) -> Vec<Effect> {
    let is_rule = |picked: &Picked| matches!(picked, Picked::Rule(_) | Picked::NewRule);
    match &window.picker {
        Some(picker) if picker.holds(is_rule) => vec![Effect::Rules],
        Some(_) | None => Vec::new(),
    }
}

/// The agents and workflows, or the todo list when there are none.
pub(super) fn panel(window: &mut WindowState) -> Vec<Effect> {
    if window.agents.is_empty() {
        window.panels.work = !window.panels.work;
        let is_empty = window.transcript.view.todos.iter().all(|todo| todo.status.is_closed());
        window.tell(match (is_empty, window.panels.work) {
            (true, _) => "no agent is at work and no todo is open",
            (false, true) => "the todo list is shown",
            (false, false) => "the todo list is put away; the same key brings it back",
        });
        return Vec::new();
    }
    window.picker = Some(tree_picker(window));
    Vec::new()
}

fn tree_picker(window: &WindowState) -> Picker {
    let agents = window.agents.outline().into_iter().map(|(depth, node)| {
        let (text, about) = panel::agent_words(depth, node, &window.agents);
        Entry { text, about, picked: Picked::Agent(node.id) }
    });
    let workflows = window.agents.workflows.iter().map(|graph| {
        let (text, about) = panel::workflow_words(graph);
        Entry { text, about, picked: Picked::Workflow(graph.workflow_id) }
    });
    let hint = "Enter opens it · letters write to it · Ctrl-X pauses, resumes or ends it · Esc closes";
    Picker::new("agents and workflows", hint, Letters::Command, agents.chain(workflows).collect())
}

/// Something happened to an agent: the list that shows them does so anew.
pub(crate) fn refresh_picker(window: &mut WindowState) {
    let is_tree = |picked: &Picked| matches!(picked, Picked::Agent(_) | Picked::Workflow(_));
    if let Some(picker) = window.picker.take_if(|picker| picker.holds(is_tree)) {
        window.picker = Some(tree_picker(window).in_place_of(Some(picker)));
    }
}

pub(super) fn picker_key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let Some(picker) = &mut window.picker else { return Vec::new() };
    match key.code {
        KeyCode::Up => picker.step(-1),
        KeyCode::Down => picker.step(1),
        KeyCode::PageUp => return turn_page(window, -1),
        KeyCode::PageDown => return turn_page(window, 1),
        KeyCode::Left | KeyCode::Right => {
            picker.scroll(if key.code == KeyCode::Left { -1 } else { 1 });
            return Vec::new();
        }
        // A question that is answered by a letter.
        KeyCode::Char(letter @ ('y' | 'n')) if !held && picker.holds(|picked| *picked == Picked::Leave) => {
            return answer_question(window, letter == 'y');
        }
        KeyCode::Home => picker.step(isize::MIN),
        KeyCode::End => picker.step(isize::MAX),
        KeyCode::Char('p') if held => picker.step(-1),
        KeyCode::Char('n') if held => picker.step(1),
        KeyCode::Char('c' | 't') if held => window.picker = None,
        KeyCode::Char('x') if held => return menu::menu_of_chosen(window),
        KeyCode::Esc if picker.holds(is_order) => {
            let of = picker.chosen().and_then(|entry| owner(&entry.picked));
            return menu::leave_menu(window, of);
        }
        KeyCode::Esc => {
            // The second question of going back has a first one to go back to.
            let is_second = picker.holds(|picked| matches!(picked, Picked::Rewind(..) | Picked::Checkpoint(_)));
            window.picker = None;
            if is_second {
                return ask_for_list(window, Effect::Ask(Query::RewindPoints));
            }
        }
        KeyCode::Enter => return picked(window),
        KeyCode::Delete => return remove(window),
        KeyCode::Backspace if picker.letters == Letters::Filter => picker.narrow(None),
        KeyCode::Char(letter) if !held => match picker.letters {
            Letters::Filter => picker.narrow(Some(letter)),
            Letters::Command => return menu::letter(window, key, letter),
        },
        _ => return Vec::new(),
    }
    going_back::preview(window)
}

/// A page of what the chosen entry would do, or of the list.
fn turn_page(window: &mut WindowState, by: isize) -> Vec<Effect> {
    let Some(picker) = &mut window.picker else { return Vec::new() };
    let before = picker.chosen().map(|entry| entry.picked.clone());
    picker.page(by);
    let is_other = picker.chosen().map(|entry| &entry.picked) != before.as_ref();
    if is_other { going_back::preview(window) } else { Vec::new() }
}

fn answer_question(window: &mut WindowState, yes: bool) -> Vec<Effect> {
    if let Some(picker) = &mut window.picker {
        picker.choose(|picked| matches!(picked, Picked::Go(_)) == yes);
    }
    picked(window)
}

pub(super) fn picked(window: &mut WindowState) -> Vec<Effect> {
    let changes = |picked: &Picked| matches!(picked, Picked::Go(_) | Picked::Rewind(..));
    let chosen = window.picker.as_ref().and_then(Picker::chosen);
    let is_unread = window.picker.as_ref().is_some_and(|picker| !picker.is_read(window.now_ms));
    if is_unread && chosen.is_some_and(|entry| changes(&entry.picked)) {
        return window.only_tell("what it would change is just being shown: that key did nothing");
    }
    let Some(entry) = window.picker.take().and_then(|picker| picker.chosen().cloned()) else { return Vec::new() };
    match entry.picked {
        Picked::Message(point) => going_back::pick_what(window, point),
        Picked::Rewind(point, what) => going_back::rewind(window, &point, what),
        Picked::Checkpoints => ask_for_list(window, Effect::Ask(Query::Checkpoints)),
        Picked::Checkpoint(info) => going_back::ask_about(window, info.rev),
        Picked::Go(command) => going_back::goes_back(window, *command),
        Picked::Leave => window.only_tell("nothing is changed"),
        Picked::Session(id) if id == window.standing.session_id => {
            window.only_tell("this window is in that session already")
        }
        Picked::Session(id) => commands::open(window, Wanted::Id(id)),
        Picked::Model(model) => vec![Effect::Send(Command::SetModel { model })],
        Picked::NewRule => {
            window.purpose = Purpose::Rule;
            Vec::new()
        }
        Picked::Rule(_) => Vec::new(),
        Picked::Agent(agent) => watching::watch(window, agent),
        ref order @ Picked::Order(_, ref command) => {
            let list = menu::leave_menu(window, owner(order));
            std::iter::once(Effect::Send(command.as_ref().clone())).chain(list).collect()
        }
        Picked::Write(agent) => menu::write_to(window, agent),
        Picked::Workflow(id) => {
            if let Some(graph) = window.agents.workflows.iter().find(|graph| graph.workflow_id == id) {
                let rows = panel::workflow_rows(graph, window.width, &window.theme);
                window.transcript.show(rows);
            }
            Vec::new()
        }
    }
}

fn remove(window: &mut WindowState) -> Vec<Effect> {
    let Some(Picked::Rule(rule)) = menu::chosen(window) else { return Vec::new() };
    rule.map_or_else(|| window.only_tell("that rule is not one of yours"), |id| vec![Effect::DropRule(id)])
}
