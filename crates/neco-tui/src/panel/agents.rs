//! The agents beside the work: a row each, below one another by who made whom.

use neco_proto::Usage;
use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::heading::heading;
use crate::text::figures::{self, padded};
use crate::text::wrap::cut;
use crate::theme::Theme;
use neco_view::reduce::Agents;
use neco_view::wording::agents::doing;

/// Columns of a time, and of what something cost.
const TIME: usize = 8;
const COST: usize = 9;

/// Columns of a name at most, with what stands before it.
const NAME: usize = 24;

/// Rows of the agents as long as one of them is live: at most `most` below a heading, and how many others there are.
/// Those that ended before the person spoke last are only counted; then those that have ended go first when there is no
/// room.
pub fn agent_rows(agents: &Agents, width: usize, most: usize, now_ms: i64, theme: &Theme) -> Vec<Line<'static>> {
    if most == 0 || agents.live() == 0 {
        return Vec::new();
    }
    let (all, earlier): (Vec<_>, Vec<_>) = agents.outline().into_iter().partition(|(_, node)| agents.is_of_now(node));
    let ended = all.len().saturating_sub(most);
    let mut left_out = 0;
    let shown: Vec<(usize, &AgentNode)> = all
        .into_iter()
        .filter(|(_, node)| {
            let goes = left_out < ended && !node.state.is_live();
            left_out += usize::from(goes);
            !goes
        })
        .collect();
    let names: Vec<String> = branches(&shown)
        .into_iter()
        .zip(&shown)
        .map(|(branch, (_, node))| format!("{branch}{}", clean_line(&node.name)))
        .collect();
    let wide = names.iter().map(|name| name.width()).max().unwrap_or_default().min(NAME) + 2;
    // Where no price is known there is nothing to stand in the last column.
    let cost = if shown.iter().any(|(_, node)| known_cost(&node.subtree_usage).is_some()) { COST } else { 0 };
    let row = |(name, (_, node)): (&String, &(usize, &AgentNode))| {
        row(name, node, agents, (width, wide, cost), now_ms, theme)
    };
    let more = shown.len().saturating_sub(most);
    let rows = names.iter().zip(&shown).take(most).map(row);
    let more = (more > 0).then(|| Line::styled(format!("   … {more} more · Ctrl-T"), theme.dim));
    let mut counts = Counts::of(agents).spans(theme);
    if !earlier.is_empty() {
        counts.push(Span::styled(format!(" · {} ended earlier", earlier.len()), theme.dim));
    }
    std::iter::once(heading("Agents", counts, None, width, theme)).chain(rows).chain(more).collect()
}

/// How many work and wait, and what they cost.
pub(super) struct Counts {
    at_work: usize,
    asking: usize,
    paused: usize,
    /// None where not all of them are shown.
    all: Option<usize>,
    cost: f64,
}

impl Counts {
    /// Of those below the root.
    fn of(agents: &Agents) -> Self {
        let (asking, working) = (agents.asking(), agents.working().count());
        Self {
            at_work: working.saturating_sub(asking),
            asking,
            paused: agents.live().saturating_sub(working),
            all: None,
            cost: agents.cost(),
        }
    }

    /// Of all of them, the root included as far as it is known; whether it works is known from its session.
    pub(super) fn of_all(agents: &Agents, root_works: bool) -> Self {
        let below = Self::of(agents);
        let Some(root) = agents.root() else { return Self { all: Some(agents.all().count()), ..below } };
        let asks = root_works && agents.asks(root);
        Self {
            at_work: below.at_work + usize::from(root_works && !asks),
            asking: below.asking + usize::from(asks),
            all: Some(agents.all().count() + 1),
            cost: below.cost + root.usage.cost.unwrap_or_default(),
            ..below
        }
    }

    pub(super) fn spans(&self, theme: &Theme) -> Vec<Span<'static>> {
        let mut spans = vec![Span::styled(format!("{} at work", self.at_work), theme.dim)];
        if self.asking > 0 {
            let words = format!("{} for you", figures::count(self.asking, "waits", "wait"));
            spans.extend([Span::styled(", ", theme.dim), Span::styled(words, theme.ask)]);
        }
        if self.paused > 0 {
            spans.push(Span::styled(format!(", {} paused", self.paused), theme.dim));
        }
        spans.extend(self.all.map(|all| Span::styled(format!(", {all} in all"), theme.dim)));
        if self.cost > 0.0 {
            spans.push(Span::styled(format!(" · {}", figures::cost(self.cost)), theme.dim));
        }
        spans
    }
}

