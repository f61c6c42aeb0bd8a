//! Ranked text search: which files a question is about, and the lines that say why.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;

use super::postings::{Key, Postings};
use super::scan;
use super::segment::Together;
use super::snapshot::{Lengths, Snapshot};
use super::store::IndexError;
use super::symbols::Like;
use super::terms::{Share, each_term};

/// How soon more of the same stops counting.
const SATURATION: f32 = 2.4;
/// How much a long file is held against it.
const LENGTH: f32 = 0.6;
/// What a part of a word counts beside a whole one.
const PART: f32 = 0.6;
/// What a word counts that only begins like, or resembles, what was asked for.
const NEAR: f32 = 0.5;
/// Words that stand in for one that is nowhere.
const MOST_NEAR: usize = 12;
/// Lines shown of a file.
const MOST_LINES: usize = 3;

/// A file that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its path, from the root.
    pub path: PathBuf,
    /// How well it fits; only for comparing.
    pub score: f32,
    /// The lines that fit best, in order.
    pub lines: Vec<HitLine>,
}

/// A line that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitLine {
    /// Its number, from one.
    pub number: u32,
    /// Its text.
    pub text: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// One page, best first.
    pub hits: Vec<Hit>,
    /// How many files fit.
    pub total: usize,
    /// Words of the question that are nowhere, with those that were looked for instead.
    pub replaced: Vec<(String, Vec<String>)>,
}

/// A word that is looked for.
struct Wanted {
    term: String,
    weight: f32,
    files: Files,
}

/// The files that have a word, and how much.
pub(super) type Files = Vec<(u32, u32)>;

/// A word of the question.
struct Asked {
    term: String,
    weight: f32,
    /// Whether its parts are asked for too.
    has_parts: bool,
}

/// The words of a question, each once.
fn asked(question: &str) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    let mut whole = 0;
    each_term(question, |term, share| {
        let weight = match share {
            Share::Whole => 1.0,
            Share::Part => PART,
        };
        if share == Share::Part
            && let Some(whole) = asked.get_mut(whole)
        {
            whole.has_parts = true;
        }
        let known = asked.iter().position(|known| known.term == term);
        let at = known.unwrap_or(asked.len());
        match asked.get_mut(at) {
            Some(known) => known.weight = known.weight.max(weight),
            None => asked.push(Asked { term: term.to_owned(), weight, has_parts: false }),
        }
        if share == Share::Whole {
            whole = at;
        }
    });
    asked
}

impl Snapshot {
    /// The files that fit best, `limit` of them after the first `skip`; only those that are `wanted`.
    pub fn search(
        &self,
        question: &str,
        wanted: &dyn Fn(&Path) -> bool,
        skip: usize,
        limit: usize,
    ) -> Result<Hits, IndexError> {
        let mut found = Hits::default();
        let asked = self.asked(question, &mut found)?;
        let mut ranked = self.rank(&asked, wanted);
        found.total = ranked.len();
        best_first(&mut ranked, skip.saturating_add(limit));
        let worth = Worth::new(self.lengths.count, &asked);
        for (file, score) in ranked.into_iter().skip(skip).take(limit) {
            let path = self.path(file).to_path_buf();
            let lines = self.lines(&path, &worth);
            found.hits.push(Hit { path, score, lines });
        }
        Ok(found)
    }

    fn asked(&self, question: &str, found: &mut Hits) -> Result<Vec<Wanted>, IndexError> {
        let mut all = Vec::new();
        for Asked { term, weight, has_parts } in asked(question) {
            let files = self.weights(&term)?;
            if !files.is_empty() {
                all.push(Wanted { term, weight, files });
                continue;
            }
            // The parts of a word that is nowhere are looked for anyway, and say more than what resembles it.
            let near = if has_parts { Vec::new() } else { self.near(&term)? };
            if near.is_empty() {
                continue;
            }
            found.replaced.push((term, near.iter().map(|(term, _)| term.clone()).collect()));
            all.extend(near.into_iter().map(|(term, files)| Wanted { term, weight: weight * NEAR, files }));
        }
        Ok(all)
    }

    /// The files that have a term and still count.
    pub(super) fn weights(&self, term: &str) -> Result<Files, IndexError> {
        let key = Key::of_term(term);
        let mut files = Vec::new();
        for segment in &self.segments {
            let Some(value) = segment.table.get(&key)? else { continue };
            let mut weights = Postings::new(&value);
            while let Some((doc, weight)) = weights.weight()? {
                files.extend(segment.file(doc).map(|file| (file, weight)));
            }
        }
        Ok(files)
    }

    /// Terms that begin like one that is nowhere, or else resemble it, with the files that have them.
    fn near(&self, term: &str) -> Result<Vec<(String, Files)>, IndexError> {
        let mut beginning = Vec::new();
        self.terms_from(term, &mut |other| {
            beginning.push(other.to_owned());
            beginning.len() < MOST_NEAR
        })?;
        if !beginning.is_empty() || term.chars().count() < 4 {
            return self.that_count(beginning);
        }
        // Few mistakes are made in the first letters, and there are far fewer words to compare.
        let first: String = term.chars().take(2).collect();
        let like = Like::new(term, if term.chars().count() < 8 { 1 } else { 2 });
        let mut similar = BTreeSet::new();
        self.each_key(&Key::of_term(&first), |key| {
            let other = term_in(key)?;
            similar.extend(like.of(other).map(|far| (far, other.to_owned())));
            Ok(())
        })?;
        self.that_count(similar.into_iter().map(|(_, other)| other).take(MOST_NEAR).collect())
    }

