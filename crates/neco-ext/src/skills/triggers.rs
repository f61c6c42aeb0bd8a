//! The words of a request that call up a skill, taken out of its description.
//!
//! A description is prose, so most of its words call up nothing, and the skill's name is a word like others. What calls
//! it up stands in the sentences that say when it is used. What they quote, and what they list after `triggers:` or
//! `keywords:`, is enough by itself. Of their other words, and of the formats that the description names, such as
//! `.xlsx` and PDF, it takes two. Words of everyday work are none of them.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// What a sentence has that says when a skill is used, and what one has that says when it is not, in lower case.
const WHEN: [&str; 6] = ["when ", "trigger", "keyword", "use for ", "use it for ", "use this for "];
const WHEN_NOT: [&str; 4] = [" not ", "n't ", "never ", "unless "];

/// What a request has before that which is not wanted.
const UNWANTED: [&str; 8] =
    ["do not ", "don't ", "don’t ", "dont ", "never ", "without ", "no need to ", "instead of "];

/// What a list of phrases begins with.
const LISTS: [&str; 4] = ["triggers:", "trigger words:", "trigger phrases:", "keywords:"];

/// Words of everyday work, which say nothing of what it is about. Those of three letters and fewer say nothing anyway.
const EVERYDAY: &str = "able about above added adding after again agent all also always analyse analyze and any \
    anything area around asked asking asks assistant back based because been before begin behavior being below \
    better between both branch bring broken build building call case change changed changing check claude clean \
    code codebase come command commit common complete config configure contain content convert copy correct could \
    create creating current data debug default define delete design detail develop developer different directory \
    discuss document documentation does doing done each edit else error even every everything exist existing \
    explain extract fail failing feature field file fill find first fixes fixing folder follow following form \
    format from full function general generate give given good guide handle have having help here idea implement \
    implementation important improve include information input inside install instead into issue item just keep \
    keyword kind know language large last later line list load local look looking made main make making manage many \
    mean mention message method might model more most move much multiple must name need never next not note number \
    object only open option order other others output over page part pass path perform place plan please possible \
    prepare print problem process program programming project provide pull push question quick read reading really \
    release remove rename replace report repository request require result return review right rule running same \
    save scale script search section select send server service session setting setup several should show similar \
    simple single skill small software some something source specific start state step still stop structure such \
    suggest support system take task team tell test testing text than that their them then there these they thing \
    think this those through time tool trigger triggered type under understand unit update updating used user uses \
    using value various verify version very view want well were what when where whether which while whole will with \
    within without work worked workflow working would write writing written wrong your";

/// Letters of the shortest word that may be a distinctive one, and words of the longest phrase.
const SHORTEST: usize = 4;
const LONGEST: usize = 5;

/// The most phrases of one skill, and the most words.
const MOST: usize = 40;

/// What calls up a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Triggers {
    /// One of these is enough; each is a row of words.
    phrases: Vec<Vec<String>>,
    /// Of these it takes two.
    words: BTreeSet<String>,
}

impl Triggers {
    /// Those of a skill with this description.
    pub(super) fn of(description: &str) -> Self {
        let mut triggers = Self::default();
        for sentence in sentences(description) {
            let lower = format!("{} ", sentence.to_lowercase());
            if WHEN_NOT.iter().any(|not| lower.contains(not)) {
                continue;
            }
            triggers.words.extend(formats(sentence));
            if WHEN.iter().any(|when| lower.contains(when)) {
                quoted(&lower).into_iter().chain(listed(&lower)).for_each(|phrase| triggers.add(phrase));
                triggers.words.extend(words(&lower).into_iter().filter(|word| is_distinctive(word)));
            }
        }
        triggers.phrases.truncate(MOST);
        triggers.words = triggers.words.into_iter().take(MOST).collect();
        triggers
    }

    /// A phrase counts unless it is one everyday word, or made of small ones.
    fn add(&mut self, phrase: &str) {
        let phrase = words(phrase);
        let says = match phrase.as_slice() {
            [only] => is_distinctive(only),
            several => several.len() <= LONGEST && several.iter().any(|word| word.chars().count() >= SHORTEST),
        };
        if says && !self.phrases.contains(&phrase) {
            self.phrases.push(phrase);
        }
    }

    /// Whether a request calls it up.
    pub(super) fn fit(&self, request: &Request) -> bool {
        let said = self.words.iter().filter(|word| request.words.contains(*word)).count();
        said > 1 || self.phrases.iter().any(|phrase| request.has(phrase))
    }
}

/// The words of a request.
pub(super) struct Request {
    row: Vec<String>,
    words: HashSet<String>,
    /// The first bytes of those that are ASCII: most words of descriptions begin otherwise.
    begins: [bool; 128],
}

