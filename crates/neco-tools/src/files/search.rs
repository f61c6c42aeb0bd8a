//! Searching a tree with all processors, sorted and bounded: what is kept does not depend on who was first.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkState};
use neco_proto::ErrorCode;
use neco_safety::path::Located;
use neco_safety::path::sensitive::{is_sensitive_file, is_sensitive_folder};
use neco_safety::policy::Closed;
use neco_toolkit::ToolError;
use neco_workspace::{Scope, walker};
use tokio_util::sync::CancellationToken;

use super::hits::{FileHits, Hits, Keeper};
use super::pattern::Pattern;

/// Memory that one file may take when it has no line breaks.
const MOST_HEAP: usize = 256 * 1024 * 1024;
/// Bytes of a file that is searched across line breaks, as a whole in memory by every thread.
pub const MOST_ACROSS_LINES: u64 = 16 * 1024 * 1024;

/// What is looked for, and where.
pub struct Query {
    /// The pattern.
    pub matcher: RegexMatcher,
    /// Only files of these types.
    pub types: Option<Types>,
    /// Only files whose path fits.
    pub glob: Option<Pattern>,
    /// Whether matches may span lines.
    pub multiline: bool,
    /// What is wanted of each file.
    pub mode: Mode,
    /// How much of the tree is walked.
    pub scope: Scope,
    /// Whether sensitive files are searched too.
    pub sensitive_too: bool,
    /// What rules close to reading.
    pub closed: Closed,
    /// Results kept at most; the rest is counted.
    pub most: usize,
}

/// What is wanted of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its matching lines with lines around them.
    Lines {
        /// Lines before.
        before: usize,
        /// Lines after.
        after: usize,
    },
    /// Whether there is a match.
    Files,
    /// How many matches there are.
    Count,
}

#[derive(Debug, Default)]
pub struct Found {
    /// The first files that have matches, by path.
    pub files: Vec<FileHits>,
    /// Files that have matches.
    pub total_files: u64,
    /// Matching lines in all of them; in mode `Files` the same as `total_files`.
    pub total_matches: u64,
    /// Files that turned out not to be text; what was found before that is among the matches.
    pub binary: u64,
    /// Files that were too big to be searched across lines.
    pub too_big: u64,
    /// Sensitive files and folders that were left out.
    pub sensitive: u64,
    /// Files and folders that rules close to reading.
    pub closed: u64,
    /// Files that could not be read.
    pub unreadable: u64,
}

/// The matcher for a pattern.
pub fn matcher(
    pattern: &str,
    literal: bool,
    ignore_case: bool,
    word: bool,
    multiline: bool,
) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.fixed_strings(literal).case_insensitive(ignore_case).word(word).multi_line(true);
    if !multiline && !literal && pattern.contains('$') {
        // Only for a pattern with an end does it matter whether lines end with CRLF.
        builder.crlf(true);
    } else if !multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(pattern).map_err(|error| {
        let advice = if literal { "" } else { "; set literal to search for it as plain text" };
        let advice =
            if multiline || !pattern.contains("\\n") { advice } else { "; set multiline to match across lines" };
        ToolError::new(ErrorCode::InvalidArguments, format!("the pattern can't be used: {error}{advice}"))
    })
}

/// The files of a type.
pub fn types(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    if builder.definitions().iter().any(|definition| definition.name() == name) {
        builder.select(name);
    } else if builder.add("wanted", &format!("*.{name}")).is_ok() {
        // Not a type we know; an extension is what was meant.
        builder.select("wanted");
    }
    builder.build().map_err(|error| ToolError::new(ErrorCode::InvalidArguments, format!("type {name:?}: {error}")))
}

/// Searches a file or a tree. What comes back is sorted by path.
pub fn search(workspace: &Path, root: &Located, query: &Query, cancel: &CancellationToken) -> Found {
    let mut builder = walker(workspace, root.path(), query.scope);
    if let Some(types) = &query.types {
        builder.types(types.clone());
    }
    let shared = Shared {
        workspace,
        root,
        query,
        cancel,
        keeper: Keeper::new(query.most, query.mode),
        sensitive: AtomicU64::new(0),
        closed: AtomicU64::new(0),
        unreadable: AtomicU64::new(0),
        binary: AtomicU64::new(0),
        too_big: AtomicU64::new(0),
    };
    builder.build_parallel().visit(&mut Threads { shared: &shared });
    let (files, total_files, total_matches) = shared.keeper.finish();
    Found {
        files,
        total_files,
        total_matches,
        binary: shared.binary.into_inner(),
        too_big: shared.too_big.into_inner(),
        sensitive: shared.sensitive.into_inner(),
        closed: shared.closed.into_inner(),
        unreadable: shared.unreadable.into_inner(),
    }
}

