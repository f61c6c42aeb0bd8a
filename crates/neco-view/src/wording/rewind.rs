//! What going back would change, told before anything is changed.

use neco_proto::clean::clean_line;
use neco_proto::event::{CheckpointWhen, FileChangeKind, FileReverted, Rewind};
use neco_proto::{FilePreview, RewindKind, RewindPoint, RewindPreview};

use super::Told;
use crate::figures;

/// Most commands that are named which going back does not undo.
const NAMED_COMMANDS: usize = 5;

/// What is said of files that going back would not change.
pub const AS_THEY_WERE: &str = "the files are as they were then already";

/// What is said of a file that a command may have changed, or somebody else meanwhile.
pub const WHILE_IT_RAN: &str = "changed while a command ran";

/// What takes a rewind back.
pub const REDO: &str = "/redo restores it";

/// What takes that back.
pub const UNDO: &str = "/undo undoes it again";

/// Most files that are named of which changes were put back.
const NAMED_REVERTED: usize = 4;

/// Of which files changes were put back: `a.rs, b.rs (2 changes)`.
pub fn reverted(rewind: &Rewind) -> String {
    let one = |file: &FileReverted| match file.changes {
        Some(count) => format!("{} ({})", clean_line(&file.path), figures::count(count, "change")),
        None => clean_line(&file.path),
    };
    let mut names: Vec<String> = rewind.reverted.iter().take(NAMED_REVERTED).map(one).collect();
    let more = (rewind.changed.max(rewind.reverted.len() as u64)).saturating_sub(names.len() as u64);
    names.extend((more > 0).then(|| format!("{more} more")));
    names.join(", ")
}

/// Which moment a state of the files is from: `before “fix the parser · Write a.rs”`, which is the message that was
/// worked on and the change that came next. A state that was kept for going back is named by its label alone.
pub fn moment(when: CheckpointWhen, label: &str) -> String {
    let label = clean_line(label);
    match when {
        CheckpointWhen::Restore if !label.is_empty() => label,
        CheckpointWhen::Restore => "before going back".to_owned(),
        CheckpointWhen::Before | CheckpointWhen::After if label.is_empty() => format!("{when} a turn"),
        CheckpointWhen::Before | CheckpointWhen::After => format!("{when} “{label}”"),
    }
}

/// What going back would change, what tells most first: of many files not all are seen at once, and at most `named` are
/// named.
pub fn preview(preview: &RewindPreview, named: usize) -> Vec<Told> {
    let mut lines = Vec::new();
    let messages = |points: &[RewindPoint]| figures::count(points.len() as u64, "message");
    if !preview.messages.is_empty() {
        let leave = if preview.messages.len() == 1 { "leaves" } else { "leave" };
        lines.push(Told::plain(format!("{} {leave} the conversation", messages(&preview.messages))));
    }
    if !preview.again.is_empty() {
        lines.push(Told::plain(format!("{} restored", messages(&preview.again))));
    }
    let deleted = preview.files.iter().filter(|file| file.kind == FileChangeKind::Deleted).count();
    lines.extend(files_back(preview.files.len() as u64, deleted as u64).map(Told::plain));
    if preview.rev.is_some() && preview.files.is_empty() && preview.notes.is_empty() {
        lines.push(Told::plain(AS_THEY_WERE));
    }
    let others = preview.files.iter().filter(|file| file.by_others).count();
    if others > 0 {
        let theirs = figures::count(others as u64, "file");
        let back = if preview.kind == RewindKind::Undo { "/undo" } else { "/redo" };
        let words = format!("you or another program changed {theirs} since; {back} restores that");
        lines.push(Told::warning(words));
    }
    lines.extend(unsure(preview).map(Told::warning));
    lines.extend(preview.notes.iter().map(|note| Told::warning(note.clone())));
    lines.extend(not_undone(&preview.not_undone));
    let point = |point: &RewindPoint| Told::plain(format!("“{}”", clean_line(&point.text)));
    lines.extend(preview.messages.iter().map(|message| point(message).labelled("Removed")));
    lines.extend(preview.again.iter().map(|message| point(message).labelled("Restored")));
    // What may be somebody else's comes first.
    let mut files: Vec<&FilePreview> = preview.files.iter().collect();
    files.sort_by_key(|file| (!file.by_others, !file.unsure));
    lines.extend(files.into_iter().take(named).map(file));
    if preview.files.len() > named {
        lines.push(Told::plain(format!("and {} more files", preview.files.len() - named)));
    }
    lines
}

/// That some files may be somebody else's, and how they come back.
fn unsure(preview: &RewindPreview) -> Option<String> {
    let files = preview.files.iter().filter(|file| file.unsure && !file.by_others).count() as u64;
    let back = if preview.kind == RewindKind::Undo { "/undo" } else { "/redo" };
    let words = || {
        let was = if files == 1 { "was" } else { "were" };
        format!("{} {was} {WHILE_IT_RAN}, by it or by you; {back} restores that", figures::count(files, "file"))
    };
    (files > 0).then(words)
}

/// What would happen to a file.
fn file(file: &FilePreview) -> Told {
    let (label, verb) = match file.kind {
        FileChangeKind::Added => ("Restored", "restored"),
        FileChangeKind::Modified => ("Edited back", "edited back"),
        FileChangeKind::Deleted => ("Deleted", "deleted"),
    };
    let path = clean_line(&file.path);
    let told = match (file.by_others, file.unsure) {
        (true, _) => {
            Told::warning(format!("{path} ({verb}; you or another program changed it since)")).labelled("Yours too")
        }
        (false, true) => Told::warning(format!("{path} ({verb}; {WHILE_IT_RAN})")).labelled("Maybe yours"),
        (false, false) => Told::plain(path).labelled(label),
    };
    Told { lines: file.lines, ..told }
}

