//! What slash commands do.

use neco_proto::clean::clean_line;
use neco_proto::event::ModeChange;
use neco_proto::{ApprovalMode, Command, Mode, Query};
use neco_view::setting::Setting;
use neco_view::slash::{self, Outside, Slash};

use super::effect::Effect;
use super::{background, detaching, going_back, logging_in, picking, reports, settings, stopping};
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, WindowState};
use crate::host::{Listed, Wanted};
use crate::outside::THEME;
use crate::panel;
use crate::term::notify;
use crate::text::figures;
use crate::theme::{Theme, ThemeName};
use crate::transcript::block::Tone;

/// Columns of a list that stays: a rule to the edge would fold when the window gets narrower.
const RULE: usize = 73;

/// What is said when next to nothing is asked any more.
const AUTO: &str =
    "Edits and commands are not asked about any more, only what is high risk; /approval ask_first asks again";

/// Why a command that the person runs does not go to the background.
pub(super) const OWN_STAYS: &str = "Only the agent's commands go to the background; Esc stops yours";

/// Whether a command does nothing but open a list, a screen or a question, or says all that it did: whoever closes those
/// has said nothing.
pub(super) fn only_lists(slash: &Slash) -> bool {
    match slash {
        Slash::Help => true,
        // What holds now is told beside the list.
        Slash::How(setting) => *setting != Setting::Sandbox,
        Slash::Rewind(wanted) => wanted.is_empty(),
        Slash::Outside(outside, argument) => outside_only_lists(*outside, argument),
        Slash::New
        | Slash::Resume(_)
        | Slash::Mode(_)
        | Slash::Approval(_)
        | Slash::Model(_)
        | Slash::Generation(_)
        | Slash::Compact(_)
        | Slash::Context(_)
        | Slash::Cost
        | Slash::Todo
        | Slash::Plan
        | Slash::Undo
        | Slash::Redo
        | Slash::Rename(_)
        | Slash::Tree
        | Slash::Expand
        | Slash::Background
        | Slash::Detach(_)
        | Slash::Copy
        | Slash::Theme(_)
        | Slash::Exit
        | Slash::Custom { .. } => false,
    }
}

fn outside_only_lists(outside: Outside, argument: &str) -> bool {
    match outside {
        Outside::Sessions | Outside::Models | Outside::Permissions | Outside::Diff => true,
        Outside::Config | Outside::Background | Outside::Skills | Outside::Plugins | Outside::Mcp => {
            argument.is_empty()
        }
        // A freer one is asked about first, and what changed is told in a sentence.
        Outside::Sandbox => !argument.is_empty(),
        Outside::Fork
        | Outside::Checkpoints
        | Outside::Agents
        | Outside::Workflow
        | Outside::State
        | Outside::Memory
        | Outside::Hooks
        | Outside::FreerSandbox
        | Outside::Init
        | Outside::Review
        | Outside::Export
        | Outside::FreerConfig
        | Outside::Doctor
        | Outside::Prompt
        | Outside::Bug
        | Outside::Status
        | Outside::AddDir
        | Outside::Trust
        | Outside::Effort
        | Outside::Login
        | Outside::Logout => false,
    }
}

