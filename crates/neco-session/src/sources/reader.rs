//! Reading files that are put before the model without a call of its own: judged as its own readings are, and in a
//! form in which everything can be seen.

use std::path::{Path, PathBuf};

use neco_safety::invisible;
use neco_safety::path::{Access, Located, PathError};
use neco_safety::policy::Telling;
use neco_safety::world::Files;

/// Reads such files.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    files: &'a Files,
    telling: &'a Telling,
    whose: Whose,
}

/// Who wrote a file that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The project: its files lie in folders that anybody may have filled.
    Project,
    /// The person: where their own files are is theirs to say.
    Person,
}

#[derive(Debug)]
pub(crate) struct TextRead {
    /// Where it really lies.
    pub path: PathBuf,
    /// What it says, everything in it visible.
    pub text: String,
    /// What was left out of it, in words for the model.
    pub notes: Vec<String>,
    /// What the person should know of it.
    pub warnings: Vec<String>,
}

/// Why a file is not told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// There is none.
    Missing,
    /// It leads to where nothing is told from.
    Outside,
    /// It is there, and may not be told or is no text.
    Refused(String),
}

impl<'a> Reader<'a> {
    /// A reader of files below the root of `files`.
    pub(crate) fn new(files: &'a Files, telling: &'a Telling, whose: Whose) -> Self {
        Self { files, telling, whose }
    }

    /// The file that a path leads to, if it may be told.
    pub(crate) fn locate(&self, path: &Path) -> Result<Located, Unread> {
        let located = match self.files.locate(path, Access::Read) {
            Ok(located) if located.exists() => located,
            Err(PathError::Outside { .. }) if path.exists() => return Err(Unread::Outside),
            Ok(_) | Err(_) => return Err(Unread::Missing),
        };
        let refused = match self.whose {
            Whose::Project => self.telling.refuses(&located),
            Whose::Person => self.telling.refuses_path(located.path()),
        };
        refused.map_or(Ok(located), |why| Err(Unread::Refused(why)))
    }

    /// The text of a file, of which no more than `most` bytes count.
    pub(crate) fn read(&self, path: &Path, most: usize) -> Result<TextRead, Unread> {
        let located = self.locate(path)?;
        let (bytes, _) = located.read(most as u64 + 1).map_err(|_| Unread::Missing)?;
        let mut notes = Vec::new();
        let mut text = decoded(bytes.get(..most).unwrap_or(&bytes));
        if bytes.len() > most {
            notes.push(format!("only its first {most} bytes are here; read the file for the rest"));
            text = whole_lines(&text).to_owned();
        }
        let mut warnings = Vec::new();
        if text.chars().filter(|char| is_bad(*char)).count() > text.chars().count() / 3 {
            let good = good_lines(&text);
            if good.trim().is_empty() {
                return Err(Unread::Refused("it is not text".to_owned()));
            }
            notes.push(format!("from line {} on it is not text and was left out", good.lines().count() + 1));
            warnings.extend(notes.last().cloned());
            text = good.to_owned();
        } else if text.contains(char::REPLACEMENT_CHARACTER) {
            warnings.push(format!("bytes of it are no UTF-8 text; the model sees {}", char::REPLACEMENT_CHARACTER));
        }
        let seen = invisible::seen(&text);
        warnings.extend(hidden(&seen.found));
        Ok(TextRead { path: located.path().to_path_buf(), text: seen.text.into_owned(), notes, warnings })
    }
}

/// The files of a folder that fit, at most so many, in the order of their names.
pub(crate) fn files_in(folder: &Path, most: usize, fits: impl Fn(&PathBuf) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(fits).take(most).collect();
    paths.sort();
    paths
}

pub(crate) fn ends_with(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted))
}

/// What the person is told of characters that can't be seen; nothing where there are none.
pub(crate) fn hidden(found: &[invisible::Invisible]) -> Option<String> {
    let told = invisible::told(found)?;
    Some(format!("{told}; the model is shown them as ⟨U+…⟩, look at the file before you trust it"))
}

/// Text of whatever encoding. A character that the end of the bytes cuts in two is left out; others that can't be
/// read are marked.
fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        bytes => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> String {
    let cut = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    };
    String::from_utf8_lossy(bytes.get(..cut).unwrap_or(bytes)).into_owned()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn is_bad(char: char) -> bool {
    char == '\0' || char == char::REPLACEMENT_CHARACTER
}

/// The lines before the first one that could not be read.
fn good_lines(text: &str) -> &str {
    let good: usize = text.split_inclusive('\n').take_while(|line| !line.contains(is_bad)).map(str::len).sum();
    text.get(..good).unwrap_or_default()
}

/// The text up to the end of its last whole line; all of it where that would be less than half.
pub(crate) fn whole_lines(text: &str) -> &str {
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    text.get(..end).filter(|whole| whole.len() >= text.len() / 2).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use neco_safety::Policy;

    use super::*;

    fn read(bytes: &[u8], most: usize) -> Result<(String, usize, usize), Unread> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("AGENTS.md");
        std::fs::write(&file, bytes).unwrap();
        let files = Files::new(folder.path(), Vec::new()).unwrap();
        let telling = Policy::default().telling();
        let read = Reader::new(&files, &telling, Whose::Project).read(&file, most)?;
        Ok((read.text, read.notes.len(), read.warnings.len()))
    }

    fn whole(text: &str, warnings: usize) -> Result<(String, usize, usize), Unread> {
        Ok((text.to_owned(), 0, warnings))
    }

    #[test]
    fn a_long_file_is_cut_after_a_line_or_else_after_a_character() {
        assert_eq!(read(b"one\ntwo\nthree\n", 10), Ok(("one\ntwo\n".to_owned(), 1, 0)));
        assert_eq!(read("一二三四".as_bytes(), 7), Ok(("一二".to_owned(), 1, 0)));
        assert_eq!(read(b"short", 5), whole("short", 0));
    }

    #[test]
    fn what_windows_writes_is_text() {
        let utf16: Vec<u8> = "\u{feff}Tabs é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&utf16, 100), whole("Tabs é\n", 0));
        assert_eq!(read("\u{feff}Tabs".as_bytes(), 100), whole("Tabs", 0));
    }

    #[test]
    fn what_is_bad_in_a_text_is_shown_or_left_out_and_the_rest_is_told() {
        assert_eq!(read(b"Use\0 tabs.\n", 100), whole("Use⟨U+0000⟩ tabs.\n", 1));
        assert_eq!(read(b"Use\xff tabs.\n", 100), whole("Use\u{fffd} tabs.\n", 1));
        let tail = [b"Use tabs.\nAnd this.\n".to_vec(), vec![0; 500]].concat();
        assert_eq!(read(&tail, 1000), Ok(("Use tabs.\nAnd this.\n".to_owned(), 1, 1)));
        let picture = [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0xd3; 300]].concat();
        assert_eq!(read(&picture, 1000), Err(Unread::Refused("it is not text".to_owned())));
        assert_eq!(read("a\u{200b}b".as_bytes(), 100), whole("a⟨U+200B⟩b", 1));
    }
}
