//! apply_patch: changes to several files in one patch, all or none.

use neco_proto::{Display, ErrorCode};
use neco_toolkit::{Plan, SideEffect, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{FileCall, FileTool};
use super::patch::{Act, FilePatch, PatchError, Stage, carry_out, done_words, plan_diffs, read, read_loosely};
use super::{foreign, marked};

pub struct ApplyPatch;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The patch.
    patch: String,
}

impl Args {
    /// The patch that deletes a file.
    pub fn deleting(path: &str) -> Result<Self, ToolError> {
        if path.trim().is_empty() || path.contains(['\n', '\r']) {
            return Err(ToolError::new(ErrorCode::InvalidArguments, "path: it must be the name of a file"));
        }
        Ok(Self { patch: format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n") })
    }
}

impl FileTool for ApplyPatch {
    type Args = Args;
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = include_str!("apply_patch.md");
    const TOUCH: SideEffect = SideEffect::Writes;
    const FOREIGN: &'static [foreign::Names] = &[foreign::PATCH];

    fn summary(args: &Args) -> String {
        match Readings::of(&args.patch).first() {
            [] => "Apply a patch".to_owned(),
            [one] => format!("Patch {}", one.path),
            [first, rest @ ..] => format!("Patch {} and {} more", first.path, rest.len()),
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        let stage = stage(args, call)?;
        Ok(Plan { diff: plan_diffs(&stage), ..stage.plan() })
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let stage = stage(args, call)?;
        call.go_on()?;
        let files = plan_diffs(&stage);
        let notes = carry_out(&stage, call)?;
        let known = stage.staged.iter().filter(|staged| staged.text.is_some());
        let known = known.filter_map(|staged| call.ledger.to_keep(&staged.located));
        let output = ToolOutput::text(done_words(&stage, &notes)).with_known(known);
        let output = stage.staged.iter().fold(output, |output, staged| output.with_changed(&staged.located));
        Ok(output.with_display(Display::Diff { files }))
    }
}

/// The files that a patch names, as it names them; none where it can't be read.
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
    strict: Result<Vec<FilePatch>, PatchError>,
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

fn stage(args: &Args, call: &FileCall) -> Result<Stage, ToolError> {
    marked::check_whole(&args.patch)?;
    let staged = |patch: &[FilePatch]| {
        call.judge.begin();
        Stage::of(patch, call)
    };
    let Readings { strict, loose } = Readings::of(&args.patch);
    let refused = match (&strict, &loose) {
        // It was planned as it reads otherwise: a file that was not judged is not touched.
        (Ok(patch), Some(loose)) if !patch.iter().flat_map(named).all(|path| call.judge.may_name(path)) => {
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
