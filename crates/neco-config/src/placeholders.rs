//! `${NAME}` and `${NAME:-default}` in values that people write.

use std::collections::BTreeSet;

/// Fills in the values of variables, and remembers which ones.
///
/// ```
/// let home = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
/// let mut filling = neco_config::Filling::new(&home);
/// assert_eq!(filling.fill("${HOME}/${FOLDER:-src} costs $5"), "/home/me/src costs $5");
/// assert_eq!((filling.fill("${TOKEN}"), filling.missing()), ("${TOKEN}".to_owned(), Some("TOKEN")));
/// ```
pub struct Filling<'a> {
    value_of: &'a dyn Fn(&str) -> Option<String>,
    names: BTreeSet<String>,
    missing: Option<String>,
}

impl<'a> Filling<'a> {
    /// Nothing is filled in yet; `value_of` knows the variables.
    pub fn new(value_of: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { value_of, names: BTreeSet::new(), missing: None }
    }

    /// The text with the values of its variables. One without a value and a default stays as it is written and is
    /// missing; what names no variable stays too, and is not.
    pub fn fill(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            filled.push_str(before);
            match after.split_once('}').and_then(|(inside, behind)| Some((self.inside(inside)?, behind))) {
                Some((value, behind)) => {
                    filled.push_str(&value);
                    rest = behind;
                }
                None => {
                    filled.push_str("${");
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// The value of a variable; it is missing where there is none.
    pub fn variable(&mut self, name: &str) -> Option<String> {
        self.names.insert(name.to_owned());
        let value = (self.value_of)(name);
        if value.is_none() && self.missing.is_none() {
            self.missing = Some(name.to_owned());
        }
        value
    }

    /// The first variable that has no value and no default.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Every variable that was asked for.
    pub fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// What stands for the text between the braces.
    fn inside(&mut self, text: &str) -> Option<String> {
        let (name, default) = match text.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (text, None),
        };
        if !is_name(name) {
            return None;
        }
        let Some(default) = default else { return self.variable(name) };
        self.names.insert(name.to_owned());
        let value = (self.value_of)(name).filter(|value| !value.is_empty());
        Some(value.unwrap_or_else(|| default.to_owned()))
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_defaults_and_all_else_mean_what_a_shell_means() {
        let value_of = |name: &str| match name {
            "SET" => Some("a ${SET} b".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, filled, missing) in [
            ("plain $SET $ { } ${", "plain $SET $ { } ${", None),
            ("<${SET}>", "<a ${SET} b>", None),
            ("<${EMPTY}|${EMPTY:-x}|${NONE:-y}|${NONE:-}|${SET:-z}>", "<|x|y||a ${SET} b>", None),
            ("${NONE} ${OTHER}", "${NONE} ${OTHER}", Some("NONE")),
            ("${input:key} ${#x} ${SET%.*} ${}", "${input:key} ${#x} ${SET%.*} ${}", None),
            ("${a ${SET}", "${a a ${SET} b", None),
        ] {
            let mut filling = Filling::new(&value_of);
            assert_eq!((filling.fill(text).as_str(), filling.missing()), (filled, missing), "{text}");
        }
        let mut filling = Filling::new(&value_of);
        filling.fill("${SET} ${NONE:-x} ${1}");
        assert_eq!(filling.names().iter().collect::<Vec<_>>(), ["NONE", "SET"]);
    }
}
