//! Ranked text search: which files a question is about, and the lines that say why.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::IndexError;
use super::postings::{Key, Weights};
use super::segment::Together;
use super::similar::distance;
use super::snapshot::Snapshot;
use super::text;
use super::words::{Share, each_term};

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
    /// The files that have it, and how much.
    files: Vec<(u32, u32)>,
}

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
    ///
    /// # Errors
    /// When the index is damaged or can't be read.
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
        let worth = self.worth(&asked);
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
            for term in &near {
                let files = self.weights(term)?;
                all.push(Wanted { term: term.clone(), weight: weight * NEAR, files });
            }
            found.replaced.push((term, near));
        }
        Ok(all)
    }

    /// The files that have a term and still count.
    fn weights(&self, term: &str) -> Result<Vec<(u32, u32)>, IndexError> {
        let key = Key::of_term(term);
        let mut files = Vec::new();
        for segment in self.segments() {
            let Some(value) = segment.table.get(&key)? else { continue };
            let mut weights = Weights::new(&value);
            while let Some((doc, weight)) = weights.next()? {
                files.extend(segment.file(doc).map(|file| (file, weight)));
            }
        }
        Ok(files)
    }

    /// Terms that begin like one that is nowhere, or else resemble it.
    fn near(&self, term: &str) -> Result<Vec<String>, IndexError> {
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
        let most = if term.chars().count() < 8 { 1 } else { 2 };
        let mut similar = Vec::new();
        self.terms_from(&first, &mut |other| {
            similar.extend(distance(term, other, most).map(|far| (far, other.to_owned())));
            true
        })?;
        similar.sort();
        self.that_count(similar.into_iter().map(|(_, other)| other).take(MOST_NEAR).collect())
    }

    /// Of these terms, those that some file still has.
    fn that_count(&self, terms: Vec<String>) -> Result<Vec<String>, IndexError> {
        let mut kept = Vec::new();
        for term in terms {
            if !self.weights(&term)?.is_empty() {
                kept.push(term);
            }
        }
        Ok(kept)
    }

    /// Calls `each` with every term that begins like this, until it has enough.
    fn terms_from(&self, beginning: &str, each: &mut dyn FnMut(&str) -> bool) -> Result<(), IndexError> {
        let prefix = Key::of_term(beginning);
        let mut together = Together::seek(self.tables(), &prefix)?;
        while let Some(key) = together.key().filter(|key| key.starts_with(&prefix)) {
            let term = std::str::from_utf8(key.get(1..).unwrap_or_default()).map_err(|_| IndexError::Damaged)?;
            if !each(term) {
                break;
            }
            together.advance()?;
        }
        Ok(())
    }

    fn rank(&self, asked: &[Wanted], wanted: &dyn Fn(&Path) -> bool) -> Vec<(u32, f32)> {
        let files = &self.manifest().files;
        let lengths = files.iter().filter_map(|file| file.place).map(|place| f64::from(place.length));
        let (count, sum) = lengths.fold((0_u32, 0.0), |(count, sum), length| (count + 1, sum + length));
        let average = (sum / f64::from(count.max(1))) as f32;
        let mut scores = vec![(0.0_f32, 0.0_f32); files.len()];
        let all: f32 = asked.iter().map(|one| one.weight).sum();
        for one in asked {
            let rarity = rarity(count, one.files.len());
            for (file, weight) in &one.files {
                let length = self.entry(*file).and_then(|entry| entry.place).map_or(0, |place| place.length);
                let weight = *weight as f32;
                let burden = 1.0 - LENGTH + LENGTH * length as f32 / average.max(1.0);
                let counted = weight * (SATURATION + 1.0) / (weight + SATURATION * burden);
                if let Some((score, covered)) = scores.get_mut(*file as usize) {
                    *score += one.weight * rarity * counted;
                    *covered += one.weight;
                }
            }
        }
        let numbered = (0_u32..).zip(scores).filter(|(_, (score, _))| *score > 0.0);
        let numbered = numbered.filter(|(file, _)| wanted(self.path(*file)));
        // A file that has all the words is worth more than one that has a word often.
        numbered.map(|(file, (score, covered))| (file, score * (0.4 + 0.6 * covered / all))).collect()
    }

    /// What each word is worth in a line.
    fn worth(&self, asked: &[Wanted]) -> HashMap<String, f32> {
        let count = u32::try_from(self.files()).unwrap_or(u32::MAX);
        asked.iter().map(|one| (one.term.clone(), one.weight * rarity(count, one.files.len()))).collect()
    }

    /// The lines of a file that are worth most, as the file is now.
    fn lines(&self, path: &Path, worth: &HashMap<String, f32>) -> Vec<HitLine> {
        let Ok((_, Some(bytes))) = text::read(self.root(), path) else { return Vec::new() };
        let Some(text) = text::decode(&bytes) else { return Vec::new() };
        let mut lines: Vec<(f32, u32, &str)> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            seen.clear();
            let mut score = 0.0;
            each_term(line, |term, _| {
                if let Some(value) = worth.get(term)
                    && !seen.iter().any(|known| known == term)
                {
                    score += value;
                    seen.push(term.to_owned());
                }
            });
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
fn rarity(count: u32, having: usize) -> f32 {
    let having = having as f32;
    (1.0 + (count as f32 - having + 0.5).max(0.0) / (having + 0.5)).ln()
}
