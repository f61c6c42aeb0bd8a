//! Patterns of paths taken apart, so that two can be compared: whether one path could be meant by both.

use std::path::{Path, PathBuf};

/// More alternatives of one pattern than these are not told apart.
const MOST_ALTERNATIVES: usize = 128;

/// A pattern of paths, name by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any names, or none.
    Deep,
    Name(Vec<Token>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Letter(char),
    /// Any one letter.
    One,
    /// Any letters, or none.
    Many,
}

impl Shape {
    /// What the glob of a rule means: several where it has alternatives.
    pub(crate) fn of_glob(glob: &str) -> Vec<Self> {
        alternatives(glob).iter().map(|glob| Self::read(glob, true)).collect()
    }

    /// What a word means in which a shell looks for wildcards. Without a setting that few have, two stars are one to it.
    pub(crate) fn of_word(path: &Path) -> Self {
        Self::read(&path.to_string_lossy(), false)
    }

    fn read(text: &str, of_rule: bool) -> Self {
        let names = text.split('/').filter(|name| !name.is_empty());
        Self(names.map(|name| if of_rule && name == "**" { Part::Deep } else { Part::Name(tokens(name)) }).collect())
    }

    /// The one path that is meant, or the folder of which everything below is.
    pub(crate) fn base(&self) -> Option<PathBuf> {
        let names = match self.0.split_last() {
            Some((Part::Deep, above)) => above,
            Some(_) | None => &self.0,
        };
        names.iter().try_fold(PathBuf::from("/"), |path, part| Some(path.join(part.letters()?)))
    }

    /// The longest folder that all that is meant lies in.
    pub(crate) fn start(&self) -> PathBuf {
        let all = self.0.len().saturating_sub(1);
        let names = self.0.iter().take(all).map_while(Part::letters);
        names.fold(PathBuf::from("/"), |path, name| path.join(name))
    }

    /// Whether a word of this shape may mean a path of that one. A mere `*` names nothing: it is for whoever sees what
    /// is there to leave out what is closed.
    pub(crate) fn may_mean(&self, rule: &Self) -> bool {
        let (word, rule) = (&self.0, &rule.0);
        // For every pair of places in both, from the end: whether the rests may mean the same.
        let mut after = vec![false; rule.len() + 1];
        for at in (0..=word.len()).rev() {
            let mut now = vec![false; rule.len() + 1];
            for place in (0..=rule.len()).rev() {
                let rest = |list: &[bool], place: usize| list.get(place).copied().unwrap_or(false);
                now[place] = match (word.get(at), rule.get(place)) {
                    (None, None) => true,
                    (_, Some(Part::Deep)) => rest(&now, place + 1) || at < word.len() && rest(&after, place),
                    (Some(own), Some(other)) => own.may_be(other) && rest(&after, place + 1),
                    (Some(_), None) | (None, Some(_)) => false,
                };
            }
            after = now;
        }
        after.first().copied().unwrap_or(false)
    }
}

impl Part {
    fn letters(&self) -> Option<String> {
        match self {
            Self::Deep => None,
            Self::Name(tokens) => tokens.iter().map(|token| token.letter()).collect(),
        }
    }

    fn is_wild(&self) -> bool {
        self.letters().is_none()
    }

    fn may_be(&self, other: &Self) -> bool {
        let (Self::Name(own), Self::Name(theirs)) = (self, other) else { return true };
        // No wildcard of a shell finds the dot that a hidden name begins with.
        let is_hidden = theirs.first() == Some(&Token::Letter('.'));
        if is_hidden && own.first().is_some_and(|token| token.letter().is_none()) {
            return false;
        }
        let says_something = own.is_empty() || own.iter().any(|token| token.letter().is_some());
        let is_mere_star = own.iter().all(|token| *token == Token::Many);
        let names_nothing = theirs.iter().all(|token| token.letter().is_none());
        (says_something || names_nothing || !is_mere_star && other.is_wild()) && meet(own, theirs)
    }
}

impl Token {
    fn letter(self) -> Option<char> {
        match self {
            Self::Letter(letter) => Some(letter),
            Self::One | Self::Many => None,
        }
    }
}

