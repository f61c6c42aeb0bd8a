//! Lists to choose from: how they come about, their keys, and what becomes of what is chosen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::clean::clean_line;
use neco_proto::{AgentId, Command, LineCount, Query, RewindPoint};
use neco_view::paint::lists::rules::FOR_SESSION;
use neco_view::slash::{Outside, Slash};
use neco_view::wording::Told;
use ratatui::text::Line;

use super::effect::Effect;
use super::menu::{is_order, owner};
use super::{background, commands, going_back, keys, menu, session_menu, stopping, watching};
use crate::app::picker::{Entry, Letters, lists};
use crate::app::{Picked, Picker, Purpose, Reach, WindowState};
use crate::ask::answer;
use crate::host::{Agreement, ModelEntry, RuleEntry, RuleGroup, SessionEntry, Wanted};
use crate::input::Action;
use crate::panel;
use crate::set_up::list;
use crate::text::figures;
use crate::text::wrap::cut;

/// What is said of a key that was on its way when a question appeared.
const TOO_SOON: &str = "That key was ignored: what it would change had just appeared";

/// What is said where there is nothing to list.
pub(super) const NO_WORK: &str = "No agents and no todos";

pub(super) const CHOOSE: &str = "↑↓ Enter choose   Esc back";

/// Columns before what was said in a session: the margin and who said it.
const BEFORE_SAID: usize = 12;

/// Asks for a list; it opens when it comes only if the person has not begun something else.
pub(super) fn ask_for_list(window: &mut WindowState, effect: Effect) -> Vec<Effect> {
    window.person.asks_for_list();
    // What was named before came to nothing.
    (window.rewind_wanted, window.left_session) = (None, None);
    vec![effect]
}

/// Takes in that a list has come; says whether it may open: keys that are under way are not for it.
pub(super) fn is_waited_for(window: &mut WindowState) -> bool {
    window.person.list_came()
}

/// The sessions that can be opened.
pub(super) fn pick_session(window: &mut WindowState, sessions: Vec<SessionEntry>, reach: Reach) -> Vec<Effect> {
    if sessions.is_empty() {
        return window.only_tell("No earlier session");
    }
    if !is_waited_for(window) {
        return Vec::new();
    }
    let here = &window.standing().session_id;
    let other = sessions.iter().position(|session| session.id != *here);
    let left = sessions.iter().position(|session| window.left_session.as_ref() == Some(&session.id));
    let count = figures::count(sessions.len(), "session", "sessions");
    let (heading, hint) = match reach {
        Reach::Folder => (format!("Search {count}"), "Tab all folders"),
        Reach::Everywhere => (format!("Search {count} of all folders"), "Tab this folder"),
    };
    let esc = if window.unchosen { "leave" } else { "back" };
    let hint = format!("↑↓ Enter choose   {hint}   Ctrl-X fork, delete   Esc {esc}");
    let mut picker = lists::of_sessions(heading, hint, sessions, here).at(left.or(other).unwrap_or_default());
    // What was searched for in the other list is searched for in this one.
    if let Some(older) = window.picker.as_ref().filter(|older| older.holds(is_session)) {
        older.filter().chars().for_each(|letter| picker.narrow(Some(letter)));
    }
    (window.listed, window.left_session) = (reach, None);
    window.picker = Some(picker);
    going_back::preview(window)
}

/// This folder has no session: those of all folders are listed, unless they are already.
pub(super) fn no_session_here(window: &mut WindowState) -> Vec<Effect> {
    if window.picker.as_ref().is_some_and(|picker| picker.holds(is_session)) {
        window.person.list_came();
        return window.only_tell("No session in this folder");
    }
    vec![Effect::AllSessions]
}

fn is_session(picked: &Picked) -> bool {
    matches!(picked, Picked::Session(_))
}

/// Lists the sessions of all folders instead of those of this one, or the other way round.
fn other_sessions(window: &mut WindowState) -> Vec<Effect> {
    match window.listed {
        Reach::Folder => ask_for_list(window, Effect::AllSessions),
        Reach::Everywhere => ask_for_list(window, Effect::Sessions),
    }
}

