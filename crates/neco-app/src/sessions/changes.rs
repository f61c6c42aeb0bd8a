//! What a session changed, to be reviewed: files, their changes with the words that are different, and what is kept.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use neco_proto::LineCount;
use neco_proto::app::changes::{
    ChangedFile, FileChanges, Hunk, HunkLine, KeepChanges, KeptChanges, LineChange, ListChanges, SessionChanges,
    ShowChange,
};
use neco_proto::app::{AppError, Trouble};
use neco_session::rewind::RewindHistory;
use neco_view::changed_words::{Words, changed_words};
use neco_workspace::checkpoint::FileSides;
use neco_workspace::review::{FileChange, Piece, Review};

use super::history::Compared;
use super::review_marks::ReviewMarks;
use crate::app::LocalApp;
use crate::error::{failed, of_session};

/// Most lines and bytes of a file's changes that are shown.
const MOST_LINES: usize = 20_000;
const MOST_BYTES: usize = 4 << 20;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 10_000;

/// Lines of a change from which on no words are compared.
const MOST_WORDS: usize = 1000;

pub(crate) async fn changes(app: &LocalApp, request: ListChanges) -> Result<SessionChanges, AppError> {
    let ListChanges { session, folder, from, to } = request;
    let compared = Compared::look(app, &session, Path::new(&folder), (from.as_deref(), to.as_deref())).await?;
    let Compared { record, history, place, states } = compared;
    let Some(states) = states else { return Ok(SessionChanges { files: Vec::new(), place }) };
    let marks = ReviewMarks::of(app.env.data_dir(), record.id);
    let files = move || -> Result<Vec<ChangedFile>, AppError> {
        let kept = marks.kept();
        let mut files: Vec<ChangedFile> = Vec::new();
        let mut take = |sides: FileSides| files.push(row(&sides, &kept, &history));
        states.checkpoints.sides(&states.from, states.to.as_deref(), None, &mut take).map_err(failed)?;
        let (theirs, by_hand) = (states.theirs()?, states.by_hand());
        for file in &mut files {
            let path = PathBuf::from(&file.path);
            file.by_others = theirs.contains(&path);
            let whole = LineCount { added: file.added, removed: file.removed };
            // What only others changed counts as it is.
            file.own = if file.by_others { None } else { by_hand.own(&path, whole) };
            file.since = by_hand.since(&path);
        }
        Ok(files)
    };
    let files = tokio::task::spawn_blocking(files).await.map_err(failed)??;
    Ok(SessionChanges { files, place })
}

pub(crate) async fn change(app: &LocalApp, request: ShowChange) -> Result<FileChanges, AppError> {
    let ShowChange { session, folder, path, from, to } = request;
    let compared = Compared::look(app, &session, Path::new(&folder), (from.as_deref(), to.as_deref())).await?;
    let none = || AppError::new(Trouble::NotFound, format!("{path} is not different between these points"));
    let states = compared.states.ok_or_else(none)?;
    let marks = ReviewMarks::of(app.env.data_dir(), compared.record.id);
    let (wanted, mut found) = (PathBuf::from(&path), None);
    let looked = move || -> Result<Option<FileChanges>, AppError> {
        let kept = marks.kept();
        let mut take = |sides: FileSides| found = Some(file(&sides, &kept));
        states.checkpoints.sides(&states.from, states.to.as_deref(), Some(&wanted), &mut take).map_err(failed)?;
        Ok(found)
    };
    tokio::task::spawn_blocking(looked).await.map_err(failed)??.ok_or_else(none)
}

pub(crate) async fn keep(app: &LocalApp, request: KeepChanges) -> Result<KeptChanges, AppError> {
    let KeepChanges { session, marks, kept, instead, .. } = request;
    let record = app.hub.find(&session).await.map_err(of_session)?;
    let file = ReviewMarks::of(app.env.data_dir(), record.id);
    let written = move || match kept {
        true => file.change(&[marks, instead].concat(), &[]),
        false => file.change(&instead, &marks),
    };
    let kept = tokio::task::spawn_blocking(written).await.map_err(failed)?.map_err(failed)?;
    Ok(KeptChanges { kept: kept.into_iter().collect() })
}

fn row(sides: &FileSides, kept: &BTreeSet<String>, history: &RewindHistory) -> ChangedFile {
    let review = Review::of(sides);
    let (path, mark) = (sides.change.path.display().to_string(), review.mark());
    let (added, removed) = review.counts();
    let is_kept_whole = kept.contains(&mark);
    let hunks = review.changes.len();
    let hunks_kept = match is_kept_whole {
        true => hunks,
        false => review.changes.iter().filter(|change| kept.contains(&change.id)).count(),
    };
    let number = |seq| history.points.iter().find(|point| point.seq == seq).map(|point| point.number);
    ChangedFile {
        kind: sides.change.kind.into(),
        binary: review.is_binary,
        added: added as u64,
        removed: removed as u64,
        by_others: false,
        own: None,
        since: 0,
        kept: is_kept_whole || hunks > 0 && hunks_kept == hunks,
        hunks: hunks as u64,
        hunks_kept: hunks_kept as u64,
        agents: history.editors.agents(&path),
        messages: history.editors.said(&path).filter_map(number).collect(),
        mark,
        path,
    }
}

