//! The line below the field: how the session stands.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentState, NodeState};
use neco_proto::{ApprovalMode, Mode};
use neco_view::reduce::block::Context;
use neco_view::wording::notices;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::{Value, json};

use crate::app::WindowState;
use crate::input::ViMode;
use crate::panel;
use crate::text::figures;
use crate::text::wrap::cut;
use crate::transcript::ledger;

/// Cells of the meter.
const CELLS: u64 = 10;

/// Columns from which on the keys have room beside how the session stands.
const KEYS: usize = 64;

/// Keys that are good to know at rest, the most wanted one first.
const HINTS: [(&str, &str); 4] = [("?", "keys"), ("/", "commands"), ("@", "files"), ("!", "shell")];

/// How much the folder matters, and the meter.
const FOLDER: u8 = 3;
const METER: u8 = 4;

/// A part of the line, how much it matters, and what stands between it and the one before it on its side. What matters
/// least goes first when there is no room.
struct Part {
    matters: u8,
    between: &'static str,
    spans: Vec<Span<'static>>,
}

impl Part {
    fn new(matters: u8, between: &'static str, text: String, style: Style) -> Self {
        Self { matters, between, spans: vec![Span::styled(text, style)] }
    }

    fn width(&self) -> usize {
        Span::raw(self.between).width() + self.spans.iter().map(Span::width).sum::<usize>()
    }
}

pub(super) fn status(window: &WindowState, width: usize) -> Line<'static> {
    let theme = &window.theme;
    if let Some(watched) = &window.watched
        && window.word.is_none()
        && window.asking().is_none()
    {
        let name = window.agents().name(watched.agent).unwrap_or_else(|| "it".to_owned());
        let waits = (!window.desk.is_empty()).then(|| Span::styled("   ◆ a question waits", theme.ask));
        let taken = waits.iter().map(Span::width).sum::<usize>();
        let state = window.agents().node(watched.agent).map(|node| node.state);
        let keys = panel::key_row(&name, state, width.saturating_sub(taken), theme);
        return Line::from_iter(waits.into_iter().chain(keys.spans));
    }
    let word = window.word.as_ref().map(|(word, _)| Part::new(10, " ", clean_line(word), Style::default()));
    let (mut left, mut right) = match (&window.status_line, word) {
        (Some(line), None) => return cut(&Line::styled(format!(" {}", clean_line(line)), theme.dim), width),
        (Some(_), Some(word)) => (vec![word], Vec::new()),
        // How the session stands is seen beside it, as far as there is room.
        (None, Some(word)) => (vec![word], right(window)),
        (None, None) => (left(window), right(window)),
    };
    let hints = window.word.is_none() && is_used(window) && !window.standing().works();
    let measured = |parts: &[Part]| parts.iter().map(Part::width).sum::<usize>();
    loop {
        // A branch follows its folder closely, and the percentage its meter; each stands alone where that has no room.
        let [has_folder, has_meter] =
            [FOLDER, METER].map(|matters| left.iter().chain(&right).any(|part| part.matters == matters));
        left.iter_mut().filter(|part| part.between.is_empty() && !has_folder).for_each(|part| part.between = "   ");
        right.iter_mut().filter(|part| part.matters == 9 && !has_meter).for_each(|part| part.between = "   ");
        if measured(&left) + measured(&right) + 2 <= width || left.len() + right.len() <= 1 {
            break;
        }
        let least = left.iter().chain(&right).map(|part| part.matters).min().unwrap_or_default();
        let is_least = |part: &Part| part.matters == least;
        let side = if right.iter().any(is_least) { &mut right } else { &mut left };
        if let Some(index) = side.iter().rposition(is_least) {
            side.remove(index);
        }
    }
    // What stands first on its side is apart from the edge, whatever stood before it.
    if let Some(first) = left.first_mut() {
        first.between = " ";
    }
    if let Some(first) = right.first_mut() {
        first.between = "   ";
    }
    // Where nothing is told of the keys otherwise they have what room is left.
    let rest = width.saturating_sub(measured(&left) + measured(&right) + 2);
    let hint = |count: usize| {
        let spans = ledger::keys(HINTS.get(..count).unwrap_or_default(), theme);
        Part { matters: 0, between: "   ", spans }
    };
    let fits = |hint: &Part| hints && hint.width() <= rest;
    right.splice(0..0, (1..=HINTS.len()).rev().map(hint).find(fits));
    if let Some(first) = right.first_mut() {
        first.between = "";
    }
    let spans = |parts: Vec<Part>| {
        let of = |part: Part| [Span::styled(part.between, theme.dim)].into_iter().chain(part.spans);
        parts.into_iter().flat_map(of).collect::<Vec<_>>()
    };
    ledger::sprung(spans(left), spans(right), width)
}

