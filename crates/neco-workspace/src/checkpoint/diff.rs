//! The difference of a file between two states, as text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use similar::TextDiff;

use super::checkpoints::{Change, FileDiff, FileSides, Side};
use super::error::CheckpointError;
use super::tree::{Item, ItemKind, TreeChange};
use super::vault::Vault;

/// Lines around a change.
const AROUND: usize = 3;

/// Bytes at the beginning of a file that are looked at for zeros, as git does.
const LOOKED_AT: usize = 8000;

/// The difference of one file.
pub fn file_diff<V: Vault>(vault: &V, change: &TreeChange) -> Result<FileDiff, CheckpointError> {
    let content = |item: Option<Item>| item.map_or(Ok(Vec::new()), |item| vault.get(item.id));
    let (before, after) = (content(change.before)?, content(change.after)?);
    let path: PathBuf = OsStr::from_bytes(&change.path).into();
    let text = text(&path.display().to_string(), change, &before, &after);
    Ok(FileDiff { change: Change { path, kind: change.kind() }, text })
}

/// What one file held, and holds.
pub fn file_sides<V: Vault>(vault: &V, change: &TreeChange) -> Result<FileSides, CheckpointError> {
    let side = |item: Option<Item>, unusual| -> Result<Option<Side>, CheckpointError> {
        let Some(item) = item else { return Ok(None) };
        Ok(Some(Side { form: mode(item, unusual), content: vault.get(item.id)? }))
    };
    Ok(FileSides {
        change: Change { path: OsStr::from_bytes(&change.path).into(), kind: change.kind() },
        before: side(change.before, change.modes.0)?,
        after: side(change.after, change.modes.1)?,
    })
}

fn text(path: &str, change: &TreeChange, before: &[u8], after: &[u8]) -> String {
    // A name may hold a line break; a diff's head may not.
    let path: String = path.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    let mut text = format!("diff --git a/{path} b/{path}\n");
    match (change.before, change.after) {
        (None, Some(now)) => text.push_str(&format!("new file mode {}\n", mode(now, change.modes.1))),
        (Some(was), None) => text.push_str(&format!("deleted file mode {}\n", mode(was, change.modes.0))),
        (Some(was), Some(now)) if was.kind != now.kind || change.modes.0 != change.modes.1 => {
            let (was, now) = (mode(was, change.modes.0), mode(now, change.modes.1));
            text.push_str(&format!("old mode {was}\nnew mode {now}\n"));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    let (old, new) = (side("a", &path, change.before), side("b", &path, change.after));
    if before == after {
        return text;
    }
    if is_binary(before) || is_binary(after) {
        text.push_str(&format!("Binary files {old} and {new} differ\n"));
        return text;
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let diff = TextDiff::from_lines(before.as_ref(), after.as_ref());
    text.push_str(&diff.unified_diff().context_radius(AROUND).header(&old, &new).to_string());
    text
}

fn side(side: &str, path: &str, item: Option<Item>) -> String {
    if item.is_some() { format!("{side}/{path}") } else { "/dev/null".to_owned() }
}

/// As git writes it; permissions that git does not keep are written the same way.
fn mode(item: Item, unusual: Option<u32>) -> String {
    match (item.kind, unusual) {
        (ItemKind::File | ItemKind::Program, Some(mode)) => format!("100{:03o}", mode & 0o777),
        (ItemKind::File, None) => "100644".to_owned(),
        (ItemKind::Program, None) => "100755".to_owned(),
        (ItemKind::Link, _) => "120000".to_owned(),
        (ItemKind::Folder, _) => "040000".to_owned(),
    }
}

fn is_binary(content: &[u8]) -> bool {
    content.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}
