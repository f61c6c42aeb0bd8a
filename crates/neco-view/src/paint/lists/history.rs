//! Going back in a session and comparing its files, as lines.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::app::history::{FileDiff, RewindOutlook, RewindPoints, RewoundSession};
use neco_proto::clean::{clean, clean_line};
use neco_proto::event::FileChangeKind;
use neco_proto::{RewindKind, RewindPoint, RewindPreview};

use crate::figures::{self, ago};
use crate::paint::colour::Paint;
use crate::paint::wrap::{columns, fitting, wrap};
use crate::short_id::short_id;
use crate::wording::rewind::{AS_THEY_WERE, WHILE_IT_RAN, not_undone};

/// Most files that are named.
const NAMED: usize = 40;

/// The messages that can be gone back to, and how.
pub fn points(found: &RewindPoints, now: Timestamp, width: usize) -> String {
    let id = short_id(found.session_id);
    if found.messages.is_empty() {
        return match found.is_said {
            true => format!("everything was rewound; undo it with  neco session rewind {id} --undo\n"),
            false => "nothing was said in this session yet\n".to_owned(),
        };
    }
    format!("{}\nrewind to before one with  neco session rewind {id} --to N\n", messages(&found.messages, now, width))
}

/// One line for each message: its number, when, what came of it, what was said.
fn messages(points: &[RewindPoint], now: Timestamp, width: usize) -> String {
    let number = points.iter().map(|point| point.number.to_string().len()).max().unwrap_or_default();
    let mut text = String::new();
    for point in points {
        let said = fitting(&clean_line(&point.text), width.saturating_sub(number + 2));
        let _ = writeln!(text, "{:>number$}  {said}", point.number);
        let files = if point.files { " · files changed since" } else { "" };
        let (when, calls) = (ago(point.ts.as_millisecond(), now), figures::count(point.calls, "call"));
        let _ = writeln!(text, "{:number$}  {when} · {calls}{files}", "");
    }
    text
}

/// What going back would change, for somebody in the folder `here`.
pub fn preview(outlook: &RewindOutlook, here: &str, width: usize) -> String {
    let cwd = &outlook.session.cwd;
    let elsewhere = !outlook.preview.files.is_empty() && Path::new(cwd) != Path::new(here);
    let place = if elsewhere { format!("in {}:\n", clean_line(cwd)) } else { String::new() };
    place + &changes(&outlook.preview, width)
}

fn changes(preview: &RewindPreview, width: usize) -> String {
    let mut text = String::new();
    counted(&mut text, &preview.messages, "removed from the conversation", width);
    counted(&mut text, &preview.again, "restored", width);
    files(&mut text, preview, width);
    for note in &preview.notes {
        let _ = writeln!(text, "{}", wrap(&format!("! {}", clean_line(note)), width));
    }
    if let Some(told) = not_undone(&preview.not_undone) {
        let _ = writeln!(text, "{}", wrap(&told.to_string(), width));
    }
    text
}

fn counted(text: &mut String, points: &[RewindPoint], what: &str, width: usize) {
    if points.is_empty() {
        return;
    }
    let _ = writeln!(text, "{} {what}:", figures::count(points.len() as u64, "message"));
    for point in points {
        let _ = writeln!(text, "  > {}", fitting(&clean_line(&point.text), width.saturating_sub(4)));
    }
}

fn files(text: &mut String, preview: &RewindPreview, width: usize) {
    if preview.files.is_empty() {
        if preview.rev.is_some() {
            let _ = writeln!(text, "{AS_THEY_WERE}");
        }
        return;
    }
    let _ = writeln!(text, "{} would change:", figures::count(preview.files.len() as u64, "file"));
    for file in preview.files.iter().take(NAMED) {
        let word = match file.kind {
            FileChangeKind::Added => "restored",
            FileChangeKind::Modified => "changed ",
            FileChangeKind::Deleted => "deleted ",
        };
        let lines = file.lines.map(|lines| format!("  +{} −{}", lines.added, lines.removed)).unwrap_or_default();
        let others = match (file.by_others, file.unsure) {
            (true, _) => "  (you or another program changed it since)".to_owned(),
            (false, true) => format!("  ({WHILE_IT_RAN})"),
            (false, false) => String::new(),
        };
        let path = fitting(&clean_line(&file.path), width.saturating_sub(12 + columns(&lines) + columns(&others)));
        let _ = writeln!(text, "  {word}  {path}{lines}{others}");
    }
    if preview.files.len() > NAMED {
        let _ = writeln!(text, "  and {} more", preview.files.len() - NAMED);
    }
    let others = preview.files.iter().filter(|file| file.by_others).count();
    if others > 0 {
        let theirs = figures::count(others as u64, "file");
        let words = format!("! you or another program changed {theirs} since; --undo restores that");
        let _ = writeln!(text, "{}", wrap(&words, width));
    }
}

