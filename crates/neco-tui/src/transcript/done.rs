//! The end of work: how long it took, what it cost and what it changed.

use std::collections::{BTreeMap, BTreeSet};

use neco_proto::Diff;
use neco_proto::event::{Checkpoint, CheckpointWhen, CompleteReason};
use neco_view::reduce::block::WorkEnd;
use ratatui::text::{Line, Span};

use super::block::Drawn;
use super::ledger::head;
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// What work changed in files.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// Lines that edits added to files and removed from them.
    edited: BTreeMap<String, (u64, u64)>,
    /// Files that are different after the work, as checkpoints have it; commands change them too.
    different: BTreeSet<String>,
    /// How many more are different, at most of one turn.
    more: u64,
    /// Whether an edit was of a file that checkpoints hold.
    is_held: bool,
}

impl Changes {
    /// Takes in what a call changed.
    pub(super) fn add(&mut self, files: &[Diff]) {
        for file in files {
            let (added, removed) = self.edited.entry(file.path.clone()).or_default();
            *added += u64::from(file.added);
            *removed += u64::from(file.removed);
            self.is_held |= !file.is_in_repository();
        }
    }

    /// Takes in what a turn changed, by edits and by commands.
    pub(super) fn add_turn(&mut self, kept: &Checkpoint) {
        if kept.when == CheckpointWhen::After && kept.parent.is_some() {
            self.different.extend(kept.changed.iter().map(|file| file.path.clone()));
            self.more = self.more.max(kept.more);
        }
    }

    /// How many files commands changed, and no edit.
    fn by_commands(&self) -> usize {
        let others = self.different.iter().filter(|path| !self.edited.contains_key(*path)).count();
        others + usize::try_from(self.more).unwrap_or(usize::MAX)
    }
}

/// Whether the end of work is worth a row: an answer without work has none.
pub(super) fn is_told(end: &WorkEnd) -> bool {
    end.reason == CompleteReason::Natural && end.over && end.turns > 1
}

/// `✓ Done   9 turns, 5 min 12 s   $0.45   +148 −9 in 4 files   /diff /undo`. The keys are always seen; what matters
/// least goes first when there is no room.
pub(super) fn row(end: &WorkEnd, changes: &Changes, with: Drawn<'_>) -> Line<'static> {
    let Drawn { width, theme, .. } = with;
    // What no checkpoint holds is neither compared nor restored.
    let is_held = changes.is_held || changes.by_commands() > 0;
    let keys = Span::styled(if is_held { "   /diff /undo" } else { "" }, theme.dim);
    let room = width.saturating_sub(keys.width());
    let left =
        [Detail::All, Detail::NoWait, Detail::Least].map(|detail| Line::from(figures_of(end, changes, detail, theme)));
    let fits = left.iter().find(|line| line.width() <= room).or(left.last()).cloned().unwrap_or_default();
    let mut row = cut(&fits, room);
    row.push_span(keys);
    cut(&row, width)
}

/// How much is told of the end of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    /// Not how long the person was waited for.
    NoWait,
    /// Nor what it cost.
    Least,
}

fn figures_of(end: &WorkEnd, changes: &Changes, detail: Detail, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = head(Span::styled("✓", theme.good), "Done", theme.label);
    let turns = figures::count(end.turns as usize, "turn", "turns");
    spans.push(Span::raw(format!("{turns}, {}", figures::lasted(end.duration_ms))));
    if end.waited_ms >= 1000 && detail == Detail::All {
        let waited = format!("  waited {} for you", figures::lasted(end.waited_ms));
        spans.push(Span::styled(waited, theme.dim));
    }
    if let Some(cost) = end.usage.cost.filter(|cost| *cost > 0.0 && detail != Detail::Least) {
        spans.push(Span::raw(format!("   {}", figures::cost(cost))));
    }
    let (files, by_commands) = (&changes.edited, changes.by_commands());
    if !files.is_empty() {
        let (added, removed) =
            files.values().fold((0, 0), |(all, gone), (added, removed)| (all + added, gone + removed));
        let count = figures::count(files.len(), "file", "files");
        spans.extend([
            Span::styled(format!("   +{added}"), theme.added),
            Span::styled(format!(" −{removed}"), theme.removed),
            Span::raw(format!(" in {count}")),
        ]);
    }
    if by_commands > 0 {
        let words = match files.is_empty() {
            true => format!("   {} changed by commands", figures::count(by_commands, "file", "files")),
            false => format!(", {by_commands} more by commands"),
        };
        spans.push(Span::raw(words));
    }
    spans
}
