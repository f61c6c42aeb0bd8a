//! A vault while somebody is at it: its points by name, and who changed what since one.

use std::collections::BTreeSet;
use std::path::Path;

use gix::ObjectId;
use neco_proto::event::CheckpointWhen;

use super::cache::{Cache, Stamp};
use super::checkpoints::RestoreOptions;
use super::details::Details;
use super::error::CheckpointError;
use super::others::{ChangedBy, Cut, Hand, Others};
use super::point::StoredPoint;
use super::scan::Scanned;
use super::tree::{TreeChange, state_changes};
use super::vault::Vault;

/// Shortest beginning of a name that stands for it.
pub(super) const SHORTEST: usize = 4;

/// How many states from before the one that is gone back to are asked whether they hold a file as it is.
const LOOKED_BACK: usize = 30;

/// A vault, and what is known of what is in it.
pub(super) struct Shelf<V> {
    pub(super) vault: V,
    /// What is known of the files, with the stamp of the file it was read from or written to.
    pub(super) known: Option<(Option<Stamp>, Cache)>,
    /// The point that was the newest one at the last look; what has its name holds the same.
    newest: Option<StoredPoint>,
}

impl<V: Vault> Shelf<V> {
    /// Nothing is opened yet.
    pub(super) fn of(vault: V) -> Self {
        Self { vault, known: None, newest: None }
    }

    fn point(&self, id: ObjectId) -> Result<StoredPoint, CheckpointError> {
        StoredPoint::parse(id, &self.vault.get(id)?)
    }

    /// The same for the newest one, which is asked for at every look.
    pub(super) fn newest(&mut self, id: ObjectId) -> Result<StoredPoint, CheckpointError> {
        if let Some(point) = self.newest.as_ref().filter(|point| point.id == id) {
            return Ok(point.clone());
        }
        let point = self.point(id)?;
        self.newest = Some(point.clone());
        Ok(point)
    }

    /// All points, newest first, as far as they are kept.
    pub(super) fn points(&mut self) -> Result<Vec<StoredPoint>, CheckpointError> {
        let mut points = Vec::new();
        let mut next = self.vault.head()?;
        while let Some(id) = next.filter(|id| points.is_empty() || self.vault.has(*id)) {
            let point = self.point(id)?;
            next = point.parent;
            points.push(point);
        }
        Ok(points)
    }

    /// The point of a name, or of the beginning of one.
    pub(super) fn find(&mut self, rev: &str) -> Result<StoredPoint, CheckpointError> {
        let unknown = || CheckpointError::Unknown(rev.to_owned());
        if self.vault.head()?.is_none() {
            return Err(unknown());
        }
        if let Ok(id) = ObjectId::from_hex(rev.as_bytes()) {
            return if self.vault.has(id) { self.point(id) } else { Err(unknown()) };
        }
        let begins = |point: &StoredPoint| rev.len() >= SHORTEST && point.id.to_string().starts_with(rev);
        let mut found: Vec<StoredPoint> = self.points()?.into_iter().filter(begins).collect();
        match found.len() {
            1 => Ok(found.remove(0)),
            _ => Err(unknown()),
        }
    }

    pub(super) fn details(&self, point: &StoredPoint) -> Result<Details, CheckpointError> {
        match point.details {
            // Nothing is known of most states besides their tree.
            Some(id) if id.is_empty_blob() => Ok(Details::default()),
            Some(id) => Ok(Details::parse(&self.vault.get(id)?)),
            None => Ok(Details::default()),
        }
    }

    /// Whether the workspace is as it was at a point. What was left out of it by its name may be another one.
    pub(super) fn is_same(&self, point: &StoredPoint, now: &Scanned) -> bool {
        point.tree == now.tree && self.details(point).is_ok_and(|then| then.is_same(&now.details))
    }

    /// What is different now from a point.
    pub(super) fn changes(&self, from: &StoredPoint, now: &Scanned) -> Result<Vec<TreeChange>, CheckpointError> {
        state_changes(&self.vault, (from.tree, &self.details(from)?), (now.tree, &now.details))
    }