/// What was said last in the session that is chosen, and whether its work changed files.
pub(super) fn looked_into(window: &mut WindowState, session: &str, said: &[RewindPoint]) {
    let width = window.width.saturating_sub(BEFORE_SAID);
    let Some(picker) = &mut window.picker else { return };
    let is_chosen = picker.chosen().is_some_and(|entry| entry.picked == Picked::Session(session.to_owned()));
    let Some((last, earlier)) = said.split_last().filter(|_| is_chosen) else { return };
    // What was said before the last words has one row.
    let before = earlier.last().map(|point| cut(&Line::raw(clean_line(&point.text)), width).to_string());
    let told = before.into_iter().chain([clean_line(&last.text)]).map(|text| Told::plain(text).labelled("You"));
    picker.set_preview(told.chain(changed_in(said)).collect());
}

/// The lines that the work of a session added and removed, message after message; commands do not tell of them.
fn changed_in(said: &[RewindPoint]) -> Option<Told> {
    let lines = said.iter().map(|point| point.changed).fold(LineCount::default(), |lines, changed| LineCount {
        added: lines.added + changed.added,
        removed: lines.removed + changed.removed,
    });
    let told = Told::plain("changed").labelled("Files");
    let is_counted = lines != LineCount::default();
    let is_changed = is_counted || said.iter().any(|point| point.files);
    is_changed.then(|| Told { lines: is_counted.then_some(lines), ..told })
}

/// Asks before something is done that makes agents freer.
pub(super) fn ask_to_agree(window: &mut WindowState, agreement: Agreement) {
    if !is_waited_for(window) {
        return window.warn(format!("{} Nothing changed: you were writing; ask again", agreement.question));
    }
    let (what, argument) = agreement.yes;
    let yes = Picked::Slash(Box::new(Slash::Outside(what, argument)));
    let entries =
        vec![Entry::new("No, leave it as it is", "", Picked::Leave), Entry::new("Yes", &agreement.means, yes)];
    let hint = "↑↓ Enter choose, or y n   Esc no";
    window.picker = Some(Picker::new(agreement.question, hint, Letters::Command, entries));
}

/// Whether a question that comes by itself has the keys: the person neither writes nor searches nor looks at something
/// else, and is asked nothing.
fn is_at_rest(window: &WindowState) -> bool {
    let looks_elsewhere = window.picker.is_some() || window.secret.is_some() || window.watched.is_some();
    let writes = !window.prompt.text.is_empty() || window.prompt.searches() || window.purpose != Purpose::Message;
    !looks_elsewhere && !writes && window.desk.is_empty()
}

/// Asks whether work goes on that has used up its turns; whoever is at something else meanwhile says so themselves.
pub(super) fn ask_to_go_on(window: &mut WindowState, turns: u32) {
    if !is_at_rest(window) {
        return;
    }
    let entries = vec![
        Entry::spaced("1  Yes".to_owned(), "", Picked::GoOn),
        Entry::spaced("2  No".to_owned(), "", Picked::Leave),
    ];
    let turns = figures::count(usize::try_from(turns).unwrap_or_default(), "turn", "turns");
    let hint = "↑↓ Enter or 1–2   Esc no";
    window.picker = Some(Picker::new(format!("{turns} done. Go on?"), hint, Letters::Command, entries));
}

/// Keys and commands, to be searched; `letter` is the first of what is searched for.
pub(super) fn search_help(window: &mut WindowState, letter: Option<char>) {
    let entries = panel::help_entries(&window.keymap, &window.offers.custom);
    let hint = "↑↓ Enter takes a command into the field   Esc close";
    let mut picker = Picker::new("Search keys and commands", hint, Letters::Filter, entries).tall();
    if letter.is_some() {
        picker.narrow(letter);
    }
    window.picker = Some(picker);
}

/// The models that can be asked.
pub(super) fn pick_model(window: &mut WindowState, models: Vec<ModelEntry>) {
    if !is_waited_for(window) {
        return;
    }
    let login = Picked::Slash(Box::new(Slash::Outside(Outside::Login, String::new())));
    let add = Entry::new("Add a provider or a key …", "/login", login);
    window.picker = Some(lists::of_models(models, &window.standing().model, add));
}

