//! A block in its place, and its rows.

use neco_proto::Seq;
use neco_proto::event::CallStatus;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::block::{Block, Drawn};
use crate::theme::Theme;

/// A block, and its rows once they can't change.
#[derive(Debug)]
pub struct Entry {
    /// The block.
    pub block: Block,
    /// The event that it came with.
    pub seq: Seq,
    /// Whether it no longer counts.
    pub void: bool,
    rows: Option<(usize, Vec<Line<'static>>)>,
}

impl Entry {
    /// A block that came with an event.
    #[must_use]
    pub fn new(block: Block, seq: Seq) -> Self {
        Self { block, seq, void: false, rows: None }
    }

    /// It counts, or no longer does.
    pub fn set_void(&mut self, void: bool) {
        if std::mem::replace(&mut self.void, void) != void {
            self.rows = None;
        }
    }

    /// Its rows as they leave.
    pub fn last_rows(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let kept = self.rows.take().filter(|(width, _)| *width == with.width).map(|(_, rows)| rows);
        kept.unwrap_or_else(|| shaded(self.block.rows(with), self.void, with.theme))
    }

    /// Its rows; those of what is over are drawn once.
    pub fn rows(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        if let Some((width, rows)) = &self.rows
            && *width == with.width
        {
            return rows.clone();
        }
        // What waits for the person is shown by the question.
        if matches!(&self.block, Block::Call(card) if card.status == CallStatus::AwaitingApproval) {
            return Vec::new();
        }
        let keeps = self.block.is_over() && matches!(self.block, Block::Call(_));
        let rows = match &self.block {
            // Only the first of all leaves piece by piece; the others wait.
            Block::Answer { .. } => return self.wait(with),
            Block::Said { .. } | Block::Thought { .. } | Block::Call(_) | Block::Plan { .. } | Block::Note { .. } => {
                shaded(self.block.rows(with), self.void, with.theme)
            }
        };
        if keeps {
            self.rows = Some((with.width, rows.clone()));
        }
        rows
    }

    fn wait(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        match &mut self.block {
            Block::Answer { text, over, .. } => text.wait(*over, with.width, with.theme),
            Block::Said { .. } | Block::Thought { .. } | Block::Call(_) | Block::Plan { .. } | Block::Note { .. } => {
                Vec::new()
            }
        }
    }
}

/// Rows without their colours, where they no longer count.
fn shaded(rows: Vec<Line<'static>>, void: bool, theme: &Theme) -> Vec<Line<'static>> {
    let shade = |row: Line<'static>| {
        let spans = row.spans.into_iter().map(|span| Span::styled(span.content, theme.dim));
        Line { style: Style::default(), alignment: row.alignment, spans: spans.collect() }
    };
    if void { rows.into_iter().map(shade).collect() } else { rows }
}
