//! `@path` in a rules file: another file that it brings along.
//!
//! A path starts at the file that names it; in the person's own files `~/` is their home. Only files that are really
//! there count, so that `@someone` stays a name; what lies outside, holds secrets, is closed to reading by a rule or is
//! too deep is not read, and that is said: to the model in the place of the file, and to the person.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use neco_config::section::ContextSection;
use neco_workspace::Watched;

use crate::sources::reader::{Reader, TextRead, Unread};

/// Files that one rules file brings along at most.
const MOST: usize = 50;

/// A file that was brought along.
#[derive(Debug)]
pub(super) struct Import {
    /// What it says, what was left out of it, and what it names that was not read.
    pub read: TextRead,
    /// The file that names it.
    pub by: PathBuf,
}

/// Follows the imports of one rules file.
pub(super) struct Importer<'a> {
    reader: Reader<'a>,
    home: Option<Home<'a>>,
    settings: &'a ContextSection,
    visited: HashSet<PathBuf>,
    /// Where files were looked for.
    pub watched: Watched,
    /// What was found, in the order it is named.
    pub found: Vec<Import>,
    /// What the rules file itself names that was not read, and why.
    pub notes: Vec<String>,
    /// What the person should know of that.
    pub warnings: Vec<String>,
}

/// The person's home, for a rules file of their own.
#[derive(Clone, Copy)]
pub(super) struct Home<'a> {
    pub path: &'a Path,
    /// Reads what the rules file itself names there; what it brings along may name only what lies beside it.
    pub reader: Reader<'a>,
}

/// Why a file that is meant is not brought along.
struct NotTaken {
    why: String,
    /// Whether a person should know of it.
    matters: bool,
}

impl NotTaken {
    fn refused(why: impl Into<String>) -> Self {
        Self { why: why.into(), matters: true }
    }

    fn of_no_matter(why: impl Into<String>) -> Self {
        Self { why: why.into(), matters: false }
    }
}

impl<'a> Importer<'a> {
    /// For a rules file at `path`, which is not brought along again; `home` for one of the person's own.
    pub(super) fn new(reader: Reader<'a>, home: Option<Home<'a>>, settings: &'a ContextSection, path: PathBuf) -> Self {
        let visited = HashSet::from([path]);
        let (found, notes, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Self { reader, home, settings, visited, watched: Watched::default(), found, notes, warnings }
    }

    /// Takes in what `text` of the rules file `path` names.
    pub(super) fn follow(&mut self, text: &str, path: &Path) {
        self.follow_at(text, path, 1, None);
    }

    /// The same at a depth, for the file at this place of what was found.
    fn follow_at(&mut self, text: &str, path: &Path, depth: u8, at: Option<usize>) {
        for named in named(text) {
            if self.found.len() == MOST {
                return;
            }
            let Err(NotTaken { why, matters }) = self.take(named, path, depth) else { continue };
            let note = format!("@{named} was not read: {why}");
            let (notes, warnings) = match at.and_then(|at| self.found.get_mut(at)) {
                Some(import) => (&mut import.read.notes, &mut import.read.warnings),
                None => (&mut self.notes, &mut self.warnings),
            };
            warnings.extend(matters.then(|| note.clone()));
            notes.push(note);
        }
    }

    /// Takes in one file that another names; the words say why it is not read although it is meant.
    fn take(&mut self, named: &str, by: &Path, depth: u8) -> Result<(), NotTaken> {
        let Some(folder) = by.parent() else { return Ok(()) };
        let outside = || NotTaken::refused("it leads out of the folder");
        let (path, reader) = match (named.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => (home.path.join(rest), if depth == 1 { home.reader } else { self.reader }),
            // Nobody else's file says where in the person's home something is to be read.
            (Some(_), None) => return Err(outside()),
            (None, _) => (folder.join(named), self.reader),
        };
        self.watched.add(&path);
        let located = match reader.locate(&path) {
            Ok(located) => located,
            Err(Unread::Outside) => return Err(outside()),
            Err(Unread::Refused(why)) => return Err(NotTaken::refused(why)),
            // `@someone` stays a name; what can only be a path is a path that is wrong.
            Err(Unread::Missing) if is_path(named) => return Err(NotTaken::of_no_matter("there is no such file")),
            Err(Unread::Missing) => return Ok(()),
        };
        if depth > self.settings.import_depth {
            return Err(NotTaken::of_no_matter(format!("imports go no deeper than {}", depth - 1)));
        }
        if !self.visited.insert(located.path().to_path_buf()) {
            return Ok(());
        }
        let read = match reader.read(&path, self.settings.max_rules_file) {
            Ok(read) => read,
            Err(Unread::Missing) => return Ok(()),
            Err(Unread::Outside) => return Err(outside()),
            Err(Unread::Refused(why)) => return Err(NotTaken::refused(why)),
        };
        let (path, text) = (read.path.clone(), read.text.clone());
        self.found.push(Import { read, by: by.to_path_buf() });
        self.follow_at(&text, &path, depth + 1, Some(self.found.len() - 1));
        Ok(())
    }
}

/// Whether it can only be the path of a file: it has a folder and an ending.
fn is_path(named: &str) -> bool {
    let path = Path::new(named);
    path.components().count() > 1
        && path.extension().is_some_and(|ending| !ending.is_empty() && ending.len() <= 5)
        && !named.contains("://")
}

/// The paths that a text names with `@`, outside of code.
fn named(text: &str) -> Vec<&str> {
    let (mut found, mut fence) = (Vec::new(), None);
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            // Every second piece between backticks is code.
            (None, None) => found.extend(line.split('`').step_by(2).flat_map(in_words)),
        }
    }
    found
}

/// `@path`, or `@"a path"` where it has blanks.
fn in_words(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.match_indices("@\"").filter_map(|(at, _)| text.get(at + 2..)?.split('"').next());
    let quoted: Vec<&str> = quoted.filter(|path| path.contains(' ')).collect();
    let in_quotes = quoted.clone();
    text.split_whitespace()
        .filter(move |word| !in_quotes.iter().any(|path| begins(word, path)))
        .filter_map(|word| {
            let path = word.trim_start_matches(['(', '"', '\'', '<']).strip_prefix('@')?;
            let path = path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '>']);
            (!path.is_empty()).then_some(path)
        })
        .chain(quoted)
}

/// Whether a word is the beginning of a path in quotes.
fn begins(word: &str, path: &str) -> bool {
    word.split_once("@\"").is_some_and(|(_, start)| path.starts_with(start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_named_outside_of_code() {
        let text =
            "See @docs/style.md, and (@b.md).\n`@not.md` mail me@example.org\n```\n@no.md\n~~~\n```\n@ @../up.md";
        assert_eq!(named(text), ["docs/style.md", "b.md", "../up.md"]);
        assert_eq!(named("See @\"docs/with space.md\" and @b.md."), ["b.md", "docs/with space.md"]);
    }

    #[test]
    fn what_can_only_be_a_path_is_one() {
        for (named, path) in
            [("docs/missing.md", true), ("./a.md", true), ("someone", false), ("someone/team", false), ("a.md", false)]
        {
            assert_eq!(is_path(named), path, "{named}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_through(text in "(\\PC|\n|`|@){0,200}") {
            let there = |path: &&str| text.contains(&format!("@{path}")) || text.contains(&format!("@\"{path}"));
            let all_there = named(&text).iter().all(there);
            prop_assert!(all_there);
        }
    }
}
