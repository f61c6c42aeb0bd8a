//! The built-in rules.

use super::read::RuleReader;
use super::rule::{Rule, Source};
use crate::command::Place;

/// Where the built-in rules are written.
const FILE: &str = "builtin.toml";

/// The rules that hold when nobody says otherwise. They are read once; a test holds that they are sound.
pub(super) fn rules() -> Vec<Rule> {
    static RULES: std::sync::OnceLock<Vec<Rule>> = std::sync::OnceLock::new();
    let read = || {
        let place = Place::default();
        RuleReader { place: &place }.file(include_str!("builtin.toml"), FILE, Source::BuiltIn).rules
    };
    RULES.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_are_sound() {
        let place = Place::default();
        let reader = RuleReader { place: &place };
        let read = reader.file(include_str!("builtin.toml"), FILE, Source::BuiltIn);
        assert_eq!((read.problems, read.warnings), (vec![], vec![]));
        assert_eq!(read.rules.len(), include_str!("builtin.toml").matches("[[rule]]").count());
    }
}
