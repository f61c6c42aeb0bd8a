//! An entry of the memory, as a file holds it.

use std::fmt;

use neco_proto::event::MemoryScope;
use sha2::{Digest, Sha256};

/// Characters of a title and of a summary that are kept; the rest belongs to the content.
pub const LONGEST_TITLE: usize = 120;
/// The same for a summary.
pub const LONGEST_SUMMARY: usize = 400;

/// Characters of a title that make the name of its file.
const LONGEST_SLUG: usize = 40;

/// Characters at the end of an id that nothing else has.
const UNIQUE: usize = 6;

/// Whom an entry comes from when a person wrote it.
pub const PERSON: &str = "person";

/// What kind of thing an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Category {
    /// How the person wants things done, everywhere.
    Preference,
    /// Something about a folder that is not obvious from its files.
    Directory,
    /// What a look around has shown.
    ExploreResult,
    /// How a problem was solved.
    Solution {
        /// What the problem was about; may be empty.
        topic: String,
    },
    /// What to do differently with work of a kind.
    Strategy,
}

impl Category {
    /// Every name, in the order they are told.
    pub const NAMES: [&'static str; 5] = ["preference", "directory", "explore_result", "solution", "strategy"];

    /// The category of a name; spelling variants are understood.
    pub fn of(name: &str, topic: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace(['-', ' '], "_");
        Some(match name.as_str() {
            "preference" | "preferences" | "global" => Self::Preference,
            "directory" | "folder" | "project" => Self::Directory,
            "explore_result" | "exploration" | "explore" => Self::ExploreResult,
            "solution" => Self::Solution { topic: topic.trim().to_owned() },
            "strategy" => Self::Strategy,
            _ => return None,
        })
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Directory => "directory",
            Self::ExploreResult => "explore_result",
            Self::Solution { .. } => "solution",
            Self::Strategy => "strategy",
        }
    }

    /// What the problem of a solution was about; else empty.
    pub fn topic(&self) -> &str {
        match self {
            Self::Solution { topic } => topic,
            Self::Preference | Self::Directory | Self::ExploreResult | Self::Strategy => "",
        }
    }

    /// What a file says that does not say it.
    pub fn usual(scope: MemoryScope) -> Self {
        match scope {
            MemoryScope::Global => Self::Preference,
            MemoryScope::Directory => Self::Directory,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.topic() {
            "" => f.write_str(self.name()),
            topic => write!(f, "{} · {topic}", self.name()),
        }
    }
}

/// An entry of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is called by.
    pub id: String,
    /// What it is about, in one line.
    pub title: String,
    /// What there is to know, in a sentence or two: this is what later sessions are shown.
    pub summary: String,
    /// Its kind.
    pub category: Category,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it: [`PERSON`], or `session` and the session's id.
    pub source: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// The folder that it is about, for an entry that is kept with the person's own; empty for none.
    pub reach: String,
    /// Lines of the file's head that are somebody else's; kept as they are.
    pub others: Vec<String>,
    /// All there is to know.
    pub content: String,
}

impl Entry {
    /// An id that says what the entry is about, and whose end follows from `seed`: what is shown before it
    /// is written has the name that it will have.
    pub fn new_id(title: &str, seed: &str) -> String {
        let digest = Sha256::digest(format!("{title}\n{seed}"));
        let unique: String = digest.iter().take(UNIQUE / 2).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{unique}", slug_of(title))
    }
}

/// Whether an id was made of a title by [`Entry::new_id`].
pub fn is_made_of(id: &str, title: &str) -> bool {
    id.rsplit_once('-').is_some_and(|(slug, unique)| slug == slug_of(title) && unique.len() == UNIQUE)
}

/// A text as one line of at most so many characters.
pub fn one_line(text: &str, longest: usize) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let cut: String = line.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// Letters and digits of a text with hyphens between its words.
fn slug_of(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.chars().count() >= LONGEST_SLUG {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "note".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_file_name_that_says_something() {
        for (title, begins) in [
            ("Use tabs, not spaces!", "use-tabs-not-spaces-"),
            ("../../etc/passwd", "etc-passwd-"),
            ("修复 数据库", "修复-数据库-"),
            ("…", "note-"),
            (&"long ".repeat(50), "long-long-long-long-long-long-long-long-"),
        ] {
            let id = Entry::new_id(title, "seed");
            assert!(id.starts_with(begins), "{id}");
            assert_eq!(id.chars().count(), begins.chars().count() + UNIQUE, "{id}");
        }
        assert_ne!(Entry::new_id("a", "1"), Entry::new_id("a", "2"));
        assert_eq!(Entry::new_id("a", "1"), Entry::new_id("a", "1"));
        assert!(is_made_of(&Entry::new_id("Use tabs!", "1"), "use tabs"));
        assert!(!is_made_of("use-tabs", "Use tabs") && !is_made_of("own-name-123456", "Use tabs"));
    }

    #[test]
    fn a_line_is_cut_at_characters() {
        assert_eq!(one_line("  a \n b\tc\u{7} ", 10), "a b c");
        assert_eq!(one_line("数据库连接", 4), "数据库…");
    }

    #[test]
    fn every_category_has_its_name_back() {
        for name in Category::NAMES {
            assert_eq!(Category::of(name, "t").unwrap().name(), name);
        }
        assert_eq!(Category::of("Explore-Result", ""), Some(Category::ExploreResult));
        assert_eq!(Category::of("diary", ""), None);
    }
}
