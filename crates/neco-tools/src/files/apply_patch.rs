//! apply_patch: changes to several files in one patch, all or none.

use std::path::Path;
use std::sync::Arc;

use neco_proto::event::KnownFile;
use neco_proto::{Display, ErrorCode};
use neco_safety::secrets::Redactor;
use neco_safety::world::Files;
use neco_toolkit::{Plan, Tool, ToolContext, ToolError, ToolOutput, Touch};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::blocking;
use super::foreign;
use super::judged::{Judge, Judged};
use super::ledger::Ledger;
use super::patch::{Act, FilePatch, Stage, Surroundings, carry_out, done_words, plan_diffs, read, read_loosely};

pub struct ApplyPatch {
    pub ledger: Arc<Ledger>,
    pub judged: Arc<Judged>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The patch.
    patch: String,
}

impl Tool for ApplyPatch {
    type Args = Args;
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = include_str!("apply_patch.md");
    const TOUCH: Touch = Touch::Writes;

    fn adapt(arguments: &mut serde_json::Value) {
        foreign::rename(arguments, foreign::PATCH);
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.ledger.recall(known, workspace);
    }

    fn summary(&self, args: &Args) -> String {
        let patch = read(&args.patch).ok().or_else(|| read_loosely(&args.patch));
        match patch.unwrap_or_default().as_slice() {
            [] => "Apply a patch".to_owned(),
            [one] => format!("Patch {}", one.path),
            [first, rest @ ..] => format!("Patch {} and {} more", first.path, rest.len()),
        }
    }

    async fn plan(&self, args: &Args, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let (world, ledger, args) = (Arc::clone(&ctx.world), Arc::clone(&self.ledger), args.clone());
        let (judge, redactor) = (Judge::planning(&self.judged, ctx), ctx.spill.redactor());
        let cancel = ctx.cancel.clone();
        blocking::look(ctx, move || {
            let stage = stage(&world.files, &ledger, &judge, &redactor, &args, &cancel)?;
            Ok(Plan { diff: plan_diffs(&stage), ..stage.plan() })
        })
        .await
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (world, ledger) = (Arc::clone(&ctx.world), Arc::clone(&self.ledger));
        let (judge, redactor) = (Judge::running(&self.judged, ctx), ctx.spill.redactor());
        let cancel = ctx.cancel.clone();
        blocking::change(move || {
            let stage = stage(&world.files, &ledger, &judge, &redactor, &args, &cancel)?;
            if cancel.is_cancelled() {
                return Err(blocking::cancelled());
            }
            let files = plan_diffs(&stage);
            let notes = carry_out(&world.files, &ledger, &stage)?;
            let known = stage.staged.iter().filter(|staged| staged.text.is_some());
            let known = known.filter_map(|staged| ledger.to_keep(&staged.located));
            let output = ToolOutput::text(done_words(&stage, &notes)).with_known(known);
            let output = stage.staged.iter().fold(output, |output, staged| output.with_changed(&staged.located));
            Ok(output.with_display(Display::Diff { files }))
        })
        .await
    }
}

/// The files that a patch names, as it names them; none where it can't be read.
#[must_use]
pub fn patched(patch: &str) -> Vec<String> {
    let named = |file: FilePatch| match file.act {
        Act::Update { move_to: Some(other), .. } => vec![file.path, other],
        Act::Add(_) | Act::Delete(_) | Act::Update { move_to: None, .. } => vec![file.path],
    };
    read(patch).unwrap_or_default().into_iter().flat_map(named).collect()
}

fn stage(
    files: &Files,
    ledger: &Ledger,
    judge: &Judge,
    redactor: &Redactor,
    args: &Args,
    cancel: &CancellationToken,
) -> Result<Stage, ToolError> {
    let stop = || cancel.is_cancelled();
    let around = Surroundings { files, ledger, judge, redactor, stop: &stop };
    let strict = read(&args.patch);
    let loose = || read_loosely(&args.patch).filter(|loose| strict.as_ref() != Ok(loose));
    let refused = match &strict {
        Ok(patch) => match Stage::of(patch, &around) {
            Err(error) if is_of_the_patch(error.code) => error,
            result => return result,
        },
        Err(why) => {
            let refused = ToolError::new(ErrorCode::InvalidArguments, format!("patch: {why}"));
            return loose().map_or(Err(refused), |loose| Stage::of(&loose, &around));
        }
    };
    // A line of a file may look like a heading, so what is written as it should be comes first.
    loose().and_then(|loose| Stage::of(&loose, &around).ok()).ok_or(refused)
}

/// Whether the patch itself, and not the world, is what it failed by.
fn is_of_the_patch(code: ErrorCode) -> bool {
    use ErrorCode::{EditTextNotFound, EditTextNotUnique, FileNotFound, InvalidArguments};
    [EditTextNotFound, EditTextNotUnique, FileNotFound, InvalidArguments].contains(&code)
}
