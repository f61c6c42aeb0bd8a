//! code_search: the files that a question is about.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::ErrorCode;
use neco_safety::path::Access;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use neco_workspace::index::{Hit, Hits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::indexes::Indexes;
use super::narrow::Narrow;
use super::page::{Page, rest};
use super::progress::{Progress, failed};
use crate::files::blocking;
use crate::files::judged::{Judge, Judged};

const DEFAULT_LIMIT: u32 = 10;
const MOST: usize = 100;

/// The first build of an index may take minutes where disks are slow.
pub(super) const LONGEST: Duration = Duration::from_secs(900);

pub struct CodeSearch {
    pub indexes: Arc<Indexes>,
    pub judged: Arc<Judged>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Words that describe what you look for.
    query: String,
    /// Folder or file to look in; the workspace if left out.
    path: Option<String>,
    /// Only files that fit this pattern, such as *.rs or !*_test.go.
    glob: Option<String>,
    /// Files to skip.
    skip: Option<u32>,
    /// Files to show.
    limit: Option<u32>,
}

impl Args {
    fn path(&self) -> &str {
        self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".")
    }
}

impl Tool for CodeSearch {
    type Args = Args;
    const NAME: &'static str = "code_search";
    const DESCRIPTION: &'static str = include_str!("code_search.md");
    const TOUCH: SideEffect = SideEffect::Reads;

    fn timeout(&self, _: &Args) -> Option<Duration> {
        Some(LONGEST)
    }

    fn summary(&self, args: &Args) -> String {
        match args.path() {
            "." => format!("Search code for {:?}", args.query),
            path => format!("Search code for {:?} in {path}", args.query),
        }
    }

    async fn plan(&self, args: &Args, ctx: &ToolContext) -> Result<Plan, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::new(ErrorCode::InvalidArguments, "query is empty"));
        }
        let (world, args) = (Arc::clone(&ctx.world), args.clone());
        let judge = Judge::planning(&self.judged, ctx);
        blocking::look(ctx, move || {
            let narrow = Narrow::new(world.files(), args.path.as_deref(), args.glob.as_deref())?;
            Ok(judge.judge(args.path(), narrow.place(), Access::Read)?.plan())
        })
        .await
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (world, bytes, progress) = (Arc::clone(&ctx.world), ctx.max_output, Progress::of(ctx));
        let indexes = Arc::clone(&self.indexes);
        let judge = Judge::running(&self.judged, ctx);
        blocking::look(ctx, move || {
            let narrow = Narrow::new(world.files(), args.path.as_deref(), args.glob.as_deref())?;
            judge.judge(args.path(), narrow.place(), Access::Read)?;
            let index = indexes.of(world.files())?;
            let (skip, limit) = (args.skip.unwrap_or(0) as usize, args.limit.unwrap_or(DEFAULT_LIMIT) as usize);
            let limit = limit.clamp(1, MOST);
            let found = index.ask(&progress, |index| index.search(&args.query, &|path| narrow.fits(path), skip, limit));
            Ok(print(&args, &found.map_err(failed)?, skip, bytes))
        })
        .await
    }
}

fn print(args: &Args, found: &Hits, skip: usize, bytes: usize) -> ToolOutput {
    let mut page = Page::new(bytes);
    let shown = found.hits.iter().take_while(|hit| page.add(&hit.path, &lines(hit))).count();
    let mut note = if found.total == 0 {
        "No file fits; try other words, or grep for exact text.\n".to_owned()
    } else {
        rest(shown, skip, found.total, "file", "")
    };
    for (word, instead) in &found.replaced {
        note.push_str(&format!("({word} is nowhere; searched for {} instead)\n", instead.join(", ")));
    }
    page.finish("code_search", args.query.clone(), found.total, &note)
}

fn lines(hit: &Hit) -> Vec<String> {
    hit.lines.iter().map(|line| format!("{}: {}", line.number, line.text)).collect()
}