/// The permission rules.
pub(super) fn pick_rule(window: &mut WindowState, rules: Vec<RuleEntry>) {
    if !is_waited_for(window) {
        return;
    }
    let entry = |rule: RuleEntry| Entry::new(&rule.rule, &rule.from, Picked::Rule(rule.id));
    let new = Entry::new("Add a rule …", "", Picked::NewRule);
    // What a person allowed and wrote comes first; what comes with Neco is folded.
    let (built_in, own): (Vec<RuleEntry>, Vec<RuleEntry>) =
        rules.into_iter().partition(|rule| rule.group == RuleGroup::BuiltIn);
    let (granted, written): (Vec<RuleEntry>, Vec<RuleEntry>) =
        own.into_iter().partition(|rule| rule.group == RuleGroup::Session);
    let heading = |name: &str| (!granted.is_empty()).then(|| Entry::heading(name));
    let (in_session, others) = (heading(FOR_SESSION), heading("Others"));
    let folded = figures::count(built_in.len(), "built-in rule", "built-in rules");
    let fold = (!built_in.is_empty() && !window.built_in_rules)
        .then(|| Entry::new(&format!("… {folded}"), "Enter shows them", Picked::BuiltInRules));
    let built_in = built_in.into_iter().filter(|_| window.built_in_rules);
    let entries = std::iter::once(new)
        .chain(in_session)
        .chain(granted.into_iter().map(entry))
        .chain(others)
        .chain(written.into_iter().map(entry))
        .chain(fold)
        .chain(built_in.map(entry))
        .collect();
    let hint = "Enter add   Del deletes   Tab built-in rules   Esc close";
    let picker = Picker::new("Search your rules", hint, Letters::Filter, entries).wide();
    window.picker = Some(picker.in_place_of(window.picker.take()));
}

fn is_rule(picked: &Picked) -> bool {
    matches!(picked, Picked::Rule(_) | Picked::NewRule | Picked::BuiltInRules)
}

/// Whether it is of a question that comes by itself, whether work goes on.
fn is_unasked(picked: &Picked) -> bool {
    *picked == Picked::GoOn
}

/// Shows or folds the rules that come with Neco.
fn fold_rules(window: &mut WindowState) -> Vec<Effect> {
    window.built_in_rules = !window.built_in_rules;
    ask_for_list(window, Effect::Rules)
}

/// A rule was added or taken away: a list that is open shows it, one that was closed stays closed.
pub(super) fn rules_again(window: &mut WindowState) -> Vec<Effect> {
    match window.picker.as_ref().is_some_and(|picker| picker.holds(is_rule)) {
        true => ask_for_list(window, Effect::Rules),
        false => Vec::new(),
    }
}

/// The agents and workflows, or the todo list when there are none.
pub(super) fn panel(window: &mut WindowState) -> Vec<Effect> {
    if has_no_work(window) {
        return window.only_tell(NO_WORK);
    }
    if window.transcript.view.is_alone() {
        return show_todos(window);
    }
    list_agents(window);
    // What the root has used is told only when somebody asks.
    vec![Effect::Ask(Query::Tree)]
}

/// Shows more of the todo list or less: at rest a row, then all of it, then nothing until it changes.
fn show_todos(window: &mut WindowState) -> Vec<Effect> {
    let rests = window.rests();
    let panels = &mut window.panels;
    if std::mem::take(&mut panels.hides_todos) {
        return Vec::new();
    }
    if !rests {
        panels.work = !panels.work;
        return Vec::new();
    }
    panels.at_rest = !panels.at_rest;
    if panels.at_rest {
        return Vec::new();
    }
    panels.hides_todos = true;
    let key = window.keymap.keys(Action::Panel);
    window.only_tell(format!("The todo list is hidden until it changes; {key} shows it"))
}

/// Whether there is no agent, no workflow and no todo that is open.
pub(super) fn has_no_work(window: &WindowState) -> bool {
    let view = &window.transcript.view;
    view.is_alone() && view.todos.iter().all(|todo| todo.status.is_closed())
}

/// Opens the list of agents, at the first that waits for the person, else at the first that is at work. Words that were
/// begun for an answer do not go to one of them.
pub(super) fn list_agents(window: &mut WindowState) {
    window.purpose = Purpose::Message;
    let asks = window.agents().all().find(|node| window.agents().asks(node));
    let first = asks.or_else(|| window.agents().working().next()).map(|node| node.id);
    let mut picker = tree_picker(window);
    picker.choose(|picked| matches!(picked, Picked::Agent(agent) if first == Some(*agent)));
    window.picker = Some(picker);
}

fn tree_picker(window: &WindowState) -> Picker {
    let agents =
        window.agents().outline().into_iter().map(|(_, node)| Entry::new(&node.name, "", Picked::Agent(node.id)));
    let workflows = window.transcript.view.workflows.iter().map(|graph| {
        let (text, about) = panel::workflow_words(graph);
        Entry::new(&text, &about, Picked::Workflow(graph.workflow_id))
    });
    Picker::new("Agents", "", Letters::Command, agents.chain(workflows).collect())
}

