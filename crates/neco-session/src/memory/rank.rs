//! Which entries matter most: how well they fit, how recent they are, how often they were of use.
//!
//! Pure: the same entries, scores and time give the same order.

use super::entry::Category;
use super::found::Found;

/// After so many milliseconds without use half of the freshness is gone.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;

/// What is left of an entry that is very old.
const OLD: f64 = 0.5;

/// How much more the best fit counts than an entry that is shown whatever is asked.
const TEXT: f64 = 2.0;

/// What an entry is worth that fits nothing of what is asked: preferences and facts about the folder
/// hold for every request, solutions only for theirs.
fn worth_unasked(category: &Category) -> f64 {
    match category {
        Category::Preference => 1.0,
        Category::Directory => 0.8,
        Category::Strategy => 0.3,
        Category::ExploreResult => 0.2,
        Category::Solution { .. } => 0.15,
    }
}

/// What an entry is worth for a request that it fits by `text`, 1 for the best of all and 0 for not at all.
pub fn worth(found: &Found, text: f64, now_ms: i64) -> f64 {
    (worth_unasked(&found.category) + TEXT * text) * recency(found, now_ms) * usefulness(found.uses)
}

/// The same for a search, where only what fits counts.
pub fn worth_found(found: &Found, text: f64, now_ms: i64) -> f64 {
    text * recency(found, now_ms) * usefulness(found.uses)
}

/// The best first; what is worth the same stays in the order of time, then of folders and files.
pub fn sort(entries: &mut [(Found, f64)]) {
    entries.sort_by(|(one, worth), (other, others)| {
        others.total_cmp(worth).then(other.created_ms.cmp(&one.created_ms)).then(one.id.cmp(&other.id))
    });
}

fn recency(found: &Found, now_ms: i64) -> f64 {
    let last = found.created_ms.max(found.last_ms);
    let age = now_ms.saturating_sub(last).max(0) as f64;
    OLD + (1.0 - OLD) * (-age / HALF_LIFE_MS).exp2()
}

fn usefulness(uses: i64) -> f64 {
    (1.0 + (uses.max(0) as f64).ln_1p() / 4.0).min(2.0)
}
