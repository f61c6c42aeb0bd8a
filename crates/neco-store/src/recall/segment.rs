//! Cutting text into words that can be searched, also where a script puts no spaces between them.
//!
//! Chinese, Japanese, Korean and some others are cut into pairs of neighbouring characters, so that
//! any two characters that stand together are found. The last character of a run is a word of its
//! own too: every single character is then the beginning of some word.

use std::collections::HashSet;

/// Most words of a question; what comes later says little more.
const MOST_WORDS: usize = 64;

/// Words that say nothing about what a question is about.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for", "from", "has", "have", "how",
    "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "please", "so",
    "that", "the", "then", "there", "this", "to", "was", "we", "what", "when", "which", "why", "will", "with", "would",
    "you", "your",
];

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// A word between spaces or signs.
    Plain(String),
    /// Characters of a script without spaces.
    Run(String),
}

/// The text as words with spaces between them, for the index.
pub fn words_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for word in cut(text) {
        let pieces = match word {
            Word::Plain(word) => vec![word],
            Word::Run(run) => {
                let last = run.chars().last().map(String::from);
                let mut pieces = pairs(&run);
                pieces.extend(last.filter(|last| *last != run));
                if pieces.is_empty() { vec![run] } else { pieces }
            }
        };
        for piece in pieces {
            out.push_str(&piece);
            out.push(' ');
        }
    }
    out
}

/// The question in the language of the index: any of its words. `None` when it has none.
pub fn query_of(text: &str) -> Option<String> {
    let mut seen = HashSet::new();
    let mut asked = Vec::new();
    for word in cut(text) {
        let terms = match word {
            Word::Plain(word) if COMMON.contains(&word.as_str()) => Vec::new(),
            Word::Plain(word) => vec![format!("\"{word}\"")],
            Word::Run(run) => match pairs(&run) {
                pairs if pairs.is_empty() => vec![format!("\"{run}\"*")],
                pairs => pairs.into_iter().map(|pair| format!("\"{pair}\"")).collect(),
            },
        };
        asked.extend(terms.into_iter().filter(|term| seen.insert(term.clone())));
        if asked.len() >= MOST_WORDS {
            break;
        }
    }
    asked.truncate(MOST_WORDS);
    (!asked.is_empty()).then(|| asked.join(" OR "))
}

pub(crate) fn cut(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut plain, mut run) = (String::new(), String::new());
    let mut close = |plain: &mut String, run: &mut String| {
        if !plain.is_empty() {
            words.push(Word::Plain(std::mem::take(plain)));
        }
        if !run.is_empty() {
            words.push(Word::Run(std::mem::take(run)));
        }
    };
    for character in text.chars().flat_map(char::to_lowercase) {
        if has_no_spaces(character) {
            if !plain.is_empty() {
                close(&mut plain, &mut run);
            }
            run.push(character);
        } else if character.is_alphanumeric() {
            if !run.is_empty() {
                close(&mut plain, &mut run);
            }
            plain.push(character);
        } else if !is_mark(character) || (plain.is_empty() && run.is_empty()) {
            close(&mut plain, &mut run);
        } else if run.is_empty() {
            plain.push(character);
        } else {
            run.push(character);
        }
    }
    close(&mut plain, &mut run);
    words
}

pub(crate) fn pairs(run: &str) -> Vec<String> {
    run.chars().zip(run.chars().skip(1)).map(|(first, second)| String::from_iter([first, second])).collect()
}

/// Signs that stand on the letter before them.
pub(crate) fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')
}

/// Letters of scripts that are written without spaces, or with words too long to be found whole.
pub(crate) fn has_no_spaces(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Burmese
        | '\u{1100}'..='\u{11ff}'   // Korean letters
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{2e80}'..='\u{2fdf}'   // parts of ideographs
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'   // hiragana
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'   // katakana
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3105}'..='\u{31bf}'   // bopomofo, Korean letters
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'   // ideographs
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'   // Korean syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'   // narrow katakana
        | '\u{1b000}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_signs_and_runs_into_pairs() {
        for (text, words) in [
            ("Use tabs, not spaces.", "use tabs not spaces "),
            ("memory_store 修复数据库", "memory store 修复 复数 数据 据库 库 "),
            ("字", "字 "),
            ("テスト2回", "テス スト ト 2 回 "),
            ("빌드 명령", "빌드 드 명령 령 "),
            ("", ""),
            ("?! …", ""),
        ] {
            assert_eq!(words_of(text), words, "{text}");
        }
    }

    #[test]
    fn a_question_is_any_of_its_words_once() {
        for (text, query) in [
            ("the build of the build", Some("\"build\"")),
            ("the of", None),
            ("数据", Some("\"数据\"")),
            ("数", Some("\"数\"*")),
            ("数据库 x\" OR y", Some("\"数据\" OR \"据库\" OR \"x\" OR \"y\"")),
        ] {
            assert_eq!(query_of(text).as_deref(), query, "{text}");
        }
        let long: String = (0..500).map(|number| format!("word{number} ")).collect();
        assert_eq!(query_of(&long).unwrap().matches(" OR ").count(), MOST_WORDS - 1);
    }
}
