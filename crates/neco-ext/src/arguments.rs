//! What a person writes behind the name of a command or a skill.

/// The words of an argument; quotes keep some together.
pub fn words(argument: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for char in argument.chars() {
        match quote {
            Some(open) if char == open => quote = None,
            Some(_) => word.get_or_insert_default().push(char),
            None if char == '"' || char == '\'' => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            None if char.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

/// What stands in a text where an argument belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// All that was written.
    All,
    /// One word of it, counted from 0.
    Word(usize),
}

/// The slot that a text begins with, and its length in bytes: `$ARGUMENTS`, `$ARGUMENTS[0]` (the first word), or `$1` to
/// `$9` (`$1` is the first word). `$100` and `$5.00` are money.
pub fn slot(text: &str) -> Option<(Slot, usize)> {
    let rest = text.strip_prefix('$')?;
    if let Some(after) = rest.strip_prefix("ARGUMENTS") {
        let number = after.strip_prefix('[').and_then(|after| after.split_once(']')).map(|(number, _)| number);
        return match number.and_then(|number| Some((number.len(), number.parse().ok()?))) {
            Some((length, at)) => Some((Slot::Word(at), text.len() - after.len() + length + 2)),
            None => Some((Slot::All, text.len() - after.len())),
        };
    }
    let mut chars = rest.chars();
    let digit = chars.next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let cents = rest.get(1..)?.strip_prefix('.').unwrap_or_default();
    let is_money = [chars.as_str(), cents].iter().any(|after| after.starts_with(|char: char| char.is_ascii_digit()));
    (!is_money).then(|| (Slot::Word(digit as usize - 1), 2))
}

/// What belongs into a slot.
pub fn fill<'a>(slot: Slot, argument: &'a str, words: &'a [String]) -> &'a str {
    match slot {
        Slot::All => argument,
        Slot::Word(at) => words.get(at).map_or("", String::as_str),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_no_slot() {
        for (text, found) in [
            ("$ARGUMENTS, then", Some((Slot::All, 10))),
            ("$ARGUMENTS[1] $2", Some((Slot::Word(1), 13))),
            ("$ARGUMENTS[x]", Some((Slot::All, 10))),
            ("$1", Some((Slot::Word(0), 2))),
            ("$9. Then", Some((Slot::Word(8), 2))),
            ("$0", None),
            ("$100", None),
            ("$5.00", None),
            ("$x", None),
            ("$", None),
            ("1", None),
        ] {
            assert_eq!(slot(text), found, "{text}");
        }
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words("a \"b c\"  '' d"), ["a", "b c", "", "d"]);
    }
}
