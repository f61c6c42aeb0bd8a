//! All agents: who made whom, what each does, asks and costs, and what it did over time; below them the workflows.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState, NodeType};
use neco_view::reduce::{Agents, Lane, View};
use neco_view::wording::agents::{doing, in_one_line};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::agents::{Counts, bold, branches, known_cost, mark, used};
use super::heading::heading;
use super::workflows::strip;
use crate::app::Picked;
use crate::text::figures::{self, padded};
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// Columns from which on there is room for lanes, and for the model.
const LANES: usize = 110;
const MODELS: usize = 72;

/// Columns of names and of what agents do beside lanes, each at least and at most; of models and of costs.
const NAME: (usize, usize) = (16, 30);
const DOES: (usize, usize) = (27, 60);
const MODEL: usize = 16;
const COST: usize = 7;

/// Seconds that a cell of a lane stands for.
const STEPS: [i64; 13] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400];

/// Rows of what is told of the chosen agent besides its task.
const SAID: usize = 2;

/// All agents, as they are drawn.
pub struct Tree<'a> {
    pub view: &'a View,
    /// What is chosen.
    pub chosen: Option<&'a Picked>,
    pub now_ms: i64,
    pub zone: &'a TimeZone,
}

impl Tree<'_> {
    /// The rows of all of it, at most `room`; the chosen one is always seen.
    pub fn rows(&self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let keys = [("↑↓ Enter", "open, or answer"), ("Tab", "next that waits for you")];
        let more = [("Ctrl-X", "pause, resume, stop"), ("Esc", "close")];
        let keys: Vec<(&str, &str)> = keys.into_iter().chain(more).collect();
        let keys = key_rows(&keys, width, theme);
        let workflows: Vec<Line<'static>> = self.workflows(width, theme);
        let about = self.about(width, theme);
        let (list, at) = self.list(width, theme);
        let head = 2;
        let fixed = head + keys.len();
        // What is told of the chosen one goes first when there is no room, then the workflows.
        let fits = |extra: usize| fixed + list.len() + extra <= room;
        let about = if fits(about.len() + workflows.len() + 1) { about } else { Vec::new() };
        let workflows = if fits(about.len() + workflows.len()) { workflows } else { Vec::new() };
        let blank = fits(about.len() + workflows.len() + 1).then(Line::default);
        let most = room.saturating_sub(fixed + about.len() + workflows.len()).max(1);
        let first = (at + 1).saturating_sub(most);
        let counts = Counts::of_all(self.agents(), self.view.standing.works()).spans(theme);
        let mut rows = vec![heading("Agents", counts, None, width, theme), self.labels(width, theme)];
        rows.extend(list.into_iter().skip(first).take(most));
        rows.extend(about);
        rows.extend(workflows);
        rows.extend(blank);
        rows.extend(keys);
        rows
    }

    /// The agents, the root first, and at which row the chosen one is.
    fn list(&self, width: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
        let outline = self.outline();
        let names: Vec<(String, &AgentNode)> =
            branches(&outline).into_iter().zip(outline.iter().map(|(_, node)| *node)).collect();
        let at = outline.iter().position(|(_, node)| self.is_chosen(node)).unwrap_or_default();
        let columns = self.columns(width);
        let scale = Scale::new(outline.iter().map(|(_, node)| *node), self.now_ms, columns.lanes);
        let rows = names.iter().map(|(branch, node)| self.row(branch, node, &columns, &scale, theme));
        (rows.collect(), at)
    }

    fn agents(&self) -> &Agents {
        &self.view.agents
    }

    fn outline(&self) -> Vec<(usize, &AgentNode)> {
        let root = self.agents().root();
        let depth = usize::from(root.is_some());
        let below = self.agents().outline().into_iter().map(|(deep, node)| (deep + depth, node));
        root.map(|root| (0, root)).into_iter().chain(below).collect()
    }

    fn is_chosen(&self, node: &AgentNode) -> bool {
        self.chosen == Some(&Picked::Agent(node.id))
    }

    fn columns(&self, width: usize) -> Columns {
        let outline = self.outline();
        let wide = |(depth, node): &(usize, &AgentNode)| 2 * depth + 2 + clean_line(&node.name).width();
        let name = outline.iter().map(wide).max().unwrap_or_default().clamp(NAME.0, NAME.1) + 2;
        let model = if width >= MODELS { MODEL } else { 0 };
        let cost = if outline.iter().any(|(_, node)| known_cost(&node.usage).is_some()) { COST } else { 0 };
        let fixed = 3 + name + model + cost;
        // What they do and the lanes have the same room, so that neither moves with what is said.
        let left = width.saturating_sub(fixed + 6);
        let does = if width >= LANES { (left / 2).clamp(DOES.0, DOES.1) } else { width.saturating_sub(fixed + 1) };
        let lanes = if width >= LANES { left.saturating_sub(does) } else { 0 };
        Columns { name, does, model, cost, lanes }
    }

    fn labels(&self, width: usize, theme: &Theme) -> Line<'static> {
        let columns = self.columns(width);
        let outline = self.outline();
        let scale = Scale::new(outline.iter().map(|(_, node)| *node), self.now_ms, columns.lanes);
        let model = padded(if columns.model > 0 { "model" } else { "" }, columns.model);
        let words = format!(
            "{}{}{model}{:>cost$}    {}",
            " ".repeat(3 + columns.name),
            padded("does", columns.does),
            if columns.cost > 0 { "cost" } else { "" },
            scale.labels(columns.lanes, self.zone),
            cost = columns.cost,
        );
        cut(&Line::styled(words.trim_end().to_owned(), theme.dim), width)
    }

    fn row(&self, branch: &str, node: &AgentNode, columns: &Columns, scale: &Scale, theme: &Theme) -> Line<'static> {
        let is_root = node.kind == NodeType::Root;
        let asks = self.agents().asks(node);
        let works = self.view.standing.works();
        // The root is there as long as its session; whether it works is known from its session.
        let (glyph, style) = match (is_root, works) {
            (true, true) if !asks => mark(NodeState::Running, false, theme),
            (true, false) => mark(NodeState::Created, false, theme),
            _ => mark(node.state, asks, theme),
        };
        let chosen = self.is_chosen(node);
        let doing = match (is_root, works) {
            (true, false) => "rests".to_owned(),
            _ => doing(node, self.agents()),
        };
        let name_style = match (chosen, node.state.is_live()) {
            (true, _) => Style::new().add_modifier(Modifier::BOLD),
            (false, true) => Style::new(),
            (false, false) => theme.label,
        };
        let name = cut(&Line::raw(clean_line(&node.name)), columns.name.saturating_sub(branch.width() + 3)).to_string();
        let taken = branch.width() + 2;
        let cost = known_cost(&node.usage).unwrap_or_default();
        let model = match columns.model {
            0 => String::new(),
            wide => {
                let model = self.agents().model(node);
                let name = clean_line(model.rsplit('/').next().unwrap_or(model));
                // Which model of a group answers is known once it has.
                let is_group = model == node.model_group && !model.contains('/');
                let name = if is_group { format!("group {name}") } else { name };
                cut(&Line::raw(name), wide - 1).to_string()
            }
        };
        let doing = cut(&Line::raw(doing), columns.does.saturating_sub(1)).to_string();
        let mut spans = vec![
            Span::styled(if chosen { " ❯ " } else { "   " }, theme.accent.add_modifier(Modifier::BOLD)),
            Span::styled(branch.to_owned(), theme.line),
            Span::styled(format!("{glyph} "), style),
            Span::styled(padded(&name, columns.name.saturating_sub(taken)), name_style),
            Span::styled(padded(&doing, columns.does), if asks { theme.ask } else { theme.dim }),
            Span::styled(padded(&model, columns.model), theme.dim),
            Span::styled(format!("{cost:>wide$}", wide = columns.cost), theme.label),
        ];
        if columns.lanes > 0 {
            spans.push(Span::raw("    "));
            spans.extend(scale.lane(&self.agents().lanes(node), columns.lanes, (self.now_ms, node.state), theme));
        }
        let row = Line::from(spans);
        if chosen { theme.choose(row) } else { row }
    }

    /// What is known of the chosen agent: its task, what it said last, what it used.
    fn about(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let Some(node) = self.outline().into_iter().map(|(_, node)| node).find(|node| self.is_chosen(node)) else {
            return Vec::new();
        };
        let indent = Indent::all(Span::raw("   "));
        let most = width.saturating_sub(4);
        let task = Line::from(vec![bold(clean_line(&node.name)), Span::raw(format!("  {}", clean_line(&node.task)))]);
        let mut rows = vec![Line::default()];
        rows.extend(wrap(&task, most, &indent).into_iter().take(SAID));
        if let Some(said) = &node.last_message {
            let said = Line::styled(in_one_line(said), theme.dim.add_modifier(Modifier::ITALIC));
            rows.extend(wrap(&said, most, &indent).into_iter().take(SAID));
        }
        let mut spans = vec![Span::raw("   "), Span::styled(used(node).join(" · "), theme.dim)];
        if let Some(since) = self.agents().asks_since(node) {
            let ago = figures::clock(u64::try_from(self.now_ms - since).unwrap_or_default());
            let between = if used(node).is_empty() { "" } else { " · " };
            spans.push(Span::styled(between, theme.dim));
            spans.push(Span::styled(format!("◆ asked you {ago} ago"), theme.ask));
        }
        let line = Line::from(spans);
        rows.extend((line.width() > 3).then(|| cut(&line, width)));
        rows
    }

    fn workflows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let strips = self.view.workflows.iter().flat_map(|graph| {
            let chosen = self.chosen == Some(&Picked::Workflow(graph.workflow_id));
            std::iter::once(Line::default()).chain(strip(graph, chosen, self.now_ms, width, theme))
        });
        strips.collect()
    }
}

