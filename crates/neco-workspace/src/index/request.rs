//! A request as people write it, taken apart: the files and the names of code that it speaks of, and its words.

use super::terms::{Share, each_term};

/// Characters of a request that are looked at: what is longer is pasted, and says little by its words.
const LOOKED_AT: usize = 4000;
/// Names of code that are looked for.
const MOST_NAMES: usize = 20;
/// Words with fewer letters say nothing.
const SHORTEST: usize = 3;

/// What a request speaks of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// Files, as they are named.
    pub(super) files: Vec<String>,
    /// Files that go along with the request as a whole.
    pub(super) attached: Vec<String>,
    /// Names of things in code.
    pub(super) names: Vec<String>,
    /// The words that say what it is about, in lower case.
    pub(super) words: Vec<String>,
}

impl Request {
    pub(super) fn of(text: &str) -> Self {
        let end = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        let mut request = Self::default();
        let is_quoted = quoted(text);
        for token in text.split(|letter: char| letter.is_whitespace() || BETWEEN.contains(&letter)) {
            let (token, attached) = match token.strip_prefix('@') {
                Some(rest) => (rest, true),
                None => (token, false),
            };
            let token = token.trim_end_matches(['.', ':', '?', '!']).trim_start_matches("./");
            if attached {
                add(&mut request.attached, token);
            } else if is_file(token) {
                add(&mut request.files, token);
            }
            let name = token.trim_matches(['.', ':', '_', '/']);
            if (is_name(name) || is_quoted.contains(&name)) && request.names.len() < MOST_NAMES {
                add(&mut request.names, name);
            }
        }
        each_term(text, |term, share| {
            let says_something = term.chars().count() >= SHORTEST || !term.is_ascii();
            let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
            if share == Share::Whole && says_something && !is_number && PLAIN.binary_search(&term).is_err() {
                add(&mut request.words, term);
            }
        });
        request
    }
}

fn add(to: &mut Vec<String>, one: &str) {
    if !one.is_empty() && !to.iter().any(|known| known == one) {
        to.push(one.to_owned());
    }
}

/// What stands between names, besides blanks.
const BETWEEN: &[char] =
    &['(', ')', ',', ';', '"', '\'', '`', '<', '>', '|', '[', ']', '{', '}', '，', '。', '、', '：'];

/// What stands between backticks and is one word.
fn quoted(text: &str) -> Vec<&str> {
    let inside = text.split('`').skip(1).step_by(2);
    inside.map(|one| one.trim_end_matches("()")).filter(|one| one.len() >= SHORTEST && is_word(one)).collect()
}

