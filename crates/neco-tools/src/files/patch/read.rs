//! A patch as text: which format it has, and what models put around it.

use super::envelope::{ADD, DELETE, UPDATE};
use super::hunk::FilePatch;
use super::{envelope, unified};

const BEGIN: &str = "*** Begin Patch";

/// What is wrong with the text of a patch, with the line of the patch where that is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("the patch is empty: it changes no file")]
    Empty,
    #[error(
        "this is neither a patch in an envelope, which begins with \"*** Begin Patch\", nor a unified diff, which has \
         \"--- a/path\", \"+++ b/path\" and \"@@ -1,3 +1,4 @@\""
    )]
    NoPatch,
    #[error(
        "line {line} of the patch: {text:?} is no heading; a section begins with {ADD:?}, {DELETE:?} or {UPDATE:?} and \
         a path"
    )]
    NoHeading { line: usize, text: String },
    #[error("line {line} of the patch: the path is missing")]
    NoPath { line: usize },
    #[error("line {line} of the patch: a hunk before any file: \"--- a/path\" and \"+++ b/path\" are missing")]
    NoFile { line: usize },
    #[error(
        "line {line} of the patch: {text:?} begins with none of the signs: a space for a line that stays, - for one that \
         goes, + for one that comes"
    )]
    NoSign { line: usize, text: String },
    #[error("line {line} of the patch: every line of an added file begins with +")]
    NoPlus { line: usize },
    #[error("{path}: a new file has lines that begin with + and no others")]
    OldLines { path: String },
    #[error("{path}: {why}")]
    Impossible { path: String, why: &'static str },
    #[error("{path}: {why}, so there is nothing to change")]
    NoChange { path: String, why: String },
    #[error("hunk {hunk} of {path}: it has no line that begins with + or -, so it changes nothing")]
    IdleHunk { hunk: usize, path: String },
    #[error("the section of {path} has no hunk: there is nothing to change")]
    NoHunk { path: String },
}

/// Reads a patch in either format.
pub fn read(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    read_lines(&lines_of(text))
}

/// Reads a patch whose headings are padded, in other letters or in a code fence; nothing where it is none then either.
pub fn read_loosely(text: &str) -> Option<Vec<FilePatch>> {
    read_lines(&mended(&lines_of(text))).ok()
}

fn read_lines(lines: &[String]) -> Result<Vec<FilePatch>, PatchError> {
    let files = match lines.iter().position(|line| line.trim_end() == BEGIN) {
        Some(at) => envelope::read(lines, at + 1)?,
        None if lines.iter().any(|line| is_envelope_heading(line)) => envelope::read(lines, 0)?,
        None => unified::read(lines)?,
    };
    if files.is_empty() {
        return Err(PatchError::Empty);
    }
    Ok(files)
}

/// The lines without their newlines. A patch that has CRLF throughout has it by chance: what stands
/// in front of the text, its signs, is not from any file.
fn lines_of(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let all_crlf = text.contains("\r\n") && text.split('\n').rev().skip(1).all(|line| line.ends_with('\r'));
    let plain =
        |line: &str| if all_crlf { line.strip_suffix('\r').unwrap_or(line).to_owned() } else { line.to_owned() };
    text.split('\n').map(plain).collect()
}

fn is_envelope_heading(line: &str) -> bool {
    ["*** Add File: ", "*** Update File: ", "*** Delete File: "].iter().any(|heading| line.starts_with(heading))
}

/// Headings of the envelope, as they should be.
const HEADINGS: [&str; 7] = [
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
    "*** End of File",
];

/// Ends of what a patch may be wrapped in.
const CLOSINGS: [&str; 7] = ["```", "~~~", "EOF", "PATCH", "END", "'", "\""];

/// The lines as they were meant: whatever all of them are indented by is taken away, what was closed behind them goes,
/// and headings are written as they should be. A line of a file can look like a heading, so this is the second reading.
pub fn mended(lines: &[String]) -> Vec<String> {
    let mut lines = dedented(lines);
    if !lines.iter().any(|line| heading(line).as_deref() == Some("*** End Patch")) {
        let is_closing = |line: &String| line.trim().is_empty() || CLOSINGS.contains(&line.trim());
        let end = lines.iter().rposition(|line| !is_closing(line)).map_or(0, |last| last + 1);
        lines.truncate(end);
    }
    let first = lines.iter().position(|line| heading(line).is_some()).unwrap_or(0);
    lines.drain(..first);
    lines.into_iter().map(|line| heading(&line).unwrap_or(line)).collect()
}

