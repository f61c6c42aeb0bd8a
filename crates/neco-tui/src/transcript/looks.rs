//! Calls that only look: those in a row are told as one.

use neco_proto::event::CallStatus;
use neco_view::reduce::block::{Block, BlockBody, Call};
use ratatui::text::{Line, Span};

use super::block::Drawn;
use super::ledger::{self, head};
use crate::text::figures;

/// What calls of a tool look at, one and several; none for a tool that does more than look.
fn looked_at(tool: &str) -> Option<(&'static str, &'static str)> {
    match tool {
        "read_file" => Some(("file", "files")),
        "grep" | "glob" | "code_search" => Some(("search", "searches")),
        "list_directory" => Some(("folder", "folders")),
        "code_index" => Some(("outline", "outlines")),
        _ => None,
    }
}

/// The call of a block that only looks and goes well, or has not ended yet.
pub(super) fn looks(block: &Block) -> Option<&Call> {
    match &block.body {
        BlockBody::Call(call) => Some(call.as_ref()).filter(|call| {
            let well = match call.status {
                CallStatus::Success | CallStatus::Executing | CallStatus::Scheduled | CallStatus::Validating => true,
                CallStatus::AwaitingApproval | CallStatus::Error | CallStatus::Cancelled => false,
            };
            well && looked_at(&call.tool).is_some()
        }),
        _ => None,
    }
}

/// Several of them as one row.
pub(super) fn row(calls: &[&Call], with: Drawn<'_>) -> Line<'static> {
    let Drawn { width, theme, frame, .. } = with;
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for what in calls.iter().filter_map(|call| looked_at(&call.tool)) {
        match counts.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += 1,
            None => counts.push((what, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|((one, many), count)| figures::count(*count, one, many)).collect();
    let object = vec![Span::raw(counts.join(", "))];
    let running = calls.iter().find(|call| !call.is_over());
    let (glyph, style) = match running {
        Some(_) => (Span::styled(figures::turning(frame), theme.accent), theme.accent),
        None => (Span::styled("✓", theme.good), theme.label),
    };
    let outcome = match running {
        Some(call) => format!("  {}", neco_proto::visible::visible_line(&call.summary)),
        None => {
            let took: u64 = calls.iter().filter_map(|call| call.end.as_ref()).map(|end| end.duration_ms).sum();
            format!(" · {}", figures::duration(took))
        }
    };
    ledger::row(head(glyph, "Look", style), object, vec![Span::styled(outcome, theme.dim)], width)
}