fn is_word(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Whether it is written as a file is: with an ending, or in a folder.
fn is_file(token: &str) -> bool {
    let (folder, name) = token.rsplit_once('/').unwrap_or(("", token));
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    let has_ending = ending.is_some_and(|ending| (1..=8).contains(&ending.len()) && is_word(ending));
    !token.contains("://") && (has_ending || (!folder.is_empty() && !name.is_empty()))
}

/// Whether it is written as only names of code are: `a_b`, `aB`, `A::b`.
fn is_name(token: &str) -> bool {
    let parts: Vec<&str> = token.split("::").collect();
    if token.len() < SHORTEST || !parts.iter().all(|part| !part.is_empty() && is_word(part)) {
        return false;
    }
    let has_hump = |part: &&str| {
        let letters: Vec<char> = part.chars().collect();
        letters
            .windows(2)
            .any(|pair| matches!(pair, [small, capital] if small.is_lowercase() && capital.is_uppercase()))
    };
    parts.len() > 1 || token.contains('_') || parts.iter().any(has_hump)
}

/// Words that stand in any request, whatever it is about.
const PLAIN: &[&str] = &[
    "about",
    "above",
    "actually",
    "add",
    "added",
    "adding",
    "adds",
    "after",
    "again",
    "all",
    "allow",
    "also",
    "always",
    "and",
    "another",
    "any",
    "anything",
    "are",
    "around",
    "ask",
    "because",
    "been",
    "before",
    "being",
    "below",
    "better",
    "between",
    "both",
    "bug",
    "bugs",
    "but",
    "can",
    "cannot",
    "change",
    "changed",
    "changes",
    "check",
    "code",
    "could",
    "create",
    "describe",
    "did",
    "different",
    "does",
    "doesn",
    "doing",
    "don",
    "done",
    "each",
    "else",
    "even",
    "every",
    "everything",
    "example",
    "existing",
    "explain",
    "feature",
    "few",
    "file",
    "files",
    "find",
    "first",
    "fix",
    "fixed",
    "fixes",
    "follow",
    "for",
    "from",
    "function",
    "functions",
    "get",
    "gets",
    "give",
    "given",
    "gives",
    "going",
    "good",
    "got",
    "had",
    "handle",
    "happen",
    "happens",
    "has",
    "have",
    "hello",
    "help",
    "here",
    "hey",
    "how",
    "idea",
    "implement",
    "implemented",
    "improve",
    "instead",
    "into",
    "isn",
    "issue",
    "its",
    "itself",
    "just",
    "keep",
    "kind",
    "know",
    "last",
    "least",
    "less",
    "let",
    "like",
    "line",
    "lines",
    "list",
    "look",
    "looks",
    "lot",
    "main",
    "make",
    "makes",
    "many",
    "may",
    "maybe",
    "mean",
    "means",
    "method",
    "might",
    "more",
    "most",
    "move",
    "much",
    "must",
    "name",
    "named",
    "need",
    "needs",
    "never",
    "new",
    "next",
    "not",
    "nothing",
    "now",
    "off",
    "okay",
    "old",
    "once",
    "one",
    "ones",
    "only",
    "open",
    "other",
    "others",
    "our",
    "out",
    "over",
    "part",
    "place",
    "please",
    "possible",
    "problem",
    "project",
    "put",
    "question",
    "really",
    "refactor",
    "remove",
    "rename",
    "repo",
    "repository",
    "right",
    "run",
    "running",
    "runs",
    "said",
    "same",
    "say",
    "says",
    "see",
    "seems",
    "set",
    "should",
    "show",
    "shown",
    "shows",
    "simple",
    "since",
    "small",
    "some",
    "something",
    "still",
    "such",
    "support",
    "sure",
    "take",
    "tell",
    "test",
    "tests",
    "than",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "though",
    "through",
    "time",
    "times",
    "too",
    "try",
    "two",
    "under",
    "until",
    "update",
    "use",
    "used",
    "uses",
    "using",
    "very",
    "via",
    "want",
    "wants",
    "was",
    "way",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whole",
    "whose",
    "why",
    "will",
    "with",
    "without",
    "won",
    "work",
    "working",
    "works",
    "would",
    "write",
    "wrong",
    "yes",
    "yet",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_names_and_words_are_told_apart() {
        let request = Request::of(
            "Please look at `src/hub/told.rs` and ./Cargo.toml: why does `Telling` (or Fold::apply, parse_line, isOpen) \
             forget sessions? See https://example.com/a.html and @docs/context.md.",
        );
        assert_eq!(request.files, ["src/hub/told.rs", "Cargo.toml"]);
        assert_eq!(request.attached, ["docs/context.md"]);
        assert_eq!(request.names, ["Telling", "Fold::apply", "parse_line", "isOpen"]);
        for word in ["telling", "sessions", "forget", "parse_line"] {
            assert!(request.words.iter().any(|known| known == word), "{word} {:?}", request.words);
        }
    }

    #[test]
    fn a_greeting_says_nothing() {
        for text in ["hello", "Hey, how are you?", "thanks, that works", "yes please", "go on", "1 2 3", ""] {
            let Request { files, names, words, .. } = Request::of(text);
            assert_eq!((files.len(), names.len()), (0, 0), "{text}");
            assert!(words.is_empty(), "{text} {words:?}");
        }
    }

    #[test]
    fn plain_words_are_in_order_and_each_there_once() {
        assert!(PLAIN.windows(2).all(|pair| pair[0] < pair[1]), "so that a second one is seen");
    }
}
