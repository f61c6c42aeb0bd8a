//! A page of lines, numbered, with what a reader needs to know about the file.

use std::fmt::Write;
use std::io::{self, Read};

use neco_toolkit::ToolOutput;

use super::ledger::Seen;
use super::lines::{Line, LineReader};
use super::listing::size;
use super::text::Form;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 2000;

/// What is wanted of a file.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How its text stands in the file.
    pub form: Form,
    /// Lines that lie before the reader.
    pub skipped: u64,
    /// The line that should come next, counted from one.
    pub first: u64,
    /// Lines at most.
    pub limit: u32,
    /// Bytes at most.
    pub bytes: usize,
    /// The file's size.
    pub size: u64,
    /// Whether the lines that follow are counted.
    pub count_rest: bool,
    /// Lines left in the file, when they are numbered by their distance from the end.
    pub from_end: Option<u64>,
}

/// A page of lines.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    wanted_first: u64,
    first: i64,
    shown: u64,
    /// How many lines the file has, if that is known.
    pub total: Option<u64>,
    /// The line to go on with, when numbers count from the beginning.
    pub next: Option<u64>,
    /// Bytes from where the reader stood first to the end of the last line shown.
    pub used: u64,
    more: bool,
    crlf: u64,
    lf: u64,
    invalid: bool,
    unended: bool,
    form: Option<Form>,
    size: u64,
}

pub fn collect<R: Read>(reader: &mut LineReader<R>, wanted: &Wanted) -> io::Result<Page> {
    let first = wanted.from_end.map_or(wanted.first as i64, |left| -(left as i64));
    let mut page =
        Page { first, wanted_first: wanted.first, form: Some(wanted.form), size: wanted.size, ..Page::default() };
    page.used = reader.offset();
    let mut line = Line::default();
    while page.shown < u64::from(wanted.limit) && reader.next_line(&mut line)? {
        if !page.add(&line, wanted.bytes) {
            page.more = true;
            break;
        }
        page.used = reader.offset();
    }
    let unshown = u64::from(page.more);
    page.more = page.more || reader.fill()?;
    if !page.more || wanted.count_rest {
        page.total = Some(wanted.skipped + page.shown + unshown + reader.skip(u64::MAX)?);
    }
    if wanted.from_end.is_some() {
        page.total = None;
    } else if page.more {
        page.next = Some(wanted.first + page.shown);
    }
    Ok(page)
}

impl Page {
    /// Whether the file ends before the first line wanted. An empty file has nothing to be past.
    pub fn is_past_the_end(&self) -> bool {
        self.shown == 0 && !self.more && self.wanted_first > 1
    }

    /// Which lines of the file it shows, and how many there are where that is known.
    pub fn seen(&self) -> Seen {
        let first = u64::try_from(self.first).unwrap_or(0);
        // Lines that are counted from the end have no number, and an empty file has none to see.
        let lines = if first == 0 { 0..0 } else { first..first + self.shown };
        Seen { lines, total: self.total }
    }

    /// Adds a line, if there is room for it; the first always has some.
    fn add(&mut self, line: &Line, room: usize) -> bool {
        let start = self.text.len();
        let _ = write!(self.text, "{}\t", self.first + self.shown as i64);
        self.push_text(line);
        self.text.push('\n');
        if self.text.len() > room && self.shown > 0 {
            self.text.truncate(start);
            return false;
        }
        self.shown += 1;
        self.unended = !line.ended;
        true
    }

    fn push_text(&mut self, line: &Line) {
        let whole = line.length == line.text.len() as u64;
        let text = match line.text.strip_suffix(b"\r") {
            Some(text) if line.ended && whole => {
                self.crlf += 1;
                text
            }
            Some(_) | None => {
                self.lf += u64::from(line.ended);
                line.text.as_slice()
            }
        };
        let lossy = String::from_utf8_lossy(text);
        // A line whose end was not kept may well end in the middle of a character.
        self.invalid |= whole && matches!(lossy, std::borrow::Cow::Owned(_));
        match lossy.char_indices().nth(LONGEST_LINE) {
            Some((cut, _)) => {
                self.text.push_str(lossy.get(..cut).unwrap_or_default());
                let _ = write!(self.text, "… [line cut, it has {} bytes]", line.length);
            }
            None => self.text.push_str(&lossy),
        }
    }

    /// The page of the file called `source` as the model reads it.
    pub fn print(mut self, source: &str) -> ToolOutput {
        if self.shown == 0 {
            return ToolOutput::text("(the file is empty)");
        }
        let end = self.text.len();
        let notes = self.notes();
        let place = self.place();
        let _ = write!(self.text, "({place}{notes})");
        ToolOutput::text(self.text).outside(..end, source)
    }

    fn place(&self) -> String {
        let last = self.first + self.shown as i64 - 1;
        let from = format!("lines {}–{last}", self.first);
        match (self.total, self.next) {
            (Some(total), None) if self.first == 1 => {
                format!("{total} {}", if total == 1 { "line" } else { "lines" })
            }
            (Some(total), None) => format!("{from} of {total}, the end"),
            (Some(total), Some(next)) => format!("{from} of {total}; go on with offset={next}"),
            (None, Some(next)) => format!("{from} of a file of {}; go on with offset={next}", size(self.size)),
            (None, None) if self.more => {
                format!("{from}, counted from the end of a file of {}; go on with offset={}", size(self.size), last + 1)
            }
            (None, None) => format!("{from}, counted from the end of a file of {}", size(self.size)),
        }
    }

    fn notes(&self) -> String {
        let mut notes = String::new();
        if let Some(form) = self.form.and_then(Form::describe) {
            let _ = write!(notes, "; {form}");
        }
        match (self.crlf, self.lf) {
            (0, _) => {}
            (_, 0) => notes.push_str("; CRLF line endings"),
            (_, _) => notes.push_str("; CRLF and LF line endings mixed"),
        }
        if self.invalid {
            notes.push_str("; bytes that are not UTF-8 are shown as \u{FFFD}");
        }
        if self.unended && !self.more {
            notes.push_str("; no newline at the end");
        }
        notes
    }
}
