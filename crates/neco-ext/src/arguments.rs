//! What a person writes behind the name of a command or a skill.

/// The words of an argument; quotes keep some together, as in `"one two"` and `key='one two'`. A quote within a word, such
/// as an apostrophe, is a letter of it.
pub fn words(argument: &str) -> Vec<String> {
    let (mut words, mut word, mut rest) = (Vec::new(), None::<String>, argument);
    while let Some(char) = rest.chars().next() {
        let behind = rest.get(char.len_utf8()..).unwrap_or_default();
        let may_open = word.as_ref().is_none_or(|word| word.ends_with('='));
        rest = match quoted(char, behind).filter(|_| may_open) {
            Some((inside, behind)) => {
                word.get_or_insert_default().push_str(inside);
                behind
            }
            None if char.is_whitespace() => {
                words.extend(word.take());
                behind
            }
            None => {
                word.get_or_insert_default().push(char);
                behind
            }
        };
    }
    words.extend(word);
    words
}

/// What stands up to the quote that ends a word, and what stands behind that.
fn quoted(quote: char, text: &str) -> Option<(&str, &str)> {
    let is_quote = matches!(quote, '"' | '\'');
    let mut ends = text.match_indices(quote).filter(|_| is_quote);
    let ends_word = |behind: &str| behind.chars().next().is_none_or(char::is_whitespace);
    ends.find_map(|(at, _)| {
        let (inside, behind) = (text.get(..at)?, text.get(at + 1..)?);
        ends_word(behind).then_some((inside, behind))
    })
}

/// What stands in a text where an argument belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// All that was written.
    All,
    /// One word of it, counted from 0.
    Word(usize),
    /// One that has a name, counted from 0.
    Named(usize),
}

/// What was written behind a name: as a whole, in words, and by the names that a file gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Whether `$0` is the first word, and not `$1`.
    from_zero: bool,
    all: String,
    words: Vec<String>,
    named: Vec<(String, Option<String>)>,
}

impl Given {
    /// What was written behind the name of a text that has these names for the words of it, in their order. Where the
    /// text has `$0` somewhere, that is the first word.
    pub fn new(text: &str, argument: &str, names: &[String]) -> Self {
        let from_zero =
            text.match_indices("$0").any(|(at, _)| text.get(at..).is_some_and(|text| digit(text) == Some(0)));
        let words = words(argument);
        let named = names.iter().enumerate().map(|(at, name)| (name.clone(), words.get(at).cloned())).collect();
        Self { from_zero, all: argument.to_owned(), words, named }
    }

    /// The same where values are written as `KEY=value`, as Codex has it; other words have no name.
    pub fn by_keys(argument: &str, keys: Vec<String>) -> Self {
        let (mut rest, mut named): (Vec<String>, Vec<(String, Option<String>)>) =
            (Vec::new(), keys.into_iter().map(|key| (key, None)).collect());
        for word in words(argument) {
            let of_key = word.split_once('=').and_then(|(key, value)| {
                named.iter_mut().find(|(name, _)| name == key).map(|(_, place)| *place = Some(value.to_owned()))
            });
            if of_key.is_none() {
                rest.push(word);
            }
        }
        Self { from_zero: false, all: argument.to_owned(), words: rest, named }
    }

    /// All that was written.
    pub fn all(&self) -> &str {
        &self.all
    }

    /// Its words that have no key.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The names that a text may use, each with what was written for it.
    pub fn named(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.named.iter().map(|(name, value)| (name.as_str(), value.as_deref()))
    }

    /// The slot that a text begins with, and its length in bytes: `$ARGUMENTS`, `$ARGUMENTS[0]` (the first word), `$1`
    /// to `$9` (`$1` is the first word), or `$` and one of the names. `$100` and `$5.00` are money.
    pub fn slot(&self, text: &str) -> Option<(Slot, usize)> {
        let rest = text.strip_prefix('$')?;
        let is_here = |name: &str| {
            let goes_on = |char: char| char.is_alphanumeric() || char == '_';
            rest.strip_prefix(name).is_some_and(|after| !after.starts_with(goes_on))
        };
        // Of `issue` and `issue-number` the longer one is meant.
        let fitting = self.named.iter().enumerate().filter(|(_, (name, _))| is_here(name));
        match fitting.max_by_key(|(_, (name, _))| name.len()) {
            Some((at, (name, _))) => Some((Slot::Named(at), 1 + name.len())),
            None => slot(text, self.from_zero),
        }
    }

    /// What belongs into a slot; nothing where that was not written.
    pub fn fill(&self, slot: Slot) -> &str {
        match slot {
            Slot::All => &self.all,
            Slot::Word(at) => self.words.get(at).map_or("", String::as_str),
            Slot::Named(at) => self.named.get(at).and_then(|(_, value)| value.as_deref()).unwrap_or_default(),
        }
    }
}

