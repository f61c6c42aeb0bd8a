//! read_file: lines of a text file, of any size and encoding; pictures, PDF documents and notebooks.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use neco_proto::ErrorCode;
use neco_safety::path::Located;
use neco_safety::world::Content;
use neco_toolkit::{Plan, ToolError, ToolOutput};
use neco_workspace::Scope;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{FileCall, FileTool, cancelled};
use super::document::{self, Span};
use super::foreign;
use super::ledger::{HASHED, Mark};
use super::lines::{LineReader, Utf16Reader, start_of_last};
use super::listing::{self, size};
use super::page::{self, Page, Wanted};
use super::sniff::{Kind, SNIFFED, sniff};
use super::text::{Encoding, Form};

/// What is returned at most, whatever the settings say.
const MOST_BYTES: usize = 1024 * 1024;
const DEFAULT_LIMIT: u32 = 2000;
/// A file beyond this is not read to its end only to count its lines.
const COUNTED: u64 = 64 * 1024 * 1024;

pub struct ReadFile;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path, relative or absolute.
    path: String,
    /// First line, from 1.
    offset: Option<i64>,
    #[schemars(range(min = 1))]
    limit: Option<u32>,
    /// Of a PDF or notebook: 3, 2-5 or 10-.
    pages: Option<String>,
}

impl FileTool for ReadFile {
    type Args = Args;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = include_str!("read_file.md");
    const FOREIGN: &'static [foreign::Names] = &[foreign::FILE];

    /// Others name the last line rather than how many there are.
    fn adapt(arguments: &mut Map<String, Value>) {
        if arguments.get("should_read_entire_file").is_some_and(Value::is_boolean) {
            arguments.remove("should_read_entire_file");
        }
        let mut number = |names: [&str; 2]| names.iter().find_map(|name| arguments.remove(*name)?.as_i64());
        let first = number(["start_line", "start_line_one_indexed"]);
        let last = number(["end_line", "end_line_one_indexed_inclusive"]);
        if let Some(first) = first {
            arguments.entry("offset").or_insert(Value::from(first));
        }
        if let Some(last) = last {
            let lines = last.saturating_sub(first.unwrap_or(1)).saturating_add(1);
            arguments.entry("limit").or_insert(Value::from(lines.max(1)));
        }
    }

    fn summary(args: &Args) -> String {
        if let Some(pages) = &args.pages {
            let what = if args.path.to_ascii_lowercase().ends_with(".ipynb") { "cell" } else { "page" };
            let several = if pages.contains(['-', '–']) { "s" } else { "" };
            return format!("Read {} ({what}{several} {})", args.path, pages.trim());
        }
        match (args.offset, args.limit) {
            (None | Some(0 | 1), None) => format!("Read {}", args.path),
            (Some(offset), None) if offset < 0 => format!("Read {} (last {} lines)", args.path, offset.unsigned_abs()),
            (Some(offset), None) => format!("Read {} (from line {offset})", args.path),
            (Some(offset), Some(limit)) if offset < 0 => {
                format!("Read {} ({limit} lines from {} before the end)", args.path, offset.unsigned_abs())
            }
            (offset, Some(limit)) => {
                let first = offset.unwrap_or(1).max(1);
                format!("Read {} (lines {first}–{})", args.path, first.saturating_add(i64::from(limit)) - 1)
            }
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        Ok(call.existing(&args.path)?.1.plan())
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        read(args, call.existing(&args.path)?.0, call)
    }
}

fn read(args: &Args, located: Located, call: &FileCall) -> Result<ToolOutput, ToolError> {
    let bytes = call.ctx.max_output.min(MOST_BYTES);
    if located.metadata().is_ok_and(|facts| facts.is_dir()) {
        let page = listing::Page { skip: 0, limit: usize::MAX, bytes };
        return listing::list(call.files(), &located, Scope::Visible, page);
    }
    if let Some(output) = document(args, &located, bytes, call)? {
        return Ok(output);
    }
    let limit = args.limit.unwrap_or(DEFAULT_LIMIT).max(1);
    let reading = Reading { call, located, offset: args.offset.unwrap_or(1), limit, bytes };
    let page = reading.page()?;
    // The last lines are what comes nearest to what is not there.
    let past = page.is_past_the_end().then_some(page.total).flatten();
    let reading = Reading { offset: if past.is_some() { -i64::from(limit) } else { reading.offset }, ..reading };
    let page = if past.is_some() { reading.page()? } else { page };
    let mut output = page.print(&reading.located.shown()).with_known(call.ledger.to_keep(&reading.located));
    if let (Some(total), Some(offset)) = (past, args.offset) {
        output.model.push_str(&format!("\n(line {offset} is past the end: there are {total}; these are the last)"));
    }
    if document::is_notebook(&reading.located) && args.offset.is_none() && args.limit.is_none() {
        output.model.push_str("\n(its name is a notebook's, but it can't be read as one: this is its text)");
    }
    if args.pages.is_some() && args.offset.is_none() {
        output.model.push_str(
            "\n(pages are those of PDF documents and notebooks; this is neither, so they were not looked at)",
        );
    }
    Ok(output)
}

/// A file that is more than lines; `None` for one that is not, or whose lines are asked for.
fn document(args: &Args, located: &Located, bytes: usize, call: &FileCall) -> Result<Option<ToolOutput>, ToolError> {
    let span = Span::read(args.pages.as_deref())?;
    let lines = args.offset.is_some() || args.limit.is_some();
    if document::is_notebook(located) {
        return if lines { Ok(None) } else { document::notebook(located, span, bytes) };
    }
    let mut head = [0; 16];
    let (mut file, _) = call.ctx.world.open(located)?;
    let read = file.read(&mut head).map_err(|error| ToolError::failed(format!("{}: {error}", located.shown())))?;
    let head = head.get(..read).unwrap_or_default();
    if head.starts_with(document::PDF) {
        return document::pdf(located, span, bytes, &|| call.ctx.cancel.is_cancelled()).map(Some);
    }
    document::media_type(head).map(|media_type| document::picture(located, media_type)).transpose()
}

struct Reading<'a> {
    call: &'a FileCall,
    located: Located,
    offset: i64,
    limit: u32,
    bytes: usize,
}

