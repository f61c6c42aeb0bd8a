//! What fills the context, and what was used: as rows.

use neco_proto::context::{ContextReport, MessageSize};
use neco_view::wording::{layers, notices};
use neco_view::{ContextView, Speaker};
use ratatui::text::{Line, Span};

use crate::text::figures;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;
use neco_view::reduce::Agents;
use neco_view::reduce::Standing;

/// Columns of a bar.
const BAR: u64 = 24;

/// What was used, for the session and for each of its agents.
pub(super) fn cost_rows(standing: &Standing, agents: &Agents, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (usage, aside) = (standing.usage, standing.aside);
    let money = usage.cost.map_or_else(|| "no known price".to_owned(), figures::cost);
    let mut rows = vec![Line::styled(format!("Used so far: {money}"), theme.heading)];
    let share = |part: u64, all: u64| part.saturating_mul(100).checked_div(all).unwrap_or_default();
    let mut row = |name: &str, tokens: u64, about: String| {
        rows.push(Line::from(vec![
            Span::raw(format!("  {}", figures::padded(name, 14))),
            Span::raw(format!("{:>8}", figures::tokens(tokens))),
            Span::styled(format!("  {about}"), theme.dim),
        ]));
    };
    row("input", usage.input, format!("{} % of it from the cache", share(usage.cache_read, usage.input)));
    row("output", usage.output, format!("{} % of it reasoning", share(usage.reasoning, usage.output)));
    for (depth, node) in agents.outline() {
        let used = node.subtree_usage;
        let name = format!("{}{}", "  ".repeat(depth), neco_proto::clean::clean_line(&node.name));
        row(&name, used.input + used.output, used.cost.map(figures::cost).unwrap_or_default());
    }
    if aside.input + aside.output > 0 {
        let cost = aside.cost.map(|cost| format!("{} · ", figures::cost(cost))).unwrap_or_default();
        row("side calls", aside.input + aside.output, format!("{cost}{}", notices::BESIDE));
    }
    if usage.unpriced > 0 {
        let calls = figures::count(usage.unpriced as usize, "call", "calls");
        rows.push(Line::styled(format!("  {calls} without a known price"), theme.dim));
    }
    let indent = Indent { first: Vec::new(), rest: vec![Span::raw("    ")] };
    rows.iter().flat_map(|row| wrap(row, width, &indent)).collect()
}

/// What fills the context.
pub(super) fn context_rows(
    report: &ContextReport,
    view: ContextView,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let of = match report.known_window() {
        Some(window) => {
            let percent = report.tokens.saturating_mul(100) / window;
            format!(" of {} tokens, {percent} %", figures::tokens(window))
        }
        None => " tokens, window not known".to_owned(),
    };
    let heading = format!("Context: {}{of}", figures::tokens(report.tokens));
    let mut rows = vec![Line::styled(heading, theme.heading)];
    let part = |name: &str, tokens: u64| {
        let spans = vec![
            Span::raw(format!("  {}", figures::padded(name, 16))),
            Span::styled(format!("{:>8} ", figures::tokens(tokens)), theme.dim),
            Span::styled(bar(tokens, report.tokens), theme.accent),
        ];
        (tokens > 0).then(|| Line::from(spans))
    };
    rows.extend(part(&format!("{} tools", report.tools.count), report.tools.tokens));
    let more = notices::of_servers(&report.tools).chain(notices::looked_up(&report.tools));
    rows.extend(more.map(|words| Line::styled(format!("    {words}"), theme.dim)));
    rows.extend(report.layers.iter().filter_map(|layer| part(layers::name(layer.layer), layer.tokens)));
    rows.extend(messages(&report.messages, view, theme));
    rows.extend(report.given.map(|used| Line::styled(format!("  {}", notices::given(&used)), theme.dim)));
    if let Some(at) = report.compact_at {
        rows.push(Line::styled(format!("  compacted at {}; /compact does it now", figures::tokens(at)), theme.dim));
    }
    let mut rows: Vec<Line<'static>> = rows.iter().map(|row| cut(row, width)).collect();
    if let Some(words) = notices::unknown_window(report) {
        rows.extend(wrap(&Line::styled(words, theme.dim), width, &Indent::all(Span::raw("  "))));
    }
    rows
}

/// A bar for a part of all tokens, to the eighth of a column: also what is small has its own length.
fn bar(tokens: u64, all: u64) -> String {
    let eighths = usize::try_from(tokens.saturating_mul(8 * BAR) / all.max(1)).unwrap_or_default().max(1);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get(eighths % 8).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat(eighths / 8))
}

fn messages(messages: &[MessageSize], view: ContextView, theme: &Theme) -> Vec<Line<'static>> {
    let (chosen, left) = view.of(messages);
    if messages.is_empty() {
        return Vec::new();
    }
    let heading = match (chosen.is_empty(), view.in_order) {
        (true, _) => "  no such message",
        (false, true) => "  messages, as they were said",
        (false, false) => "  the biggest messages",
    };
    let mut rows = vec![Line::styled(heading, theme.dim)];
    for (number, message) in chosen {
        let tools = neco_proto::clean::clean_line(&message.tools.join(", "));
        let begins = neco_proto::clean::clean_line(&message.begins);
        let about = [tools, begins].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let (size, who) = (figures::tokens(message.tokens), Speaker::of(message).words());
        let words = format!("  {number:>5} {size:>8} {:>5.1} %  {who}: {about}", message.share);
        rows.push(Line::styled(words, theme.dim));
    }
    if left > 0 {
        let others = figures::count(left, "other", "others");
        rows.push(Line::styled(format!("  and {others}: /context {}", ContextView::ARGUMENT), theme.dim));
    }
    rows
}
