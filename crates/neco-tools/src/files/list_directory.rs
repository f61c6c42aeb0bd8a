//! list_directory: what is in a folder.

use std::sync::Arc;

use neco_safety::path::{Access, PathError};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use neco_workspace::Scope;
use schemars::JsonSchema;
use serde::Deserialize;

use super::foreign;
use super::judged::{Judge, Judged};
use super::listing::{self, Page};
use super::{blocking, near};

const DEFAULT_LIMIT: u32 = 500;

pub struct ListDirectory {
    pub judged: Arc<Judged>,
}

#[derive(Debug, Deserialize, JsonSchema)]
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

impl Args {
    fn path(&self) -> &str {
        self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".")
    }
}

impl Tool for ListDirectory {
    type Args = Args;
    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = include_str!("list_directory.md");
    const TOUCH: SideEffect = SideEffect::Reads;

    fn adapt(arguments: &mut serde_json::Value) {
        foreign::rename(arguments, foreign::FOLDER);
    }

    fn summary(&self, args: &Args) -> String {
        format!("List {}", args.path())
    }

    async fn plan(&self, args: &Args, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let (world, path) = (Arc::clone(&ctx.world), args.path().to_owned());
        let judge = Judge::planning(&self.judged, ctx);
        blocking::look(ctx, move || {
            let folder = near::existing(world.files(), &path)?;
            Ok(judge.judge(&path, &folder, Access::Read)?.plan())
        })
        .await
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (world, bytes) = (Arc::clone(&ctx.world), ctx.max_output);
        let judge = Judge::running(&self.judged, ctx);
        blocking::look(ctx, move || {
            let folder = near::existing(world.files(), args.path())?;
            judge.judge(args.path(), &folder, Access::Read)?;
            if !folder.metadata()?.is_dir() {
                return Err(PathError::NotADirectory(folder.shown()).into());
            }
            let page = Page {
                skip: args.skip.unwrap_or(0) as usize,
                limit: args.limit.unwrap_or(DEFAULT_LIMIT) as usize,
                bytes,
            };
            listing::list(world.files(), &folder, scope(args.all), page)
        })
        .await
    }
}

/// What `all` stands for.
pub fn scope(all: Option<bool>) -> Scope {
    if all.unwrap_or(false) { Scope::Everything } else { Scope::Visible }
}