/// Something happened to an agent: the list that shows them does so anew.
pub(crate) fn refresh_picker(window: &mut WindowState) {
    if let Some(picker) = window.picker.take_if(|picker| picker.is_tree()) {
        window.picker = Some(tree_picker(window).in_place_of(Some(picker)));
    }
}

pub(super) fn picker_key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    if let Some(effects) = list::key(window, key) {
        return effects;
    }
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    if matches!(key.code, KeyCode::Esc | KeyCode::Enter) || held && matches!(key.code, KeyCode::Char('c' | 't')) {
        window.person.leaves_list();
    }
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
        KeyCode::Char(number @ '1'..='3') if !held && picker.holds(is_unasked) => {
            return answer_number(window, key, number);
        }
        // It came by itself: whoever writes, writes.
        KeyCode::Char(_) if !held && picker.holds(is_unasked) => {
            window.picker = None;
            return window.key(key);
        }
        // A question that is answered by a letter.
        KeyCode::Char(letter @ ('y' | 'n')) if !held && picker.holds(|picked| *picked == Picked::Leave) => {
            return answer_question(window, letter == 'y');
        }
        KeyCode::Home => picker.step(isize::MIN),
        KeyCode::End => picker.step(isize::MAX),
        KeyCode::Char('p') if held => picker.step(-1),
        KeyCode::Char('n') if held => picker.step(1),
        // Nothing was opened that they asked for: they are back in the shell.
        KeyCode::Esc if window.unchosen && picker.holds(is_session) => return leave_unchosen(window),
        KeyCode::Char('c') if held && window.unchosen && picker.holds(is_session) => return leave_unchosen(window),
        KeyCode::Char('c' | 't') if held => window.picker = None,
        KeyCode::Char('x') if held => return menu::menu_of_chosen(window),
        KeyCode::Esc if picker.holds(is_order) => {
            let of = picker.chosen().and_then(|entry| owner(&entry.picked));
            return menu::leave_menu(window, of);
        }
        KeyCode::Esc => {
            // The second question of going back has a first one to go back to.
            let is_second = picker.holds(|picked| matches!(picked, Picked::Rewind(..) | Picked::Checkpoint(_)));
            let is_question = picker.holds(|picked| *picked == Picked::Leave);
            window.picker = None;
            if is_second && !is_question {
                return ask_for_list(window, Effect::Ask(Query::RewindPoints));
            }
        }
        KeyCode::Enter => return picked(window),
        KeyCode::Delete => return remove(window),
        KeyCode::Tab if picker.holds(is_rule) => return fold_rules(window),
        KeyCode::Tab if picker.holds(is_session) => return other_sessions(window),
        KeyCode::Tab => {
            let agents = &window.transcript.view.agents;
            let asks = |agent: AgentId| agents.node(agent).is_some_and(|node| agents.asks(node));
            picker.choose_next(|picked| matches!(picked, Picked::Agent(agent) if asks(*agent)));
            return Vec::new();
        }
        KeyCode::Backspace if picker.letters == Letters::Filter => picker.narrow(None),
        KeyCode::Char(letter) if !held => match picker.letters {
            Letters::Filter => picker.narrow(Some(letter)),
            Letters::Command => return menu::letter(window, key, letter),
        },
        // What was written to an agent is there still, and can be changed or taken away.
        _ => {
            if let Some(edit) = keys::edit_of(key).filter(|_| picker.is_tree()) {
                window.prompt.edit(edit);
            }
            return Vec::new();
        }
    }
    going_back::preview(window)
}

/// Leaves the window with the list of sessions that it was opened for.
fn leave_unchosen(window: &mut WindowState) -> Vec<Effect> {
    window.picker = None;
    stopping::leave(window)
}

/// What was pasted narrows a list down in which letters do; none where there is no such list.
pub(super) fn narrow(window: &mut WindowState, word: &str) -> Option<Vec<Effect>> {
    let picker = window.picker.as_mut().filter(|picker| picker.letters == Letters::Filter)?;
    word.chars().for_each(|letter| picker.narrow(Some(letter)));
    Some(going_back::preview(window))
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
    if is_too_soon(window) {
        return window.only_tell(TOO_SOON);
    }
    if let Some(picker) = &mut window.picker {
        picker.choose(|picked| (*picked == Picked::Leave) != yes);
    }
    picked(window)
}

