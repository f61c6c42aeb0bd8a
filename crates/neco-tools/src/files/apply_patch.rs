//! apply_patch: changes to several files in one patch, all or none.

use std::path::Path;
use std::sync::Arc;

use neco_proto::event::KnownFile;
use neco_proto::{Display, ErrorCode};
use neco_safety::World;
use neco_safety::secrets::Redactor;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
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
    const TOUCH: SideEffect = SideEffect::Writes;

    fn adapt(arguments: &mut serde_json::Value) {
        foreign::rename(arguments, foreign::PATCH);
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.ledger.recall(known, workspace);
    }

    fn summary(&self, args: &Args) -> String {
        match Readings::of(&args.patch).first() {
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
            let stage = stage(world.as_ref(), &ledger, &judge, &redactor, &args, &cancel)?;
            Ok(Plan { diff: plan_diffs(&stage), ..stage.plan() })
        })
        .await
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (world, ledger) = (Arc::clone(&ctx.world), Arc::clone(&self.ledger));
        let (judge, redactor) = (Judge::running(&self.judged, ctx), ctx.spill.redactor());
        let cancel = ctx.cancel.clone();
        blocking::change(move || {
            let stage = stage(world.as_ref(), &ledger, &judge, &redactor, &args, &cancel)?;
            if cancel.is_cancelled() {
                return Err(blocking::cancelled());
            }
            let files = plan_diffs(&stage);
            let notes = carry_out(world.as_ref(), &ledger, &stage)?;
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
    Readings::of(patch).first().iter().flat_map(named).map(str::to_owned).collect()
}

/// The names that a change to a file has.
fn named(file: &FilePatch) -> impl Iterator<Item = &str> {
    let other = match &file.act {
        Act::Update { move_to, .. } => move_to.as_deref(),
        Act::Add(_) | Act::Delete(_) => None,
    };
    std::iter::once(file.path.as_str()).chain(other)
}

/// What a patch can be read as: a line of a file may look like a heading, so what is written as it should be comes
/// first.
struct Readings {
    /// As it is written, or why it can't be read so.
    strict: Result<Vec<FilePatch>, String>,
    /// With headings as they were meant, where that is something else.
    loose: Option<Vec<FilePatch>>,
}

impl Readings {
    fn of(patch: &str) -> Self {
        let strict = read(patch);
        let loose = read_loosely(patch).filter(|loose| strict.as_ref() != Ok(loose));
        Self { strict, loose }
    }

    /// The reading that counts as far as the patch alone can tell; nothing where there is none.
    fn first(&self) -> &[FilePatch] {
        self.strict.as_deref().ok().or(self.loose.as_deref()).unwrap_or_default()
    }
}

fn stage(
    world: &dyn World,
    ledger: &Ledger,
    judge: &Judge,
    redactor: &Redactor,
    args: &Args,
    cancel: &CancellationToken,
) -> Result<Stage, ToolError> {
    let stop = || cancel.is_cancelled();
    let around = Surroundings { world, ledger, judge, redactor, stop: &stop };
    let staged = |patch: &[FilePatch]| {
        judge.begin();
        Stage::of(patch, &around)
    };
    let Readings { strict, loose } = Readings::of(&args.patch);
    let refused = match (&strict, &loose) {
        // It was planned as it reads otherwise: a file that was not judged is not touched.
        (Ok(patch), Some(loose)) if !patch.iter().flat_map(named).all(|path| judge.may_name(path)) => {
            return staged(loose);
        }
        (Ok(patch), _) => match staged(patch) {
            Err(error) if is_of_the_patch(error.code) => error,
            result => return result,
        },
        (Err(why), None) => return Err(ToolError::new(ErrorCode::InvalidArguments, format!("patch: {why}"))),
        (Err(_), Some(loose)) => return staged(loose),
    };
    loose.and_then(|loose| staged(&loose).ok()).ok_or(refused)
}

/// Whether the patch itself, and not the world, is what it failed by.
fn is_of_the_patch(code: ErrorCode) -> bool {
    use ErrorCode::{EditTextNotFound, EditTextNotUnique, FileNotFound, InvalidArguments};
    [EditTextNotFound, EditTextNotUnique, FileNotFound, InvalidArguments].contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_patch_are_those_of_the_reading_that_is_carried_out() {
        for (patch, names) in [
            ("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch", vec!["a", "b"]),
            ("*** begin patch ***\n***Update File:a\n@@\n-x\n+y\n*** end patch ***", vec!["a"]),
            ("no patch", Vec::new()),
        ] {
            assert_eq!(patched(patch), names, "{patch}");
        }
    }
}
