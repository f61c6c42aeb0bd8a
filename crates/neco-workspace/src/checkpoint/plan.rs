//! What going back to a state would do, step by step, and what it leaves alone.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use neco_proto::event::LeftOutWhy;

use super::checkpoints::{Agreed, Change, Kept, LeftOut, PlannedChange, Preview};
use super::details::Details;
use super::lost::lost;
use super::tree::TreeChange;

/// What would be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// The tree that it was made for, and what that can't say.
    pub of: Option<(ObjectId, Details)>,
    /// File by file, by path; `before` is what is there now.
    pub steps: Vec<Step>,
    /// What would be another but is left alone.
    pub kept: Vec<Kept>,
    /// What was changed since and can't come back.
    pub lost: Vec<Kept>,
    /// What is no part of states, now or then.
    pub left_out: Vec<LeftOut>,
}

/// What would be done to a file.
#[derive(Debug)]
pub struct Step {
    /// From what to what.
    pub change: TreeChange,
    /// Whether somebody else changed it since.
    pub by_others: bool,
}

impl Plan {
    /// The files that somebody else changed and nobody agreed to have overwritten.
    pub fn refused(&self, agreed: &Agreed) -> Vec<PathBuf> {
        let others = self.steps.iter().filter(|step| step.by_others).map(|step| path_of(&step.change));
        others.filter(|path| !agreed.covers(path)).collect()
    }

    /// As a person is shown it.
    pub fn preview(self) -> Preview {
        let shown = |step: Step| PlannedChange {
            change: Change { path: path_of(&step.change), kind: step.change.kind() },
            by_others: step.by_others,
        };
        let changes = self.steps.into_iter().map(shown).collect();
        Preview { changes, kept: self.kept, lost: self.lost, left_out: self.left_out }
    }
}

/// Sorts what is different into what is done and what is left alone. What was changed after `since_ms` and is in no
/// state is told.
pub fn plan(
    root: &Path,
    found: Vec<TreeChange>,
    (now, target): (&Details, &Details),
    others: &BTreeSet<Vec<u8>>,
    since_ms: Option<i64>,
) -> Plan {
    let mut left_out = now.left_out.clone();
    left_out.extend(target.left_out.iter().filter(|left| !now.leaves_out(&left.path)).cloned());
    let mut plan = Plan { left_out, ..Plan::default() };
    plan.lost.extend(since_ms.into_iter().flat_map(|since_ms| lost(root, target, since_ms)));
    let is_lost: BTreeSet<PathBuf> = plan.lost.iter().map(|lost| lost.path.clone()).collect();
    for change in found {
        let path = path_of(&change);
        match why_kept(root, &path, &change, now, target) {
            // Told once is enough.
            Some(_) if is_lost.contains(&path) => {}
            Some(reason) => plan.kept.push(Kept { path, reason }),
            None => {
                let by_others = others.contains(&change.path);
                plan.steps.push(Step { change, by_others });
            }
        }
    }
    plan
}

/// Why a file is not touched: nothing of what is left out is ever lost by going back.
fn why_kept(root: &Path, path: &Path, change: &TreeChange, now: &Details, target: &Details) -> Option<String> {
    match (&change.before, &change.after) {
        (Some(_), None) => {
            target.leaves_out(path).then(|| "it was no part of that checkpoint, so it is not deleted".to_owned())
        }
        (None, Some(_)) => {
            let left = now.left_out.iter().find(|left| path.starts_with(&left.path))?;
            // What is not there can come back: nothing is lost by that.
            root.join(path).symlink_metadata().ok()?;
            Some(format!("{}, so the present file could not be brought back", why(left.why)))
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}

fn why(why: LeftOutWhy) -> &'static str {
    match why {
        LeftOutWhy::Ignored => "it is left out of checkpoints",
        LeftOutWhy::TooBig => "it is too big for checkpoints now",
        LeftOutWhy::Secret => "it may hold secrets",
        LeftOutWhy::Other => "it can't be read, or is no plain file",
    }
}

fn path_of(change: &TreeChange) -> PathBuf {
    OsStr::from_bytes(&change.path).into()
}
