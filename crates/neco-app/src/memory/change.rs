//! Remembering what a person says, and forgetting.

use std::path::Path;
use std::sync::Arc;

use neco_proto::app::memory::{
    AddMemory, KeepNote, Kept, KeptNote, MemoryCategory, MemoryReach, RemoveMemory, RemovedMemory,
};
use neco_proto::app::{AppError, Trouble};
use neco_session::memory::{Category, Keep, Memory, MemoryError, NewEntry, PERSON, kept_words, to_remember};

use super::entries::open;
use crate::app::LocalApp;
use crate::error::of_memory;

pub(crate) async fn add(app: &LocalApp, request: AddMemory) -> Result<Kept, AppError> {
    let category = match (request.category, request.reach) {
        (Some(MemoryCategory::Preference), _) | (None, MemoryReach::Global) => Category::Preference,
        (Some(MemoryCategory::Directory), _) | (None, _) => Category::Directory,
        (Some(MemoryCategory::ExploreResult), _) => Category::ExploreResult,
        (Some(MemoryCategory::Solution), _) => Category::Solution { topic: request.topic },
        (Some(MemoryCategory::Strategy), _) => Category::Strategy,
    };
    let new = NewEntry {
        title: request.title,
        summary: request.summary,
        content: request.content,
        category,
        tags: request.tags,
        source: PERSON.to_owned(),
        keep: match request.reach {
            MemoryReach::Global => Keep::Global,
            MemoryReach::Private => Keep::Private,
            MemoryReach::Directory => Keep::Directory,
        },
        replaces: request.replaces,
    };
    keep(app, &request.folder, new).await
}

pub(crate) async fn keep_note(app: &LocalApp, request: KeepNote) -> Result<KeptNote, AppError> {
    let refused = |words: &str| AppError::new(Trouble::Invalid, words);
    let new = to_remember(&format!("# {}", request.text));
    let new = new.ok_or_else(|| refused("there is nothing to remember: say it in one line"))?;
    if !app.settings(Path::new(&request.folder))?.config.memory.enabled {
        return Err(refused("there is no memory (memory.enabled = false)"));
    }
    let kept = keep(app, &request.folder, new).await?;
    Ok(KeptNote { words: kept_words(&kept), kept })
}

async fn keep(app: &LocalApp, folder: &str, new: NewEntry) -> Result<Kept, AppError> {
    let memory = open(app, folder);
    let kept = memory.keep(new).await;
    memory.close().await;
    kept.map_err(of_memory)
}

pub(crate) async fn remove(app: &LocalApp, request: RemoveMemory) -> Result<RemovedMemory, AppError> {
    let memory = open(app, &request.folder);
    let removed = forget(&memory, &request.ids).await;
    memory.close().await;
    Ok(RemovedMemory { paths: removed.map_err(of_memory)? })
}

async fn forget(memory: &Arc<Memory>, ids: &[String]) -> Result<Vec<String>, MemoryError> {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let entries = memory.find_each(&ids).await?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut paths = Vec::new();
    for found in &entries {
        let path = found.path().display().to_string();
        if !paths.contains(&path) {
            memory.forget(found).await?;
            paths.push(path);
        }
    }
    Ok(paths)
}
