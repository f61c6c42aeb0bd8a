//! What is remembered, and sessions.

use std::path::Path;

use neco_port::import::{Taken, everywhere};
use neco_port::setups::piece::NewMemory;
use neco_proto::app::AppError;
use neco_proto::app::memory::{AddMemory, ListMemory, MemoryReach, ShowMemory};
use neco_proto::app::port::Program;
use neco_proto::app::setups::SetupOutcome;

use super::take::{Done, Taking};
use crate::error::{invalid, of_port};
use crate::memory;
use crate::sessions::keeper;

/// The most sessions that come in at a time.
const MOST: usize = 2000;

/// Remembers something, unless an entry with its title is there.
pub(super) async fn remember(taking: &Taking<'_>, new: NewMemory) -> Result<Done, AppError> {
    let (app, NewMemory { title, content, folder: own }) = (taking.app, new);
    let reach = if own.is_some() { MemoryReach::Private } else { MemoryReach::Global };
    let folder = own.map_or_else(|| taking.wanted.folder.clone(), |folder| folder.display().to_string());
    if !app.settings(Path::new(&folder))?.config.memory.enabled {
        return Err(invalid("there is no memory (memory.enabled = false)"));
    }
    let tags = vec![taking.wanted.agent.name().to_owned()];
    let add = AddMemory { folder: folder.clone(), title, content, reach, tags, ..AddMemory::default() };
    let (title, content) = memory::would_be(app, add.clone())?;
    let known = memory::list(app, ListMemory { folder: folder.clone(), ..ListMemory::default() }).await?.entries;
    if let Some(known) = known.into_iter().find(|entry| entry.title == title) {
        let to = format!("memory {}", known.id);
        let there = memory::show(app, ShowMemory { folder, id: known.id.clone() }).await?;
        if there.content.trim() == content.trim() {
            return Ok(Done::already(to));
        }
        let back = format!("delete it with `neco memory rm {}`, and the next import takes this one", known.id);
        return Ok(Done::stays(to, format!("an entry of that title says something else, and stays; {back}")));
    }
    if !taking.wanted.writes {
        return Ok(Done::taken("memory".to_owned()));
    }
    let kept = memory::add_apart(app, add).await?;
    Ok(Done::taken(format!("memory {}", kept.note.id)))
}

/// Takes in all sessions, where that is asked for; else says how.
pub(super) async fn sessions(taking: &Taking<'_>, program: Program) -> Result<Done, AppError> {
    if !taking.wanted.sessions {
        let lists = format!("`neco session import --from {program}` lists those of a folder");
        let words = format!("{lists}; `neco import {} --all` takes all of them in", taking.wanted.agent);
        return Ok(Done { outcome: SetupOutcome::Yours, to: None, words: Some(words) });
    }
    let all = everywhere(program, &taking.app.env).await.map_err(of_port)?;
    if !taking.wanted.writes {
        let words = format!("at most {} come in", all.len().min(MOST));
        return Ok(Done { outcome: SetupOutcome::Taken, to: None, words: Some(words) });
    }
    let folder = Path::new(&taking.wanted.folder);
    let keeper = keeper(taking.app, folder, false, false)?;
    let (mut taken, mut already, mut failed) = (0, 0, 0);
    let mut left = all.into_iter();
    while taken < MOST
        && let Some((file, entry)) = left.next()
    {
        let imported = match &entry {
            Some(entry) => keeper.entry(program, &file, entry).await,
            None => keeper.file(Taken { path: &file, name: None, program: Some(program) }).await,
        };
        match imported {
            Ok(session) if session.already => already += 1,
            Ok(_) => taken += 1,
            Err(_) => failed += 1,
        }
    }
    let outcome = if taken > 0 { SetupOutcome::Taken } else { SetupOutcome::Already };
    let mut words = format!("{taken} came in, {already} were here, {failed} hold nothing that can be read");
    if left.len() > 0 {
        words.push_str(&format!("; {} are left, which come in when it is run again", left.len()));
    }
    Ok(Done { outcome, to: None, words: Some(words) })
}
