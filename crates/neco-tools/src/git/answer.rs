//! What comes of a run that went well.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use neco_proto::Display;
use neco_safety::path::Access;
use neco_safety::path::sensitive::is_sensitive_file;
use neco_safety::world::World;
use neco_toolkit::{ToolContext, ToolError, ToolOutput, counted};
use neco_workspace::walk::{Scope, walker};

use super::order::Order;
use super::run::{Ran, run};
use super::tool::{GitArgs, LOOKING, SOURCE};
use super::{diffs, status};
use crate::shell::wording::last_lines;

/// Lines of an output that a person is shown.
const SHOWN_LINES: usize = 40;

/// How things stand.
pub(super) async fn status(ran: &Ran, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let text = status::told(&ran.text);
    let note = note(ctx).await?;
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
    let display = Display::Terminal { command: order.line(), tail, exit_code: Some(0), background: None };
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
        if let Some(note) = note(ctx).await? {
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

/// Files that are named.
const NAMED: usize = 5;
/// Files that are counted.
const MOST: usize = 200;

/// What is said of sensitive files that are not ignored and that git does not see; nothing when there are none.
async fn note(ctx: &ToolContext) -> Result<Option<String>, ToolError> {
    if !ctx.world.processes().is_boxed() {
        return Ok(None);
    }
    let world = Arc::clone(&ctx.world);
    let found = tokio::task::spawn_blocking(move || sensitive(world.files().workspace())).await;
    let mut names = found.map_err(|error| ToolError::failed(error.to_string()))?;
    if names.is_empty() {
        return Ok(None);
    }
    let seen = run(&Order::seen(&names), LOOKING, ctx).await?;
    let seen = String::from_utf8_lossy(&seen.raw);
    let seen: HashSet<&str> = seen.split('\0').collect();
    names.retain(|name| !seen.contains(name.as_str()));
    Ok(words(&names))
}

/// Sensitive files of a folder that git does not ignore.
fn sensitive(workspace: &Path) -> Vec<String> {
    let entries = walker(workspace, workspace, Scope::Hidden).build().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let sensitive = files.filter(|entry| is_sensitive_file(entry.path()).is_some());
    let names = sensitive.filter_map(|entry| Some(entry.path().strip_prefix(workspace).ok()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.take(MOST).collect();
    names.sort();
    names
}

fn words(names: &[String]) -> Option<String> {
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| {
        format!(
            "({}: {named}{more}. Sensitive files are closed to git here, so they are neither listed nor staged)",
            counted(names.len(), "untracked file is left out", "untracked files are left out"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sensitive_files_that_git_would_take_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".env", "src/id_rsa", "a.txt", "kept/.env"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "kept/\n").unwrap();
        let names = sensitive(folder.path());
        assert_eq!(names, [".env", "src/id_rsa"]);
        assert!(words(&names).unwrap().starts_with("(2 untracked files are left out: .env, src/id_rsa. "));
        assert_eq!(words(&[]), None);
        let many: Vec<String> = (0..7).map(|number| format!("{number}.pem")).collect();
        assert!(words(&many).unwrap().contains("4.pem and 2 more. "));
    }
}