    /// Of these terms, those that some file still has, with these files.
    fn that_count(&self, terms: Vec<String>) -> Result<Vec<(String, Files)>, IndexError> {
        let mut kept = Vec::new();
        for term in terms {
            let files = self.weights(&term)?;
            if !files.is_empty() {
                kept.push((term, files));
            }
        }
        Ok(kept)
    }

    /// Calls `each` with every term that begins like this, until it has enough.
    fn terms_from(&self, beginning: &str, each: &mut dyn FnMut(&str) -> bool) -> Result<(), IndexError> {
        let prefix = Key::of_term(beginning);
        let mut together = Together::seek(self.tables(), &prefix)?;
        while let Some(key) = together.key().filter(|key| key.starts_with(&prefix)) {
            if !each(term_in(key)?) {
                break;
            }
            together.advance()?;
        }
        Ok(())
    }

    fn rank(&self, asked: &[Wanted], wanted: &dyn Fn(&Path) -> bool) -> Vec<(u32, f32)> {
        let Lengths { count, average, each } = &self.lengths;
        let by_length = LENGTH / average.max(1.0);
        let mut scores = vec![(0.0_f32, 0.0_f32); each.len()];
        let all: f32 = asked.iter().map(|one| one.weight).sum();
        for one in asked {
            let rarity = one.weight * rarity(*count, one.files.len());
            for (file, weight) in &one.files {
                let at = *file as usize;
                let (Some((score, covered)), Some(length)) = (scores.get_mut(at), each.get(at)) else { continue };
                let weight = *weight as f32;
                let burden = 1.0 - LENGTH + by_length * *length as f32;
                *score += rarity * weight * (SATURATION + 1.0) / (weight + SATURATION * burden);
                *covered += one.weight;
            }
        }
        let numbered = (0_u32..).zip(scores).filter(|(_, (score, _))| *score > 0.0);
        let numbered = numbered.filter(|(file, _)| wanted(self.path(*file)));
        // A file that has all the words is worth more than one that has a word often.
        numbered.map(|(file, (score, covered))| (file, score * (0.4 + 0.6 * covered / all))).collect()
    }

    /// The lines of a file that are worth most, as the file is now.
    fn lines(&self, path: &Path, worth: &Worth) -> Vec<HitLine> {
        let Ok((_, Some(bytes))) = scan::read(&self.root, path) else { return Vec::new() };
        let Some(text) = scan::decode(&bytes) else { return Vec::new() };
        let mut lines: Vec<(f32, u32, &str)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let score = worth.of(line);
            if score > 0.0 {
                lines.push((score, number, line));
            }
        }
        lines.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let best = lines.first().map_or(0.0, |(score, _, _)| *score);
        lines.retain(|(score, _, _)| *score >= best * 0.6);
        lines.truncate(MOST_LINES);
        lines.sort_by_key(|(_, number, _)| *number);
        lines.into_iter().map(|(_, number, line)| HitLine { number, text: line.trim().to_owned() }).collect()
    }
}

/// What each word is worth in a line.
struct Worth {
    words: Vec<(String, f32)>,
    /// Finds where a word may be, quicker than by taking lines apart; absent when it can't be made.
    finder: Option<AhoCorasick>,
}

impl Worth {
    fn new(count: u32, asked: &[Wanted]) -> Self {
        let worth: HashMap<&str, f32> =
            asked.iter().map(|one| (one.term.as_str(), one.weight * rarity(count, one.files.len()))).collect();
        let words: Vec<(String, f32)> = worth.into_iter().map(|(term, value)| (term.to_owned(), value)).collect();
        let terms = words.iter().map(|(term, _)| term);
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(terms).ok();
        Self { words, finder }
    }

    /// Of a line: every word in it counts once.
    fn of(&self, line: &str) -> f32 {
        // Other letters than these may be a word's in lower case alone.
        if line.is_ascii() && self.finder.as_ref().is_some_and(|finder| !finder.is_match(line)) {
            return 0.0;
        }
        let mut seen = vec![false; self.words.len()];
        let mut score = 0.0;
        each_term(line, |term, _| {
            let known = self.words.iter().zip(&mut seen).find(|((word, _), _)| word == term);
            if let Some(((_, value), seen)) = known
                && !std::mem::replace(seen, true)
            {
                score += value;
            }
        });
        score
    }
}

/// The term in a key that [`Key::of_term`] made.
fn term_in(key: &[u8]) -> Result<&str, IndexError> {
    std::str::from_utf8(key.get(1..).unwrap_or_default()).map_err(|_| IndexError::Damaged)
}

/// Puts the best into order, as many as are wanted, and drops the rest. Files are numbered by path, so
/// equals stand in that order.
fn best_first(ranked: &mut Vec<(u32, f32)>, wanted: usize) {
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if wanted < ranked.len() {
        ranked.select_nth_unstable_by(wanted, order);
        ranked.truncate(wanted);
    }
    ranked.sort_unstable_by(order);
}

/// What a word is worth that `having` of `count` files have.
pub(super) fn rarity(count: u32, having: usize) -> f32 {
    let having = having as f32;
    (1.0 + (count as f32 - having + 0.5).max(0.0) / (having + 0.5)).ln()
}
