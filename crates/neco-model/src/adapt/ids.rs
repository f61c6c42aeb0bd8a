//! Ids of calls and names of tools in a form that every vendor accepts.
//!
//! The same history always gives the same ids, whatever is added to it: a prompt cache is of no use
//! when an early id changes.

use std::borrow::Cow;
use std::collections::HashSet;

use super::taker::CallIds;

/// The longest tool name that all vendors take.
const LONGEST_NAME: usize = 64;
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The ids that were given out so far.
pub(super) struct Ids<'a> {
    rule: CallIds,
    taken: HashSet<Cow<'a, str>>,
}

impl<'a> Ids<'a> {
    pub(super) fn new(rule: CallIds) -> Self {
        Self { rule, taken: HashSet::new() }
    }

    /// The id that stands for `id`: itself, if it is well formed and free.
    pub(super) fn give(&mut self, id: &'a str) -> Cow<'a, str> {
        if accepts(self.rule, id) && self.taken.insert(Cow::Borrowed(id)) {
            return Cow::Borrowed(id);
        }
        let mut seed = fingerprint(id);
        loop {
            let made: Cow<'a, str> = Cow::Owned(made(self.rule, seed));
            if self.taken.insert(made.clone()) {
                return made;
            }
            seed = seed.wrapping_add(1);
        }
    }
}

/// A tool's name as it may stand in a request. What a model makes up may have any form.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let first = name.chars().next();
    let begins_well = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if begins_well && name.len() <= LONGEST_NAME && name.chars().all(is_word) {
        return Cow::Borrowed(name);
    }
    let begin = if begins_well { "" } else { "_" };
    let rest = name.chars().map(|c| if is_word(c) { c } else { '_' });
    Cow::Owned(begin.chars().chain(rest).take(LONGEST_NAME).collect())
}

fn accepts(rule: CallIds, id: &str) -> bool {
    match rule {
        CallIds::Text(longest) => (1..=longest).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic()),
        CallIds::Words(longest) => (1..=longest).contains(&id.len()) && id.chars().all(is_word),
        CallIds::Nine => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn made(rule: CallIds, seed: u64) -> String {
    let letters = (0..9_u32).map(|at| char::from(ALPHABET[(seed >> (5 * at)) as usize % ALPHABET.len()]));
    match rule {
        CallIds::Text(_) | CallIds::Words(_) => "call_".chars().chain(letters).collect(),
        CallIds::Nine => letters.collect(),
    }
}

/// FNV-1a: the same in every run and on every machine.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ids_stay_and_others_become_good() {
        let mut ids = Ids::new(CallIds::Words(20));
        assert_eq!(ids.give("call_1"), "call_1");
        let again = ids.give("call_1").into_owned();
        assert!(again != "call_1" && accepts(CallIds::Words(20), &again), "{again}");
        for odd in ["", "a b", "functions.read:0", "ü", &"x".repeat(21)] {
            let given = ids.give(odd).into_owned();
            assert!(accepts(CallIds::Words(20), &given), "{given}");
        }
        assert_eq!(Ids::new(CallIds::Words(20)).give("a b"), Ids::new(CallIds::Words(20)).give("a b"));
        assert_eq!(Ids::new(CallIds::Text(20)).give("functions.read:0"), "functions.read:0");
        let mut nine = Ids::new(CallIds::Nine);
        assert_eq!(nine.give("abcDEF123"), "abcDEF123");
        assert!(accepts(CallIds::Nine, &nine.give("toolu_01")));
    }

    #[test]
    fn names_keep_what_they_can() {
        assert_eq!(tool_name("read_file"), "read_file");
        assert_eq!(tool_name("functions.read file"), "functions_read_file");
        assert_eq!(tool_name("9lives"), "_9lives");
        assert_eq!(tool_name(""), "_");
        assert_eq!(tool_name(&"é".repeat(200)).len(), LONGEST_NAME);
    }
}
