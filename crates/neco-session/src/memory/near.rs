//! Entries that say nearly the same: one is brought up to date instead of a second one being made.

use std::collections::HashSet;

use neco_store::recall::words_of;

use super::entry::{Entry, PERSON};

/// How much two titles have in common when they are of the same thing.
const SAME_TITLE: f64 = 0.7;

/// How much two entries have in common, title and summary together, when they are.
const SAME_WORDS: f64 = 0.75;

/// How much of the old text the new one must have to take its place.
const CONTAINED: f64 = 0.85;

/// How much of what both have must stand in the same order.
const SAME_ORDER: f64 = 0.8;

/// Words whose order is compared; what is longer begins differently where it says something different.
const MOST_COMPARED: usize = 400;

/// Words that turn what is said round.
const DENIES: [&str; 20] = [
    "not", "no", "never", "always", "don", "dont", "don't", "doesn", "isn", "cannot", "without", "avoid", "stop",
    "nicht", "nie", "kein", "keine", "immer", "ohne", "off",
];

/// The same as characters that such words are written with.
const DENIES_IN_CJK: [char; 7] = ['不', '别', '勿', '没', '禁', '非', '无'];

/// The most characters that a text grows to by itself.
pub const LONGEST_CONTENT: usize = 16 * 1024;

/// How two entries stand to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// They are of different things.
    Apart,
    /// They have most words in common, but in another order or with a "not" too many: one may say the opposite.
    Doubtful(f64),
    /// They say nearly the same.
    Same(f64),
}

/// How near two entries are. What a person wrote is near to nothing that a session wrote: the one is trusted and the
/// other is not, so they must not become one.
pub fn nearness(one: &Entry, other: &Entry) -> Nearness {
    let persons = |entry: &Entry| entry.source == PERSON;
    if one.category.name() != other.category.name() || one.reach != other.reach || persons(one) != persons(other) {
        return Nearness::Apart;
    }
    let all = |entry: &Entry| words(&format!("{} {}", entry.title, entry.summary));
    let (titles, texts) = ((words(&one.title), words(&other.title)), (all(one), all(other)));
    let (by_title, by_text) = (common(&titles.0, &titles.1), common(&texts.0, &texts.1));
    let score = by_title + by_text;
    let agree = |(one, other): &(Vec<String>, Vec<String>)| is_in_order(one, other) && !is_denied(one, other);
    // A title that is the same word for word is of the same thing, whatever is said about it.
    if by_title >= SAME_TITLE && agree(&titles) {
        return Nearness::Same(score);
    }
    match (by_title >= SAME_TITLE, by_text >= SAME_WORDS) {
        (false, true) if agree(&texts) => Nearness::Same(score),
        (false, false) => Nearness::Apart,
        (_, _) => Nearness::Doubtful(score),
    }
}

/// The old entry with what the new one says: its title stays, for that is what its id was made of. A text that is not
/// mostly in the new one is kept above it, and what a person wrote keeps its summary.
/// Nothing when both together are too long.
pub fn merged(old: &Entry, new: &Entry) -> Option<Entry> {
    let mut entry = old.clone();
    entry.tags.extend(new.tags.iter().filter(|tag| !old.tags.contains(tag)).cloned());
    entry.content = content(&old.content, &new.content)?;
    if old.source == PERSON {
        entry.content = content(&entry.content, &new.summary)?;
    } else if old.summary != new.summary {
        if content(&old.summary, &new.summary)? != new.summary {
            // The newer words come last.
            entry.content = content(&content(&old.summary, &old.content)?, &new.content)?;
        }
        entry.summary.clone_from(&new.summary);
    }
    entry.source.clone_from(&new.source);
    if !new.category.topic().is_empty() {
        entry.category.clone_from(&new.category);
    }
    Some(entry)
}

fn content(old: &str, new: &str) -> Option<String> {
    // Only what is there word for word is known: the same words in another order may say the opposite.
    if new.trim().is_empty() || old.contains(new.trim()) {
        return Some(old.to_owned());
    }
    let (before, after) = (words(old), words(new));
    let kept = before.iter().filter(|word| after.contains(word)).count() as f64;
    let is_in_new = kept >= CONTAINED * before.len() as f64 && is_in_order(&before, &after);
    if before.is_empty() || (is_in_new && !is_denied(&before, &after)) {
        return Some(new.to_owned());
    }
    let both = format!("{}\n\n{}", old.trim_end(), new.trim_start());
    (both.chars().count() <= LONGEST_CONTENT).then_some(both)
}

/// The part of all words that both have.
fn common(one: &[String], other: &[String]) -> f64 {
    let (one, other): (HashSet<&String>, HashSet<&String>) = (one.iter().collect(), other.iter().collect());
    let all = one.union(&other).count();
    if all == 0 { 0.0 } else { one.intersection(&other).count() as f64 / all as f64 }
}

/// Whether the words that both have stand in about the same order.
fn is_in_order(one: &[String], other: &[String]) -> bool {
    let shared = |of: &[String], with: &[String]| -> Vec<String> {
        let mut seen = HashSet::new();
        of.iter()
            .filter(|word| with.contains(word) && seen.insert(word.as_str()))
            .take(MOST_COMPARED)
            .cloned()
            .collect()
    };
    let (one, other) = (shared(one, other), shared(other, one));
    let run = longest_common_run(&one, &other) as f64;
    run >= SAME_ORDER * one.len().max(other.len()) as f64
}