/// Bytes at each end of a request that are looked at: what is longer was pasted.
const END: usize = 4 * 1024;

impl Request {
    /// Those of a text.
    pub(super) fn of(text: &str) -> Self {
        let row = if text.len() <= 2 * END {
            wanted(text)
        } else {
            let (first, last) = (text.floor_char_boundary(END), text.ceil_char_boundary(text.len() - END));
            let (first, last) = (text.get(..first).unwrap_or_default(), text.get(last..).unwrap_or_default());
            [wanted(first), wanted(last)].concat()
        };
        let mut begins = [false; 128];
        for first in row.iter().filter_map(|word| word.bytes().next()) {
            if let Some(begins) = begins.get_mut(usize::from(first)) {
                *begins = true;
            }
        }
        Self { words: row.iter().cloned().collect(), row, begins }
    }

    /// Whether it may call up the skill of this description at all: most have nothing to do with it, which is seen
    /// sooner than what would call them up is taken out.
    pub(super) fn may_call(&self, description: &str) -> bool {
        let has_phrases = description.contains(['"', '“', '`', ':']);
        let mut word = String::new();
        has_phrases
            || parts(description).any(|part| {
                let first = part.bytes().next().unwrap_or_default().to_ascii_lowercase();
                if self.begins.get(usize::from(first)) == Some(&false) {
                    return false;
                }
                word.clear();
                match part.is_ascii() {
                    true => word.extend(part.chars().map(|char| char.to_ascii_lowercase())),
                    false => word.push_str(&part.to_lowercase()),
                }
                let word = one_of_many(&word);
                // Short words only count as the names of formats.
                self.words.contains(word) && (is_distinctive(word) || !formats(description).is_empty())
            })
    }

    fn has(&self, phrase: &[String]) -> bool {
        !phrase.is_empty() && self.row.windows(phrase.len()).any(|words| words == phrase)
    }
}

/// The words of a request, without what stands in backquotes, and without what it says is not to be done.
fn wanted(text: &str) -> Vec<String> {
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let outside: Vec<&str> = text.split('`').step_by(if is_paired { 2 } else { 1 }).collect();
    let outside = outside.join(" ").to_lowercase();
    let clauses = sentences(&outside).into_iter().flat_map(|sentence| sentence.split(','));
    let of = |clause: &str| {
        let begins = |unwanted: &&str| clause.match_indices(unwanted).find(|(at, _)| is_begin(clause, *at));
        let end = UNWANTED.iter().filter_map(begins).map(|(at, _)| at).min();
        words(clause.get(..end.unwrap_or(clause.len())).unwrap_or_default())
    };
    clauses.flat_map(of).collect()
}

/// Whether a word of a text may begin here.
fn is_begin(text: &str, at: usize) -> bool {
    text.get(..at).is_none_or(|before| !before.ends_with(char::is_alphanumeric))
}

fn is_distinctive(word: &str) -> bool {
    word.chars().count() >= SHORTEST && !is_everyday(word)
}

fn is_everyday(word: &str) -> bool {
    static LIST: LazyLock<HashSet<&str>> =
        LazyLock::new(|| EVERYDAY.split_ascii_whitespace().map(one_of_many).collect());
    LIST.contains(word)
}

/// The words of a text in lower case, without what makes them many.
fn words(text: &str) -> Vec<String> {
    let words = parts(text).map(|part| {
        let mut word = part.to_lowercase();
        word.truncate(one_of_many(&word).len());
        word
    });
    words.collect()
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|char: char| !(char.is_alphanumeric() || char == '+' || char == '#'));
    parts.filter(|part| !part.is_empty())
}

/// `forms` is `form`; short words and those that end in `ss` are as they are.
fn one_of_many(word: &str) -> &str {
    let one = word.strip_suffix('s').filter(|one| !one.ends_with('s') && one.chars().count() >= 3);
    one.unwrap_or(word)
}

/// The sentences of a text; a dot within a word ends none.
fn sentences(text: &str) -> Vec<&str> {
    let (mut found, mut from) = (Vec::new(), 0);
    for (at, char) in text.char_indices() {
        let rest = text.get(at + char.len_utf8()..).unwrap_or_default();
        let ends = matches!(char, '.' | '!' | '?' | ';') && rest.chars().next().is_none_or(char::is_whitespace);
        if ends || char == '\n' {
            found.extend(text.get(from..at));
            from = at + char.len_utf8();
        }
    }
    found.extend(text.get(from..));
    found
}

/// What stands in quotes.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (opens, closes) in [('"', '"'), ('“', '”'), ('`', '`')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(opens) {
            let Some((inside, after)) = after.split_once(closes) else { break };
            found.push(inside);
            rest = after;
        }
    }
    found
}

