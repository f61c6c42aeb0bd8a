//! From the pieces of a word to the words a program gets, as far as text alone can tell.

use std::collections::HashMap;
use std::path::Path;

use super::examined::Word;
use super::scan::Piece;

/// The most words one word with braces is followed into.
const MOST_WORDS: usize = 64;
/// Braces in longer words are not followed.
const LONGEST_WORD: usize = 4096;

/// What is known about variables.
#[derive(Debug, Default)]
pub(crate) struct Known<'a> {
    pub(crate) home: Option<&'a Path>,
    /// The folder the command runs in, if that is certain.
    pub(crate) folder: Option<&'a Path>,
    /// What was assigned on the line itself: a guess, for a loop or a branch may change it.
    pub(crate) assigned: HashMap<String, String>,
}

/// The words that the pieces stand for.
pub(crate) fn expand(pieces: &[Piece], known: &Known<'_>) -> Vec<Word> {
    let mut letters = Vec::new();
    let mut exact = true;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text { text, quoted } => {
                let kind = if *quoted { Kind::Quoted } else { Kind::Bare };
                letters.extend(text.chars().map(|letter| (letter, kind)));
                if index == 0 && !quoted && text.starts_with('~') {
                    exact &= expand_tilde(&mut letters, known, pieces.len() == 1);
                }
            }
            Piece::Variable { name, quoted } => exact &= expand_variable(&mut letters, name, *quoted, known),
            Piece::Unknown { text, .. } | Piece::Command { raw: text, .. } => {
                letters.extend(text.chars().map(|letter| (letter, Kind::Quoted)));
                exact = false;
            }
        }
    }
    let splits = splits(pieces);
    let too_long = letters.len() > LONGEST_WORD;
    exact &= !too_long;
    let mut words = Vec::new();
    for letters in split(&if too_long { vec![letters] } else { braces(letters) }) {
        let text: String = letters.iter().map(|(letter, _)| letter).collect();
        let pattern = is_pattern(&letters);
        let sure = exact && !is_range(&letters);
        words.push(Word { text, exact: sure && !pattern, pattern: sure && pattern, splits });
    }
    if words.len() > 1 {
        words.iter_mut().for_each(|word| word.exact = false);
    }
    words
}

/// The one text of a value, which the shell neither splits nor matches against files.
pub(crate) fn value(pieces: &[Piece], known: &Known<'_>) -> Word {
    let quoted: Vec<Piece> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text { text, .. } if !text.starts_with('~') => Piece::Text { text: text.clone(), quoted: true },
            Piece::Variable { name, .. } => Piece::Variable { name: name.clone(), quoted: true },
            other => other.clone(),
        })
        .collect();
    expand(&quoted, known).into_iter().next().unwrap_or_else(|| Word::exact(""))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The shell looks at it.
    Bare,
    /// The shell leaves it alone.
    Quoted,
    /// From a variable outside quotes: the shell splits it.
    Split,
}

/// Whether the shell may make several words, or none, of what the pieces stand for.
pub(crate) fn splits(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Text { .. } => false,
        Piece::Variable { quoted, .. } | Piece::Command { quoted, .. } => !quoted,
        // Between quotes, too, `"$@"` and `"${a[@]}"` are as many words as there are.
        Piece::Unknown { text, quoted } => !quoted || text.contains('@'),
    })
}

/// Whether the shell may put the names of files in its place.
fn is_pattern(letters: &[(char, Kind)]) -> bool {
    let bare = |wanted: char| letters.iter().any(|(letter, kind)| *kind != Kind::Quoted && *letter == wanted);
    bare('*') || bare('?') || bare('[')
}

/// Whether it may be a range such as `{1..9}` or `{a..z}`, of which nobody follows the words.
fn is_range(letters: &[(char, Kind)]) -> bool {
    letters.contains(&('{', Kind::Bare)) && letters.windows(2).any(|pair| matches!(pair, [('.', _), ('.', _)]))
}

type Letters = Vec<(char, Kind)>;

/// `~` and `~/…`; what belongs to other people stays as it is written.
fn expand_tilde(letters: &mut Letters, known: &Known<'_>, alone: bool) -> bool {
    let written: String = letters.iter().map(|(letter, _)| letter).collect();
    let ends = written == "~" && alone || written.starts_with("~/");
    let Some(home) = known.home.and_then(Path::to_str).filter(|_| ends) else { return false };
    letters.splice(0..1, home.chars().map(|letter| (letter, Kind::Quoted)));
    true
}