/// How the session stands, for a command of the person that writes the status line.
pub fn told(window: &WindowState) -> Value {
    let standing = window.standing();
    json!({
        "session_id": standing.session_id,
        "title": window.transcript.view.title.as_deref().unwrap_or_default(),
        "model": standing.model,
        "mode": standing.mode.to_string(),
        "approval": standing.approval.to_string(),
        "generation": standing.generation,
        "state": state(window),
        "cwd": standing.cwd,
        "branch": window.branch,
        "context_percent": standing.context.map(Context::percent),
        "context_tokens": standing.context.map(|context| context.tokens),
        "context_window": standing.context.map(|context| context.window),
        "tokens": standing.usage.input + standing.usage.output,
        "cost_usd": standing.usage.cost,
        "agents": window.agents().live(),
        "background": window.background.running().count(),
        "iteration": standing.iteration,
        "max_iterations": window.most_iterations,
    })
}

/// What the root does; where it was stopped and its agents rest, the work can go on.
fn state(window: &WindowState) -> String {
    let paused = window.agents().live().saturating_sub(window.agents().working().count());
    match window.standing().state {
        AgentState::Cancelled if paused > 0 => NodeState::Paused.to_string(),
        state => state.to_string(),
    }
}

/// What it is here for, whether it asks, who works, where.
fn left(window: &WindowState) -> Vec<Part> {
    let (standing, theme) = (window.standing(), &window.theme);
    if standing.model.is_empty() {
        return vec![Part::new(9, " ", "opening the session …".to_owned(), theme.dim)];
    }
    if window.set_up {
        return vec![Part::new(9, " ", clean_line(&standing.model), theme.dim)];
    }
    let mode = if standing.mode == Mode::Plan { theme.plan } else { theme.label };
    let asks = match standing.mode {
        Mode::Plan => "changes nothing",
        Mode::Agent | Mode::Ask | Mode::Debug => notices::asks_in_short(standing.approval, &standing.rules),
    };
    // Where nothing is written, or next to nothing asked, rules change little.
    let counts = matches!(standing.mode, Mode::Agent | Mode::Debug) && standing.approval != ApprovalMode::Auto;
    let allowed = notices::allow_rules(&standing.rules).filter(|_| counts);
    // Whoever is asked next to nothing sees that it is so.
    let is_auto = standing.mode != Mode::Plan && standing.approval == ApprovalMode::Auto;
    let mut parts = vec![
        Part::new(7, " ", standing.mode.to_string(), mode),
        Part::new(9, " · ", asks.to_owned(), if is_auto { theme.warning } else { mode }),
    ];
    parts.extend(allowed.map(|allowed| Part::new(5, " · ", allowed, theme.dim)));
    match window.prompt.vi_mode() {
        Some(ViMode::Normal) => parts.push(Part::new(8, " · ", "NORMAL".to_owned(), theme.accent)),
        Some(ViMode::Insert) => parts.push(Part::new(1, " · ", "INSERT".to_owned(), theme.dim)),
        None => {}
    }
    let (working, asking) = (window.agents().working().count(), window.agents().asking());
    if working > asking {
        let agents = figures::count(working - asking, "agent", "agents");
        // While the root works, the row of its work tells of them too: the model matters more then.
        let matters = if standing.works() { 5 } else { 8 };
        parts.push(Part::new(matters, " · ", format!("◔ {agents}"), theme.accent));
    }
    if asking > 0 {
        // As many as the question on the screen says there are: an agent may ask several.
        let waits = figures::count(window.desk.count().max(asking), "waits", "wait");
        parts.push(Part::new(9, " · ", format!("◆ {waits} for you"), theme.ask));
    }
    if let Some(purpose) = standing.asks_aside {
        parts.push(Part::new(8, " · ", format!("◔ {}", notices::side_call(purpose)), theme.accent));
    }
    let paused = window.agents().live().saturating_sub(working);
    if paused > 0 {
        parts.push(Part::new(8, " · ", format!("‖ {paused} paused"), theme.label));
    }
    let in_background = window.background.running().count();
    if in_background > 0 {
        parts.push(Part::new(8, " · ", format!("◔ {in_background} in background"), theme.label));
    }
    let folder = standing.cwd.rsplit('/').next().map(clean_line).filter(|name| !name.is_empty());
    let branch = window.branch.as_ref().map(|branch| clean_line(branch));
    let colon = if folder.is_some() && branch.is_some() { ":" } else { "" };
    parts.extend(folder.map(|folder| Part::new(FOLDER, "   ", format!("{folder}{colon}"), theme.dim)));
    let between = if colon.is_empty() { "   " } else { "" };
    parts.extend(branch.map(|branch| Part::new(5, between, branch, theme.dim)));
    parts
}