/// What a sentence lists as phrases.
fn listed(sentence: &str) -> Vec<&str> {
    let list = LISTS.iter().find_map(|begins| Some(sentence.split_once(begins)?.1)).unwrap_or_default();
    list.split([',', '/']).flat_map(|item| item.split(" or ")).flat_map(|item| item.split(" and ")).collect()
}

/// The formats that a text names, and things that have no other name: `.xlsx`, `PDF`, `PDFs`.
fn formats(text: &str) -> Vec<String> {
    let is_between = |char| matches!(char, ',' | ';' | ':' | '(' | ')' | '"' | '\'' | '`' | '/' | '“' | '”');
    let parts = text.split(|char: char| is_between(char) || char.is_whitespace());
    parts.filter(|part| is_format(part)).flat_map(words).filter(|word| !is_everyday(word)).collect()
}

fn is_format(word: &str) -> bool {
    let is_ending = word.strip_prefix('.').is_some_and(|ending| {
        (2..=6).contains(&ending.len()) && ending.chars().all(|char| char.is_ascii_alphanumeric())
    });
    let bare = word.strip_suffix('s').unwrap_or(word);
    let is_short = bare.len() >= 3 && bare.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit());
    is_ending || is_short && bare.chars().any(|char| char.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(description: &str, request: &str) -> bool {
        let request = Request::of(request);
        let fits = Triggers::of(description).fit(&request);
        assert!(!fits || request.may_call(description), "{description}");
        fits
    }

    const PDF: &str = "Extracts text from PDF files, fills forms. Use when the user mentions PDFs, contracts, or \
        optical recognition.";
    const DEPLOY: &str = "Deploys. Trigger with \"ship it\" or “go live”. Keywords: rollout, staging.";

    #[test]
    fn the_words_of_a_description_call_up_its_skill() {
        for request in ["read this pdf of the contract", "Look at the PDFs: two contracts.", "optical recognition"] {
            assert!(fits(PDF, request), "{request}");
        }
        for request in ["Ship it!", "let's go live now", "the rollout failed", "staging is down"] {
            assert!(fits(DEPLOY, request), "{request}");
        }
        assert!(fits("Edits sheets: .xlsx and .csv", "make budget.xlsx of budget.csv"));
        assert!(fits(
            "Use when the user asks for release notes or a changelog of a milestone.",
            "a changelog of the milestone"
        ));
        assert!(fits("Reviews. Use when the user says \"review my code\".", "please review my code"));
    }

    #[test]
    fn everyday_sentences_call_up_nothing() {
        let skills = [
            PDF,
            DEPLOY,
            "Runs tests. Use when the user wants to test, run tests or check code.",
            "Reviews code. Use when asked to review, \"review\", or look at a pull request.",
            "Writes commit messages. Use when the user asks to commit changes or write a commit message.",
            "Formats drafts. Do NOT use for code; it MUST be asked. Never when the user mentions kubernetes clusters.",
            "Comprehensive PDF toolkit. When Claude needs to fill in a PDF form or process, generate, or analyze PDF \
             documents at scale.",
            "Guide for creating effective skills. This skill should be used when users want to create a new skill (or \
             update an existing skill) that extends Claude's capabilities with specialized knowledge or workflows.",
        ];
        for request in [
            "run the tests and fix what fails",
            "please review this function before I commit it",
            "commit the changes with a good message",
            "fill in the form on the settings page",
            "write the text of the error to a file",
            "extract the function into a module of its own",
            "it is a ship",
            "do not forget that it must work",
            "create a new page and update the existing documents",
            "why does kubernetes restart the clusters?",
            "what does this PDF say?",
            "",
        ] {
            for description in skills {
                assert!(!fits(description, request), "{request:?} calls up {description:?}");
            }
        }
    }

    #[test]
    fn what_is_not_wanted_calls_up_nothing() {
        for request in [
            "don't ship it yet",
            "Please do not go live. Look at the numbers instead",
            "fix the test without a rollout",
            "never touch staging, just read the notes",
            "why does it print `ship it`?",
            "instead of staging use the sandbox",
        ] {
            assert!(!fits(DEPLOY, request), "{request}");
        }
        for request in ["don't wait, ship it", "Do not ask me. Go live!", "why doesn't staging answer?", "``` ship it"]
        {
            assert!(fits(DEPLOY, request), "{request}");
        }
    }

    #[test]
    fn a_long_description_costs_little_and_breaks_nothing() {
        let long = "when the user mentions ".to_owned() + &"a \"bcde f\" .é, ".repeat(2000);
        let triggers = Triggers::of(&long);
        assert!(triggers.phrases.len() <= MOST && triggers.words.len() <= MOST);
        assert!(!fits("\"", "\"") && !fits("when the user mentions", "it"));
    }
}
