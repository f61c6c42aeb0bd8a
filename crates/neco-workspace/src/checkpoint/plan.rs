//! What going back to a state would do, step by step, and what it leaves alone.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use neco_proto::event::LeftOutWhy;

use super::checkpoints::{Agreed, Change, Kept, LeftOut, PlannedChange, Preview, RestoreOptions};
use super::details::Details;
use super::error::CheckpointError;
use super::others::ChangedBy;
use super::tree::TreeChange;
use crate::git;

/// What would be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// The tree that it was made for, and what that can't say.
    pub of: Option<(ObjectId, Details)>,
    /// File by file, by path; `before` is what is there now.
    pub steps: Vec<Step>,
    /// What would be another but is left alone.
    pub kept: Vec<Kept>,
    /// What only others changed and is left to them.
    pub theirs: Vec<PathBuf>,
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
    /// Whether it was changed while a call ran, by the call or by anybody else.
    pub unsure: bool,
}

impl Plan {
    /// That somebody else changed files, or may have, and nobody agreed to have them overwritten.
    pub fn refused(&self, agreed: &Agreed) -> Option<CheckpointError> {
        let paths = |is_asked: fn(&Step) -> bool| -> Vec<PathBuf> {
            let asked = self.steps.iter().filter(|step| is_asked(step)).map(|step| path_of(&step.change));
            asked.filter(|path| !agreed.covers(path)).collect()
        };
        CheckpointError::not_agreed(paths(|step| step.by_others), paths(|step| step.unsure))
    }

    /// As a person is shown it.
    pub fn preview(self) -> Preview {
        let shown = |step: Step| PlannedChange {
            change: Change { path: path_of(&step.change), kind: step.change.kind() },
            by_others: step.by_others,
            unsure: step.unsure,
        };
        let changes = self.steps.into_iter().map(shown).collect();
        Preview { changes, kept: self.kept, theirs: self.theirs, lost: self.lost, left_out: self.left_out }
    }
}

/// Sorts what is different into what is done and what is left alone. What was changed after `options.since_ms` and is in
/// no state is told.
pub fn plan(
    root: &Path,
    found: Vec<TreeChange>,
    (now, target): (&Details, &Details),
    changed: &ChangedBy,
    options: &RestoreOptions,
) -> Plan {
    let mut left_out = now.left_out.clone();
    left_out.extend(target.left_out.iter().filter(|left| !now.leaves_out(&left.path)).cloned());
    let mut plan = Plan { left_out, ..Plan::default() };
    plan.lost.extend(options.since_ms.into_iter().flat_map(|since_ms| lost(root, target, since_ms)));
    plan.lost.extend(options.since_ms.into_iter().flat_map(|since_ms| changed_in_git(root, since_ms)));
    let is_lost: BTreeSet<PathBuf> = plan.lost.iter().map(|lost| lost.path.clone()).collect();
    for change in found {
        let path = path_of(&change);
        match why_kept(root, &path, &change, now, target) {
            // Told once is enough.
            Some(_) if is_lost.contains(&path) => {}
            Some(reason) => plan.kept.push(Kept { path, reason }),
            None if options.leave_theirs && changed.is_only_by_others(&change.path) => plan.theirs.push(path),
            None => {
                let by_others = changed.others.contains(&change.path);
                let unsure = changed.unsure.contains(&change.path);
                plan.steps.push(Step { change, by_others, unsure });
            }
        }
    }
    plan
}