struct Shared<'a> {
    workspace: &'a Path,
    root: &'a Located,
    query: &'a Query,
    cancel: &'a CancellationToken,
    keeper: Keeper,
    sensitive: AtomicU64,
    closed: AtomicU64,
    unreadable: AtomicU64,
    binary: AtomicU64,
    too_big: AtomicU64,
}

struct Threads<'a> {
    shared: &'a Shared<'a>,
}

impl<'s> ParallelVisitorBuilder<'s> for Threads<'s> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        let query = self.shared.query;
        let line_end = query.matcher.line_terminator().unwrap_or_default();
        let mut builder = SearcherBuilder::new();
        builder
            .binary_detection(BinaryDetection::quit(0))
            .line_terminator(line_end)
            .multi_line(query.multiline)
            .heap_limit(Some(MOST_HEAP))
            .line_number(false);
        if let Mode::Lines { before, after } = query.mode {
            builder.line_number(true).before_context(before).after_context(after);
        }
        Box::new(Worker { shared: self.shared, searcher: builder.build(), matcher: query.matcher.clone() })
    }
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    searcher: Searcher,
    matcher: RegexMatcher,
}

impl ParallelVisitor for Worker<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.shared.cancel.is_cancelled() {
            return WalkState::Quit;
        }
        let Ok(entry) = entry else {
            self.shared.unreadable.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        };
        let Some(kind) = entry.file_type() else { return WalkState::Continue };
        if self.is_sensitive(&entry, kind) {
            self.shared.sensitive.fetch_add(1, Ordering::Relaxed);
            return WalkState::Skip;
        }
        if entry.depth() > 0 && self.shared.query.closed.holds(entry.path()) {
            self.shared.closed.fetch_add(1, Ordering::Relaxed);
            return WalkState::Skip;
        }
        if kind.is_file() && self.is_wanted(&entry) {
            self.search(entry);
        }
        WalkState::Continue
    }
}

impl Worker<'_> {
    fn is_sensitive(&self, entry: &DirEntry, kind: FileType) -> bool {
        if entry.depth() == 0 || self.shared.query.sensitive_too {
            return false;
        }
        let judge = if kind.is_dir() { is_sensitive_folder } else { is_sensitive_file };
        judge(entry.path()).is_some()
    }

    fn is_wanted(&self, entry: &DirEntry) -> bool {
        let Some(glob) = &self.shared.query.glob else { return true };
        // People give patterns from the workspace and from the folder they search.
        let fits = |base: &Path| entry.path().strip_prefix(base).is_ok_and(|path| glob.fits(path));
        entry.depth() == 0 || glob_of_both(glob, fits(self.shared.workspace), fits(self.shared.root.path()))
    }

    fn search(&mut self, entry: DirEntry) {
        let path = entry.path();
        let shown = path.strip_prefix(self.shared.workspace).unwrap_or(path);
        let mut hits = Hits::new(shown, &self.matcher, &self.shared.keeper);
        let mut cut = false;
        let result = self.shared.root.open_below(path).and_then(|file| {
            let facts = file.metadata()?;
            // What a walk took for a file may be a pipe by now, which says nothing for ever.
            if !facts.is_file() {
                return Err(io::Error::other("not a file"));
            }
            if self.shared.query.multiline && facts.len() > MOST_ACROSS_LINES {
                self.shared.too_big.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            let mut text = Text { file, cancel: self.shared.cancel, start: Start::Unread, cut: false };
            self.searcher.search_reader(&self.matcher, &mut text, &mut hits)?;
            cut = text.cut;
            Ok(())
        });
        if result.is_err() {
            self.shared.unreadable.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if cut || hits.binary {
            self.shared.binary.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(hits) = hits.finish() {
            self.shared.keeper.keep(hits);
        }
    }
}

/// What does not fit a pattern with `!` must not fit it from either side.
fn glob_of_both(glob: &Pattern, one: bool, other: bool) -> bool {
    if glob.is_negated() { one && other } else { one || other }
}

/// The text of a file: what comes before the line with its first zero byte. Its reading ends when
/// the call is cancelled.
struct Text<'a> {
    file: File,
    cancel: &'a CancellationToken,
    start: Start,
    /// Whether there was a zero byte.
    cut: bool,
}

/// What the first bytes of a file say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Unread,
    /// Zero bytes belong to it, and the searcher makes text of it.
    Utf16,
    Other,
}

impl Read for Text<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        if self.cut {
            return Ok(0);
        }
        let length = self.file.read(buffer)?;
        let piece = buffer.get(..length).unwrap_or_default();
        if self.start == Start::Unread {
            let is_utf16 = piece.starts_with(b"\xff\xfe") || piece.starts_with(b"\xfe\xff");
            self.start = if is_utf16 { Start::Utf16 } else { Start::Other };
        }
        let Some(zero) = memchr::memchr(0, piece).filter(|_| self.start == Start::Other) else { return Ok(length) };
        self.cut = true;
        Ok(piece.get(..zero).and_then(|text| memchr::memrchr(b'\n', text)).map_or(0, |newline| newline + 1))
    }
}
