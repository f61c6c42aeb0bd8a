//! What changed since and no state holds: files that are left out of states do not come back, and nobody should think
//! that they did. They are looked at when somebody wants to go back, so that keeping states costs nothing for it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use neco_proto::event::LeftOutWhy;

use super::checkpoints::Kept;
use super::details::Details;

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

/// Whether a file was changed after a moment, as far as its folder says.
fn is_newer(facts: &std::fs::Metadata, since_ms: i64) -> bool {
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