/// Why a file is not touched: nothing of what is left out is ever lost by going back.
pub(super) fn why_kept(
    root: &Path,
    path: &Path,
    change: &TreeChange,
    now: &Details,
    target: &Details,
) -> Option<String> {
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

/// Most files of folders that were left out which are looked at.
const LOOKED_AT: usize = 20_000;

/// The clock of a file system may be so much behind.
const SLACK_MS: i64 = 10;

/// What `target` left out and was changed since a moment, or is gone: it can't come back.
pub fn lost(root: &Path, target: &Details, since_ms: i64) -> Vec<Kept> {
    let mut budget = LOOKED_AT;
    let mut lost = Vec::new();
    // What is no plain file holds nothing.
    for left in target.left_out.iter().filter(|left| left.why != LeftOutWhy::Other) {
        let Some(what) = what_happened(&root.join(&left.path), since_ms, &mut budget) else { continue };
        let reason = format!("{what} and can't come back: {}", because(left.why));
        lost.push(Kept { path: left.path.clone(), reason });
    }
    if budget == 0 {
        let reason = "holds more that is left out than was looked at: what of it was changed is not known".to_owned();
        lost.push(Kept { path: root.into(), reason });
    }
    lost.sort_by(|one, other| one.path.cmp(&other.path));
    lost
}

/// The settings and hooks of the repository that were made or changed since a moment. No state holds what is in git's
/// folder, and commits are git's to take back; but these decide what git runs, so whoever goes back is told of them.
fn changed_in_git(root: &Path, since_ms: i64) -> Vec<Kept> {
    let Some(git) = git::git_folder(root).map(|git| git::shared_folder(&git)) else { return Vec::new() };
    let hooks = std::fs::read_dir(git.join("hooks")).into_iter().flatten().flatten().take(LOOKED_AT);
    let mut files: Vec<PathBuf> = hooks.map(|hook| hook.path()).filter(|path| !is_sample(path)).collect();
    files.push(git.join("config"));
    files.sort();
    let is_new = |facts: std::fs::Metadata| !facts.is_dir() && is_newer(&facts, since_ms);
    let new = files.iter().filter(|path| path.symlink_metadata().is_ok_and(is_new));
    let reason = "was made or changed since and stays as it is: no checkpoint holds what is in git's folder";
    // What lies elsewhere no call of the session could reach.
    let inside = new.filter_map(|path| path.strip_prefix(root).ok());
    inside.map(|path| Kept { path: path.to_owned(), reason: reason.to_owned() }).collect()
}

/// Whether git only shows it, and never runs it.
fn is_sample(hook: &Path) -> bool {
    hook.extension() == Some(OsStr::new("sample"))
}

/// Whether a file was changed after a moment, as far as its folder says.
pub fn is_newer(facts: &std::fs::Metadata, since_ms: i64) -> bool {
    let changed = facts.ctime().saturating_mul(1000).saturating_add(facts.ctime_nsec() / 1_000_000);
    changed >= since_ms.saturating_sub(SLACK_MS)
}

fn what_happened(path: &Path, since_ms: i64, budget: &mut usize) -> Option<String> {
    match path.symlink_metadata() {
        Err(_) => Some("is gone since".to_owned()),
        Ok(facts) if facts.is_dir() => match changed_below(path, since_ms, budget) {
            0 => None,
            1 => Some("has a file in it that was changed since".to_owned()),
            count => Some(format!("has {count} files in it that were changed since")),
        },
        Ok(facts) => is_newer(&facts, since_ms).then(|| "was changed since".to_owned()),
    }
}

/// How many files below a folder were changed after a moment, as far as that many are looked at.
fn changed_below(folder: &Path, since_ms: i64, budget: &mut usize) -> usize {
    let mut changed = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Some(left) = budget.checked_sub(1) else { return changed };
            *budget = left;
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                folders.push(entry.path());
            } else if is_newer(&facts, since_ms) {
                changed += 1;
            }
        }
    }
    changed
}

fn because(why: LeftOutWhy) -> &'static str {
    match why {
        LeftOutWhy::Ignored => "it is ignored, so no checkpoint has it",
        LeftOutWhy::TooBig => "it is too big for checkpoints",
        LeftOutWhy::Secret => "it may hold secrets, so no checkpoint has it",
        LeftOutWhy::Other => "no checkpoint has it",
    }
}
