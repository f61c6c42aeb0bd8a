//! memory_get: the whole text of entries.

use std::fmt::Write;
use std::sync::Arc;

use neco_proto::ErrorCode;
use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::refused;
use crate::memory::found::Found;
use crate::memory::memory::{Memory, MemoryError};

const MOST_AT_ONCE: usize = 20;

pub struct MemoryGet(pub Arc<Memory>);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The id of the entry, or several with commas between them.
    id: String,
}

impl Tool for MemoryGet {
    type Args = Args;
    const NAME: &'static str = "memory_get";
    const DESCRIPTION: &'static str = include_str!("memory_get.md");
    const TOUCH: SideEffect = SideEffect::Reads;

    /// Several ids may come as a list.
    fn adapt(arguments: &mut serde_json::Value) {
        let Some(id) = arguments.get_mut("id") else { return };
        let ids = id.as_array().map(|ids| ids.iter().filter_map(|id| id.as_str()).collect::<Vec<_>>().join(","));
        if let Some(ids) = ids {
            *id = serde_json::Value::from(ids);
        }
    }

    fn summary(&self, args: &Args) -> String {
        format!("Recall {}", args.id)
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ids: Vec<&str> = args.id.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        if ids.is_empty() || ids.len() > MOST_AT_ONCE {
            let words = format!("id: one to {MOST_AT_ONCE} ids, with commas between them");
            return Err(ToolError::new(ErrorCode::InvalidArguments, words));
        }
        let each = self.0.find_each(&ids).await.map_err(refused)?;
        let (there, not_there): (Vec<_>, Vec<_>) = each.into_iter().partition(Result::is_ok);
        let mut found: Vec<Found> = there.into_iter().flatten().collect();
        let mut unknown: Vec<MemoryError> = not_there.into_iter().filter_map(Result::err).collect();
        if found.is_empty() && !unknown.is_empty() {
            return Err(refused(unknown.remove(0)));
        }
        let notes: String = unknown.iter().map(|error| format!("[{error}]\n")).collect();
        // The person's own words first: the rest is marked as coming from outside.
        found.sort_by_key(|found| !found.is_the_persons());
        let (mut text, mut from) = (notes, None);
        for found in &found {
            if !found.is_the_persons() {
                from.get_or_insert((text.len(), found.path().display().to_string()));
            }
            text.push_str(&self.whole(found).await?);
        }
        let output = ToolOutput::text(text.trim_end());
        Ok(match from {
            Some((start, source)) => output.outside(start.., source),
            None => output,
        })
    }
}

impl MemoryGet {
    async fn whole(&self, found: &Found) -> Result<String, ToolError> {
        let entry = self.0.read(found).await.map_err(refused)?;
        self.0.count_use(found).await;
        let mut text = format!("[{}] {}\n{}", found.id, entry.title, entry.category);
        if !entry.tags.is_empty() {
            let _ = write!(text, " · {}", entry.tags.join(", "));
        }
        let _ = write!(text, " · {} · {}\n{}\n", entry.source, found.path().display(), entry.summary);
        if !entry.content.is_empty() && entry.content != entry.summary {
            let _ = write!(text, "\n{}\n", entry.content);
        }
        text.push('\n');
        Ok(self.0.without_secrets(&text))
    }
}