/// What it is done with: the model, how full its window is, and what it cost. Before anything was used, the keys.
fn right(window: &WindowState) -> Vec<Part> {
    let (standing, theme) = (window.standing(), &window.theme);
    if standing.model.is_empty() || window.set_up {
        return Vec::new();
    }
    let used = standing.usage.input + standing.usage.output;
    if !is_used(window) && !standing.works() {
        let spans = ledger::keys(&HINTS, theme);
        // Where they have room they matter more than the folder, which the first rows named.
        let matters = if window.width >= KEYS { 6 } else { 1 };
        return vec![Part { matters, between: "   ", spans }];
    }
    let model = |name: &str| clean_line(name.rsplit('/').next().unwrap_or(name));
    let mut parts = Vec::new();
    // A group names itself before the model that answers for it.
    if let Some(answers) = standing.answers.as_ref().filter(|answers| model(answers) != model(&standing.model)) {
        parts.push(Part::new(2, "   ", clean_line(&standing.model), theme.dim));
        parts.push(Part::new(6, " ", model(answers), theme.label));
    } else {
        parts.push(Part::new(6, "   ", model(&standing.model), theme.label));
    }
    if let Some(percent) = standing.context.map(Context::percent) {
        let style = if percent >= 80 { theme.bad } else { theme.label };
        let full = usize::try_from((percent * CELLS).div_ceil(100)).unwrap_or_default();
        let rest = usize::try_from(CELLS).unwrap_or_default().saturating_sub(full);
        let spans = vec![Span::styled("━".repeat(full), style), Span::styled("─".repeat(rest), theme.line)];
        parts.push(Part { matters: METER, between: "   ", spans });
        parts.push(Part::new(9, " ", format!("{percent} %"), style));
    } else if used > 0 {
        parts.push(Part::new(METER, "   ", format!("{} tokens", figures::tokens(used)), theme.dim));
    }
    parts.extend(standing.usage.cost.map(|cost| Part::new(9, "   ", figures::cost(cost), theme.label)));
    if let Some(most) = window.most_cost.filter(|_| standing.usage.cost.is_some()) {
        parts.push(Part::new(1, " ", format!("of {}", figures::cost(most)), theme.dim));
    }
    parts
}

/// Whether a model was asked, so that there is something to tell of what that used.
fn is_used(window: &WindowState) -> bool {
    let standing = window.standing();
    standing.usage.input + standing.usage.output > 0 || standing.context.is_some()
}
