//! Lines that somebody else changed in files that a session changed too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use neco_proto::event::CheckpointWhen;
use neco_proto::{LineCount, Seq};
use neco_session::rewind::RewindHistory;
use neco_workspace::checkpoint::{CheckpointError, Checkpoints, FileDiff};

use super::history::Point;

/// The lines of files, by their paths.
type Lines = HashMap<PathBuf, LineCount>;

/// The states between which the files were not the session's to change.
pub(super) struct Handed {
    /// The state that is compared with.
    from: String,
    /// What each work of the session but the last left, and what the one after it began with.
    between: Vec<(String, String)>,
    /// What its last work left.
    left: String,
}

impl Handed {
    /// The states of a comparison with the present; none where the session is at work, or was cut short in it: what was
    /// changed since may be its own.
    pub(super) fn of(history: &RewindHistory, from: &Point, to: &Point) -> Option<Self> {
        let (Point::Kept(from), Point::Now) = (from, to) else { return None };
        let is_cut = |rev: &str| history.unfinished.iter().any(|work| work.rev == rev);
        let left = history.files_at(Seq::MAX).filter(|left| !history.working && !is_cut(left))?;
        let first = history.checkpoints.iter().position(|kept| kept.checkpoint.rev == *from).unwrap_or_default();
        let states = history.checkpoints.iter().map(|kept| &kept.checkpoint).skip(first);
        let pairs = states.clone().zip(states.skip(1)).filter(|(one, next)| {
            let is_between = one.when == CheckpointWhen::After && next.when == CheckpointWhen::Before;
            is_between && one.rev != next.rev && !is_cut(&one.rev)
        });
        let between = pairs.map(|(one, next)| (one.rev.clone(), next.rev.clone())).collect();
        Some(Self { from: from.clone(), between, left: left.to_owned() })
    }

    /// What others changed. What can't be compared is taken for the session's own.
    pub(super) fn compare(&self, checkpoints: &dyn Checkpoints) -> ByHand {
        let lines = |from: &str, to: Option<&str>| lines(checkpoints.diff(from, to));
        let since = lines(&self.left, None);
        let until = if since.is_empty() { Lines::new() } else { lines(&self.from, Some(&self.left)) };
        let mut between = Lines::new();
        for (path, found) in self.between.iter().flat_map(|(one, next)| lines(one, Some(next))) {
            let sum = between.entry(path).or_default();
            (sum.added, sum.removed) = (sum.added + found.added, sum.removed + found.removed);
        }
        ByHand { between, since, until }
    }
}

fn lines(compared: Result<Vec<FileDiff>, CheckpointError>) -> Lines {
    let file = |diff: FileDiff| (diff.change.path, LineCount::of(&diff.text));
    compared.unwrap_or_default().into_iter().map(file).collect()
}

/// What others changed.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    /// Between the works of the session.
    between: Lines,
    /// Since its last one.
    since: Lines,
    /// What is different in what that left, whoever changed it.
    until: Lines,
}

impl ByHand {
    /// How many lines of a file others changed since the session's last work.
    pub(super) fn since(&self, path: &Path) -> u64 {
        self.since.get(path).map_or(0, |lines| lines.added.max(lines.removed))
    }

    /// The lines of a file that are the session's own, where others changed it too; `whole` are those of its whole
    /// difference.
    pub(super) fn own(&self, path: &Path, whole: LineCount) -> Option<LineCount> {
        let (between, since) = (self.between.get(path), self.since.get(path));
        if between.is_none() && since.is_none() {
            return None;
        }
        let all = match since {
            Some(_) => self.until.get(path).copied().unwrap_or_default(),
            None => whole,
        };
        let theirs = between.copied().unwrap_or_default();
        let (added, removed) = (all.added.saturating_sub(theirs.added), all.removed.saturating_sub(theirs.removed));
        Some(LineCount { added, removed })
    }
}