/// Whether a text can be the name of an argument: it is written behind a `$`.
pub fn is_argument_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'))
        && text != "ARGUMENTS"
}

/// The keys that a text has places for: `$` and capital letters. `$$` is a dollar, and `$ARGUMENTS` no key.
pub fn keys(text: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('$') {
        if let Some(after) = after.strip_prefix('$') {
            rest = after;
            continue;
        }
        let is_part = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
        let key = after.split(|char| !is_part(char)).next().unwrap_or_default();
        if key.starts_with(|char: char| char.is_ascii_uppercase())
            && is_argument_name(key)
            && !keys.iter().any(|known| known == key)
        {
            keys.push(key.to_owned());
        }
        rest = after;
    }
    keys
}

/// The slot without a name that a text begins with.
fn slot(text: &str, from_zero: bool) -> Option<(Slot, usize)> {
    let rest = text.strip_prefix('$')?;
    if let Some(after) = rest.strip_prefix("ARGUMENTS") {
        let number = after.strip_prefix('[').and_then(|after| after.split_once(']')).map(|(number, _)| number);
        return match number.and_then(|number| Some((number.len(), number.parse().ok()?))) {
            Some((length, at)) => Some((Slot::Word(at), text.len() - after.len() + length + 2)),
            None => Some((Slot::All, text.len() - after.len())),
        };
    }
    let place = digit(text)?.checked_sub(usize::from(!from_zero))?;
    Some((Slot::Word(place), 2))
}

/// The digit of `$1`, where the text is no price.
fn digit(text: &str) -> Option<usize> {
    let mut chars = text.strip_prefix('$')?.chars();
    let digit = chars.next()?.to_digit(10)?;
    let rest = chars.as_str();
    let cents = rest.strip_prefix('.').unwrap_or_default();
    let is_price = [rest, cents].iter().any(|after| after.starts_with(|char: char| char.is_ascii_digit()));
    (!is_price).then_some(digit as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_words_together_and_an_apostrophe_is_a_letter() {
        for (text, expected) in [
            ("a  b", &["a", "b"][..]),
            ("'one two' \"three four\" ''", &["one two", "three four", ""]),
            ("don't touch main", &["don't", "touch", "main"]),
            ("'tis what it isn't", &["'tis", "what", "it", "isn't"]),
            ("KEY=\"a b\" X='c d'", &["KEY=a b", "X=c d"]),
            ("say \"hi", &["say", "\"hi"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_has_a_place_zero_counts_from_there() {
        let filled = |text: &str, slot: &str| {
            let given = Given::new(text, "Search React Vue", &[]);
            given.slot(slot).map(|(slot, _)| given.fill(slot).to_owned())
        };
        let zero = "Migrate $0 from $1 to $2";
        assert_eq!(["$0", "$1", "$2"].map(|slot| filled(zero, slot).unwrap()), ["Search", "React", "Vue"]);
        assert_eq!(filled("from $1 to $2", "$1").unwrap(), "Search");
        assert_eq!(filled("it costs $0.50, $1", "$1").unwrap(), "Search", "a price is no place");
        assert_eq!(filled("from $1", "$0"), None);
    }

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
            assert_eq!(slot(text, false), found, "{text}");
        }
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words("a \"b c\"  '' d"), ["a", "b c", "", "d"]);
    }

    #[test]
    fn what_has_a_name_is_found_by_it() {
        let given =
            Given::new("", "7 'the branch'", &["issue".to_owned(), "issue-branch".to_owned(), "who".to_owned()]);
        let filled = |text: &str| given.slot(text).map(|(slot, length)| (given.fill(slot), length));
        assert_eq!(filled("$issue, then"), Some(("7", 6)));
        assert_eq!(filled("$issue-branch"), Some(("the branch", 13)));
        assert_eq!(filled("$who"), Some(("", 4)));
        assert_eq!((filled("$issues"), filled("$1")), (None, Some(("7", 2))));
    }

    #[test]
    fn keys_are_capitals_and_are_given_by_name() {
        let text = "Look at $FILE and $TICKET_ID of $FILE, not at $$HOME, $x, $1 or $ARGUMENTS.";
        assert_eq!(keys(text), ["FILE", "TICKET_ID"]);
        let given = Given::by_keys("FILE=\"a b.rs\" OTHER=1 now", keys(text));
        let named: Vec<(&str, Option<&str>)> = given.named().collect();
        assert_eq!(named, [("FILE", Some("a b.rs")), ("TICKET_ID", None)]);
        assert_eq!(given.words(), ["OTHER=1", "now"]);
    }
}