/// Runs a slash command.
pub(super) fn run(window: &mut WindowState, slash: &Slash) -> Vec<Effect> {
    match slash {
        Slash::Help => picking::search_help(window, None),
        Slash::Todo => todo(window),
        Slash::Plan => plan(window),
        Slash::Cost => {
            let rows = reports::cost_rows(window.standing(), window.agents(), window.answer_width(), &window.theme);
            window.transcript.answer(rows);
        }
        Slash::Tree if picking::has_no_work(window) => {
            window.transcript.say(Tone::Plain, format!("{}.", picking::NO_WORK));
        }
        Slash::Tree if window.transcript.view.is_alone() => todo(window),
        Slash::Tree => return picking::panel(window),
        Slash::Expand => return expand(window),
        Slash::Background => match window.transcript.running_command() {
            Some(call_id) => return send(Command::Background { call_id }),
            None if window.shell.runs() => window.transcript.say(Tone::Plain, format!("{OWN_STAYS}.")),
            None => window.transcript.say(Tone::Plain, slash::NO_COMMAND),
        },
        Slash::Theme(name) => {
            set_theme(window, name);
            return vec![Effect::Outside(Outside::Config, format!("{THEME} \"{name}\""))];
        }
        // The window does not know how that is set.
        Slash::How(Setting::Sandbox) => {
            return picking::ask_for_list(window, Effect::Outside(Outside::Sandbox, String::new()));
        }
        Slash::How(setting) => {
            let present = present(window, *setting);
            settings::pick_setting(window, *setting, &present);
        }
        Slash::New => return open(window, Wanted::New),
        Slash::Resume(id) if window.standing().session_id.starts_with(id.as_str()) => {
            window.tell("This window is already in that session");
        }
        Slash::Resume(id) => return open(window, Wanted::Id(id.clone())),
        Slash::Mode(mode) => return send(Command::SetMode { mode: *mode }),
        Slash::Approval(approval) => return send(Command::SetApproval { approval: *approval }),
        Slash::Model(model) => return send(Command::SetModel { model: model.clone() }),
        Slash::Generation(generation) => return send(Command::SetGeneration { generation: *generation }),
        Slash::Compact(focus) => return send(Command::Compact { focus: focus.clone() }),
        Slash::Rename(title) => return send(Command::Rename { title: title.clone() }),
        Slash::Undo => return going_back::step(window, Query::BackPreview),
        Slash::Redo => return going_back::step(window, Query::ForthPreview),
        Slash::Context(view) => {
            window.context_view = *view;
            return vec![Effect::Ask(Query::Context)];
        }
        Slash::Rewind(wanted) => return going_back::go_back_to(window, wanted),
        Slash::Copy if window.last_answer.is_empty() => window.tell(slash::NO_ANSWER),
        Slash::Copy => {
            window.tell(notify::copied(&window.last_answer, window.tmux));
            return vec![Effect::Copy(window.last_answer.clone())];
        }
        Slash::Detach(now) => return detaching::detach(window, *now),
        Slash::Exit => return stopping::leave(window),
        Slash::Outside(Outside::Background, one) if one.is_empty() => return background::ask(window),
        Slash::Outside(Outside::Sessions, _) => return picking::ask_for_list(window, Effect::Sessions),
        Slash::Outside(Outside::Models, _) => return picking::ask_for_list(window, Effect::Models),
        Slash::Outside(Outside::Permissions, _) => return picking::ask_for_list(window, Effect::Rules),
        Slash::Outside(Outside::Config, key) if key.is_empty() => {
            return picking::ask_for_list(window, Effect::Settings);
        }
        // These may open something: not where the person writes by then.
        Slash::Outside(what @ (Outside::Config | Outside::Sandbox | Outside::Diff), argument) => {
            return picking::ask_for_list(window, Effect::Outside(*what, argument.clone()));
        }
        Slash::Outside(what @ (Outside::Skills | Outside::Plugins | Outside::Mcp), one) if one.is_empty() => {
            return picking::ask_for_list(window, Effect::Outside(*what, String::new()));
        }
        Slash::Outside(Outside::Login, provider) => return logging_in::begin(window, provider.trim()),
        Slash::Outside(what @ (Outside::Init | Outside::Review), argument) => {
            tries(window, if *what == Outside::Init { "init" } else { "review" }, argument);
            return vec![Effect::Outside(*what, argument.clone())];
        }
        Slash::Outside(outside, argument) => return vec![Effect::Outside(*outside, argument.clone())],
        Slash::Custom { .. } if window.shell.runs_line() => {
            return window.only_tell("Your other command is still running; Esc stops it");
        }
        Slash::Custom { name, argument } => {
            tries(window, name, argument);
            if slash::is_prompt(name) {
                window.tell("Waiting for the MCP server …");
            }
            return vec![Effect::Custom(name.clone(), argument.clone())];
        }
    }
    Vec::new()
}

/// Things that are there: the one that is chosen is shown.
pub(super) fn pick_listed(window: &mut WindowState, listed: Listed) {
    listed.warnings.into_iter().for_each(|warning| window.warn(warning));
    if !picking::is_waited_for(window) {
        return;
    }
    let entry = |(name, about): (String, String)| {
        let show = Slash::Outside(listed.shows, name.clone());
        Entry::new(&name, &about, Picked::Slash(Box::new(show)))
    };
    let entries = listed.rows.into_iter().map(entry).collect();
    let hint = "↑↓ Enter show   letters search   Esc close";
    window.picker = Some(Picker::new(listed.title, hint, Letters::Filter, entries).tall());
}

