//! What git may tell of files that rules close: the box hides a file, not what was committed of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_safety::command::{Place, examine};
use neco_safety::world::World;
use neco_toolkit::ToolContext;
use neco_workspace::tracked_file;

use super::bash::off_the_runtime;

/// Why a person is asked about a line in which git may tell or bring back what a rule closes to reading.
pub(super) async fn may_show_closed(line: &str, folder: Option<PathBuf>, ctx: &ToolContext) -> Option<String> {
    let closed = ctx.world.files().closed();
    if !closed.keeps_something_from_commands() || !examine(line, &Place::new("/")).committed {
        return None;
    }
    let world = Arc::clone(&ctx.world);
    let looked = off_the_runtime(move || tracked(world.as_ref(), folder.as_deref())).await;
    let path = looked.unwrap_or_else(|_| Some(PathBuf::from(".git")))?;
    Some(format!(
        "git may show what was committed of {}, which a rule closes to reading; the git tool leaves that out",
        path.display()
    ))
}

/// A closed file that is tracked, of the repositories that are worked in.
fn tracked(world: &dyn World, folder: Option<&Path>) -> Option<PathBuf> {
    let files = world.files();
    let is_closed = |path: &Path| files.closed().keeps_from_commands(path);
    let folders: BTreeSet<&Path> = files.writable().chain(folder).collect();
    folders.into_iter().find_map(|folder| tracked_file(folder, is_closed))
}