fn expand_variable(letters: &mut Letters, name: &str, quoted: bool, known: &Known<'_>) -> bool {
    let sure = match name {
        "HOME" => known.home,
        "PWD" => known.folder,
        _ => None,
    };
    let kind = if quoted { Kind::Quoted } else { Kind::Split };
    if let Some(value) = known.assigned.get(name) {
        letters.extend(value.chars().map(|letter| (letter, kind)));
        return false;
    }
    let Some(value) = sure.and_then(Path::to_str) else {
        letters.extend(format!("${name}").chars().map(|letter| (letter, Kind::Quoted)));
        return false;
    };
    letters.extend(value.chars().map(|letter| (letter, Kind::Quoted)));
    quoted || !value.contains([' ', '\t', '\n', '*', '?', '['])
}

/// Splits where a variable outside quotes has white space.
fn split(words: &[Letters]) -> Vec<Letters> {
    let mut found = Vec::new();
    for letters in words {
        let has_split = letters.iter().any(|(_, kind)| *kind == Kind::Split);
        if !has_split {
            found.push(letters.clone());
            continue;
        }
        let between = |(letter, kind): &(char, Kind)| *kind == Kind::Split && letter.is_whitespace();
        let pieces = letters.split(between).filter(|piece| !piece.is_empty());
        found.extend(pieces.take(MOST_WORDS).map(<[_]>::to_vec));
    }
    found
}

/// Follows `{a,b}` into every word it makes, up to a bound.
fn braces(letters: Letters) -> Vec<Letters> {
    let mut done = Vec::new();
    let mut open = vec![letters];
    while let Some(letters) = open.pop() {
        match first_brace(&letters).filter(|_| done.len() + open.len() < MOST_WORDS) {
            Some((start, commas, end)) => {
                let mut ends = commas;
                ends.push(end);
                let mut from = start + 1;
                let mut made = Vec::new();
                for to in ends {
                    let parts = [letters.get(..start), letters.get(from..to), letters.get(end + 1..)];
                    made.push(parts.into_iter().flatten().flatten().copied().collect());
                    from = to + 1;
                }
                open.extend(made.into_iter().rev());
            }
            None => done.push(letters),
        }
    }
    done
}

/// The first innermost brace with a comma: where it opens, its commas, where it closes.
fn first_brace(letters: &Letters) -> Option<(usize, Vec<usize>, usize)> {
    let mut start = None;
    let mut commas = Vec::new();
    for (index, letter) in letters.iter().enumerate() {
        match letter {
            ('{', Kind::Bare) => {
                start = Some(index);
                commas.clear();
            }
            (',', Kind::Bare) if start.is_some() => commas.push(index),
            ('}', Kind::Bare) => {
                if let Some(start) = start.filter(|_| !commas.is_empty()) {
                    return Some((start, commas, index));
                }
                start = None;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::scan;

    fn words(text: &str) -> Vec<(String, bool)> {
        let known = Known {
            home: Some(Path::new("/home/me")),
            folder: Some(Path::new("/w")),
            assigned: HashMap::from([("x".to_owned(), "-rf /".to_owned())]),
        };
        let scanned = scan::word(text, 0).unwrap();
        expand(&scanned.pieces, &known).into_iter().map(|word| (word.text, word.exact)).collect()
    }

    #[test]
    fn what_is_certain_is_exact() {
        for (text, expected) in [
            ("~/a", "/home/me/a"),
            ("$HOME/a", "/home/me/a"),
            ("\"$PWD\"", "/w"),
            ("'~'", "~"),
            ("'*'", "*"),
            ("a\\*", "a*"),
            ("{}", "{}"),
            ("@{u}", "@{u}"),
            ("''", ""),
        ] {
            assert_eq!(words(text), [(expected.to_owned(), true)], "{text}");
        }
    }

    #[test]
    fn what_is_not_is_a_guess() {
        for (text, expected) in [
            ("$y", vec!["$y"]),
            ("*.rs", vec!["*.rs"]),
            ("$x", vec!["-rf", "/"]),
            ("\"$x\"", vec!["-rf /"]),
            ("~root", vec!["~root"]),
            ("a{b,c{d,e}}", vec!["ab", "acd", "ace"]),
            ("$(a)b", vec!["$(a)b"]),
            (".{e..e}nv", vec![".{e..e}nv"]),
        ] {
            let mut found = words(text);
            found.sort();
            found.dedup();
            let expected: Vec<_> = expected.into_iter().map(|text| (text.to_owned(), false)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn braces_do_not_explode() {
        assert!(words(&"{a,b}".repeat(64)).len() <= 2 * MOST_WORDS);
    }
}
