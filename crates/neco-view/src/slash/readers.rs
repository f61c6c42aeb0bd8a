//! What stands behind a command, as it is read.

use super::command::{Outside, Slash, SlashError};

pub(super) fn outside(outside: Outside, text: &str) -> Result<Slash, SlashError> {
    Ok(Slash::Outside(outside, text.to_owned()))
}

/// A provider alone: what follows it may be a key, which is never repeated.
pub(super) fn login(text: &str) -> Result<Slash, SlashError> {
    match text.split_whitespace().count() {
        0 | 1 => outside(Outside::Login, text),
        _ => Err(SlashError::KeyShown),
    }
}

/// One of these words, or what there is instead.
pub(super) fn one_of(what: Outside, text: &str, words: &[&str], choices: &str) -> Result<Slash, SlashError> {
    if words.contains(&text) {
        outside(what, text)
    } else {
        Err(SlashError::NoSuchWord { word: text.to_owned(), choices: choices.to_owned() })
    }
}

pub(super) fn detach(text: &str) -> Result<Slash, SlashError> {
    match text {
        "" => Ok(Slash::Detach(false)),
        "now" => Ok(Slash::Detach(true)),
        word => Err(SlashError::NoSuchWord { word: word.to_owned(), choices: "/detach or /detach now".to_owned() }),
    }
}

pub(super) fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub(super) fn add_dir(text: &str) -> Result<Slash, SlashError> {
    if text.is_empty() {
        return Err(SlashError::NoFolder);
    }
    outside(Outside::AddDir, text)
}

pub(super) fn resume(text: &str) -> Result<Slash, SlashError> {
    some(text).map_or_else(|| outside(Outside::Sessions, ""), |id| Ok(Slash::Resume(id)))
}

pub(super) fn model(text: &str) -> Result<Slash, SlashError> {
    if text.contains(char::is_whitespace) {
        return Err(SlashError::NoModel { name: text.to_owned() });
    }
    some(text).map_or_else(|| outside(Outside::Models, ""), |name| Ok(Slash::Model(name)))
}

pub(super) fn rename(text: &str) -> Result<Slash, SlashError> {
    some(text).map(Slash::Rename).ok_or(SlashError::NoTitle)
}
