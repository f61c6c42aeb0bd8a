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

/// The most characters that a text grows to by itself.
pub const LONGEST_CONTENT: usize = 16 * 1024;

/// How near two entries are, if they are near at all. What a person wrote is near to nothing that a
/// session wrote: the one is trusted and the other is not, so they must not become one.
#[must_use]
pub fn nearness(one: &Entry, other: &Entry) -> Option<f64> {
    let persons = |entry: &Entry| entry.source == PERSON;
    if one.category.name() != other.category.name() || one.reach != other.reach || persons(one) != persons(other) {
        return None;
    }
    let all = |entry: &Entry| words(&format!("{} {}", entry.title, entry.summary));
    let titles = common(&words(&one.title), &words(&other.title));
    let texts = common(&all(one), &all(other));
    (titles >= SAME_TITLE || texts >= SAME_WORDS).then_some(titles + texts)
}

/// The old entry with what the new one says. A text that is not mostly in the new one is kept above it.
///
/// # Errors
/// When both together are too long.
pub fn merged(old: &Entry, new: &Entry) -> Result<Entry, String> {
    let mut entry = old.clone();
    entry.tags.extend(new.tags.iter().filter(|tag| !old.tags.contains(tag)).cloned());
    entry.content = content(&old.content, &new.content)?;
    entry.title.clone_from(&new.title);
    entry.summary.clone_from(&new.summary);
    entry.source.clone_from(&new.source);
    if !new.category.topic().is_empty() {
        entry.category.clone_from(&new.category);
    }
    Ok(entry)
}

fn content(old: &str, new: &str) -> Result<String, String> {
    // Only what is there word for word is known: the same words in another order may say the opposite.
    if !new.trim().is_empty() && old.contains(new.trim()) {
        return Ok(old.to_owned());
    }
    let (before, after) = (words(old), words(new));
    let kept = before.intersection(&after).count() as f64;
    if after.is_empty() {
        return Ok(old.to_owned());
    }
    if before.is_empty() || kept / before.len() as f64 >= CONTAINED {
        return Ok(new.to_owned());
    }
    let both = format!("{}\n\n{}", old.trim_end(), new.trim_start());
    if both.chars().count() > LONGEST_CONTENT {
        return Err("it would grow too long".to_owned());
    }
    Ok(both)
}

/// The part of all words that both have.
fn common(one: &HashSet<String>, other: &HashSet<String>) -> f64 {
    let all = one.union(other).count();
    if all == 0 { 0.0 } else { one.intersection(other).count() as f64 / all as f64 }
}

fn words(text: &str) -> HashSet<String> {
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
            assert_eq!(nearness(&a, &b).is_some(), near, "{one:?} {other:?}");
        }
        let a = entry("Use tabs", "", "", "s");
        assert_eq!(nearness(&a, &Entry { category: Category::Strategy, ..a.clone() }), None);
        assert_eq!(nearness(&a, &Entry { reach: "/x".to_owned(), ..a.clone() }), None);
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
            ("use tabs, not spaces", "use spaces, not tabs", "use spaces, not tabs"),
            ("start redis", "", "start redis"),
            ("", "new", "new"),
        ];
        for (old, new, kept) in cases {
            assert_eq!(merged(&entry("t", "s", old, "a"), &entry("t", "s2", new, "b")).unwrap().content, kept);
        }
        let long = |word: &str| word.repeat(LONGEST_CONTENT / 2);
        assert!(merged(&entry("t", "", &long("ab "), "a"), &entry("t", "", &long("cd "), "a")).is_err());
    }

    #[test]
    fn a_persons_words_stay_apart() {
        let (persons, sessions) = (entry("T", "s", "a", PERSON), entry("T", "s", "b", "session x"));
        assert_eq!(nearness(&persons, &sessions), None);
        assert_eq!(nearness(&sessions, &persons), None);
        assert!(nearness(&persons, &persons).is_some());
    }
}
