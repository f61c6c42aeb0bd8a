//! memory_search: entries that fit a few words.

use std::sync::Arc;

use jiff::Timestamp;
use neco_proto::Display;
use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::refused;
use crate::memory::found::Found;
use crate::memory::keep::reach_words;
use crate::memory::memory::Memory;

/// How many entries are given when nobody says.
const USUAL: usize = 10;

pub struct MemorySearch(pub Arc<Memory>);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Words to look for.
    query: String,
    /// Most entries to give; 10 when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

impl Tool for MemorySearch {
    type Args = Args;
    const NAME: &'static str = "memory_search";
    const DESCRIPTION: &'static str = include_str!("memory_search.md");
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, args: &Args) -> String {
        format!("Search memory for {}", args.query)
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let found = self.0.search(&args.query, args.limit.unwrap_or(USUAL).clamp(1, 50)).await.map_err(refused)?;
        if found.is_empty() {
            return Ok(ToolOutput::text("Nothing in the memory fits these words."));
        }
        let head = format!("{} entries; memory_get gives the whole text.\n", found.len());
        let lines: Vec<String> = found.iter().map(line).collect();
        let display = Display::List {
            title: "memory".to_owned(),
            items: found.iter().map(|found| self.0.without_secrets(&format!("{} {}", found.id, found.title))).collect(),
            total: found.len() as u64,
        };
        let (mut text, mut places) = (head.clone(), Vec::new());
        for line in &lines {
            let start = text.len();
            text.push_str(&self.0.without_secrets(line));
            places.push(start..text.len());
            text.push('\n');
        }
        Ok(ToolOutput::text(text.trim_end()).outside(head.len().., "memory").with_display(display).with_hits(places))
    }
}

fn line(found: &Found) -> String {
    let day = Timestamp::from_millisecond(found.created_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let day = day.to_zoned(jiff::tz::TimeZone::UTC).date();
    let reach = reach_words(found.scope(), &found.reach);
    format!("[{}] {}: {} ({}, {reach}, {day})", found.id, found.title, found.summary, found.category)
}
