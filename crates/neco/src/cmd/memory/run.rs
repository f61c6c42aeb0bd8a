//! The forms of `neco memory`.

use std::path::Path;

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::memory::{ListMemory, MemoryReach, MemoryWords, ShowMemory};
use neco_view::paint::lists::memory as list;
use serde_json::json;

use super::{add, change};
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask_of, with_files};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::memory_args::{MemoryCommand, WhichArgs};
use crate::say;

/// Runs `neco memory …`.
///
/// # Errors
/// When there is no such entry, or a file can't be read or written.
pub fn run(command: &MemoryCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?.display().to_string();
    with_files(everywhere, env, async |app| answer(command, folder, app, env).await)
}

async fn answer(command: &MemoryCommand, folder: String, app: &dyn App, env: &Env) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List { which, json } => {
            let entries = ask_of(app, &ListMemory { folder, words: None, only: which.reach() }).await?.entries;
            let text = if *json {
                format!("{:#}\n", json!(entries))
            } else {
                list::as_lines(&entries, list::NOTHING, Timestamp::now())
            };
            say::out(&text)?;
            if !json {
                list::troubles(&entries).iter().for_each(|trouble| say::note(trouble));
            }
        }
        MemoryCommand::Show { id, json } => {
            let shown = ask_of(app, &ShowMemory { folder, id: id.clone() }).await?;
            if let Some(words) = &shown.unreadable {
                return Err(Failure::new(Exit::Failed, words.clone()));
            }
            say::out(&if *json { list::whole_json(&shown) } else { list::whole(&shown, Timestamp::now()) })?;
        }
        MemoryCommand::Search { words, limit, which, json } => {
            if words.iter().all(|word| word.trim().is_empty()) {
                return Err(Failure::usage("there is nothing to look for: say some words"));
            }
            let words = Some(MemoryWords { text: words.join(" "), limit: *limit });
            let entries = ask_of(app, &ListMemory { folder, words, only: which.reach() }).await?.entries;
            say::out(&if *json {
                format!("{:#}\n", json!(entries))
            } else {
                list::as_lines(&entries, list::NO_HIT, Timestamp::now())
            })?;
        }
        MemoryCommand::Add(args) => add::add(args, folder, app).await?,
        MemoryCommand::Edit { id } => {
            let shown = ask_of(app, &ShowMemory { folder, id: id.clone() }).await?;
            change::edit(Path::new(&shown.entry.path), env)?;
        }
        MemoryCommand::Rm { ids, yes } => return change::remove(ids, *yes, folder, app).await,
    }
    Ok(Exit::Done)
}

impl WhichArgs {
    fn reach(self) -> Option<MemoryReach> {
        match (self.global, self.dir) {
            (true, _) => Some(MemoryReach::Global),
            (false, true) => Some(MemoryReach::Directory),
            (false, false) => None,
        }
    }
}
