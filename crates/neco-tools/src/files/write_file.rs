//! write_file: a whole file, written at once or not at all.

use std::borrow::Cow;

use neco_proto::{Display, Risk};
use neco_safety::untrusted;
use neco_toolkit::{Plan, SideEffect, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{FileCall, FileTool};
use super::change::Draft;
use super::diff::{self, Change};
use super::ledger::Needed;
use super::left_out::{self, Written};
use super::text::{count_lines, is_crlf, with_crlf};
use super::{foreign, marked};

pub struct WriteFile;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path, relative or absolute.
    path: String,
    content: String,
}

impl FileTool for WriteFile {
    type Args = Args;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("write_file.md");
    const TOUCH: SideEffect = SideEffect::Writes;
    const FOREIGN: &'static [foreign::Names] = &[foreign::FILE, foreign::CONTENT];

    fn summary(args: &Args) -> String {
        format!("Write {}", args.path)
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        let (draft, text, change) = prepare(args, call)?;
        let plan = draft.judgement.plan();
        // Nobody has to look at a change that is none; what may hold secrets or lies outside is asked about as ever.
        if is_the_same(&draft, &text) && plan.risk == Risk::Medium {
            return Ok(Plan { risk: Risk::Safe, ..plan });
        }
        Ok(Plan { diff: vec![change.diff], ..plan })
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let (draft, text, change) = prepare(args, call)?;
        call.go_on()?;
        if is_the_same(&draft, &text) {
            let words =
                format!("{} holds exactly this already: unchanged, nothing was written.", draft.located.shown());
            return Ok(ToolOutput::text(words).with_known(call.ledger.to_keep(&draft.located)));
        }
        let written = draft.write_whole(call, &text)?;
        let done = if draft.text.is_none() { "Created" } else { "Overwrote" };
        let (shown, lines) = (draft.located.shown(), count_lines(&text));
        let unit = if lines == 1 { "line" } else { "lines" };
        let words = format!("{done} {shown}: {lines} {unit}, {} bytes.{}", written.bytes, written.note());
        let output =
            ToolOutput::text(words).with_known(call.ledger.to_keep(&draft.located)).with_changed(&draft.located);
        Ok(output.with_display(Display::Diff { files: vec![change.diff] }))
    }
}

/// Whether the file has this text already.
fn is_the_same(draft: &Draft, text: &[u8]) -> bool {
    draft.text.as_deref() == Some(text)
}

/// The file as it is, the text as it will stand in it, and the difference.
fn prepare<'a>(args: &'a Args, call: &FileCall) -> Result<(Draft, Cow<'a, [u8]>, Change), ToolError> {
    let draft = Draft::load(call, &args.path, Needed::All)?;
    let content = args.content.strip_prefix('\u{feff}').filter(|_| draft.form.mark).unwrap_or(&args.content);
    let old = draft.old_text();
    marked::check(&call.redactor(), content, &old, &draft.located.shown())?;
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
