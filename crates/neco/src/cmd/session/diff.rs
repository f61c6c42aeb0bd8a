//! `neco session diff`: what changed in the files between two points of a session.

use neco_proto::app::history::{DiffSession, FileDiff};
use neco_proto::app::{App, Caller};
use neco_proto::event::FileChangeKind;
use neco_view::wording::place;
use serde_json::json;

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::print::figures;
use crate::print::paint::Paint;
use crate::say;
use crate::terminal::Terminal;

/// How it is shown.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Only names.
    pub stat: bool,
    /// As JSON.
    pub json: bool,
}

/// Shows what changed.
pub(super) async fn run(
    id: &str,
    from: Option<&str>,
    to: Option<&str>,
    shape: Shape,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let (from, to) = (from.map(str::to_owned), to.map(str::to_owned));
    let request = DiffSession { session: id.to_owned(), folder: desk.folder(true)?, from, to };
    let app: &dyn App = &desk.app();
    let diff = app.ask(&Caller::person(), &request).await?;
    diff.place.iter().for_each(|note| say::note(&place::words(note)));
    let text = match (shape.json, shape.stat) {
        (true, _) => format!("{:#}\n", json!(diff.files)),
        (false, true) => names(&diff.files),
        (false, false) => texts(&diff.files, Terminal::look_at(desk.env).stdout_paint()),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// What changed, as a person reads it.
fn texts(diffs: &[FileDiff], paint: Paint) -> String {
    if diffs.is_empty() {
        return "nothing changed\n".to_owned();
    }
    let coloured = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => paint.bold(line),
        Some(b'+') => paint.green(line),
        Some(b'-') => paint.red(line),
        Some(b'@') => paint.dim(line),
        Some(_) | None => line.to_owned(),
    };
    let lines = diffs.iter().flat_map(|diff| clean(&diff.diff).lines().map(coloured).collect::<Vec<_>>());
    lines.map(|line| line + "\n").collect()
}

fn names(diffs: &[FileDiff]) -> String {
    let line = |diff: &FileDiff| format!("{} {}\n", letter(diff.kind), clean_line(&diff.path));
    let lines: String = diffs.iter().map(line).collect();
    format!("{lines}{} changed\n", figures::count(diffs.len() as u64, "file"))
}

fn letter(kind: FileChangeKind) -> char {
    match kind {
        FileChangeKind::Added => 'A',
        FileChangeKind::Modified => 'M',
        FileChangeKind::Deleted => 'D',
    }
}