/// Shows other colours; which ones `auto` means is known where the terminal has told its ground.
fn set_theme(window: &mut WindowState, name: &str) {
    match ThemeName::named(name).or_else(|| window.ground.map(ThemeName::fitting)) {
        _ if !window.has_colours => window.tell("This terminal has no colours, or NO_COLOR is set"),
        Some(theme) => window.theme = Theme::new(theme).on(window.ground),
        None => window.tell("From the next start on: the terminal is asked for its ground then"),
    }
}

/// A command of the person's own, or of an MCP server, is not waited for any more.
pub(super) fn has_come(window: &mut WindowState) {
    window.word = None;
}

/// Takes note of a command that says something to the agent, as it was written.
fn tries(window: &mut WindowState, name: &str, argument: &str) {
    window.tried_command = Some(format!("/{name} {argument}").trim_end().to_owned());
}

/// How it is set; empty where the window does not know.
fn present(window: &WindowState, setting: Setting) -> String {
    let standing = window.standing();
    match setting {
        Setting::Mode => standing.mode.name().to_owned(),
        Setting::Approval => standing.approval.name().to_owned(),
        Setting::Generation => standing.generation.to_string(),
        Setting::Theme => window.theme.name.name().to_owned(),
        Setting::Sandbox => String::new(),
    }
}

/// Opens another session, unless that would stop work.
pub(super) fn open(window: &mut WindowState, wanted: Wanted) -> Vec<Effect> {
    let working = window.agents().working().count();
    if window.standing().works() {
        window.warn("Still working: Esc stops it first");
        return Vec::new();
    }
    // Those that are paused stay so in the session that is left.
    if working > 0 {
        let agents = figures::count(working, "agent is", "agents are");
        let them = if working == 1 { "it" } else { "them" };
        window.warn(format!("{agents} still working: Esc twice pauses {them} first, Ctrl-T shows {them}"));
        return Vec::new();
    }
    stopping::tell_ended_with_session(window);
    window.opening = true;
    vec![Effect::Open(wanted)]
}

/// More of what runs; otherwise all that came of a call: the last one first, then those before it.
pub(super) fn expand(window: &mut WindowState) -> Vec<Effect> {
    if window.transcript.runs() || window.shell.runs() {
        window.expanded = !window.expanded;
        return Vec::new();
    }
    let theme = window.theme;
    match window.transcript.whole(window.expands, window.drawn(&theme)) {
        Some(rows) => {
            window.expands += 1;
            window.transcript.show(rows);
        }
        None => {
            window.tell(slash::NO_CALL);
            window.expands = 0;
        }
    }
    Vec::new()
}

/// Says what another model, or being asked next to nothing, means: both are set without a question.
pub(crate) fn tell_change(window: &mut WindowState, change: &ModeChange) {
    // A plan that is accepted tells of it by itself.
    if change.reason.is_some() {
        return;
    }
    if let Some(model) = change.model.as_deref().map(clean_line) {
        match window.offers.misses_model(&model) {
            true => window.warn(format!("Model {model} from now on; /model does not list it")),
            false => window.transcript.say(Tone::Plain, format!("Model {model} from now on.")),
        }
    }
    if change.approval == Some(ApprovalMode::Auto) {
        window.warn(AUTO);
    }
}

fn todo(window: &mut WindowState) {
    if window.transcript.view.todos.is_empty() {
        window.transcript.say(Tone::Plain, slash::NO_TODOS);
        return;
    }
    let (works, width) = (window.standing().works(), window.answer_width().min(RULE));
    let rows = panel::todo_rows(&window.transcript.view.todos, width, usize::MAX, works, &window.theme);
    window.transcript.answer(rows);
}

fn plan(window: &mut WindowState) {
    match &window.transcript.view.plan {
        Some(plan) => {
            let rows = panel::plan_rows(plan, window.answer_width().min(RULE), &window.theme);
            window.transcript.answer(rows);
        }
        None if window.standing().mode == Mode::Plan => window.transcript.say(Tone::Plain, "No plan yet."),
        None => {
            let mode = window.keymap.keys(crate::input::Action::Mode);
            window.transcript.say(Tone::Plain, format!("No plan; {mode} switches to plan mode."));
        }
    }
}

fn send(command: Command) -> Vec<Effect> {
    vec![Effect::Send(command)]
}
