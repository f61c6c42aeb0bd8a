//! Remembering something that a person says.

use std::io::Read;
use std::sync::Arc;

use neco_config::Env;
use neco_session::memory::{Category, Keep, Kept, Memory, NewEntry, said_by_person};
use serde_json::{Value, json};

use super::run::{failed, memory};
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::memory_args::{AddArgs, CategoryArg};
use crate::say;

/// `neco memory add …`
pub(super) async fn add(args: &AddArgs, memory: &Arc<Memory>) -> Result<(), Failure> {
    let text = text(&args.text)?;
    let kept = memory.keep(entry(args, &text)).await.map_err(failed)?;
    say::out(&if args.json { format!("{:#}\n", value(&kept)) } else { format!("{}\n", kept.words()) })
}

/// Keeps a note that was said instead of a request.
///
/// # Errors
/// When it can't be kept.
pub fn note(new: NewEntry, everywhere: &EverywhereArgs, env: &Env) -> Result<Kept, Failure> {
    let memory = memory(&crate::folder(everywhere)?, everywhere, env);
    let runtime = compose::runtime()?;
    runtime.block_on(memory.keep(new)).map_err(failed)
}

/// The same for whoever waits for it in a task; what was kept, in words.
///
/// # Errors
/// When it can't be kept.
pub async fn remember(new: NewEntry, everywhere: &EverywhereArgs, env: &Env) -> Result<String, Failure> {
    let memory = memory(&crate::folder(everywhere)?, everywhere, env);
    let kept = memory.keep(new).await.map_err(failed);
    memory.close().await;
    Ok(kept?.words())
}

fn text(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::Usage, format!("stdin can't be read: {error}")))?;
    Ok(text)
}

fn entry(args: &AddArgs, text: &str) -> NewEntry {
    let keep = match (args.dir, args.private) {
        (true, _) => Keep::Directory,
        (false, true) => Keep::Private,
        (false, false) => Keep::Global,
    };
    let topic = args.topic.clone().unwrap_or_default();
    let category = match args.category {
        Some(CategoryArg::Preference) => Category::Preference,
        Some(CategoryArg::Directory) => Category::Directory,
        Some(CategoryArg::ExploreResult) => Category::ExploreResult,
        Some(CategoryArg::Solution) => Category::Solution { topic },
        Some(CategoryArg::Strategy) => Category::Strategy,
        None if keep == Keep::Global => Category::Preference,
        None => Category::Directory,
    };
    let first = text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.trim().is_empty());
    let title = args.title.clone().unwrap_or_else(|| first.unwrap_or_default().to_owned());
    NewEntry {
        summary: args.summary.clone().unwrap_or_else(|| text.trim().to_owned()),
        content: text.trim().to_owned(),
        category,
        tags: args.tags.clone(),
        keep,
        ..said_by_person(&title)
    }
}

/// What became of a note, as an object.
#[must_use]
pub fn value(kept: &Kept) -> Value {
    let note = &kept.note;
    let action = kept.action.map_or("known", |action| action.name());
    let mut value =
        json!({ "action": action, "id": note.id, "title": note.title, "scope": note.scope, "path": note.path });
    if let (Some(other), Some(fields)) = (&kept.resembles, value.as_object_mut()) {
        fields.insert("resembles".to_owned(), json!(other.id));
    }
    value
}