/// The lines without the indentation that the first heading has and all from there on.
fn dedented(lines: &[String]) -> Vec<String> {
    let begins = |line: &String| {
        let text = line.trim_start();
        heading(line).is_some() || text.starts_with("diff --git ") || text.starts_with("--- ")
    };
    let Some(first) = lines.iter().position(begins) else { return lines.to_vec() };
    let rest = lines.get(first..).unwrap_or_default();
    let indentation =
        rest.first().map(|line| line.strip_suffix(line.trim_start()).unwrap_or_default()).unwrap_or_default();
    let is_closed = |line: &&String| line.trim().is_empty() || CLOSINGS.contains(&line.trim());
    if !rest.iter().all(|line| is_closed(&line) || line.starts_with(indentation)) {
        return lines.to_vec();
    }
    let cut = |line: &String| line.strip_prefix(indentation).unwrap_or(line.trim()).to_owned();
    rest.iter().map(cut).collect()
}

/// A heading as it should be, with the path that follows it.
fn heading(line: &str) -> Option<String> {
    let text = line.trim();
    let words = text.trim_start_matches('*');
    if text.len() - words.len() < 3 {
        return None;
    }
    let words = words.trim_matches(['*', ' ', '\t']);
    HEADINGS.iter().find_map(|heading| {
        let name = heading.trim_start_matches("*** ");
        let begins = words.get(..name.len()).filter(|begins| begins.eq_ignore_ascii_case(name))?;
        let path = words.get(begins.len()..)?.trim();
        match (name.ends_with(':'), path) {
            (true, "") => None,
            (true, path) => Some(format!("{heading} {path}")),
            (false, "") => Some((*heading).to_owned()),
            (false, _) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_at_all(text in any::<String>()) {
            let _ = (read(&text), read_loosely(&text));
        }

        #[test]
        fn any_lines_that_patches_have(lines in prop::collection::vec(prop::sample::select(vec![
            "*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Delete File: b", "*** Update File: c",
            "*** Move to: d", "*** End of File", "@@", "@@ fn x", "@@ -1,2 +1 @@ fn", "@@ -0,0 +1 @@", "+x", "-y", " z", "",
            "--- a/f", "+++ b/f", "--- /dev/null", "+++ /dev/null", "diff --git a/f b/f", "rename from f", "rename to g",
            "new file mode 100755", "deleted file mode 100644", "\\ No newline at end of file", "Binary files differ",
            "--- \"a/\\303\\244\"", "+++ \"b/\\30", "```", "EOF", "\r", "+\r",
        ]), 0..14)) {
            let text = lines.join("\n");
            let _ = (read(&text), read_loosely(&text));
        }
    }

    #[test]
    fn headings_are_known_however_they_are_written() {
        for (written, meant) in [
            ("  *** Update File: a b.py", Some("*** Update File: a b.py")),
            ("*** Begin Patch ***", Some("*** Begin Patch")),
            ("***Add File:a.py", Some("*** Add File: a.py")),
            ("\t*** end patch  ", Some("*** End Patch")),
            ("**** Delete File: x", Some("*** Delete File: x")),
            ("+*** Update File: a", None),
            ("** Update File: a", None),
            ("*** Update File:", None),
            ("*** Begin Patch now", None),
        ] {
            assert_eq!(heading(written).as_deref(), meant, "{written:?}");
        }
    }

    #[test]
    fn only_what_all_lines_have_is_taken_away() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let all = lines("Here:\n  *** Begin Patch\n  *** Update File: a\n  @@\n  -x\n  +y\n  *** End Patch");
        assert_eq!(mended(&all), lines("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch"));
        let some = lines("```patch\n *** Begin Patch\n *** Update File: a\n@@\n x\n-x\n+y\n```");
        assert_eq!(mended(&some), lines("*** Begin Patch\n*** Update File: a\n@@\n x\n-x\n+y"));
    }
}