/// What was done, and how it is taken back.
pub fn done(outlook: &RewindOutlook, went: &RewoundSession) -> String {
    let new = went.kept.iter().filter(|words| !outlook.preview.notes.contains(words));
    let kept: String = new.map(|words| format!("! {}\n", clean_line(words))).collect();
    if outlook.is_mending {
        return format!("{kept}restored what was there before\n");
    }
    let is_undo = outlook.undoes.is_some() && outlook.preview.kind != RewindKind::Redo;
    let done = match (outlook.undoes.is_some(), is_undo) {
        (false, _) => "rewound",
        (true, true) => "rewind undone",
        (true, false) => "rewound again",
    };
    let back = if is_undo { "redo it with  neco session rewind" } else { "undo it with  neco session rewind" };
    let flag = if is_undo { "--redo" } else { "--undo" };
    format!("{kept}{done}; {back} {} {flag}\n", short_id(outlook.session.id))
}

/// What changed, as a person reads it.
pub fn texts(diffs: &[FileDiff], paint: Paint) -> String {
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

/// The names of what changed.
pub fn names(diffs: &[FileDiff]) -> String {
    let letter = |kind: FileChangeKind| match kind {
        FileChangeKind::Added => 'A',
        FileChangeKind::Modified => 'M',
        FileChangeKind::Deleted => 'D',
    };
    let line = |diff: &FileDiff| {
        let others = if diff.by_others { "  (by others)" } else { "" };
        format!("{} {}{others}\n", letter(diff.kind), clean_line(&diff.path))
    };
    let lines: String = diffs.iter().map(line).collect();
    let theirs = match diffs.iter().filter(|diff| diff.by_others).count() {
        0 => String::new(),
        theirs => format!(", {theirs} of them by others"),
    };
    format!("{lines}{} changed{theirs}\n", figures::count(diffs.len() as u64, "file"))
}

#[cfg(test)]
mod tests {
    use neco_proto::event::RewindWhat;
    use neco_proto::{FilePreview, MessageId};

    use super::*;

    fn point(number: u64, text: &str, calls: u64, files: bool) -> RewindPoint {
        let ts = Timestamp::now() - jiff::SignedDuration::from_mins(10 * (4 - number as i64));
        let changed = Default::default();
        RewindPoint {
            number,
            message_id: MessageId::new(),
            seq: number * 10,
            ts,
            text: text.to_owned(),
            calls,
            files,
            changed,
        }
    }

    fn said() -> Vec<RewindPoint> {
        vec![
            point(1, "where is the login page made?", 3, true),
            point(2, "make it remember who was there last\nand write a test for it, please", 12, true),
            point(3, "谢谢，请再检查一遍", 0, false),
        ]
    }

    fn preview(messages: Vec<RewindPoint>, again: Vec<RewindPoint>) -> RewindPreview {
        RewindPreview {
            kind: RewindKind::Message,
            about: "make it remember".to_owned(),
            message_id: MessageId::new(),
            what: RewindWhat::Both,
            to: 19,
            messages,
            again,
            rev: Some("abc".to_owned()),
            files: Vec::new(),
            notes: Vec::new(),
            not_undone: Vec::new(),
            over_work: false,
        }
    }

    #[test]
    fn messages_are_listed_with_what_came_of_them() {
        insta::assert_snapshot!("rewind_points_60", messages(&said(), Timestamp::now(), 60));
    }

    #[test]
    fn what_would_change_is_shown() {
        let mut back = preview(said().split_off(1), Vec::new());
        let file = |path: &str, kind, by_others| {
            let (path, unsure, lines) = (path.to_owned(), false, None);
            FilePreview { path, kind, by_others, unsure, lines }
        };
        back.files = vec![
            file("src/login.rs", FileChangeKind::Modified, true),
            file("src/last_seen.rs", FileChangeKind::Deleted, false),
            file("src/old.rs", FileChangeKind::Added, false),
        ];
        back.notes = vec!["data.bin stays: it is too big for checkpoints now".to_owned()];
        insta::assert_snapshot!("rewind_preview_60", changes(&back, 60));
        let undo = preview(Vec::new(), said().split_off(2));
        insta::assert_snapshot!("rewind_undo_60", changes(&undo, 60));
    }
}
