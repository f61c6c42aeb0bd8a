//! write_file: a whole file, written at once or not at all.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use neco_proto::Display;
use neco_proto::event::KnownFile;
use neco_safety::World;
use neco_safety::secrets::Redactor;
use neco_safety::untrusted;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::Draft;
use super::diff::{self, Change};
use super::foreign;
use super::judged::{Judge, Judged};
use super::ledger::{Ledger, Needed};
use super::left_out::{self, Written};
use super::text::{count_lines, is_crlf, with_crlf};
use super::{blocking, marked};

pub struct WriteFile {
    pub ledger: Arc<Ledger>,
    pub judged: Arc<Judged>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path, relative to the workspace or absolute.
    path: String,
    /// The whole content.
    content: String,
}

impl Tool for WriteFile {
    type Args = Args;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("write_file.md");
    const TOUCH: SideEffect = SideEffect::Writes;

    fn adapt(arguments: &mut serde_json::Value) {
        foreign::rename(arguments, foreign::FILE);
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.ledger.recall(known, workspace);
    }

    fn summary(&self, args: &Args) -> String {
        format!("Write {}", args.path)
    }

    async fn plan(&self, args: &Args, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let (world, ledger, args) = (Arc::clone(&ctx.world), Arc::clone(&self.ledger), args.clone());
        let (judge, redactor) = (Judge::planning(&self.judged, ctx), ctx.spill.redactor());
        blocking::look(ctx, move || {
            let (draft, _, change) = prepare(world.as_ref(), &ledger, &judge, &redactor, &args)?;
            Ok(Plan { diff: vec![change.diff], ..draft.judgement.plan() })
        })
        .await
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (world, ledger) = (Arc::clone(&ctx.world), Arc::clone(&self.ledger));
        let (judge, redactor) = (Judge::running(&self.judged, ctx), ctx.spill.redactor());
        let cancel = ctx.cancel.clone();
        blocking::change(move || {
            let (draft, text, change) = prepare(world.as_ref(), &ledger, &judge, &redactor, &args)?;
            if cancel.is_cancelled() {
                return Err(blocking::cancelled());
            }
            let written = draft.write_whole(world.as_ref(), &ledger, &text)?;
            let done = if draft.text.is_none() { "Created" } else { "Overwrote" };
            let shown = draft.located.shown();
            let lines = count_lines(&text);
            let unit = if lines == 1 { "line" } else { "lines" };
            let words = format!("{done} {shown}: {lines} {unit}, {} bytes.{}", written.bytes, written.note());
            let output =
                ToolOutput::text(words).with_known(ledger.to_keep(&draft.located)).with_changed(&draft.located);
            Ok(output.with_display(Display::Diff { files: vec![change.diff] }))
        })
        .await
    }
}

/// The file as it is, the text as it will stand in it, and the difference.
fn prepare<'a>(
    world: &dyn World,
    ledger: &Ledger,
    judge: &Judge,
    redactor: &Redactor,
    args: &'a Args,
) -> Result<(Draft, Cow<'a, [u8]>, Change), ToolError> {
    let draft = Draft::load(world, ledger, judge, &args.path, Needed::All)?;
    let content = args.content.strip_prefix('\u{feff}').filter(|_| draft.form.mark).unwrap_or(&args.content);
    let old = draft.old_text();
    marked::check(redactor, content, &old, &draft.located.shown())?;
    let content = untrusted::restored(content, &old);
    left_out::check(&Written { shown: &draft.located.shown(), file: &old, old: &old, new: &content })?;
    let keeps_crlf = draft.text.as_deref().is_some_and(is_crlf) && !content.contains('\r');
    let text = match content {
        content if keeps_crlf => Cow::Owned(with_crlf(content.as_bytes())),
        Cow::Borrowed(content) => Cow::Borrowed(content.as_bytes()),
        Cow::Owned(content) => Cow::Owned(content.into_bytes()),
    };
    let change = diff::change(&draft.located.shown(), draft.text.as_deref(), &text);
    Ok((draft, text, change))
}
