//! What comes of a run that went well.

use std::fmt::Write as _;
use std::sync::Arc;

use neco_proto::Display;
use neco_safety::path::Access;
use neco_safety::world::World;
use neco_toolkit::{ToolContext, ToolError, ToolOutput};

use super::order::Order;
use super::run::{Ran, run};
use super::tool::{GitArgs, LOOKING, SOURCE};
use super::{diffs, status, unseen};
use crate::shell::wording::last_lines;
use neco_toolkit::counted;

/// Lines of an output that a person is shown.
const SHOWN_LINES: usize = 40;

/// How things stand.
pub(super) async fn status(ran: &Ran, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let text = status::told(&ran.text);
    let note = unseen::note(ctx).await?;
    let items: Vec<String> = text.lines().chain(note.as_deref()).map(str::to_owned).collect();
    let total = items.len() as u64;
    let display = Display::List { title: "git status".to_owned(), items, total };
    let mut output = told(text, ran).with_display(display);
    if let Some(note) = note {
        let _ = write!(output.model, "\n{note}");
    }
    Ok(output)
}

/// Changes, without the files that nobody was asked about and that are not shown unasked.
pub(super) async fn diff(ran: Ran, args: &GitArgs, nothing: &str, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let (ran, left_out) = without_hidden(ran, !args.paths.is_empty(), ctx).await?;
    if ran.text.trim().is_empty() && left_out.is_empty() {
        return Ok(ToolOutput::text(format!("({nothing})")));
    }
    let split = diffs::split(&ran.text);
    let more = if ran.cut { "at least " } else { "" };
    let head = match split.count {
        0 => String::new(),
        count => {
            format!("({more}{}, +{} −{})\n", counted(count, "file", "files"), split.added, split.removed)
        }
    };
    let start = head.len();
    let mut text = head + ran.text.trim_end();
    let end = text.len();
    for note in [cut_note(&ran), &left_out].iter().filter(|note| !note.is_empty()) {
        let _ = write!(text, "\n{note}");
    }
    let output = ToolOutput::text(text).outside(start..end, SOURCE);
    Ok(if split.count == 0 { output } else { output.with_display(Display::Diff { files: split.files }) })
}

/// What git printed.
pub(super) fn text(order: &Order, ran: &Ran) -> ToolOutput {
    let text = ran.text.trim_end();
    let text = if text.is_empty() { order.silence.to_owned() } else { text.to_owned() };
    let tail = last_lines(&text, SHOWN_LINES).to_owned();
    let display = Display::Terminal { command: order.line(), tail, exit_code: Some(0) };
    told(text, ran).with_display(display)
}

/// What git said, and how things stand now.
pub(super) async fn after_change(order: &Order, ran: &Ran, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let now = run(&Order::status(), LOOKING, ctx).await?;
    let mut said = ran.text.trim_end().to_owned();
    if now.succeeded {
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(&status::told(&now.text));
        if let Some(note) = unseen::note(ctx).await? {
            let _ = write!(said, "\n{note}");
        }
    }
    Ok(text(order, &Ran { text: said, ..ran.clone() }))
}

fn told(mut text: String, ran: &Ran) -> ToolOutput {
    let end = text.len();
    if ran.cut {
        let _ = write!(text, "\n{}", cut_note(ran));
    }
    ToolOutput::text(text).outside(..end, SOURCE)
}

fn cut_note(ran: &Ran) -> &'static str {
    if ran.cut { "(git printed more than 8 MiB; the rest is missing: narrow it with paths or a limit)" } else { "" }
}

/// The run without hidden files, and what is said about them. A person was asked about what is `named` and sensitive;
/// nobody opens what a rule closes.
async fn without_hidden(ran: Ran, named: bool, ctx: &ToolContext) -> Result<(Ran, String), ToolError> {
    let world = Arc::clone(&ctx.world);
    let looked = tokio::task::spawn_blocking(move || {
        let (text, mut out) = diffs::without(&ran.text, |name| hidden(world.as_ref(), name, named).is_some());
        out.dedup();
        let mut notes = String::new();
        for name in out {
            let why = hidden(world.as_ref(), &name, named).unwrap_or_default();
            let _ = write!(notes, "{}({name} is left out: {why})", if notes.is_empty() { "" } else { "\n" });
        }
        (Ran { text, ..ran }, notes)
    });
    looked.await.map_err(|error| ToolError::failed(error.to_string()))
}

/// Why a file is not shown unasked.
fn hidden(world: &dyn World, name: &str, named: bool) -> Option<&'static str> {
    let located = world.files().locate(name, Access::Read).ok()?;
    if world.files().closed().holds(located.path()) {
        return Some("a rule closes it to reading");
    }
    located.sensitive_to_read().filter(|_| !named).map(|_| "it is sensitive; name it in paths to ask for it")
}
