//! The commands in the background: a list of them, their output, and their end.

use jiff::Timestamp;
use neco_proto::clean::clean_line;
use neco_proto::{AgentId, BackgroundCommand, Command, Display, Event, EventBody, Query};
use neco_view::wording::background;
use ratatui::text::{Line, Span};

use super::effect::Effect;
use super::{menu, picking};
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, WindowState};
use crate::text::wrap::{Indent, wrap};
use crate::transcript::tail::Tail;

const HEADING: &str = "Search background commands";
const HINT: &str = "↑↓ Enter output   Ctrl-X stop   Esc close";

/// Rows of output that are shown of one.
const SHOWN_ROWS: usize = 40;

/// Asks for the list; it opens when it comes.
pub(super) fn ask(window: &mut WindowState) -> Vec<Effect> {
    window.background.is_wanted = true;
    picking::ask_for_list(window, Effect::Ask(Query::Background))
}

/// Whether an event says that a command goes on in the background.
pub(crate) fn begins(event: &Event) -> bool {
    matches!(
        &event.body,
        EventBody::ToolCallEnd(end) if matches!(end.display, Some(Display::Terminal { background: Some(_), .. }))
    )
}

/// The session said what runs in the background.
pub(super) fn came(window: &mut WindowState, commands: Vec<BackgroundCommand>) {
    window.background.commands = commands;
    let is_wanted = std::mem::take(&mut window.background.is_wanted);
    if is_wanted && picking::is_waited_for(window) {
        return list(window);
    }
    if let Some(older) = window.picker.take_if(|picker| picker.holds(is_of_list)) {
        window.picker = Some(picker(window).in_place_of(Some(older)));
    }
}

/// Opens the list as it was told last.
pub(super) fn list(window: &mut WindowState) {
    if window.background.commands.is_empty() {
        return window.tell(background::NONE);
    }
    window.picker = Some(picker(window));
}

/// The output of one is asked for.
pub(super) fn look(agent_id: AgentId, name: String) -> Vec<Effect> {
    vec![Effect::Ask(Query::BackgroundOutput { agent_id, name })]
}

/// The end of what one of them printed.
pub(super) fn looked(window: &mut WindowState, command: &BackgroundCommand, tail: &str) {
    let theme = window.theme;
    let state = format!("{} · {}", clean_line(&command.name), background::stands(command, now(window)));
    let head = Line::from(vec![
        Span::styled(" $ ", theme.accent),
        Span::raw(clean_line(&command.command)),
        Span::styled(format!("  {state}"), theme.dim),
    ]);
    let mut rows = wrap(&head, window.width, &Indent { first: Vec::new(), rest: vec![Span::raw("   ")] });
    match tail.trim().is_empty() {
        true => rows.push(Line::styled(" │        nothing printed yet", theme.dim)),
        false => rows.extend(Tail::end_of(tail, None).rows(window.width, SHOWN_ROWS, &theme)),
    }
    window.transcript.show(rows);
}

/// What can be done to the one that is chosen.
pub(super) fn menu(window: &mut WindowState, agent_id: AgentId, name: &str) {
    let is_it = |command: &&BackgroundCommand| command.agent_id == agent_id && command.name == name;
    let Some(command) = window.background.commands.iter().find(is_it) else { return };
    if !command.runs() {
        return window.tell("It has ended");
    }
    let heading = background::line(command);
    let stop = Command::StopBackground { agent_id, name: name.to_owned() };
    let about = "with everything it started; the agent sees that you stopped it";
    let entries = vec![('x', "Stop".to_owned(), about.to_owned(), Picked::Order('x', Box::new(stop)))];
    window.picker = Some(Picker::new(heading, menu::HINT, Letters::Command, menu::numbered(entries)));
}

fn picker(window: &WindowState) -> Picker {
    let now = now(window);
    let entry = |command: &BackgroundCommand| {
        let agent = window.agents().name(command.agent_id).map(|name| format!("{name}: ")).unwrap_or_default();
        let about = format!("{} · {}", background::stands(command, now), command.name);
        let picked = Picked::Background(command.agent_id, command.name.clone());
        Entry::new(&format!("{agent}{}", background::line(command)), &about, picked)
    };
    // Those that run come first, the newest of them at the top.
    let (running, over): (Vec<_>, Vec<_>) = window.background.commands.iter().rev().partition(|one| one.runs());
    let entries = running.into_iter().chain(over).map(entry).collect();
    Picker::new(HEADING, HINT, Letters::Filter, entries)
}

fn is_of_list(picked: &Picked) -> bool {
    matches!(picked, Picked::Background(..))
}

fn now(window: &WindowState) -> Timestamp {
    Timestamp::from_millisecond(window.now_ms).unwrap_or_default()
}