/// How many words stand in both in the same order, others between them.
fn longest_common_run(one: &[String], other: &[String]) -> usize {
    let mut row = vec![0_usize; other.len() + 1];
    for word in one {
        let mut corner = 0;
        for (at, theirs) in other.iter().enumerate() {
            let above = row.get(at + 1).copied().unwrap_or(0);
            let left = row.get(at).copied().unwrap_or(0);
            let best = if word == theirs { corner + 1 } else { above.max(left) };
            corner = above;
            if let Some(cell) = row.get_mut(at + 1) {
                *cell = best;
            }
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Whether one of them has a word that turns the meaning round, and the other has not.
fn is_denied(one: &[String], other: &[String]) -> bool {
    let turns = |of: &[String]| -> HashSet<String> {
        of.iter().filter(|word| DENIES.contains(&word.as_str()) || word.contains(DENIES_IN_CJK)).cloned().collect()
    };
    turns(one) != turns(other)
}

fn words(text: &str) -> Vec<String> {
    words_of(text).split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::entry::Category;

    fn entry(title: &str, summary: &str, content: &str, source: &str) -> Entry {
        Entry {
            id: "x".to_owned(),
            title: title.to_owned(),
            summary: summary.to_owned(),
            category: Category::Preference,
            tags: Vec::new(),
            source: source.to_owned(),
            created_ms: 0,
            reach: String::new(),
            others: Vec::new(),
            content: content.to_owned(),
        }
    }

    #[test]
    fn near_is_the_same_said_again_and_not_its_opposite() {
        for (one, other, near) in [
            (("Use tabs", "Indent with tabs"), ("use TABS!", "indent with tabs"), true),
            (("Use tabs", "Indent with tabs"), ("Use spaces", "Indent with spaces"), false),
            (("数据库测试前先启动", "测试前要启动数据库"), ("数据库测试前先启动", "要先启动"), true),
            (("Run redis first", "Tests need redis"), ("Deploy on Friday", "Never"), false),
        ] {
            let (a, b) = (entry(one.0, one.1, "", "s"), entry(other.0, other.1, "", "s"));
            assert_eq!(matches!(nearness(&a, &b), Nearness::Same(_)), near, "{one:?} {other:?}");
        }
        let a = entry("Use tabs", "", "", "s");
        assert_eq!(nearness(&a, &Entry { category: Category::Strategy, ..a.clone() }), Nearness::Apart);
        assert_eq!(nearness(&a, &Entry { reach: "/x".to_owned(), ..a.clone() }), Nearness::Apart);
    }

    #[test]
    fn the_same_words_that_may_say_the_opposite_are_doubtful() {
        for (one, other) in [
            ("Use tabs, never spaces", "Use spaces, never tabs"),
            ("Never push directly to the main branch", "Always push directly to the main branch"),
            ("Run the linter before the tests", "Run the tests before the linter"),
            ("提交前运行测试脚本", "提交前不运行测试脚本"),
        ] {
            let (a, b) = (entry(one, one, one, "s"), entry(other, other, other, "s"));
            assert!(matches!(nearness(&a, &b), Nearness::Doubtful(_)), "{one} {other} {:?}", nearness(&a, &b));
        }
    }

    #[test]
    fn a_merged_entry_keeps_its_title_and_what_it_said() {
        let old = entry("Indentation", "Tabs in Go files", "", "s");
        let new = entry("Indentation", "Four blanks in Python files", "", "s2");
        let both = merged(&old, &new).unwrap();
        assert_eq!((both.title.as_str(), both.summary.as_str()), ("Indentation", "Four blanks in Python files"));
        assert_eq!(both.content, "Tabs in Go files");
        let persons = merged(&Entry { source: PERSON.to_owned(), ..old }, &Entry { source: PERSON.to_owned(), ..new });
        let persons = persons.unwrap();
        assert_eq!(
            (persons.summary.as_str(), persons.content.as_str()),
            ("Tabs in Go files", "Four blanks in Python files")
        );
    }

    #[test]
    fn nothing_that_was_known_is_lost() {
        let cases = [
            (
                "start redis on port one",
                "start redis on port one, then migrate",
                "start redis on port one, then migrate",
            ),
            ("start redis", "build the docs", "start redis\n\nbuild the docs"),
            ("start redis, then migrate", "start redis", "start redis, then migrate"),
            ("use tabs, not spaces", "use spaces, not tabs", "use tabs, not spaces\n\nuse spaces, not tabs"),
            ("start redis", "", "start redis"),
            ("", "new", "new"),
        ];
        for (old, new, kept) in cases {
            assert_eq!(merged(&entry("t", "s", old, "a"), &entry("t", "s", new, "b")).unwrap().content, kept);
        }
        let long = |word: &str| word.repeat(LONGEST_CONTENT / 2);
        assert!(merged(&entry("t", "", &long("ab "), "a"), &entry("t", "", &long("cd "), "a")).is_none());
    }

    #[test]
    fn a_persons_words_stay_apart() {
        let (persons, sessions) = (entry("T", "s", "a", PERSON), entry("T", "s", "b", "session x"));
        assert_eq!(nearness(&persons, &sessions), Nearness::Apart);
        assert_eq!(nearness(&sessions, &persons), Nearness::Apart);
        assert!(matches!(nearness(&persons, &persons), Nearness::Same(_)));
    }
}