struct Columns {
    name: usize,
    does: usize,
    model: usize,
    /// None where no price is known.
    cost: usize,
    lanes: usize,
}

/// Which time a cell of a lane stands for.
struct Scale {
    from_ms: i64,
    step_ms: i64,
}

impl Scale {
    /// As much of the time since the first of them was made as has room, up to now.
    fn new<'a>(nodes: impl Iterator<Item = &'a AgentNode>, now_ms: i64, cells: usize) -> Self {
        let first = nodes.map(|node| node.created.as_millisecond()).min().unwrap_or(now_ms).min(now_ms);
        let cells = i64::try_from(cells.max(1)).unwrap_or(1);
        let needs = |step: i64| (now_ms - first) / 1000 / step < cells;
        let step_ms = 1000 * STEPS.into_iter().find(|step| needs(*step)).unwrap_or(86_400);
        Self { from_ms: first.max(now_ms - cells * step_ms + step_ms), step_ms }
    }

    fn cell(&self, at_ms: i64) -> usize {
        usize::try_from((at_ms - self.from_ms).max(0) / self.step_ms).unwrap_or_default()
    }

    /// The times above the lanes.
    fn labels(&self, cells: usize, zone: &TimeZone) -> String {
        let seconds = 8 * self.step_ms < 60_000;
        let (every, form) = if seconds { (12, "%H:%M:%S") } else { (8, "%H:%M") };
        let label = |index: usize| {
            let at = self.from_ms + i64::try_from(index).unwrap_or_default() * self.step_ms;
            let time =
                Timestamp::from_millisecond(at).map(|time| time.to_zoned(zone.clone()).strftime(form).to_string());
            padded(&time.unwrap_or_default(), every)
        };
        (0..cells.saturating_sub(7)).step_by(every).map(label).collect()
    }

    /// `━` works, `╌` waits, `┅` waits for the person.
    fn lane(
        &self,
        changes: &[(i64, Lane)],
        cells: usize,
        (now_ms, state): (i64, NodeState),
        theme: &Theme,
    ) -> Vec<Span<'static>> {
        let last = self.cell(now_ms).min(cells.saturating_sub(1));
        let works = match state {
            NodeState::Running => theme.accent,
            NodeState::Failed => theme.bad,
            NodeState::Created | NodeState::Paused | NodeState::Completed | NodeState::Cancelled => theme.dim,
        };
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut taken = 0;
        for (index, (since, lane)) in changes.iter().enumerate() {
            let from = self.cell(*since).max(taken);
            let until = changes.get(index + 1).map_or(last + 1, |(next, _)| self.cell(*next).min(last + 1));
            // What was short is still seen once.
            let until = until.max(if *lane == Lane::Works && taken == 0 { from + 1 } else { from });
            let (sign, style) = match lane {
                Lane::Works => ("━", works),
                Lane::Waits => ("╌", theme.dim),
                Lane::Asks => ("┅", theme.ask),
                Lane::Ended => (" ", theme.dim),
            };
            spans.push(Span::raw(" ".repeat(from - taken)));
            spans.push(Span::styled(sign.repeat(until.saturating_sub(from)), style));
            taken = until.max(from);
        }
        spans
    }
}

/// Keys and what they do, in as many rows as they need.
fn key_rows(keys: &[(&str, &str)], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    for (key, does) in keys {
        let wide = key.width() + does.width() + 1;
        let before = match rows.last_mut() {
            Some(row) if row.width() + 3 + wide < width => "   ",
            _ => {
                rows.push(Line::raw("   "));
                ""
            }
        };
        if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(format!("{before}{key}"), theme.label));
            row.push_span(Span::styled(format!(" {does}"), theme.dim));
        }
    }
    rows.iter().map(|row| cut(row, width)).collect()
}