impl Reading<'_> {
    fn page(&self) -> Result<Page, ToolError> {
        let (mut file, stamp) = self.call.ctx.world.open(&self.located)?;
        let form = self.form(&mut file, stamp.size())?;
        if stamp.size() <= HASHED {
            let mut content = Vec::new();
            file.take(HASHED + 1).read_to_end(&mut content).map_err(|error| self.failed(&error))?;
            let page = self.page_of(Cursor::new(content.as_slice()), form, content.len() as u64, None);
            let (page, _) = page.map_err(|error| self.failed(&error))?;
            self.call.ledger.know_read(self.located.path(), stamp, &content, page.seen());
            return Ok(page);
        }
        let known = self.call.ledger.mark(self.located.path(), &stamp);
        let (page, mark) = self.page_of(file, form, stamp.size(), known).map_err(|error| self.failed(&error))?;
        self.call.ledger.know_part(self.located.path(), stamp, mark.or(known), page.seen());
        Ok(page)
    }

    fn form(&self, file: &mut Content, size_in_bytes: u64) -> Result<Form, ToolError> {
        let mut head = Vec::with_capacity(SNIFFED);
        file.by_ref().take(SNIFFED as u64).read_to_end(&mut head).map_err(|error| self.failed(&error))?;
        file.rewind().map_err(|error| self.failed(&error))?;
        match sniff(&head) {
            Kind::Text(form) => Ok(form),
            Kind::Binary(kind) => Err(ToolError::new(
                ErrorCode::NotATextFile,
                format!("{} is {kind} of {}, not a text file", self.located.shown(), size(size_in_bytes)),
            )),
        }
    }

    /// The page, and where it ends for the next reading of a big file.
    fn page_of<R: Read + Seek>(
        &self,
        mut source: R,
        form: Form,
        size: u64,
        known: Option<Mark>,
    ) -> io::Result<(Page, Option<Mark>)> {
        let head = form.mark_bytes().len() as u64;
        source.seek(SeekFrom::Start(head))?;
        if form.encoding != Encoding::Utf8 {
            let first = self.first_line(|| self.reader(Utf16Reader::new(&mut source, form)).skip(u64::MAX))?;
            source.seek(SeekFrom::Start(head))?;
            let mut reader = self.reader(Utf16Reader::new(&mut source, form));
            let skipped = reader.skip(first - 1)?;
            let page = page::collect(&mut reader, &self.wanted(form, skipped, first, size))?;
            return Ok((page, None));
        }
        if self.offset < 0 && size > COUNTED {
            return self.last_lines(source, form, size).map(|page| (page, None));
        }
        let first = self.first_line(|| self.reader(&mut source).skip(u64::MAX))?;
        let start = known.filter(|mark| mark.line < first).unwrap_or(Mark { line: 0, offset: head });
        source.seek(SeekFrom::Start(start.offset))?;
        let mut reader = self.reader(source);
        let skipped = start.line + reader.skip(first - 1 - start.line)?;
        let page = page::collect(&mut reader, &self.wanted(form, skipped, first, size))?;
        let mark = page.next.map(|next| Mark { line: next - 1, offset: start.offset + page.used });
        Ok((page, mark))
    }

    /// The line to begin with, counted from one.
    fn first_line(&self, count: impl FnOnce() -> io::Result<u64>) -> io::Result<u64> {
        if self.offset >= 0 {
            return Ok(self.offset.unsigned_abs().max(1));
        }
        Ok(count()?.saturating_sub(self.offset.unsigned_abs()) + 1)
    }

    /// The end of a file that is too big to be counted: lines have their distance from the end as a number.
    fn last_lines<R: Read + Seek>(&self, mut source: R, form: Form, size: u64) -> io::Result<Page> {
        let stop = || self.call.ctx.cancel.is_cancelled();
        let (start, found) = start_of_last(&mut source, size, self.offset.unsigned_abs(), &stop)?;
        source.seek(SeekFrom::Start(start))?;
        let mut wanted = self.wanted(form, 0, 1, size);
        wanted.from_end = Some(found);
        page::collect(&mut self.reader(source), &wanted)
    }

    fn wanted(&self, form: Form, skipped: u64, first: u64, size: u64) -> Wanted {
        let count_rest = size <= COUNTED;
        Wanted { form, skipped, first, limit: self.limit, bytes: self.bytes, size, count_rest, from_end: None }
    }

    fn reader<R: Read>(&self, source: R) -> LineReader<R> {
        let cancel = self.call.ctx.cancel.clone();
        LineReader::new(source, move || cancel.is_cancelled())
    }

    fn failed(&self, error: &io::Error) -> ToolError {
        if self.call.ctx.cancel.is_cancelled() {
            return cancelled();
        }
        ToolError::failed(format!("{} can't be read: {error}", self.located.shown()))
    }
}
