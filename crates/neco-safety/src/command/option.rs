//! Options among the words of a command.

use super::examined::Word;
use crate::listed::is_listed;

/// Whether an option is given, in any of its spellings: alone, among other letters, abbreviated, with a value.
pub(crate) fn has(words: &[Word], short: char, long: &str) -> bool {
    before_double_dash(words).any(|word| {
        let text = word.text.as_str();
        if text.starts_with("--") { is_long(text, long) } else { is_short(text, short) }
    })
}

/// Whether a long option is given, also abbreviated and with a value.
pub(crate) fn has_long(words: &[Word], long: &str) -> bool {
    before_double_dash(words).any(|word| is_long(&word.text, long))
}

/// Whether one of the words is exactly one of a list.
pub(crate) fn has_word(words: &[Word], any: &str) -> bool {
    words.iter().any(|word| is_listed(&word.text, any))
}

/// The words that are no options. Values of options that stand apart count as operands.
pub(crate) fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    let end = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
    let (before, after) = words.split_at(end);
    let bare = before.iter().filter(|word| !word.text.starts_with('-') || word.text == "-");
    bare.chain(after.iter().skip(1))
}

/// The value of an option in any of its spellings: `-x value`, `-xvalue`, `--long value`, `--long=value`.
pub(crate) fn values<'a>(words: &'a [Word], short: Option<char>, long: &'a str) -> Vec<Word> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let next = || words.get(index + 1).cloned();
        if text.starts_with("--") {
            match text.split_once('=') {
                Some((name, value)) if is_long(name, long) => {
                    found.push(Word::of(value.to_owned(), word.exact));
                }
                None if is_long(text, long) => found.extend(next()),
                _ => {}
            }
        } else if let Some(rest) = short.and_then(|short| text.strip_prefix('-')?.split_once(short)) {
            // Numbers belong to the letters before them.
            if !rest.0.chars().all(|letter| letter.is_ascii_alphanumeric()) {
                continue;
            }
            match rest.1 {
                "" => found.extend(next()),
                value => found.push(Word::of(value.to_owned(), word.exact)),
            }
        }
    }
    found
}

fn before_double_dash(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().take_while(|word| word.text != "--")
}

fn is_long(text: &str, long: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    name.len() > 2 && name.starts_with("--") && long.starts_with(name)
}

fn is_short(text: &str, short: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| letters.contains(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::exact).collect()
    }

    #[test]
    fn an_option_is_found_in_all_its_spellings() {
        for line in ["-r", "-fr", "-rf", "--recursive", "--rec", "--r", "x -r"] {
            assert!(has(&words(line), 'r', "--recursive"), "{line}");
        }
        for line in ["r", "-f", "-- -r", "--force"] {
            assert!(!has(&words(line), 'r', "--recursive"), "{line}");
        }
    }

    #[test]
    fn values_are_found_beside_and_behind() {
        for line in ["-I zstd", "-Izstd", "-xI zstd", "--use-compress-program=zstd", "--use-compress zstd"] {
            let found = values(&words(line), Some('I'), "--use-compress-program");
            assert_eq!(found, [Word::exact("zstd")], "{line}");
        }
        for line in ["-0777ne zstd", "-l012e zstd", "-e zstd", "-i.ref -pe zstd"] {
            assert_eq!(values(&words(line), Some('e'), "--eval"), [Word::exact("zstd")], "{line}");
        }
    }

    #[test]
    fn operands_are_what_is_left() {
        let words = words("-r a - -- -b");
        let texts: Vec<_> = operands(&words).map(|word| word.text.as_str()).collect();
        assert_eq!(texts, ["a", "-", "-b"]);
    }
}
