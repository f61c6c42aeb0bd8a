//! code_search: the files that a question is about.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::ErrorCode;
use neco_safety::path::Access;
use neco_toolkit::{Plan, ToolError, ToolOutput};
use neco_workspace::index::{Hit, Hits, Indexes};
use schemars::JsonSchema;
use serde::Deserialize;

use super::index::{Narrow, Progress, failed, index_of};
use super::page::{Page, rest};
use crate::files::call::{FileCall, FileTool, folder};

const DEFAULT_LIMIT: u32 = 10;
const MOST: usize = 100;

/// The first build of an index may take minutes where disks are slow.
pub(super) const LONGEST: Duration = Duration::from_secs(900);

pub struct CodeSearch(pub Arc<Indexes>);

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

impl FileTool for CodeSearch {
    type Args = Args;
    const NAME: &'static str = "code_search";
    const DESCRIPTION: &'static str = include_str!("code_search.md");
    const LONGEST: Option<Duration> = Some(LONGEST);

    fn summary(args: &Args) -> String {
        match folder(args.path.as_deref()) {
            "." => format!("Search code for {:?}", args.query),
            path => format!("Search code for {:?} in {path}", args.query),
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::new(ErrorCode::InvalidArguments, "query is empty"));
        }
        let narrow = Narrow::new(call.files(), args.path.as_deref(), args.glob.as_deref())?;
        Ok(call.judge.judge(folder(args.path.as_deref()), &narrow.place, Access::Read)?.plan())
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let narrow = Narrow::new(call.files(), args.path.as_deref(), args.glob.as_deref())?;
        call.judge.judge(folder(args.path.as_deref()), &narrow.place, Access::Read)?;
        let (skip, limit) = (args.skip.unwrap_or(0) as usize, args.limit.unwrap_or(DEFAULT_LIMIT) as usize);
        let (limit, fits) = (limit.clamp(1, MOST), |path: &Path| narrow.fits(path));
        let index = index_of(&self.0, call.files())?;
        let found = index.ask(&Progress::of(&call.ctx), |index| index.search(&args.query, &fits, skip, limit));
        Ok(print(args, &found.map_err(failed)?, skip, call.ctx.max_output))
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
