//! Remembering what a person says, and forgetting.

use std::sync::Arc;

use neco_proto::app::AppError;
use neco_proto::app::memory::{AddMemory, Kept, MemoryCategory, MemoryReach, RemoveMemory, RemovedMemory};
use neco_session::memory::{Category, Keep, Memory, MemoryError, NewEntry, PERSON};

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
    let memory = open(app, &request.folder);
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
