//! What a folder brings before anything is said in it.

use std::path::Path;

use neco_proto::app::AppError;
use neco_proto::app::project::{Project, ShowProject};
use neco_session::sources::rules_files;
use neco_workspace::worktree_git::uncommitted_files;
use tokio::task::spawn_blocking;

use crate::app::StorelessApp;
use crate::memory;

pub(crate) async fn show(app: &StorelessApp, request: ShowProject) -> Result<Project, AppError> {
    let folder = Path::new(&request.folder).to_owned();
    let config = app.settings_to_read(&folder);
    let (remembers, tells_rules) = (config.memory.enabled, config.context.rules);
    let here = folder.clone();
    let looked = spawn_blocking(move || {
        // Git and the rules know it by its real name.
        let folder = here.canonicalize().unwrap_or(here);
        let rules = if tells_rules { rules_files(&folder) } else { Vec::new() };
        Project { uncommitted: uncommitted_files(&folder), rules, memories: 0 }
    });
    let memories = if remembers { memory::count(&app.env, &folder).await } else { 0 };
    Ok(Project { memories, ..looked.await.unwrap_or_default() })
}