/// Whether a shell that looks for this pattern of one name may find a name.
pub(crate) fn name_fits(pattern: &str, name: &str) -> bool {
    let (pattern, letters) = (tokens(pattern), name.chars().map(Token::Letter).collect::<Vec<_>>());
    let finds_hidden = pattern.first().is_some_and(|token| token.letter().is_some());
    (finds_hidden || !name.starts_with('.')) && meet(&pattern, &letters)
}

/// Whether a name could fit both.
fn meet(one: &[Token], other: &[Token]) -> bool {
    let mut after: Vec<bool> = vec![false; other.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut now = vec![false; other.len() + 1];
        for place in (0..=other.len()).rev() {
            let rest = |list: &[bool], place: usize| list.get(place).copied().unwrap_or(false);
            let ends = (at == one.len(), place == other.len());
            now[place] = match (one.get(at), other.get(place)) {
                (None, None) => true,
                (Some(Token::Many), _) => rest(&after, place) || !ends.1 && rest(&now, place + 1),
                (_, Some(Token::Many)) => rest(&now, place + 1) || !ends.0 && rest(&after, place),
                (Some(Token::Letter(own)), Some(Token::Letter(theirs))) if own != theirs => false,
                (Some(_), Some(_)) => rest(&after, place + 1),
                (Some(_), None) | (None, Some(_)) => false,
            };
        }
        after = now;
    }
    after.first().copied().unwrap_or(false)
}

fn tokens(name: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        let mut after = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '*' => tokens.push(Token::Many),
            '?' => tokens.push(Token::One),
            '\\' => {
                let escaped = after.chars().next();
                tokens.extend(escaped.map(Token::Letter));
                after = after.get(escaped.map_or(0, char::len_utf8)..).unwrap_or_default();
            }
            '[' => match class(after) {
                Some((token, behind)) => {
                    tokens.push(token);
                    after = behind;
                }
                None => tokens.push(Token::Letter('[')),
            },
            letter => tokens.push(Token::Letter(letter)),
        }
        rest = after;
    }
    tokens
}

/// What stands in brackets: one letter, or any of several, which ones is not told apart.
fn class(inside: &str) -> Option<(Token, &str)> {
    let negated = inside.trim_start_matches(['!', '^']);
    let first = negated.chars().next()?;
    // The first one is no end.
    let behind_first = negated.get(first.len_utf8()..)?;
    let end = behind_first.find(']')?;
    let token = match end == 0 && negated.len() == inside.len() {
        true => Token::Letter(first),
        false => Token::One,
    };
    Some((token, behind_first.get(end + 1..)?))
}

/// Every text that a pattern with `{a,b}` stands for; everything there is where they are too many.
fn alternatives(glob: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![glob.to_owned()];
    while let Some(text) = open.pop() {
        if done.len() + open.len() > MOST_ALTERNATIVES {
            return vec!["**".to_owned()];
        }
        match braces(&text) {
            Some((start, choices, end)) => {
                let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end + 1..).unwrap_or_default());
                open.extend(choices.iter().map(|choice| format!("{before}{choice}{after}")));
            }
            // Innermost braces come first, so that what is around them comes more than once.
            None if done.contains(&text) => {}
            None => done.push(text),
        }
    }
    done
}

