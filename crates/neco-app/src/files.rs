//! The files of a folder, as people name them, what stands in them, and the branch that it is on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use neco_proto::app::files::{Branch, FileList, ListFiles, ReadText, ShowBranch, TextPiece};
use neco_proto::app::{AppError, Trouble};
use neco_safety::path::Access;
use neco_safety::policy::Telling;
use neco_safety::secrets::{Redactor, Scope as SecretScope};
use neco_safety::world::Files;
use neco_store::Catalog;
use neco_workspace::{GitFacts, Head, Scope, walker};
use tokio::task::spawn_blocking;

use crate::app::{LocalApp, StorelessApp};
use crate::error::{failed, of_store};
use crate::rules;

/// Names that are given at most.
const MOST: usize = 50_000;

/// How long the folder is walked at most: whoever waits for names has begun to type one.
const LONGEST: Duration = Duration::from_secs(3);

pub(crate) async fn list(_: &StorelessApp, request: ListFiles) -> Result<FileList, AppError> {
    let names = spawn_blocking(move || names(Path::new(&request.folder))).await;
    Ok(FileList { names: names.unwrap_or_default() })
}

pub(crate) async fn branch(_: &StorelessApp, request: ShowBranch) -> Result<Branch, AppError> {
    let facts = spawn_blocking(move || GitFacts::of(Path::new(&request.folder))).await;
    let name = facts.ok().flatten().and_then(|facts| match facts.head {
        Head::Branch(name) => Some(name),
        Head::Detached(commit) => Some(format!("({commit})")),
        Head::Unknown => None,
    });
    Ok(Branch { name })
}

pub(crate) async fn read(app: &LocalApp, request: ReadText) -> Result<TextPiece, AppError> {
    let is_of_session = app.store.list(Some(&request.folder), 1).await.map_err(of_store)?;
    if is_of_session.is_empty() {
        return Err(not_shown(format!("no session works in {}", request.folder)));
    }
    let telling = rules::telling(app, &request.folder)?;
    let redactor = app.redactor(Path::new(&request.folder));
    spawn_blocking(move || text(&request, &telling, &redactor)).await.map_err(failed)?
}

fn not_shown(words: String) -> AppError {
    AppError::new(Trouble::NotAllowed, words)
}

/// A piece of a file, unless it lies elsewhere, may hold secrets, or a rule closes it.
fn text(request: &ReadText, telling: &Telling, redactor: &Redactor) -> Result<TextPiece, AppError> {
    let none = |error: io::Error| AppError::new(Trouble::NotFound, format!("{}: {error}", request.folder));
    let files = Files::new(Path::new(&request.folder), Vec::new()).map_err(none)?;
    let located = files.locate(&request.path, Access::Read).map_err(|error| not_shown(error.to_string()))?;
    if let Some(why) = telling.refuses(&located) {
        return Err(not_shown(format!("{} is not shown: {why}", located.shown())));
    }
    let mut file = located.open().map_err(|error| AppError::new(Trouble::NotFound, error.to_string()))?;
    let total = file.metadata().map_err(failed)?.len();
    let mut first = Vec::new();
    (&file).take(LOOKED_AT).read_to_end(&mut first).map_err(failed)?;
    if first.contains(&0) {
        return Ok(TextPiece { binary: true, line: 1, total, ..TextPiece::default() });
    }
    let (start, line) = begin(&mut file, request).map_err(failed)?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(ReadText::MOST).read_to_end(&mut bytes).map_err(failed)?;
    let wanted = usize::try_from(request.lines.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let bytes = whole_lines(&bytes, wanted, start + bytes.len() as u64 >= total);
    let text = redactor.redact(&String::from_utf8_lossy(bytes), SecretScope::Outside).into_owned();
    Ok(TextPiece { text, binary: false, line, start, end: start + bytes.len() as u64, total })
}

/// Bytes at the beginning of a file that are looked at for zeros, as git does.
const LOOKED_AT: u64 = 8000;

/// The byte at which the wanted piece begins, and the number of its line.
fn begin(file: &mut File, request: &ReadText) -> io::Result<(u64, u64)> {
    let (until, wanted) = (request.start.unwrap_or(u64::MAX), request.line.unwrap_or(u64::MAX).max(1));
    if request.start.is_none() && request.line.is_none() {
        return Ok((0, 1));
    }
    file.seek(SeekFrom::Start(0))?;
    let (mut at, mut line, mut buffer) = (0, 1, vec![0; 1 << 16]);
    while at < until && line < wanted {
        let most = usize::try_from(until - at).unwrap_or(usize::MAX).min(buffer.len());
        let read = file.read(buffer.get_mut(..most).unwrap_or_default())?;
        if read == 0 {
            break;
        }
        let piece = buffer.get(..read).unwrap_or_default();
        let missing = usize::try_from(wanted - line).unwrap_or(usize::MAX);
        let mut ends = piece.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1);
        match ends.nth(missing - 1) {
            Some(end) => return Ok((at + end as u64, wanted)),
            None => line += piece.iter().filter(|byte| **byte == b'\n').count() as u64,
        }
        at += read as u64;
    }
    Ok((at, line))
}

