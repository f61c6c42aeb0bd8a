//! Lists of names, written as texts: what a word is compared with is one word after the other.

/// Whether a list has a name. What is empty, or has a blank in it, is in none.
pub fn is_listed(name: &str, list: &str) -> bool {
    list.split_whitespace().any(|own| own == name)
}
