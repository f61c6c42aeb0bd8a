//! The words around a hit.

use std::collections::BTreeSet;
use std::ops::Range;

use super::query::Snippet;
use super::terms::Term;
use crate::recall::segment::{has_no_spaces, is_mark};

/// How many bytes of a text a snippet shows, roughly.
const SHOWN: usize = 160;
/// How many of them stand before the first mark.
const BEFORE: usize = 40;
/// Most places in one text that are looked at.
const MOST_PLACES: usize = 1000;

/// Where a term stands in a text.
struct Place {
    term: usize,
    bytes: Range<usize>,
}

/// A word of a text, or one character of a script without spaces.
struct Token {
    bytes: Range<usize>,
    word: String,
    is_run: bool,
}

/// The part of `text` in which the most terms stand. A text in which none is found, as it may be where the
/// index knows more forms of a word than we do, shows its beginning.
pub(crate) fn snippet_of(text: &str, terms: &[Term]) -> Snippet {
    let places = places(text, terms);
    let best = places.iter().enumerate().max_by_key(|(index, place)| {
        let near = places[*index..].iter().take_while(|other| other.bytes.end <= place.bytes.start + SHOWN - BEFORE);
        (near.map(|other| other.term).collect::<BTreeSet<_>>().len(), std::cmp::Reverse(*index))
    });
    let start = best.map_or(0, |(_, place)| place.bytes.start);
    let from = text.floor_char_boundary(start.saturating_sub(BEFORE));
    let to = text.ceil_char_boundary((from + SHOWN).max(best.map_or(0, |(_, place)| place.bytes.end)));
    let marks = places.into_iter().map(|place| place.bytes).filter(|bytes| from <= bytes.start && bytes.end <= to);
    in_one_line(text, from..to, apart(marks))
}

/// Whether every term stands in `text`.
pub(crate) fn has_all(text: &str, terms: &[Term]) -> bool {
    let tokens = tokens(text);
    terms.iter().all(|term| (0..tokens.len()).any(|at| term.stands_at(&tokens[at..]).is_some()))
}

fn places(text: &str, terms: &[Term]) -> Vec<Place> {
    let tokens = tokens(text);
    let mut places = Vec::new();
    for at in 0..tokens.len() {
        for (index, term) in terms.iter().enumerate() {
            if let Some(length) = term.stands_at(&tokens[at..]) {
                let bytes = tokens[at].bytes.start..tokens[at + length - 1].bytes.end;
                places.push(Place { term: index, bytes });
            }
        }
        if places.len() >= MOST_PLACES {
            break;
        }
    }
    places
}

/// The ranges, which are sorted by their start, with those that overlap made one.
fn apart(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => all.push(range),
        }
    }
    all
}

/// The text in one line, with marks where those of the whole text are.
fn in_one_line(text: &str, shown: Range<usize>, marks: Vec<Range<usize>>) -> Snippet {
    let mut snippet = Snippet::default();
    if text.get(..shown.start).is_some_and(|before| !before.trim().is_empty()) {
        snippet.text.push('…');
    }
    let mut marks = marks.into_iter().peekable();
    let mut begun = None;
    for (at, character) in text.get(shown.clone()).unwrap_or_default().char_indices() {
        let at = at + shown.start;
        if marks.peek().is_some_and(|mark| mark.start == at) {
            begun = Some(snippet.text.len());
        }
        if !character.is_whitespace() && !character.is_control() {
            snippet.text.push(character);
        } else if !snippet.text.is_empty() && !snippet.text.ends_with([' ', '…']) {
            snippet.text.push(' ');
        }
        if let Some(from) = begun
            && marks.next_if(|mark| mark.end == at + character.len_utf8()).is_some()
        {
            snippet.marks.push(from..snippet.text.len());
            begun = None;
        }
    }
    snippet.text.truncate(snippet.text.trim_end().len());
    if text.get(shown.end..).is_some_and(|after| !after.trim().is_empty()) {
        snippet.text.push('…');
    }
    snippet
}

