//! list_directory: what is in a folder.

use neco_safety::path::PathError;
use neco_toolkit::{Plan, ToolError, ToolOutput};
use neco_workspace::Scope;
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{FileCall, FileTool, folder};
use super::foreign;
use super::listing::{self, Page};

const DEFAULT_LIMIT: u32 = 500;

pub struct ListDirectory;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder; the workspace if left out.
    path: Option<String>,
    /// Also hidden and ignored names.
    all: Option<bool>,
    /// Entries to skip.
    skip: Option<u32>,
    /// Entries to show.
    limit: Option<u32>,
}

impl FileTool for ListDirectory {
    type Args = Args;
    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = include_str!("list_directory.md");
    const FOREIGN: &'static [foreign::Names] = &[foreign::FOLDER];

    fn summary(args: &Args) -> String {
        format!("List {}", folder(args.path.as_deref()))
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        Ok(call.existing(folder(args.path.as_deref()))?.1.plan())
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let (folder, _) = call.existing(folder(args.path.as_deref()))?;
        if !folder.metadata()?.is_dir() {
            return Err(PathError::NotADirectory(folder.shown()).into());
        }
        let (skip, limit) = (args.skip.unwrap_or(0) as usize, args.limit.unwrap_or(DEFAULT_LIMIT) as usize);
        let page = Page { skip, limit, bytes: call.ctx.max_output };
        listing::list(call.files(), &folder, scope(args.all), page)
    }
}

/// What `all` stands for.
pub fn scope(all: Option<bool>) -> Scope {
    if all.unwrap_or(false) { Scope::Everything } else { Scope::Visible }
}
