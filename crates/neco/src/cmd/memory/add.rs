//! Remembering something that a person says.

use std::io::Read;
use std::path::Path;

use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::memory::{AddMemory, Kept, MemoryCategory, MemoryReach};
use neco_session::memory::{NewEntry, kept_words};
use serde_json::{Value, json};

use crate::args::EverywhereArgs;
use crate::cmd::program::{ask_of, ask_once};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::memory_args::{AddArgs, CategoryArg};
use crate::say;

/// `neco memory add …`
pub(super) async fn add(args: &AddArgs, folder: String, app: &dyn App) -> Result<(), Failure> {
    let text = text(&args.text)?;
    let kept = ask_of(app, &request(args, folder, text.trim())).await?;
    say::out(&if args.json { format!("{:#}\n", value(&kept)) } else { format!("{}\n", kept_words(&kept)) })
}

/// Keeps a note that was said instead of a request.
///
/// # Errors
/// When it can't be kept.
pub fn note(new: NewEntry, everywhere: &EverywhereArgs, env: &Env) -> Result<Kept, Failure> {
    ask_once(&said(new, &crate::folder(everywhere)?), everywhere, env)
}

/// The request to keep such a note.
fn said(new: NewEntry, folder: &Path) -> AddMemory {
    let NewEntry { title, summary, content, .. } = new;
    AddMemory { folder: folder.display().to_string(), title, summary, content, ..AddMemory::default() }
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

fn request(args: &AddArgs, folder: String, text: &str) -> AddMemory {
    let category = |category| match category {
        CategoryArg::Preference => MemoryCategory::Preference,
        CategoryArg::Directory => MemoryCategory::Directory,
        CategoryArg::ExploreResult => MemoryCategory::ExploreResult,
        CategoryArg::Solution => MemoryCategory::Solution,
        CategoryArg::Strategy => MemoryCategory::Strategy,
    };
    let first = text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.trim().is_empty());
    AddMemory {
        folder,
        title: args.title.clone().unwrap_or_else(|| first.unwrap_or_default().to_owned()),
        summary: args.summary.clone().unwrap_or_else(|| text.to_owned()),
        content: text.to_owned(),
        category: args.category.map(category),
        topic: args.topic.clone().unwrap_or_default(),
        tags: args.tags.clone(),
        reach: match (args.dir, args.private) {
            (true, _) => MemoryReach::Directory,
            (false, true) => MemoryReach::Private,
            (false, false) => MemoryReach::Global,
        },
        replaces: None,
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
