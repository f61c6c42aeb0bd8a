//! The line below the field: how the session stands.

use neco_proto::Mode;
use neco_proto::clean::clean_line;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::app::WindowState;
use crate::input::ViMode;
use crate::text::figures;
use crate::text::wrap::cut;

/// A part of the line and how much it matters: what matters least goes first when there is no room.
type Part = (u8, Span<'static>);

pub(super) fn status(window: &WindowState, width: usize) -> Line<'static> {
    let word = window.word.as_ref().map(|(word, _)| Span::styled(clean_line(word), window.theme.warning));
    let mut parts = match (&window.status_line, word) {
        (Some(line), None) => return cut(&Line::styled(clean_line(line), window.theme.dim), width),
        (Some(_), Some(word)) => vec![(10, word)],
        // How the session stands is seen beside it, as far as there is room.
        (None, word) => word.map(|word| (10, word)).into_iter().chain(parts(window)).collect(),
    };
    while measured(&parts) > width && parts.len() > 1 {
        let Some(least) = parts.iter().map(|(weight, _)| *weight).min() else { break };
        let Some(index) = parts.iter().rposition(|(weight, _)| *weight == least) else { break };
        parts.remove(index);
    }
    let mut spans = Vec::new();
    for (index, (_, span)) in parts.into_iter().enumerate() {
        if index > 0 {
            spans.push(Span::styled(" · ", window.theme.dim));
        }
        spans.push(span);
    }
    cut(&Line::from(spans), width)
}

fn parts(window: &WindowState) -> Vec<Part> {
    let (standing, theme) = (&window.standing, &window.theme);
    if standing.model.is_empty() {
        return vec![(9, Span::styled("opening the session …", theme.dim))];
    }
    let dim = |text: String| Span::styled(text, theme.dim);
    if window.set_up {
        return vec![(9, dim(clean_line(&standing.model)))];
    }
    let mode = if standing.mode == Mode::Agent { theme.dim } else { theme.accent };
    let mut parts: Vec<Part> = vec![
        (9, dim(clean_line(&standing.model))),
        (8, Span::styled(standing.mode.to_string(), mode)),
        (7, dim(standing.approval.to_string())),
    ];
    match window.prompt.vi_mode() {
        Some(ViMode::Normal) => parts.push((6, Span::styled("NORMAL", theme.accent))),
        Some(ViMode::Insert) => parts.push((1, dim("INSERT".to_owned()))),
        None => {}
    }
    parts.extend(standing.branch.as_ref().map(|branch| (2, dim(clean_line(branch)))));
    if let Some(percent) = standing.context_percent() {
        let style = if percent >= 80 { theme.warning } else { theme.dim };
        parts.push((6, Span::styled(format!("context {percent} %"), style)));
    }
    let used = standing.usage.input + standing.usage.output;
    if used > 0 {
        parts.push((3, dim(format!("{} tokens", figures::tokens(used)))));
    }
    parts.extend(standing.usage.cost.map(|cost| (5, dim(figures::cost(cost)))));
    let working = window.agents.working().count();
    if working > 0 {
        parts.push((6, Span::styled(figures::count(working, "agent", "agents"), theme.accent)));
    }
    let paused = window.agents.live().saturating_sub(working);
    if paused > 0 {
        parts.push((5, dim(format!("‖ {paused} paused"))));
    }
    if standing.works() && !standing.compacting {
        let of = standing.most_iterations.map(|most| format!("/{most}")).unwrap_or_default();
        parts.push((4, dim(format!("turn {}{of}", standing.iteration.max(1)))));
    }
    parts
}

fn measured(parts: &[Part]) -> usize {
    parts.iter().map(|(_, span)| span.content.width() + 3).sum::<usize>().saturating_sub(3)
}
