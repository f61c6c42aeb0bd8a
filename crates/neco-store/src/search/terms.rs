//! A question cut into terms, all of which must be found.

use crate::recall::segment::{Word, cut, pairs};

/// Most terms of a question; what comes later says little more.
const MOST_TERMS: usize = 16;

/// Words that stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// Words one after the other, in lower case; the last one may be only the beginning of a word.
    Words {
        words: Vec<String>,
        /// Whether the last one may go on.
        goes_on: bool,
    },
    /// Characters of a script without spaces, one after the other.
    Run(String),
}

/// The terms of `question`.
pub(crate) fn terms_of(question: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    for (part, is_quoted) in question.split('"').zip([false, true].into_iter().cycle()) {
        if is_quoted {
            add(&mut terms, part, false);
        } else {
            part.split_whitespace().for_each(|word| add(&mut terms, word, word.ends_with('*')));
        }
    }
    terms.truncate(MOST_TERMS);
    terms
}

/// Neighbouring words become one term; a run is one for itself, as the index puts a word behind each run.
fn add(terms: &mut Vec<Term>, text: &str, goes_on: bool) {
    let mut together = Vec::new();
    for word in cut(text) {
        match word {
            Word::Plain(word) => together.push(word),
            Word::Run(run) => {
                if !together.is_empty() {
                    terms.push(Term::Words { words: std::mem::take(&mut together), goes_on: false });
                }
                terms.push(Term::Run(run));
            }
        }
    }
    if !together.is_empty() {
        terms.push(Term::Words { words: together, goes_on });
    }
}

/// The terms in the language of SQLite's index; `None` when there are none.
pub(crate) fn match_of(terms: &[Term]) -> Option<String> {
    let all: Vec<String> = terms.iter().map(Term::in_sql).collect();
    (!all.is_empty()).then(|| all.join(" AND "))
}

impl Term {
    fn in_sql(&self) -> String {
        match self {
            Self::Words { words, goes_on } => format!("\"{}\"{}", words.join(" "), if *goes_on { " *" } else { "" }),
            Self::Run(run) => match pairs(run) {
                pairs if pairs.is_empty() => format!("\"{run}\" *"),
                pairs => format!("\"{}\"", pairs.join(" ")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_all_of_its_terms() {
        for (question, expected) in [
            ("Fix the build", Some(r#""fix" AND "the" AND "build""#)),
            (r#"say "hello big world" now"#, Some(r#""say" AND "hello big world" AND "now""#)),
            ("src/main.rs", Some(r#""src main rs""#)),
            ("conf*", Some(r#""conf" *"#)),
            ("数据库", Some(r#""数据 据库""#)),
            ("数", Some(r#""数" *"#)),
            ("修复bug", Some(r#""修复" AND "bug""#)),
            ("\" OR (NEAR* - ' ; --", Some(r#""or near""#)),
            ("?! \"", None),
            ("", None),
        ] {
            assert_eq!(match_of(&terms_of(question)).as_deref(), expected, "{question}");
        }
        let long: String = (0..100).map(|number| format!("word{number} ")).collect();
        assert_eq!(terms_of(&long).len(), MOST_TERMS);
    }
}