fn row(
    name: &str,
    node: &AgentNode,
    agents: &Agents,
    (width, wide, cost_wide): (usize, usize, usize),
    now_ms: i64,
    theme: &Theme,
) -> Line<'static> {
    let asks = agents.asks(node);
    let (mark, style) = mark(node.state, asks, theme);
    let name = padded(&cut(&Line::raw(name.to_owned()), wide - 1).to_string(), wide);
    let room = width.saturating_sub(3 + wide + TIME + cost_wide + 1);
    let doing = cut(&Line::raw(doing(node, agents)), room).to_string();
    let cost = known_cost(&node.subtree_usage).unwrap_or_default();
    let time = figures::clock(took(node, now_ms));
    let live = node.state.is_live();
    Line::from(vec![
        Span::styled(format!(" {mark} "), style),
        Span::styled(name, if live { Style::default() } else { theme.label }),
        Span::styled(padded(&doing, room), if asks { theme.ask } else { theme.dim }),
        Span::styled(format!("{time:>TIME$}{cost:>cost_wide$}"), theme.dim),
    ])
}

/// What something cost, where that is known and more than nothing.
pub(super) fn known_cost(used: &Usage) -> Option<String> {
    used.cost.filter(|cost| *cost > 0.0).map(figures::cost)
}

/// How long an agent has been there, or was; the clock of one that is paused stands.
pub(super) fn took(node: &AgentNode, now_ms: i64) -> u64 {
    let until = match node.state {
        NodeState::Created | NodeState::Running => now_ms,
        NodeState::Paused | NodeState::Completed | NodeState::Failed | NodeState::Cancelled => {
            node.changed.as_millisecond()
        }
    };
    u64::try_from(until - node.created.as_millisecond()).unwrap_or_default()
}

/// What stands before each name: whom it hangs on.
pub(super) fn branches(outline: &[(usize, &AgentNode)]) -> Vec<String> {
    let deep = |index: usize| outline.get(index).map_or(0, |(depth, _)| *depth);
    // Whether somebody further down hangs on the same edge.
    let goes_on = |index: usize, level: usize| {
        (index + 1..outline.len()).map(deep).take_while(|depth| *depth >= level).any(|depth| depth == level)
    };
    let branch = |index: usize| {
        let depth = deep(index);
        let above = (1..depth).map(|level| if goes_on(index, level) { "│ " } else { "  " });
        let own = (depth > 0).then(|| if goes_on(index, depth) { "├ " } else { "└ " });
        above.chain(own).collect()
    };
    (0..outline.len()).map(branch).collect()
}

/// The mark of an agent.
pub(crate) fn mark(state: NodeState, asks: bool, theme: &Theme) -> (&'static str, Style) {
    match state {
        NodeState::Running if asks => ("◆", theme.ask),
        NodeState::Created => ("○", theme.dim),
        NodeState::Running => ("◔", theme.accent),
        NodeState::Paused => ("‖", theme.label),
        NodeState::Completed => ("✓", theme.good),
        NodeState::Failed => ("✕", theme.bad),
        NodeState::Cancelled => ("⊘", theme.dim),
    }
}

/// How an agent stands, in a word: its mark, and since when.
pub(super) fn standing(node: &AgentNode, agents: &Agents, now_ms: i64, theme: &Theme) -> Vec<Span<'static>> {
    let asks = agents.asks(node);
    let (mark, style) = mark(node.state, asks, theme);
    let word = match node.state {
        NodeState::Running if asks => "waits for you",
        NodeState::Created => "waits its turn",
        NodeState::Running => "at work",
        NodeState::Paused => "paused",
        NodeState::Completed => "done",
        NodeState::Failed => "failed",
        NodeState::Cancelled => "stopped",
    };
    vec![Span::styled(format!("{mark} {word} {}", figures::clock(took(node, now_ms))), style)]
}

/// What an agent used, of what it may use.
pub(super) fn used(node: &AgentNode) -> Vec<String> {
    used_tokens(node).into_iter().chain(used_money(node)).collect()
}

/// The tokens that an agent used, of those that it may use.
pub(super) fn used_tokens(node: &AgentNode) -> Option<String> {
    let tokens = node.subtree_usage.input + node.subtree_usage.output;
    let used = of(figures::tokens(tokens), node.budget.tokens.map(figures::tokens));
    (tokens > 0).then(|| format!("{used} tokens"))
}

fn of(used: String, most: Option<String>) -> String {
    most.map_or_else(|| used.clone(), |most| format!("{used} of {most}"))
}

/// What an agent cost, of what it may cost, and how far it says it is.
pub(super) fn used_money(node: &AgentNode) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(cost) = node.subtree_usage.cost.filter(|cost| *cost > 0.0) {
        parts.push(of(figures::cost(cost), node.budget.cost.map(figures::cost)));
    }
    if node.progress > 0.0 && node.state.is_live() {
        parts.push(format!("says it is {:.0} % done", node.progress * 100.0));
    }
    parts
}

/// Words in bold.
pub(super) fn bold(words: impl Into<String>) -> Span<'static> {
    Span::styled(words.into(), Modifier::BOLD)
}
