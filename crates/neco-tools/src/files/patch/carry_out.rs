//! Writing what was staged: all of it, or what was written is put back.

use std::path::{Path, PathBuf};

use neco_safety::World;
use neco_safety::path::{Access, Located, PathError, Replaced, Stamp};
use neco_toolkit::ToolError;

use super::stage::{Before, Stage, Staged};
use crate::files::call::FileCall;
use crate::files::change::IN_ORDER;
use crate::files::ledger::Needed;

/// Writes every file of a stage, those that go last.
/// The error is what stood in the way; then everything is as it was before, or the error says what is not.
pub fn carry_out(stage: &Stage, call: &FileCall) -> Result<Vec<String>, ToolError> {
    let world = call.ctx.world.as_ref();
    let mut done: Vec<Done<'_>> = Vec::new();
    let (kept, gone): (Vec<&Staged>, Vec<&Staged>) =
        stage.staged.iter().filter(|staged| staged.is_changed()).partition(|staged| staged.text.is_some());
    let folders = missing_folders(&kept);
    let mut notes = Vec::new();
    for staged in kept.into_iter().chain(gone) {
        match one(world, staged) {
            Ok((replaced, note)) => {
                notes.extend(note);
                done.push(Done { staged, replaced });
            }
            Err(error) => return Err(undone(world, error, &done, &folders)),
        }
    }
    for Done { staged, replaced } in done {
        if let (Some(Replaced { stamp, instead, .. }), Some(text)) = (replaced, &staged.text) {
            // What an editor made of it nobody has read.
            let known = if instead.is_some() { Needed::Some } else { staged.known };
            let bytes = instead.unwrap_or_else(|| staged.form.encode(text));
            call.ledger.know_written(staged.located.path(), stamp, &bytes, known);
        }
    }
    Ok(notes)
}

/// A file that was written or removed, and its state now.
struct Done<'a> {
    staged: &'a Staged,
    replaced: Option<Replaced>,
}

fn one(world: &dyn World, staged: &Staged) -> Result<(Option<Replaced>, Option<String>), PathError> {
    match (&staged.text, &staged.before) {
        (Some(text), before) => {
            let bytes = staged.form.encode(text);
            let stamp = before.as_ref().map(|before| &before.stamp);
            let replaced = world.write(&staged.located, &bytes, stamp, staged.like.as_ref())?;
            let shown = staged.located.shown();
            let notes = [
                (replaced.other_names > 0)
                    .then(|| format!("{shown} had other names (hard links), which keep the old content")),
                replaced.instead.is_some().then(|| format!("{shown}:{IN_ORDER}")),
            ];
            let note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
            Ok((Some(replaced), note))
        }
        (None, Some(before)) => world.remove(&staged.located, &before.stamp).map(|()| (None, None)),
        (None, None) => Ok((None, None)),
    }
}

/// Puts back what was done, the last first.
fn undone(world: &dyn World, error: PathError, done: &[Done<'_>], folders: &[PathBuf]) -> ToolError {
    let mut stuck = Vec::new();
    for Done { staged, replaced } in done.iter().rev() {
        let now = replaced.as_ref().map(|replaced| &replaced.stamp);
        if let Err(error) = put_back(world, &staged.located, now, staged.before.as_ref()) {
            stuck.push(format!("{} ({error})", staged.located.shown()));
        }
    }
    for folder in folders {
        // One that somebody put something into in the meantime stays.
        if let Ok(located) = world.files().locate(folder, Access::Write) {
            let _ = located.remove_empty_folder();
        }
    }
    let words = match (done, stuck.as_slice()) {
        ([], _) => format!("{error}; nothing was changed"),
        (_, []) => format!("{error}; what was written before was put back, so nothing is changed"),
        (_, stuck) => format!(
            "{error}; what was written before was put back, except for: {}. Look at these files before you go on",
            stuck.join(", ")
        ),
    };
    ToolError::new(error.code(), words)
}

fn put_back(
    world: &dyn World,
    located: &Located,
    now: Option<&Stamp>,
    before: Option<&Before>,
) -> Result<(), PathError> {
    match (now, before) {
        (now, Some(before)) => world.write(located, &before.bytes, now, before.attributes.as_ref()).map(drop),
        (Some(now), None) => world.remove(located, now),
        (None, None) => Ok(()),
    }
}

/// Folders that are about to be made, the innermost first.
fn missing_folders(kept: &[&Staged]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = kept
        .iter()
        .filter(|staged| staged.before.is_none())
        .flat_map(|staged| staged.located.path().ancestors().skip(1).take_while(|folder| !folder.exists()))
        .map(Path::to_path_buf)
        .collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    folders.dedup();
    folders
}
