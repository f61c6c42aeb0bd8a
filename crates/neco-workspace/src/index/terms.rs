//! Words of a text as they are searched: whole identifiers, their parts, and pairs of characters in
//! scripts that are written without spaces.

/// Longer ones are no words: keys, hashes, data.
const LONGEST: usize = 48;
/// Numbers with more digits are nothing that people search for.
const MOST_DIGITS: usize = 4;

/// What of a word a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Whole,
    /// A part of a longer one, as `name` of `fileName`.
    Part,
}

/// Calls `each` with every term of a text, in lower case.
pub(super) fn each_term(text: &str, mut each: impl FnMut(&str, Share)) {
    let mut buffer = String::new();
    let mut rest = text;
    while let Some((class, start)) = rest.char_indices().find_map(|(at, letter)| Some((class(letter)?, at))) {
        rest = rest.get(start..).unwrap_or_default();
        let end = rest
            .char_indices()
            .find(|(_, letter)| self::class(*letter) != Some(class))
            .map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after;
        match class {
            Class::Word => identifier(run, &mut buffer, &mut each),
            Class::Unspaced => pairs(run, &mut each),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    /// Of a script without spaces between words.
    Unspaced,
}

fn class(letter: char) -> Option<Class> {
    if letter.is_ascii() {
        return (letter.is_ascii_alphanumeric() || letter == '_').then_some(Class::Word);
    }
    match letter {
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2fa1f}' => letter.is_alphanumeric().then_some(Class::Unspaced),
        _ => letter.is_alphanumeric().then_some(Class::Word),
    }
}

/// Every two characters that stand together, so that any longer word is found by its pairs.
fn pairs(run: &str, each: &mut impl FnMut(&str, Share)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() == 2 {
        each(run, Share::Whole);
    }
    for pair in starts.windows(3) {
        if let [from, _, to] = pair {
            each(run.get(*from..*to).unwrap_or_default(), Share::Whole);
        }
    }
}

fn identifier(run: &str, buffer: &mut String, each: &mut impl FnMut(&str, Share)) {
    let word = run.trim_matches('_');
    if word.len() > LONGEST || word.is_empty() {
        return;
    }
    give(word, Share::Whole, buffer, each);
    let mut start = 0;
    let mut before = Kind::Mark;
    let mut letters = word.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let kind = Kind::of(letter);
        let next = letters.peek().map(|(_, letter)| Kind::of(*letter));
        let begins = match (before, kind) {
            (Kind::Mark, _) | (_, Kind::Mark) => true,
            (Kind::Small, Kind::Capital) => true,
            // The last capital of several belongs to what follows: `HTTPServer`.
            (Kind::Capital, Kind::Capital) => next == Some(Kind::Small),
            (Kind::Small | Kind::Capital, Kind::Small) => false,
        };
        if begins && at > start {
            part(word, start, at, buffer, each);
        }
        if begins {
            start = if kind == Kind::Mark { at + letter.len_utf8() } else { at };
        }
        before = kind;
    }
    if start > 0 {
        part(word, start, word.len(), buffer, each);
    }
}

fn part(word: &str, start: usize, end: usize, buffer: &mut String, each: &mut impl FnMut(&str, Share)) {
    give(word.get(start..end).unwrap_or_default().trim_matches('_'), Share::Part, buffer, each);
}

fn give(word: &str, share: Share, buffer: &mut String, each: &mut impl FnMut(&str, Share)) {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    if word.len() < 2 || (is_number && word.len() > MOST_DIGITS) {
        return;
    }
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
        return each(word, share);
    }
    buffer.clear();
    buffer.extend(word.chars().flat_map(char::to_lowercase));
    each(buffer, share);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    Capital,
    Mark,
}

impl Kind {
    fn of(letter: char) -> Self {
        match letter {
            '_' => Self::Mark,
            letter if letter.is_uppercase() => Self::Capital,
            _ => Self::Small,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_term(text, |term, _| found.push(term.to_owned()));
        found
    }

    #[test]
    fn identifiers_are_given_whole_and_in_parts() {
        for (text, expected) in [
            ("parse", "parse"),
            ("parse_file_name", "parse_file_name parse file name"),
            ("parseFileName", "parsefilename parse file name"),
            ("HTTPServer", "httpserver http server"),
            ("XMLHttpRequest2", "xmlhttprequest2 xml http request2"),
            ("__init__", "init"),
            ("MAX_SIZE", "max_size max size"),
            ("a b i2", "i2"),
            ("sha256", "sha256"),
            ("404 123456 0x1f", "404 0x1f"),
            ("don't", "don"),
            ("größeÄndern", "größeändern größe ändern"),
            ("foo.bar(baz)", "foo bar baz"),
        ] {
            assert_eq!(terms(text).join(" "), expected, "{text}");
        }
        assert!(terms(&"x".repeat(60)).is_empty());
    }

    #[test]
    fn scripts_without_spaces_are_given_in_pairs() {
        assert_eq!(terms("会话恢复, 字 x"), ["会话", "话恢", "恢复", "字"]);
        assert_eq!(terms("get会话id"), ["get", "会话", "id"]);
        assert_eq!(terms("セッション"), ["セッ", "ッシ", "ショ", "ョン"]);
        assert_eq!(terms("세션 열기"), ["세션", "열기"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_terms_that_give_themselves(text in "\\PC*") {
            for term in terms(&text) {
                prop_assert!(terms(&term).contains(&term), "{term:?}");
            }
        }
    }
}
