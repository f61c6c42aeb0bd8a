//! What a search keeps: the first results by path, and the count of all.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::search::Mode;

/// Bytes of a line that are shown.
const LONGEST_LINE: usize = 500;
/// Bytes of a cut line that are shown before its match.
const BEFORE_MATCH: usize = 150;

/// The matches of one file.
#[derive(Debug)]
pub struct FileHits {
    /// Its path as it is shown.
    pub path: PathBuf,
    /// How many matching lines it has.
    pub count: u64,
    text: Vec<u8>,
    /// Where in the text the lines of each match begin.
    starts: Vec<usize>,
}

impl FileHits {
    /// The lines of each match.
    pub fn chunks(&self) -> Vec<&[u8]> {
        let ends = self.starts.iter().skip(1).copied().chain([self.text.len()]);
        self.starts.iter().zip(ends).map(|(start, end)| self.text.get(*start..end).unwrap_or_default()).collect()
    }
}

/// Keeps the first results by path, whatever the order in which they come.
#[derive(Debug)]
pub struct Keeper {
    most: usize,
    mode: Mode,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    files: BTreeMap<PathBuf, FileHits>,
    results: usize,
    total_files: u64,
    total_matches: u64,
    /// What sorts behind this is counted only.
    full_before: Option<PathBuf>,
}

impl Keeper {
    /// A keeper of at most `most` results (and the rest of the file that has the last of them).
    pub fn new(most: usize, mode: Mode) -> Self {
        Self { most, mode, kept: Mutex::default() }
    }

    /// Takes the matches of a file.
    pub fn keep(&self, hits: FileHits) {
        let mut kept = self.lock();
        kept.total_files += 1;
        kept.total_matches += hits.count;
        if kept.full_before.as_deref().is_some_and(|bound| hits.path.as_path() > bound) {
            return;
        }
        kept.results += self.weight(&hits);
        kept.files.insert(hits.path.clone(), hits);
        while let Some((_, last)) = kept.files.last_key_value()
            && kept.results - self.weight(last) >= self.most.max(1)
            && let Some((path, last)) = kept.files.pop_last()
        {
            kept.results -= self.weight(&last);
            kept.full_before = Some(path);
        }
    }

    /// The files kept, how many files and how many lines matched.
    pub fn finish(self) -> (Vec<FileHits>, u64, u64) {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        (kept.files.into_values().collect(), kept.total_files, kept.total_matches)
    }

    fn weight(&self, hits: &FileHits) -> usize {
        match self.mode {
            Mode::Lines { .. } => hits.starts.len(),
            Mode::Files | Mode::Count => 1,
        }
    }

    /// Whether lines of this file are worth keeping.
    fn wants(&self, path: &Path) -> bool {
        matches!(self.mode, Mode::Lines { .. }) && self.lock().full_before.as_deref().is_none_or(|bound| path <= bound)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Collects the matches of one file while it is searched. Costs nothing until there is one.
pub struct Hits<'a> {
    path: &'a Path,
    matcher: &'a RegexMatcher,
    keeper: &'a Keeper,
    count: u64,
    text: Vec<u8>,
    starts: Vec<usize>,
    /// Where lines before a match began that has not come yet.
    before: Option<usize>,
    wanted: Option<bool>,
    /// Whether it turned out not to be text.
    pub binary: bool,
}

impl<'a> Hits<'a> {
    /// For the file that is shown as `path`.
    pub fn new(path: &'a Path, matcher: &'a RegexMatcher, keeper: &'a Keeper) -> Self {
        let (count, text, starts) = (0, Vec::new(), Vec::new());
        Self { path, matcher, keeper, count, text, starts, before: None, wanted: None, binary: false }
    }

    /// What was found, if anything was.
    pub fn finish(mut self) -> Option<FileHits> {
        // Lines before a match that did not come, or was one too many.
        if let Some(before) = self.before {
            self.text.truncate(before);
        }
        let Self { path, count, text, starts, .. } = self;
        (count > 0).then(|| FileHits { path: path.to_path_buf(), count, text, starts })
    }

    fn keeps(&mut self) -> bool {
        let wanted = *self.wanted.get_or_insert_with(|| self.keeper.wants(self.path));
        wanted && self.starts.len() < self.keeper.most
    }

    fn push_line(&mut self, number: Option<u64>, sign: u8, line: &[u8]) {
        let number = number.unwrap_or(0);
        self.text.extend_from_slice(number.to_string().as_bytes());
        self.text.push(sign);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() <= LONGEST_LINE {
            self.text.extend_from_slice(line);
        } else {
            self.push_cut(line);
        }
        self.text.push(b'\n');
    }

    /// The part of a long line around its match.
    fn push_cut(&mut self, line: &[u8]) {
        let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let start = character_start(line, at.saturating_sub(BEFORE_MATCH));
        let end = character_start(line, (start + LONGEST_LINE).min(line.len()));
        if start > 0 {
            self.text.extend_from_slice("…".as_bytes());
        }
        self.text.extend_from_slice(line.get(start..end).unwrap_or_default());
        if end < line.len() {
            self.text.extend_from_slice("…".as_bytes());
        }
        self.text.extend_from_slice(format!(" [line cut, it has {} bytes]", line.len()).as_bytes());
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        if self.keeper.mode == Mode::Files {
            return Ok(false);
        }
        if self.keeps() {
            let start = self.before.take().unwrap_or(self.text.len());
            self.starts.push(start);
            for (index, line) in found.lines().enumerate() {
                self.push_line(found.line_number().map(|first| first + index as u64), b':', line);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_before = matches!(context.kind(), SinkContextKind::Before);
        // Lines after the last match that is kept belong to it.
        if self.keeps() || (!is_before && self.wanted == Some(true) && self.count == self.starts.len() as u64) {
            if is_before {
                self.before.get_or_insert(self.text.len());
            }
            self.push_line(context.line_number(), b'-', context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.starts.is_empty() && self.keeps() {
            self.before.get_or_insert(self.text.len());
            self.text.extend_from_slice(b"--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        // What comes before it is text, and is searched after this.
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// The start of the character that `at` lies in.
fn character_start(line: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|at| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, matches: usize) -> FileHits {
        FileHits { path: name.into(), count: matches as u64, text: Vec::new(), starts: vec![0; matches] }
    }

    #[test]
    fn what_is_kept_does_not_depend_on_the_order() {
        let names = ["a", "b", "c", "d", "e", "f"];
        for turn in 0..names.len() {
            let keeper = Keeper::new(5, Mode::Lines { before: 0, after: 0 });
            for index in 0..names.len() {
                keeper.keep(file(names[(index * 5 + turn) % names.len()], 2));
            }
            let (files, total_files, total_matches) = keeper.finish();
            let kept: Vec<_> = files.iter().map(|file| file.path.to_str().unwrap()).collect();
            assert_eq!((kept.as_slice(), total_files, total_matches), (["a", "b", "c"].as_slice(), 6, 12), "{turn}");
        }
    }
}
