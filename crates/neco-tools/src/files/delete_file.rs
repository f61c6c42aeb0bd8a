//! delete_file: a file taken away, as a patch that deletes it would.

use neco_toolkit::{Plan, SideEffect, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::apply_patch::ApplyPatch;
use super::call::{FileCall, FileTool};
use super::{apply_patch, foreign};

/// Others have it; it is not declared, as `apply_patch` deletes too.
pub struct DeleteFile;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path, relative or absolute.
    path: String,
}

impl FileTool for DeleteFile {
    type Args = Args;
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = "Deletes a file.";
    const TOUCH: SideEffect = SideEffect::Writes;
    const OFFERED: bool = false;
    const FOREIGN: &'static [foreign::Names] = &[foreign::FILE];

    fn summary(args: &Args) -> String {
        format!("Delete {}", args.path)
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        ApplyPatch.plan(&apply_patch::Args::deleting(&args.path)?, call)
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        ApplyPatch.run(&apply_patch::Args::deleting(&args.path)?, call)
    }
}