fn file(sides: &FileSides, kept: &BTreeSet<String>) -> FileChanges {
    let review = Review::of(sides);
    let mark = review.mark();
    let is_kept_whole = kept.contains(&mark);
    let (lines_before, lines_after) = review.line_counts();
    let mut room = Room { lines: MOST_LINES, bytes: MOST_BYTES, cut: false };
    let mut hunks = Vec::new();
    for change in &review.changes {
        if room.cut {
            break;
        }
        let mut hunk = hunk(&review, change, &mut room);
        hunk.kept = is_kept_whole || kept.contains(&hunk.id);
        hunks.push(hunk);
    }
    let all_kept = !room.cut && !hunks.is_empty() && hunks.iter().all(|hunk| hunk.kept);
    FileChanges {
        path: sides.change.path.display().to_string(),
        kind: sides.change.kind.into(),
        binary: review.is_binary,
        mark,
        kept: is_kept_whole || all_kept,
        lines_before: lines_before as u64,
        lines_after: lines_after as u64,
        hunks,
        cut: room.cut,
    }
}

/// How much is still shown.
struct Room {
    lines: usize,
    bytes: usize,
    cut: bool,
}

impl Room {
    /// Whether a line is shown.
    fn takes(&mut self, line: &[u8]) -> bool {
        self.cut |= self.lines == 0 || self.bytes < line.len();
        if !self.cut {
            (self.lines, self.bytes) = (self.lines - 1, self.bytes - line.len());
        }
        !self.cut
    }
}

fn hunk(review: &Review<'_>, change: &FileChange, room: &mut Room) -> Hunk {
    let (old, new) = &change.lines;
    let mut lines = Vec::new();
    for piece in &change.pieces {
        match piece {
            Piece::Same(range) => add(&mut lines, review.before(range), LineChange::Same, &[], room),
            Piece::Changed(gone, come) => {
                let (marks_gone, marks_come) = words(review, gone, come);
                add(&mut lines, review.before(gone), LineChange::Removed, &marks_gone, room);
                add(&mut lines, review.after(come), LineChange::Added, &marks_come, room);
            }
        }
    }
    // What is not shown whole must not be reverted by its name.
    let id = if room.cut { String::new() } else { change.id.clone() };
    let heading = review.heading(change);
    Hunk { id, kept: false, before: old.start as u64 + 1, after: new.start as u64 + 1, heading, lines }
}

fn add(lines: &mut Vec<HunkLine>, texts: &[&[u8]], kind: LineChange, marks: &[Words], room: &mut Room) {
    for (index, line) in texts.iter().enumerate() {
        if !room.takes(line) {
            return;
        }
        let text = shown(line);
        let marks = marks.get(index).map(|words| utf16(&text, words)).unwrap_or_default();
        lines.push(HunkLine { kind, marks, unended: !line.ends_with(b"\n"), text });
    }
}

/// A line without its end; of a very long one its beginning.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
    match text.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}

/// The words of lines that went, and of those that came in their place, that are different.
fn words(review: &Review<'_>, gone: &Range<usize>, come: &Range<usize>) -> (Vec<Words>, Vec<Words>) {
    if gone.is_empty() || come.is_empty() || gone.len().max(come.len()) > MOST_WORDS {
        return Default::default();
    }
    let texts = |lines: &[&[u8]]| -> Vec<String> { lines.iter().map(|line| shown(line)).collect() };
    let (gone, come) = (texts(review.before(gone)), texts(review.after(come)));
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    let come: Vec<&str> = come.iter().map(String::as_str).collect();
    changed_words(&gone, &come)
}

/// Places in bytes as places in UTF-16 units, as JavaScript counts.
fn utf16(text: &str, words: &Words) -> Vec<[u32; 2]> {
    let units = |end: usize| {
        let before = text.get(..end).map_or(0, |before| before.encode_utf16().count());
        u32::try_from(before).unwrap_or(u32::MAX)
    };
    words.iter().map(|(from, to)| [units(*from), units(*to)]).collect()
}

#[cfg(test)]
mod tests {
    use neco_workspace::checkpoint::{Change, ChangeKind, Side};

    use super::*;

    fn sides(before: &str, after: &str) -> FileSides {
        let side = |text: &str| Some(Side { form: "100644".to_owned(), content: text.as_bytes().to_vec() });
        let change = Change { path: "a.rs".into(), kind: ChangeKind::Modified };
        FileSides { change, before: side(before), after: side(after) }
    }

    #[test]
    fn words_are_marked_as_javascript_counts() {
        let shown = file(&sides("let 🦀 = one;\n", "let 🦀 = two;"), &BTreeSet::new());
        let [hunk] = shown.hunks.as_slice() else { panic!("{shown:?}") };
        let line = |index: usize| (hunk.lines[index].kind, hunk.lines[index].marks.clone(), hunk.lines[index].unended);
        assert_eq!(line(0), (LineChange::Removed, vec![[9, 12]], false));
        assert_eq!(line(1), (LineChange::Added, vec![[9, 12]], true));
        assert_eq!((hunk.before, hunk.after, shown.lines_before, shown.lines_after), (1, 1, 1, 1));
    }

    #[test]
    fn a_file_of_very_many_lines_is_bounded_and_says_so() {
        let long: String = (0..50_000).map(|number| format!("line {number}\n")).collect();
        let shown = file(&sides(&long, &long.replace("line", "another")), &BTreeSet::new());
        assert!(shown.cut && shown.hunks.iter().all(|hunk| hunk.id.is_empty()));
        assert_eq!(shown.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), MOST_LINES);
        assert_eq!((shown.lines_before, shown.lines_after), (50_000, 50_000));
        let few = file(&sides(&long, &long.replace("line 7\n", "line seven\n")), &BTreeSet::new());
        assert!(!few.cut && few.hunks.len() == 1 && !few.hunks[0].id.is_empty());
    }
}
