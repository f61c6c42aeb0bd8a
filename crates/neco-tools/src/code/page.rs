//! A page of results: lines under the files that they stand in, within the bytes that the model gets.

use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use neco_proto::Display;
use neco_toolkit::ToolOutput;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 240;

/// A page in the making.
pub struct Page {
    text: String,
    items: Vec<String>,
    touched: Vec<PathBuf>,
    /// Where the files stand in the text, while each has only one place.
    hits: Vec<Range<usize>>,
    bytes: usize,
    file: Option<String>,
}

impl Page {
    /// A page of at most so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { text: String::new(), items: Vec::new(), touched: Vec::new(), hits: Vec::new(), bytes, file: None }
    }

    /// Adds the lines of a file together, if there is room for them; the first always has some.
    pub fn add(&mut self, file: &Path, lines: &[String]) -> bool {
        let path = file.to_string_lossy().into_owned();
        let start = self.text.len();
        if self.file.as_ref() != Some(&path) {
            if start > 0 {
                self.text.push('\n');
            }
            let _ = writeln!(self.text, "{path}");
        }
        for line in lines {
            let _ = writeln!(self.text, "{}", cut(line));
        }
        if self.text.len() > self.bytes && start > 0 {
            self.text.truncate(start);
            return false;
        }
        match self.file.as_ref() == Some(&path) {
            true => self.hits.iter_mut().last().into_iter().for_each(|hit| hit.end = self.text.len() - 1),
            // The line between files is no part of either.
            false => self.hits.push(start + usize::from(start > 0)..self.text.len() - 1),
        }
        let first = lines.first().map(|line| format!("{path}:{}", cut(line)));
        self.items.push(first.unwrap_or_else(|| path.clone()));
        self.file = Some(path);
        self.touched.push(file.to_path_buf());
        true
    }

    /// The page with words of the tool's own at its end, as what came from `source`.
    pub fn finish(mut self, source: &str, title: String, total: usize, note: &str) -> ToolOutput {
        let end = self.text.len();
        self.text.push_str(note);
        let display = Display::List { title, items: self.items, total: total as u64 };
        ToolOutput::text(self.text)
            .outside(..end, source)
            .with_display(display)
            .with_touched(self.touched)
            .with_hits(self.hits)
    }
}

/// A line that is not too long.
pub fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}… [line cut]", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// What is said of a page that is not all; `what` is one of it, and `place` follows.
pub fn rest(shown: usize, skip: usize, total: usize, what: &str, place: &str) -> String {
    let what = format!("{what}{}{place}", if total == 1 { "" } else { "s" });
    match (total, skip + shown) {
        (0, _) => String::new(),
        (1, _) if shown == 0 => format!("(there is only 1 {what})\n"),
        (total, _) if shown == 0 => format!("(there are only {total} {what})\n"),
        (total, last) if last < total => format!("({shown} of {total} {what} shown; go on with skip={last})\n"),
        (total, _) => format!("({total} {what})\n"),
    }
}