/// What going back does not undo: commands that did something beyond the workspace, the last of them named.
pub fn not_undone(commands: &[String]) -> Option<Told> {
    let first = commands.len().saturating_sub(NAMED_COMMANDS);
    let mut names: Vec<String> = commands.iter().skip(first).rev().map(|command| clean_line(command)).collect();
    if first > 0 {
        names.push(format!("and {first} more"));
    }
    let words = format!("{}; what commands did outside of this folder stays", names.join(", "));
    (!names.is_empty()).then(|| Told::plain(words).labelled("Not undone"))
}

/// Files that were restored, and those that were deleted: `3 files restored, 1 deleted`.
pub fn files_back(changed: u64, deleted: u64) -> Option<String> {
    match (changed.saturating_sub(deleted), deleted) {
        (0, 0) => None,
        (0, deleted) => Some(format!("{} deleted", figures::count(deleted, "file"))),
        (back, 0) => Some(format!("{} restored", figures::count(back, "file"))),
        (back, deleted) => Some(format!("{} restored, {deleted} deleted", figures::count(back, "file"))),
    }
}

/// What was done, and how it is taken back.
pub fn done(preview: &RewindPreview) -> String {
    let count = |number: usize, what: &str, then: &str| {
        (number > 0).then(|| format!("{} {then}", figures::count(number as u64, what)))
    };
    let deleted = preview.files.iter().filter(|file| file.kind == FileChangeKind::Deleted).count();
    let parts = [
        count(preview.messages.len(), "message", "removed from the conversation"),
        count(preview.again.len(), "message", "restored"),
        files_back(preview.files.len() as u64, deleted as u64),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let what = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("Done{what}; {}", takes_back(preview.kind))
}

/// Whether a person is asked before `/undo` or `/redo` does it: it would cost something that nobody asked to lose.
pub fn is_asked(preview: &RewindPreview) -> bool {
    let takes_along = preview.kind == RewindKind::Undo && !preview.messages.is_empty();
    takes_along || preview.over_work || preview.files.iter().any(|file| file.by_others || file.unsure)
}

fn takes_back(kind: RewindKind) -> &'static str {
    if kind == RewindKind::Undo { UNDO } else { REDO }
}

#[cfg(test)]
mod tests {
    use neco_proto::MessageId;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_is_named_by_the_message_and_the_change_it_stands_before() {
        assert_eq!(moment(CheckpointWhen::Before, "fix it · Write a.rs"), "before “fix it · Write a.rs”");
        assert_eq!(moment(CheckpointWhen::After, ""), "after a turn");
        assert_eq!(moment(CheckpointWhen::Restore, "before an undo"), "before an undo");
    }

    #[test]
    fn files_that_are_as_they_were_are_no_warning() {
        let shown = json!({
            "message_id": MessageId::new(), "what": "both", "to": 5, "messages": [], "rev": "abc", "files": [], "notes": []
        });
        let shown: RewindPreview = serde_json::from_value(shown).unwrap();
        assert_eq!(preview(&shown, 10), [Told::plain(AS_THEY_WERE)]);
    }

    #[test]
    fn each_file_says_what_becomes_of_its_lines_and_commands_stay_done() {
        let lines = json!({ "added": 3, "removed": 41 });
        let file = |path: &str, by_others: bool| json!({ "path": path, "kind": "modified", "by_others": by_others, "lines": lines });
        let shown = json!({
            "message_id": MessageId::new(), "what": "both", "to": 5, "messages": [], "rev": "abc",
            "files": [file("src/a.rs", false), file("b.txt", true)],
            "not_undone": ["a", "git push", "b", "c", "d", "e"]
        });
        let shown: RewindPreview = serde_json::from_value(shown).unwrap();
        let told: Vec<String> = preview(&shown, 10).iter().skip(2).map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "not undone: e, d, c, b, git push, and 1 more; what commands did outside of this folder stays",
                "yours too: b.txt (edited back; you or another program changed it since) +3 −41",
                "edited back: src/a.rs +3 −41",
            ]
        );
    }

    #[test]
    fn a_file_that_a_command_or_the_person_changed_is_named_and_asked_about() {
        let shown = |unsure: bool| -> RewindPreview {
            let file = json!({ "path": "notes.txt", "kind": "deleted", "by_others": false, "unsure": unsure });
            let shown =
                json!({ "message_id": MessageId::new(), "what": "both", "to": 5, "messages": [], "files": [file] });
            serde_json::from_value(shown).unwrap()
        };
        assert!(is_asked(&shown(true)) && !is_asked(&shown(false)));
        let told: Vec<String> = preview(&shown(true), 10).iter().skip(1).map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "1 file was changed while a command ran, by it or by you; /redo restores that",
                "maybe yours: notes.txt (deleted; changed while a command ran)",
            ]
        );
    }

    #[test]
    fn what_is_deleted_is_not_restored() {
        let words = |changed, deleted| files_back(changed, deleted).unwrap_or_default();
        assert_eq!(words(0, 0), "");
        assert_eq!(words(1, 1), "1 file deleted");
        assert_eq!(words(600, 0), "600 files restored");
        assert_eq!(words(3, 1), "2 files restored, 1 deleted");
    }
}
