//! The repository that a prune leaves: what stays of the old one, by links to the files of its objects.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use gix::ObjectId;

use super::branches::lines_since;
use super::cache::replace;
use super::error::CheckpointError;
use super::exchange::StoredExchange;
use super::jj::{BRANCHES, HEAD, JjVault, all_objects};
use super::objects::Objects;
use super::point::StoredPoint;
use super::tree::files_and_trees;

/// What was said in a session, from its oldest exchange that stays on.
type Line = (String, Vec<StoredExchange>);

/// Fills an empty repository with these points, newest first, and with what was said since the oldest of them.
pub(super) fn fill(
    vault: &JjVault,
    new: &Path,
    points: &[StoredPoint],
    branches: Vec<(String, ObjectId)>,
) -> Result<(), CheckpointError> {
    let old = vault.objects()?;
    let kept = Objects::of_ours(&new.join("objects"));
    let oldest = points.last().map_or(i64::MIN, |last| last.seconds);
    let lines = lines_since(vault, branches, oldest);
    let mut all = all_objects(vault, points)?;
    for exchange in lines.iter().flat_map(|(_, line)| line) {
        all.insert(exchange.id);
        files_and_trees(vault, exchange.tree, &mut all)?;
    }
    for id in &all {
        link(&old.file(*id), &kept.file(*id))?;
    }
    if let Some(head) = points.first() {
        replace(&new.join(HEAD), format!("{}\n", head.id).as_bytes())?;
    }
    for (name, line) in &lines {
        let Some(tip) = line.last() else { continue };
        let path = new.join(BRANCHES).join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(|error| CheckpointError::at(&path, error))?;
        replace(&path, format!("{}\n", tip.id).as_bytes())?;
    }
    let ends = ends(points, &lines, &all);
    if ends.is_empty() {
        return Ok(());
    }
    let ends: String = ends.iter().map(|id| format!("{id}\n")).collect();
    replace(&new.join("shallow"), ends.as_bytes())
}

/// Plain git reads no further back than these, and neither does Jujutsu.
fn ends(points: &[StoredPoint], lines: &[Line], all: &HashSet<ObjectId>) -> Vec<ObjectId> {
    let mut ends: Vec<ObjectId> =
        points.last().filter(|last| last.parent.is_some()).map(|last| last.id).into_iter().collect();
    let is_end = |exchange: &&StoredExchange| exchange.parent.is_some_and(|parent| !all.contains(&parent));
    ends.extend(lines.iter().flat_map(|(_, line)| line).filter(is_end).map(|exchange| exchange.id));
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn link(from: &Path, to: &Path) -> Result<(), CheckpointError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| CheckpointError::at(folder, error))?;
    }
    let linked: io::Result<()> = match fs::hard_link(from, to) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::copy(from, to).map(drop),
        Ok(()) | Err(_) => Ok(()),
    };
    linked.map_err(|error| CheckpointError::at(from, error))
}
