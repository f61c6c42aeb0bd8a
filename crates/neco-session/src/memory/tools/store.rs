//! memory_store: something is kept for later sessions.

use std::fmt::Write;
use std::sync::Arc;

use neco_agent::EventSink;
use neco_proto::app::memory::{Kept, MemoryReach};
use neco_proto::event::{MemoryAction, Notification, NotificationLevel};
use neco_proto::{Diff, Display, EventBody, Risk};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use similar::TextDiff;

use super::refused;
use crate::memory::entry::Category;
use crate::memory::keep::{Draft, NewEntry, kept_words, usual_reach};
use crate::memory::memory::Memory;

pub struct MemoryStore {
    pub memory: Arc<Memory>,
    /// Who is told of it.
    pub sink: Option<Arc<dyn EventSink>>,
    /// Who keeps it.
    pub source: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What it is about, in a few words.
    title: String,
    /// What there is to know, in one or two sentences that can be acted on.
    summary: String,
    /// All details, in Markdown; leave it out when the summary says everything.
    #[serde(default)]
    content: String,
    /// preference: how the person wants things done. directory: what is not obvious about this folder.
    /// explore_result: what a look around has shown. solution: how a problem was solved. strategy: what
    /// to do differently with work of this kind.
    category: Kind,
    /// What the problem of a solution was about, in a word or two.
    #[serde(default)]
    topic: String,
    /// Words to find it by that are not in the title.
    #[serde(default)]
    tags: Vec<String>,
    /// Where it holds. global: everywhere. private: in this folder, kept with the person's own notes.
    /// directory: in this folder, as a file in .neco/memory that others get with the repository.
    /// Usually what fits the category.
    #[serde(default)]
    scope: Option<Where>,
    /// The entry that this one replaces.
    #[serde(default)]
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Preference,
    Directory,
    ExploreResult,
    Solution,
    Strategy,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Where {
    Global,
    Private,
    Directory,
}

impl Tool for MemoryStore {
    type Args = Args;
    const NAME: &'static str = "memory_store";
    const DESCRIPTION: &'static str = include_str!("memory_store.md");
    const TOUCH: SideEffect = SideEffect::Writes;

    fn summary(&self, args: &Args) -> String {
        format!("Remember {}", args.title)
    }

    async fn plan(&self, args: &Args, _: &ToolContext) -> Result<Plan, ToolError> {
        let draft = self.memory.draft(self.new_entry(args.clone())).await.map_err(refused)?;
        // A session's note about this folder, among the person's own, is small and easily undone. What every
        // later session is told, what others may get with the repository, and what takes the place of
        // something is for the person to see first.
        let in_workspace = draft.folder == self.memory.own_folder();
        let everywhere = !in_workspace && draft.entry.reach.is_empty();
        if !in_workspace && !everywhere && args.id.is_none() && !draft.replaces_a_persons {
            return Ok(Plan::of(Risk::Low));
        }
        let because = everywhere.then(|| "every later session would be told of it".to_owned());
        let paths = if in_workspace { vec![draft.path()] } else { Vec::new() };
        Ok(Plan { paths, because, diff: vec![diff_of(&draft, &self.memory)], ..Plan::of(Risk::Medium) })
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let kept = self.memory.keep(self.new_entry(args)).await.map_err(refused)?;
        if let (Some(update), Some(sink)) = (kept.event(), &self.sink) {
            // It may be told to every later session: the person hears of it, and how it is taken back.
            let said = Notification::new(NotificationLevel::Info, kept_words(&kept));
            for body in [EventBody::MemoryUpdate(update), EventBody::Notification(said)] {
                let told = sink.emit(None, body).await;
                told.map_err(|error| ToolError::new(error.code, error.message))?;
            }
        }
        let words = words(&kept);
        let shown = format!("{}\n{}", kept.note.title, kept.note.path);
        Ok(ToolOutput::text(words).with_display(Display::Text { text: shown }))
    }
}

impl MemoryStore {
    fn new_entry(&self, args: Args) -> NewEntry {
        let category = match args.category {
            Kind::Preference => Category::Preference,
            Kind::Directory => Category::Directory,
            Kind::ExploreResult => Category::ExploreResult,
            Kind::Solution => Category::Solution { topic: args.topic },
            Kind::Strategy => Category::Strategy,
        };
        let keep = match args.scope {
            Some(Where::Global) => MemoryReach::Global,
            Some(Where::Private) => MemoryReach::Private,
            Some(Where::Directory) => MemoryReach::Directory,
            None => usual_reach(&category),
        };
        NewEntry {
            title: args.title,
            summary: args.summary,
            content: args.content,
            category,
            tags: args.tags,
            source: self.source.clone(),
            keep,
            replaces: args.id.filter(|id| !id.trim().is_empty()),
        }
    }
}

fn words(kept: &Kept) -> String {
    let id = &kept.note.id;
    let mut words = match kept.action {
        Some(MemoryAction::Stored | MemoryAction::Recalled) => format!("Stored as {id}."),
        Some(MemoryAction::Updated) => format!("An entry said nearly the same; {id} was brought up to date."),
        None => format!("Nothing new: {id} says all of it already."),
    };
    if let Some(other) = &kept.resembles {
        let (id, title) = (&other.id, &other.title);
        let _ = write!(
            words,
            " {id} has nearly the same words ({title}) and stays: replace it by its id if it no longer holds."
        );
    }
    if kept.redacted {
        let _ = write!(words, " What looked like a secret was left out.");
    }
    words
}

fn diff_of(draft: &Draft, memory: &Memory) -> Diff {
    let before = draft.before.clone().unwrap_or_default();
    let diff = TextDiff::from_lines(&before, &draft.after);
    let count =
        |tag| u32::try_from(diff.iter_all_changes().filter(|change| change.tag() == tag).count()).unwrap_or(u32::MAX);
    let path = draft.path();
    Diff {
        path: path.strip_prefix(memory.cwd()).unwrap_or(&path).display().to_string(),
        unified: diff.unified_diff().context_radius(3).to_string(),
        added: count(similar::ChangeTag::Insert),
        removed: count(similar::ChangeTag::Delete),
        created: draft.before.is_none(),
        deleted: false,
    }
}