impl Term {
    /// How many tokens it is, if it stands at the beginning of `tokens`.
    fn stands_at(&self, tokens: &[Token]) -> Option<usize> {
        match self {
            Self::Words { words, goes_on } => {
                let here = tokens.get(..words.len())?;
                let mut pairs = here.iter().zip(words).enumerate();
                let last = words.len() - 1;
                pairs
                    .all(|(index, (token, word))| {
                        let may_go_on = *goes_on && index == last && token.word.starts_with(word.as_str());
                        !token.is_run && (may_go_on || stem(&token.word) == stem(word))
                    })
                    .then_some(words.len())
            }
            Self::Run(run) => {
                let length = run.chars().count();
                let mut pairs = tokens.get(..length)?.iter().zip(run.chars());
                pairs.all(|(token, wanted)| token.is_run && token.word.chars().eq([wanted])).then_some(length)
            }
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (at, character) in text.char_indices() {
        let bytes = at..at + character.len_utf8();
        let is_run = character.to_lowercase().all(has_no_spaces);
        let touches = tokens.last_mut().filter(|token| token.bytes.end == at && !token.is_run);
        match touches {
            Some(token) if !is_run && (character.is_alphanumeric() || is_mark(character)) => {
                token.bytes.end = bytes.end;
                token.word.extend(character.to_lowercase());
            }
            Some(_) | None if is_run || character.is_alphanumeric() => {
                tokens.push(Token { bytes, word: character.to_lowercase().collect(), is_run });
            }
            Some(_) | None => {}
        }
    }
    tokens
}

/// A word without its usual endings: near enough to what the index does to show where a hit is.
fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let mut stem = word;
    for ending in ["ings", "ing", "edly", "ed", "ies", "es", "s", "ly", "er", "e", "y"] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= 3) {
            stem = rest;
            break;
        }
    }
    match stem.as_bytes() {
        // Such as "running".
        [.., before, last] if before == last && stem.len() > 3 => stem.get(..stem.len() - 1).unwrap_or(stem),
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::terms::terms_of;
    use super::*;

    fn marked(text: &str, question: &str) -> String {
        let snippet = snippet_of(text, &terms_of(question));
        let mut marked = snippet.text;
        for mark in snippet.marks.iter().rev() {
            marked.insert(mark.end, ']');
            marked.insert(mark.start, '[');
        }
        marked
    }

    #[test]
    fn what_was_asked_is_marked() {
        for (text, question, expected) in [
            ("Run the tests, then test it.", "test", "Run the [tests], then [test] it."),
            ("in src/main.rs\n\n\tline two", "src/main.rs two", "in [src/main.rs] line [two]"),
            ("修复数据库连接超时", "数据库", "修复[数据库]连接超时"),
            ("数据 then 据库", "数据库", "数据 then 据库"),
            ("configuration", "conf*", "[configuration]"),
            ("nothing of it", "else", "nothing of it"),
            ("", "word", ""),
        ] {
            assert_eq!(marked(text, question), expected, "{text} / {question}");
        }
        let long =
            format!("{} needle {} both needle and thread {}", "x ".repeat(300), "y ".repeat(300), "z ".repeat(300));
        let shown = marked(&long, "needle thread");
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.len() < 200, "{shown}");
        assert!(shown.contains("both [needle] and [thread]"), "{shown}");
    }

    proptest! {
        #[test]
        fn marks_lie_in_the_text(text in "[a-cäß数据 \n]{0,300}", question in "[a-c数据 \"*]{0,8}") {
            let terms = terms_of(&question);
            let snippet = snippet_of(&text, &terms);
            let mut last = 0;
            for mark in &snippet.marks {
                prop_assert!(last <= mark.start && mark.start < mark.end);
                prop_assert!(snippet.text.get(mark.clone()).is_some());
                last = mark.end;
            }
            prop_assert!(!has_all(&text, &terms) || terms.is_empty() || !snippet.marks.is_empty());
        }
    }
}
