//! The place that comes nearest to a text that was not found, to show it as it really is.

use std::collections::HashMap;
use std::ops::Range;

use super::lines::{Line, Lines, OldText};

/// Nearness below this is chance.
const LEAST: f64 = 0.5;
/// Candidates that are compared in full.
const CANDIDATES: usize = 8;
/// How often one line of the text may vote.
const MOST_REPEATS: usize = 16;
/// Bytes of a text that are compared.
const MOST_COMPARED: usize = 2000;
/// Lines of a file that are looked at one by one when none is the same.
const MOST_LINES: usize = 50_000;

/// What comes nearest.
#[derive(Clone, Debug, PartialEq)]
pub struct Closest {
    /// Its lines, counted from one.
    pub lines: Range<usize>,
    pub text: Vec<u8>,
    /// The first line that differs: where, what the file has, what was looked for.
    pub difference: Option<(usize, String, String)>,
}

pub(in crate::files) fn find(content: &[u8], lines: &Lines, old: &OldText<'_>) -> Option<Closest> {
    let height = old.lines.len().min(lines.len());
    if height == 0 || !old.has_words() {
        return None;
    }
    let wanted = joined(old.lines.iter().copied());
    let nearness = |start: usize| {
        let window = lines.get(start..start + height);
        strsim::normalized_levenshtein(&wanted, &joined(window.iter().map(|line| line.text(content))))
    };
    let starts = candidates(content, lines, old, height);
    let best = starts.into_iter().map(|start| (nearness(start), start)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= LEAST).then(|| describe(content, lines, old, best.1, height))
}

/// Where to look: lines that are in both vote for a start; without any, single lines that resemble
/// the longest line of the text.
fn candidates(content: &[u8], lines: &Lines, old: &OldText<'_>, height: usize) -> Vec<usize> {
    let last_start = lines.len() - height;
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, line) in old.lines.iter().enumerate().filter(|(_, line)| line.trim_ascii().len() > 2) {
        let places = places.entry(line.trim_ascii()).or_default();
        // A line that repeats itself says little about where the text is.
        if places.len() < MOST_REPEATS {
            places.push(at);
        }
    }
    for (index, line) in lines.iter().enumerate() {
        let text = line.text(content).trim_ascii();
        for at in places.get(text).into_iter().flatten() {
            *votes.entry(index.saturating_sub(*at).min(last_start)).or_default() += text.len();
        }
    }
    let mut ranked: Vec<(usize, usize)> = votes.into_iter().map(|(start, votes)| (votes, start)).collect();
    if ranked.is_empty() {
        ranked = resembling(content, lines, old, last_start);
    }
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().take(CANDIDATES).map(|(_, start)| start).collect()
}

fn resembling(content: &[u8], lines: &Lines, old: &OldText<'_>, last_start: usize) -> Vec<(usize, usize)> {
    let Some((at, longest)) = old.lines.iter().enumerate().max_by_key(|(_, line)| line.trim_ascii().len()) else {
        return Vec::new();
    };
    let wanted = Pairs::of(longest);
    let score = |line: &Line| wanted.in_common(&Pairs::of(line.text(content)));
    lines
        .iter()
        .take(MOST_LINES)
        .enumerate()
        .map(|(index, line)| (score(line), index.saturating_sub(at).min(last_start)))
        .filter(|(score, _)| *score > 0)
        .collect()
}

/// Which pairs of neighbouring bytes a line has, roughly.
struct Pairs([u64; 16]);

impl Pairs {
    fn of(line: &[u8]) -> Self {
        let mut bits = [0_u64; 16];
        for pair in line.trim_ascii().windows(2).take(400) {
            if let [first, second] = pair {
                let slot = (usize::from(*first) * 31 + usize::from(*second)) % 1024;
                if let Some(word) = bits.get_mut(slot / 64) {
                    *word |= 1 << (slot % 64);
                }
            }
        }
        Self(bits)
    }

    /// In thousandths: twice what both have, of what they have together.
    fn in_common(&self, other: &Self) -> usize {
        let count = |bits: &[u64; 16]| bits.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        let both: usize = self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones() as usize).sum();
        2000 * both / (count(&self.0) + count(&other.0)).max(1)
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a [u8]>) -> String {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line.trim_ascii());
        text.push(b'\n');
        if text.len() > MOST_COMPARED {
            text.truncate(MOST_COMPARED);
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn describe(content: &[u8], lines: &Lines, old: &OldText<'_>, start: usize, height: usize) -> Closest {
    let window = lines.get(start..start + height);
    let (from, to) = (window.first().map_or(0, |line| line.start), window.last().map_or(0, |line| line.end));
    let differing = window.iter().zip(&old.lines).position(|(line, old)| line.text(content) != *old);
    let difference = differing.and_then(|at| {
        let shown = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        Some((start + at + 1, shown(window.get(at)?.text(content)), shown(old.lines.get(at)?)))
    });
    Closest {
        lines: start + 1..start + height + 1,
        text: content.get(from..to).unwrap_or_default().to_vec(),
        difference,
    }
}
