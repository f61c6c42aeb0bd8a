//! The way back of some files, or of pieces of them, while all others stay as they are.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use gix::objs::Kind;
use neco_proto::event::CheckpointWhen;

use super::checkpoints::{BeforeRestore, Decides, Note, PutBack, RestoreOptions, Restored};
use super::details::Details;
use super::diff::file_sides;
use super::error::CheckpointError;
use super::keeper::{Keeper, paths};
use super::objects::Contents;
use super::plan::{Plan, Step, why_kept};
use super::restore::{Interrupted, Target, apply};
use super::shelf::Shelf;
use super::tree::{Item, TreeChange, files, state_changes};
use super::vault::Vault;

/// Puts files back that are different from a state, each as far as `decides` says of what was kept a moment before.
pub(super) fn put_pieces_back<V: Vault>(
    keeper: &Keeper<V>,
    shelf: &mut Shelf<V>,
    (from, wanted): (&str, &[PathBuf]),
    options: &RestoreOptions,
    decides: Decides<'_>,
    before: BeforeRestore<'_>,
) -> Result<Restored, CheckpointError> {
    let target = shelf.find(from)?;
    let then = shelf.details(&target)?;
    let all = paths(files(&shelf.vault, target.tree)?);
    let note = |when, words: &str| Note { when, label: words.to_owned(), session: options.session.clone() };
    let undo = keeper.keep(shelf, &note(CheckpointWhen::Restore, "before changes were put back"), &all)?;
    let kept = shelf.find(&undo.rev)?;
    let present = shelf.details(&kept)?;
    let found = state_changes(&shelf.vault, (target.tree, &then), (kept.tree, &present))?;
    let mut aim = Details { modes: present.modes.clone(), ..then.clone() };
    let mut plan = Plan { left_out: present.left_out.clone(), ..Plan::default() };
    for path in wanted {
        let bytes = path.as_os_str().as_bytes();
        let refused = |why: &str| CheckpointError::Refused(format!("{} {why}", path.display()));
        let change = found.iter().find(|change| change.path == bytes);
        let change = change.ok_or_else(|| refused("is as it was then already"))?;
        let wanted = decides(&file_sides(&shelf.vault, change)?)?;
        let back = step(shelf, change, wanted, (&then, &mut aim))?;
        match why_kept(&keeper.place.root, path, &back, &present, &then) {
            Some(why) => return Err(refused(&format!("stays: {why}"))),
            None => plan.steps.push(Step { change: back, by_others: false, unsure: false }),
        }
    }
    let now = keeper.look(shelf, &all)?;
    let changed = shelf.changed_by(&target, &now, options, &keeper.place.root)?;
    let over_others = plan.steps.iter().any(|step| changed.others.contains(&step.change.path));
    // Whatever is missing is found before anything is touched.
    let contents = Contents::of(&shelf.vault, &mut plan)?;
    // A power cut must not take a file and what it would be brought back from.
    shelf.vault.force()?;
    let interrupted = Interrupted::begin(&keeper.place.store, &undo.rev)?;
    let to = Target { vault: &shelf.vault, contents, details: &aim, progress: &options.progress };
    let applied = apply(&keeper.place.root, &plan, to, || before(&undo));
    interrupted.end();
    let done = applied?;
    let now = keeper.keep(shelf, &note(CheckpointWhen::After, "changes were put back"), &all)?;
    let (theirs, lost, left_out) = (plan.theirs, plan.lost, plan.left_out);
    Ok(Restored { undo, now, changes: done.changes, over_others, kept: done.kept, theirs, lost, left_out })
}

/// What is done to a file that is different in a way from what it was `then`; `aim` is told of its permissions after
/// that.
fn step<V: Vault>(
    shelf: &mut Shelf<V>,
    change: &TreeChange,
    back: PutBack,
    (then, aim): (&Details, &mut Details),
) -> Result<TreeChange, CheckpointError> {
    let path = &change.path;
    let step =
        |after, mode| TreeChange { path: path.clone(), before: change.after, after, modes: (change.modes.1, mode) };
    match back {
        PutBack::Whole => {
            match then.modes.get(path) {
                Some(mode) => aim.modes.insert(path.clone(), *mode),
                None => aim.modes.remove(path),
            };
            Ok(step(change.before, change.modes.0))
        }
        PutBack::Content(content) => {
            let Some(form) = change.after.or(change.before) else { return Ok(step(None, None)) };
            let id = shelf.vault.put(Kind::Blob, &content)?;
            Ok(step(Some(Item { kind: form.kind, id }), change.modes.1))
        }
    }
}
