//! What is remembered from one session to the next: looking, adding and removing.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::AppError;
use neco_proto::app::memory::{
    AddMemory, KeepNote, Kept, KeptNote, ListMemory, MemoryCategory, MemoryEntry, MemoryList, MemoryReach,
    RemoveMemory, RemovedMemory, ShowMemory, ShownMemory,
};
use neco_proto::event::MemoryScope;
use neco_safety::secrets::Redactor;
use neco_session::memory::{
    Category, Found, Memory, MemoryError, MemorySetup, NewEntry, PERSON, kept_words, to_remember,
};

use crate::app::LocalApp;
use crate::error::{invalid, of_memory};
use crate::paging::page;

/// The memory of a folder; what is kept in it loses what the redactor hides.
fn of_folder(env: &Env, folder: &Path, redactor: Redactor) -> Arc<Memory> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Arc::new(Memory::new(MemorySetup::new(env.data_dir(), &folder, redactor)))
}

fn open(app: &LocalApp, folder: &str) -> Arc<Memory> {
    let folder = Path::new(folder);
    of_folder(&app.env, folder, app.redactor(folder))
}

/// How much is remembered that is seen from a folder.
pub(crate) async fn count(env: &Env, folder: &Path) -> usize {
    let memory = of_folder(env, folder, Redactor::default());
    let found = memory.look().await.map_or(0, |entries| entries.len());
    memory.close().await;
    found
}

pub(crate) async fn list(app: &LocalApp, request: ListMemory) -> Result<MemoryList, AppError> {
    let memory = open(app, &request.folder);
    let found = match &request.words {
        Some(words) => memory.search(&words.text, words.limit).await,
        None => memory.look().await,
    };
    memory.close().await;
    let mut found = found.map_err(of_memory)?;
    if request.words.is_none() {
        found.sort_by_key(|found| std::cmp::Reverse(found.created_ms));
    }
    // Along a list of matches nothing but the place of each never grows.
    let number = |(at, found): (i64, &Found)| if request.words.is_some() { -at } else { found.created_ms };
    let entries = (0..).zip(&found).map(|at| (number(at), entry(at.1)));
    let entries = entries.filter(|(_, entry)| request.only.is_none_or(|only| entry.scope == only)).collect();
    let page = page(entries, &request.page, |(number, entry)| (*number, entry.id.clone()))?;
    Ok(MemoryList { entries: page.items.into_iter().map(|(_, entry)| entry).collect(), next: page.next })
}

pub(crate) async fn show(app: &LocalApp, request: ShowMemory) -> Result<ShownMemory, AppError> {
    let memory = open(app, &request.folder);
    let shown = find(&memory, &request.id).await;
    memory.close().await;
    shown.map_err(of_memory)
}

async fn find(memory: &Memory, id: &str) -> Result<ShownMemory, MemoryError> {
    let found = memory.find(id).await?;
    let (content, unreadable) = match memory.read(&found).await {
        Ok(entry) => (entry.content, None),
        Err(error) => (String::new(), Some(error.to_string())),
    };
    Ok(ShownMemory { entry: entry(&found), content, unreadable })
}

fn entry(found: &Found) -> MemoryEntry {
    let time = |millis: i64| Timestamp::from_millisecond(millis).ok();
    let said = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    MemoryEntry {
        id: found.id.clone(),
        title: found.title.clone(),
        summary: found.summary.clone(),
        category: match &found.category {
            Category::Preference => MemoryCategory::Preference,
            Category::Directory => MemoryCategory::Directory,
            Category::ExploreResult => MemoryCategory::ExploreResult,
            Category::Solution { .. } => MemoryCategory::Solution,
            Category::Strategy => MemoryCategory::Strategy,
        }
        .into(),
        topic: said(found.category.topic()),
        tags: found.tags.clone(),
        scope: match found.scope() {
            _ if !found.reach.is_empty() => MemoryReach::Private,
            MemoryScope::Global => MemoryReach::Global,
            MemoryScope::Directory => MemoryReach::Directory,
        }
        .into(),
        directory: said(&found.reach),
        source: found.source.clone(),
        created: time(found.created_ms),
        last_used: Some(found.last_ms).filter(|last| *last > 0).and_then(time),
        uses: found.uses,
        path: found.path().display().to_string(),
        troubles: found.troubles.clone(),
    }
}

pub(crate) async fn add(app: &LocalApp, request: AddMemory) -> Result<Kept, AppError> {
    let folder = request.folder.clone();
    keep(app, &folder, of_person(request)).await
}

/// Adds an entry of its own, however near another one is.
pub(crate) async fn add_apart(app: &LocalApp, request: AddMemory) -> Result<Kept, AppError> {
    let memory = open(app, &request.folder);
    let kept = memory.keep_apart(of_person(request)).await;
    memory.close().await;
    kept.map_err(of_memory)
}

/// What an entry would be, without being kept: its title and its content.
pub(crate) fn would_be(app: &LocalApp, request: AddMemory) -> Result<(String, String), AppError> {
    let entry = open(app, &request.folder).entry(of_person(request)).map_err(of_memory)?;
    Ok((entry.title, entry.content))
}

fn of_person(request: AddMemory) -> NewEntry {
    let category = match (request.category, request.reach) {
        (Some(MemoryCategory::Preference), _) | (None, MemoryReach::Global) => Category::Preference,
        (Some(MemoryCategory::Directory), _) | (None, _) => Category::Directory,
        (Some(MemoryCategory::ExploreResult), _) => Category::ExploreResult,
        (Some(MemoryCategory::Solution), _) => Category::Solution { topic: request.topic },
        (Some(MemoryCategory::Strategy), _) => Category::Strategy,
    };
    NewEntry {
        title: request.title,
        summary: request.summary,
        content: request.content,
        category,
        tags: request.tags,
        source: PERSON.to_owned(),
        keep: request.reach,
        replaces: request.replaces,
    }
}

pub(crate) async fn keep_note(app: &LocalApp, request: KeepNote) -> Result<KeptNote, AppError> {
    let new = to_remember(&format!("# {}", request.text));
    let new = new.ok_or_else(|| invalid("there is nothing to remember: say it in one line"))?;
    if !app.settings(Path::new(&request.folder))?.config.memory.enabled {
        return Err(invalid("nothing was remembered: there is no memory (memory.enabled = false)"));
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