    /// Who changed what since a point. What a turn of the session's own changed lies between a point before it and one
    /// after it, as far as its calls may have done it, or came of what was cut short after one before it; everything else
    /// is somebody else's.
    pub(super) fn changed_by(
        &mut self,
        target: &StoredPoint,
        now: &Scanned,
        options: &RestoreOptions,
        root: &Path,
    ) -> Result<ChangedBy, CheckpointError> {
        let points = self.points()?;
        let Some(at) = points.iter().position(|point| point.id == target.id) else {
            // Nothing is known of the way from there to here: it may be anybody's.
            let others: BTreeSet<Vec<u8>> = self.changes(target, now)?.into_iter().map(|change| change.path).collect();
            return Ok(ChangedBy { turns: others.clone(), others, unsure: BTreeSet::new() });
        };
        let (since, earlier) = points.split_at(at);
        let mut others = Others::default();
        let mut before = (target, self.details(target)?);
        for point in since.iter().rev() {
            let after = (point, self.details(point)?);
            let ends = point.note.when == CheckpointWhen::After;
            let changes = state_changes(&self.vault, (before.0.tree, &before.1), (point.tree, &after.1))?;
            if ends {
                others.note_all(changes, self.hand_in(point, options, root));
            } else {
                self.note_between(&mut others, before.0, changes, options, root)?;
            }
            before = after;
        }
        let changes = state_changes(&self.vault, (before.0.tree, &before.1), (now.tree, &now.details))?;
        self.note_between(&mut others, before.0, changes, options, root)?;
        // Nothing of theirs is in a file that the session put back into what it was before they came.
        for point in earlier.iter().skip(1).take(LOOKED_BACK) {
            if !others.may_forget() {
                break;
            }
            others.forget(&self.changes(point, now)?);
        }
        Ok(others.changed_by())
    }

    /// Whose the changes are that lie before a point after a turn.
    fn hand_in<'a>(
        &'a self,
        point: &StoredPoint,
        options: &'a RestoreOptions,
        root: &'a Path,
    ) -> impl Fn(&TreeChange) -> Hand + 'a {
        let id = point.id.to_string();
        let (is_own, is_turn) = (point.note.session == options.session, options.turns.contains(&id));
        let work = options.work.get(&id);
        move |change| {
            let hand = work.map_or(Hand::Own, |work| work.hand(&self.vault, root, change));
            match (is_own, hand) {
                (false, _) if !is_turn => Hand::Others,
                (_, Hand::Over | Hand::Others) => hand,
                (false, _) => Hand::Turn,
                (true, hand) => hand,
            }
        }
    }

    /// Takes note of what was changed after a point and in no turn: it came of what was cut short there, or is others'.
    fn note_between(
        &mut self,
        others: &mut Others,
        before: &StoredPoint,
        changes: Vec<TreeChange>,
        options: &RestoreOptions,
        root: &Path,
    ) -> Result<(), CheckpointError> {
        let (id, mut cuts) = (before.id.to_string(), Vec::new());
        for unfinished in options.unfinished.iter().filter(|unfinished| unfinished.rev == id) {
            cuts.push(match unfinished.to.as_deref().map(|to| self.find(to)) {
                // Where it is no longer known what a restore was about to write, it is known when it was at work.
                None | Some(Err(CheckpointError::Unknown(_))) => Cut::Work(unfinished),
                Some(to) => {
                    let to = to?;
                    let (then, aim) = (self.details(before)?, self.details(&to)?);
                    Cut::Restore(state_changes(&self.vault, (before.tree, &then), (to.tree, &aim))?)
                }
            });
        }
        let is_own = |change: &TreeChange| cuts.iter().any(|cut| cut.made(root, change));
        others.note_all(changes, |change| if is_own(change) { Hand::Own } else { Hand::Others });
        Ok(())
    }
}