/// As many whole lines as are wanted; of a line that is longer than a piece as much as there is, in whole characters.
fn whole_lines(bytes: &[u8], wanted: usize, is_all: bool) -> &[u8] {
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1);
    let last_wanted = wanted.checked_sub(1).map(|last| ends.nth(last));
    let end = match last_wanted {
        None => 0,
        Some(Some(end)) => end,
        Some(None) if is_all => bytes.len(),
        Some(None) => match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None => {
                let starts = |byte: &u8| byte & 0xc0 != 0x80;
                let last = bytes.iter().rposition(starts).filter(|last| bytes.len() - last < 4);
                last.filter(|last| *last > 0).unwrap_or(bytes.len())
            }
        },
    };
    bytes.get(..end).unwrap_or_default()
}

/// The files and folders below `folder`, in the order of their names; those of folders end with a slash.
fn names(folder: &Path) -> Vec<String> {
    let until = Instant::now() + LONGEST;
    let mut names = Vec::new();
    for entry in walker(folder, folder, Scope::Hidden).build().flatten() {
        if names.len() >= MOST || Instant::now() > until {
            break;
        }
        let Some(name) = entry.path().strip_prefix(folder).ok().and_then(Path::to_str) else { continue };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if !name.is_empty() && !name.contains(char::is_control) {
            names.push(if is_folder { format!("{name}/") } else { name.to_owned() });
        }
    }
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_long_lines_whole_characters() {
        assert_eq!(whole_lines(b"one\ntwo\nthr", usize::MAX, false), b"one\ntwo\n");
        assert_eq!(whole_lines(b"one\ntwo\nthr", usize::MAX, true), b"one\ntwo\nthr");
        assert_eq!(whole_lines(b"one\ntwo\nthr", 1, true), b"one\n");
        assert_eq!(whole_lines(b"one\ntwo\nthr", 0, true), b"");
        let cut = &"漢字".as_bytes()[..5];
        assert_eq!(whole_lines(cut, usize::MAX, false), "漢".as_bytes());
    }

    #[test]
    fn a_piece_begins_at_a_byte_or_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let text: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
        std::fs::write(&path, &text).unwrap();
        let begins = |start: Option<u64>, line: Option<u64>| {
            let request = ReadText { start, line, ..ReadText::default() };
            begin(&mut File::open(&path).unwrap(), &request).unwrap()
        };
        let at = |number: usize| text.find(&format!("line {number}\n")).unwrap() as u64;
        assert_eq!(begins(None, None), (0, 1));
        assert_eq!(begins(None, Some(0)), (0, 1));
        assert_eq!(begins(None, Some(15_000)), (at(15_000), 15_000));
        assert_eq!(begins(Some(at(15_000)), None), (at(15_000), 15_000));
        assert_eq!(begins(Some(at(15_000) + 3), None), (at(15_000) + 3, 15_000));
        assert_eq!(begins(None, Some(99_999)), (text.len() as u64, 20_001));
    }

    #[test]
    fn what_git_ignores_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["src", ".git", "target", ".github"] {
            std::fs::create_dir(path.join(name)).unwrap();
        }
        for name in ["src/a.rs", "target/b", ".git/HEAD", ".github/ci.yml", ".gitignore", "漢字.md"] {
            std::fs::write(path.join(name), "target\n").unwrap();
        }
        assert_eq!(names(path), [".github/", ".github/ci.yml", ".gitignore", "src/", "src/a.rs", "漢字.md"]);
    }
}
