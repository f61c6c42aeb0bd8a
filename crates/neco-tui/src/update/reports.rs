//! What fills the context, and what was used: as rows.

use neco_proto::Role;
use neco_proto::context::{ContextReport, MessageSize};
use ratatui::text::{Line, Span};

use crate::app::App;
use crate::text::words;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// Columns of a bar.
const BAR: u64 = 24;

/// The biggest messages that are named.
const BIGGEST: usize = 5;

impl App {
    /// What was used, for the session and for each of its agents.
    pub(super) fn cost(&mut self) {
        let usage = self.standing.usage;
        let theme = self.theme;
        let money = usage.cost.map_or_else(|| "no known price".to_owned(), words::cost);
        let mut rows = vec![Line::styled(format!("Used so far: {money}"), theme.heading)];
        let share = |part: u64, all: u64| part.saturating_mul(100).checked_div(all).unwrap_or_default();
        let mut row = |name: &str, tokens: u64, about: String| {
            rows.push(Line::from(vec![
                Span::raw(format!("  {}", words::padded(name, 14))),
                Span::raw(format!("{:>8}", words::tokens(tokens))),
                Span::styled(format!("  {about}"), theme.dim),
            ]));
        };
        row("input", usage.input, format!("{} % of it from the cache", share(usage.cache_read, usage.input)));
        row("output", usage.output, format!("{} % of it reasoning", share(usage.reasoning, usage.output)));
        for (depth, node) in self.agents.outline() {
            let used = node.subtree_usage;
            let name = format!("{}{}", "  ".repeat(depth), neco_proto::clean::clean_line(&node.name));
            row(&name, used.input + used.output, used.cost.map(words::cost).unwrap_or_default());
        }
        if usage.unpriced > 0 {
            let calls = words::count(usage.unpriced as usize, "call", "calls");
            rows.push(Line::styled(format!("  {calls} without a known price"), theme.dim));
        }
        let rows = rows.iter().map(|row| cut(row, self.width)).collect();
        self.transcript.show(rows);
    }

    /// What fills the context.
    pub(super) fn context(&mut self, report: &ContextReport) {
        let rows = context_rows(report, &self.theme).iter().map(|row| cut(row, self.width)).collect();
        self.transcript.show(rows);
    }
}

fn context_rows(report: &ContextReport, theme: &Theme) -> Vec<Line<'static>> {
    let of = report.window.map(|window| format!(" of {}", words::tokens(window))).unwrap_or_default();
    let percent = report.window.filter(|window| *window > 0).map(|window| report.tokens.saturating_mul(100) / window);
    let percent = percent.map(|percent| format!(", {percent} %")).unwrap_or_default();
    let heading = format!("Context: {}{of} tokens{percent}", words::tokens(report.tokens));
    let mut rows = vec![Line::styled(heading, theme.heading)];
    let parts = std::iter::once((format!("{} tools", report.tools.count), report.tools.tokens))
        .chain(report.layers.iter().map(|layer| (layer.layer.to_string(), layer.tokens)));
    for (name, tokens) in parts.filter(|(_, tokens)| *tokens > 0) {
        let share = usize::try_from(tokens.saturating_mul(BAR) / report.tokens.max(1)).unwrap_or_default();
        rows.push(Line::from(vec![
            Span::raw(format!("  {}", words::padded(&name, 16))),
            Span::styled(format!("{:>8} ", words::tokens(tokens)), theme.dim),
            Span::styled("█".repeat(share.max(1)), theme.accent),
        ]));
    }
    rows.extend(biggest(&report.messages, theme));
    if let Some(at) = report.compact_at {
        rows.push(Line::styled(format!("  compacted at {}; /compact does it now", words::tokens(at)), theme.dim));
    }
    rows
}

fn biggest(messages: &[MessageSize], theme: &Theme) -> Vec<Line<'static>> {
    let mut sizes: Vec<&MessageSize> = messages.iter().collect();
    sizes.sort_by_key(|message| std::cmp::Reverse(message.tokens));
    let mut rows = Vec::new();
    for message in sizes.into_iter().take(BIGGEST) {
        let tools = neco_proto::clean::clean_line(&message.tools.join(", "));
        let begins = neco_proto::clean::clean_line(&message.begins);
        let about = [tools, begins].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let who = match message.role {
            Role::User => "you",
            Role::Assistant => "the model",
            Role::Tool => "a tool",
        };
        let words = format!("    {:>8} {who}: {about}", words::tokens(message.tokens));
        rows.push(Line::styled(words, theme.dim));
    }
    if !rows.is_empty() {
        rows.insert(0, Line::styled("  the biggest messages", theme.dim));
    }
    rows
}
