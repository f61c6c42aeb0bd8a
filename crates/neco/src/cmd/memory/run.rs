//! The forms of `neco memory`.

use std::path::Path;
use std::sync::Arc;

use neco_app::services;
use neco_config::{Env, LoadOptions};
use neco_proto::event::MemoryScope;
use neco_safety::secrets::{Redactor, scrub};
use neco_session::memory::{Found, Memory, MemoryError, MemorySetup};

use super::{add, change, list};
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::memory_args::{MemoryCommand, WhichArgs};
use crate::say;

/// Runs `neco memory …`.
///
/// # Errors
/// When there is no such entry, or a file can't be read or written.
pub fn run(command: &MemoryCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let memory = memory(&folder, everywhere, env);
    let runtime = compose::runtime()?;
    let done = runtime.block_on(async {
        let done = answer(command, &memory, env).await;
        memory.close().await;
        done
    });
    runtime.shutdown_background();
    done
}

/// The memory of a folder. A broken configuration is no reason not to show what is remembered; what is
/// kept loses the secrets that the environment holds and those that look like one.
pub(super) fn memory(folder: &Path, everywhere: &EverywhereArgs, env: &Env) -> Arc<Memory> {
    let options = LoadOptions { env, cwd: folder, overrides: &everywhere.overrides };
    let hidden =
        neco_config::load(options).map(|loaded| services::hidden_variables(&loaded.config)).unwrap_or_default();
    let known = scrub(services::environment(env), &hidden).hidden;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Arc::new(Memory::new(MemorySetup::new(env.data_dir(), &folder, Redactor::new(known))))
}

/// Whether anything is remembered that is seen from a folder.
pub async fn has_entries(folder: &Path, everywhere: &EverywhereArgs, env: &Env) -> bool {
    let memory = memory(folder, everywhere, env);
    let found = memory.look().await.is_ok_and(|entries| !entries.is_empty());
    memory.close().await;
    found
}

async fn answer(command: &MemoryCommand, memory: &Arc<Memory>, env: &Env) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List { which, json } => {
            let mut entries = which.of(memory.look().await.map_err(failed)?);
            entries.sort_by_key(|found| std::cmp::Reverse(found.created_ms));
            say::out(&if *json { list::as_json(&entries) } else { list::as_lines(&entries, "nothing is remembered") })?;
            if !json {
                list::troubles(&entries).iter().for_each(|trouble| say::note(trouble));
            }
        }
        MemoryCommand::Show { id, json } => {
            let found = memory.find(id).await.map_err(failed)?;
            let entry = memory.read(&found).await.map_err(failed)?;
            say::out(&if *json { list::whole_json(&found, &entry) } else { list::whole(&found, &entry) })?;
        }
        MemoryCommand::Search { words, limit, which, json } => {
            if words.iter().all(|word| word.trim().is_empty()) {
                return Err(Failure::usage("there is nothing to look for: say some words"));
            }
            let entries = which.of(memory.search(&words.join(" "), *limit).await.map_err(failed)?);
            say::out(&if *json {
                list::as_json(&entries)
            } else {
                list::as_lines(&entries, "nothing fits these words")
            })?;
        }
        MemoryCommand::Add(args) => add::add(args, memory).await?,
        MemoryCommand::Edit { id } => change::edit(&memory.find(id).await.map_err(failed)?, env)?,
        MemoryCommand::Rm { ids, yes } => return change::remove(ids, *yes, memory).await,
    }
    Ok(Exit::Done)
}

impl WhichArgs {
    fn of(self, mut entries: Vec<Found>) -> Vec<Found> {
        entries.retain(|found| match found.scope() {
            MemoryScope::Global => !self.dir && (!self.global || found.reach.is_empty()),
            MemoryScope::Directory => !self.global,
        });
        entries
    }
}

/// What a person is told when the memory can't do something.
pub(super) fn failed(error: MemoryError) -> Failure {
    match error {
        MemoryError::Unknown { .. } => {
            Failure::usage(error.to_string()).hint("`neco memory list` lists what is remembered here.")
        }
        MemoryError::Refused(words) => Failure::usage(words),
        MemoryError::File(_) | MemoryError::Index(_) => Failure::new(Exit::Failed, error.to_string()),
    }
}