/// The first innermost braces: where they open, their choices, where they close.
fn braces(text: &str) -> Option<(usize, Vec<&str>, usize)> {
    let mut start = None;
    let mut commas = Vec::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            // A folder's own braces are escaped so.
            '[' if text.get(at + 2..).is_some_and(|rest| rest.starts_with(']')) => drop(letters.nth(1)),
            '{' => {
                start = Some(at);
                commas.clear();
            }
            ',' if start.is_some() => commas.push(at),
            '}' => {
                let start = start?;
                let mut from = start + 1;
                let mut choices = Vec::new();
                for to in commas.iter().copied().chain([at]) {
                    choices.push(text.get(from..to)?);
                    from = to + 1;
                }
                return Some((start, choices, at));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn may_mean(word: &str, rule: &str) -> bool {
        Shape::of_glob(rule).iter().any(|rule| Shape::of_word(Path::new(word)).may_mean(rule))
    }

    #[test]
    fn a_word_means_what_it_could_find() {
        for (word, rule) in [
            ("/w/vendor", "/w/vendor"),
            ("/w/vendor", "/w/vendor/**"),
            ("/w/vend*", "/w/vendor"),
            ("/w/vend*/a/b.c", "/w/vendor/**"),
            ("/w/?endor/x", "/w/vendor/**"),
            ("/w/[v]endor/x", "/w/vendor/**"),
            ("/w/[a-z]endor/x", "/w/vendor/**"),
            ("/w/*r/lib.c", "/w/vendor/**"),
            ("/w/a/b.key", "/w/**/*.key"),
            ("/w/b.key", "/w/**/*.key"),
            ("/w/*.key", "/w/**/*.key"),
            ("/w/*/x.key", "/w/**/*.key"),
            ("/w/*/x.key", "/w/*/*.key"),
            ("/w/a*/b", "/w/{x,ab}/b"),
            ("/w/s*t*/x", "/w/se?rets/*"),
            ("/w/.e*", "/w/**/.env*"),
            ("/w/.*", "/w/**/.env*"),
            ("/w/[.]env", "/w/**/.env*"),
            ("/w/.?nv", "/w/**/.env*"),
        ] {
            assert!(may_mean(word, rule), "{word} {rule}");
        }
        for (word, rule) in [
            ("/w/src", "/w/vendor"),
            ("/w/*", "/w/vendor"),
            ("/w/*/x", "/w/vendor/**"),
            ("/w/**/x", "/w/vendor/**"),
            ("/w", "/w/vendor/**"),
            ("/w/*.o", "/w/vendor"),
            ("/w/src/*.rs", "/w/vendor/**"),
            ("/w/a.keys", "/w/**/*.key"),
            ("/w/vendors/x", "/w/vendor/**"),
            ("/w/a[b]/c", "/w/a[[]b]/c*"),
            ("/w/*", "/w/**/.env*"),
            ("/w/src/*", "/w/**/.env*"),
            ("/w/*env", "/w/**/.env*"),
            ("/w/?env", "/w/**/.env*"),
            ("/w/*", "/w/**/*.key"),
            ("/w/src/*", "/w/**/*.key"),
            ("/w/dist/*", "/w/**/*.key"),
        ] {
            assert!(!may_mean(word, rule), "{word} {rule}");
        }
    }

    #[test]
    fn what_a_pattern_is_about_is_known() {
        let base = |glob: &str| Shape::of_glob(glob).first().unwrap().base();
        assert_eq!(base("/w/vendor"), Some("/w/vendor".into()));
        assert_eq!(base("/w/ven[d]or/**"), Some("/w/vendor".into()));
        assert_eq!(base("/w/a\\*b"), Some("/w/a*b".into()));
        assert_eq!(base("/w/**"), Some("/w".into()));
        for glob in ["/w/**/x", "/w/*.key", "/w/v?", "/w/[ab]"] {
            assert_eq!(base(glob), None, "{glob}");
        }
        let start = |glob: &str| Shape::of_glob(glob).first().unwrap().start();
        assert_eq!(start("/w/a/**/x"), Path::new("/w/a"));
        assert_eq!(start("/w/a/b*"), Path::new("/w/a"));
        assert_eq!(start("/**/x"), Path::new("/"));
        assert_eq!(Shape::of_glob("/w/{a,b{c,d}}/x").len(), 3);
        assert_eq!(Shape::of_glob(&"{a,b}".repeat(20)), [Shape(vec![Part::Deep])]);
        assert_eq!(Shape::of_glob("/w/[{]a,b[}]").len(), 1);
    }

    proptest! {
        /// What a rule's own matcher finds for a path, the shape finds too.
        #[test]
        fn a_path_that_fits_is_meant(path in "/(a|b|ab)(/(a|b|ab|c)){0,3}", glob in "/(a|\\*|a\\*|\\?)(/(a|b|\\*\\*|\\*|[ab]|\\?b|\\{a,c\\})){0,3}") {
            let matcher = globset::GlobBuilder::new(&glob).literal_separator(true).build().unwrap().compile_matcher();
            if matcher.is_match(&path) {
                prop_assert!(may_mean(&path, &glob), "{} {}", path, glob);
            }
        }

        #[test]
        fn nothing_makes_it_fail(word in ".{0,40}", glob in ".{0,40}") {
            let _ = may_mean(&word, &glob);
            Shape::of_glob(&glob).iter().for_each(|shape| drop((shape.base(), shape.start())));
        }
    }
}