/// The answer of this number to a question that came by itself; what is no answer is written.
fn answer_number(window: &mut WindowState, key: KeyEvent, number: char) -> Vec<Effect> {
    if is_too_soon(window) {
        return window.only_tell(TOO_SOON);
    }
    let number = number.to_digit(10).and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
    if window.picker.as_mut().is_some_and(|picker| picker.choose_number(number)) {
        return picked(window);
    }
    window.picker = None;
    window.key(key)
}

/// Whether something would change that had just appeared: the key was on its way.
fn is_too_soon(window: &WindowState) -> bool {
    let asks = |picked: &Picked| is_unasked(picked) || *picked == Picked::Leave;
    let changes = |entry: &Entry| matches!(entry.picked, Picked::Go(..) | Picked::Rewind(..));
    let matters = |picker: &Picker| picker.holds(asks) || picker.chosen().is_some_and(changes);
    window.picker.as_ref().is_some_and(|picker| !picker.is_read(window.now_ms) && matters(picker))
}

pub(super) fn picked(window: &mut WindowState) -> Vec<Effect> {
    if is_too_soon(window) {
        return window.only_tell(TOO_SOON);
    }
    // Where nothing fits, the list stays.
    let Some(picker) = window.picker.take_if(|picker| picker.chosen().is_some()) else { return Vec::new() };
    let Some(entry) = picker.chosen().cloned() else { return Vec::new() };
    if let Some(agent) = menu::forgets(window, &entry.picked) {
        return menu::ask_to_start_over(window, agent);
    }
    match entry.picked {
        Picked::Message(point) => going_back::pick_what(window, point),
        Picked::Rewind(point, what) => going_back::rewind(window, &point, what),
        Picked::Checkpoints => ask_for_list(window, Effect::Ask(Query::Checkpoints)),
        Picked::Checkpoint(info) => going_back::ask_about(window, info.rev),
        Picked::Go(command, said) => going_back::goes_back(window, *command, said),
        Picked::GoOn => stopping::root_goes_on(window),
        // The work has ended already: nothing was to change.
        Picked::Leave if picker.holds(is_unasked) => Vec::new(),
        Picked::Leave => window.only_tell("Nothing changed"),
        Picked::Session(id) if id == window.standing().session_id => {
            window.only_tell("This window is already in that session")
        }
        Picked::Session(id) => commands::open(window, Wanted::Id(id)),
        Picked::OfSession(letter, order, id) => session_menu::chosen(window, (letter, order), id, picker.heading()),
        Picked::Model(model) => vec![Effect::Send(Command::SetModel { model })],
        Picked::NewRule => {
            window.purpose = Purpose::Rule;
            Vec::new()
        }
        Picked::Rule(_) => Vec::new(),
        Picked::BuiltInRules => fold_rules(window),
        // What it asks is answered where everything is.
        Picked::Agent(agent) if window.desk.bring(agent) => Vec::new(),
        Picked::Agent(agent) => watching::watch(window, agent),
        ref order @ Picked::Order(_, ref command) => {
            let list = menu::leave_menu(window, owner(order));
            std::iter::once(Effect::Send(command.as_ref().clone())).chain(list).collect()
        }
        Picked::Write(agent) => menu::write_to(window, agent),
        Picked::Print(agent) => menu::print(window, agent),
        Picked::Background(agent, name) => background::look(agent, name),
        Picked::Slash(slash) => commands::run(window, &slash),
        Picked::Fill(text) => {
            window.prompt.text.set(text);
            window.offer()
        }
        Picked::EditFile(file) => vec![Effect::EditFile(file)],
        Picked::Answer(question, reply) => vec![Effect::Send(answer(question, reply))],
        Picked::Nothing => Vec::new(),
        Picked::Workflow(id) => {
            if let Some(graph) = window.transcript.view.workflows.iter().find(|graph| graph.workflow_id == id) {
                let rows = panel::workflow_rows(graph, window.width, &window.theme);
                window.transcript.show(rows);
            }
            Vec::new()
        }
    }
}

fn remove(window: &mut WindowState) -> Vec<Effect> {
    let Some(Picked::Rule(rule)) = menu::chosen(window) else { return Vec::new() };
    rule.map_or_else(
        || window.only_tell("Only rules marked yours can be deleted here"),
        |id| vec![Effect::DropRule(id)],
    )
}
