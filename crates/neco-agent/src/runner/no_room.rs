//! Why there is no room, in words for the person.

use neco_model::History;
use neco_model::tokens::Family;

use crate::context::{Assembled, Space, tokens_of};

/// Why nothing can be asked: what comes before the conversation is too much already.
pub(super) fn too_small(assembled: &Assembled, space: &Space, model: &str) -> String {
    let (biggest, tokens) = assembled.biggest();
    let remedy = remedy(assembled);
    format!(
        "the context window of {model} is too small: it holds {} tokens, {} of them are kept for the answer, and what \
         the model is told before the conversation takes about {}; the biggest part of that is {biggest} ({tokens}). \
         {remedy}Another model may have a bigger window; neco prompt show --sizes shows every part",
        space.window().unwrap_or_default(),
        space.reserve(),
        assembled.tokens(),
    )
}

/// What takes the most room of all that would be sent, in words, and how much that is.
pub(super) fn biggest(assembled: &Assembled, history: &History, family: Family) -> (String, u64) {
    let messages = history.iter().map(|entry| tokens_of(entry.message(), family));
    let largest = messages.enumerate().max_by_key(|(_, tokens)| *tokens);
    let fixed = assembled.biggest();
    match largest {
        Some((at, tokens)) if tokens > fixed.1 => (format!("message {} of the conversation", at + 1), tokens),
        Some(_) | None => fixed,
    }
}

/// A model's own words that it was asked too much, with what the person can do about it.
pub(super) fn refused_as_too_long(refusal: &str, assembled: &Assembled, history: &History, family: Family) -> String {
    let (biggest, tokens) = biggest(assembled, history, family);
    let is_fixed = biggest == assembled.biggest().0;
    format!(
        "{}. The biggest part of what it was asked is {biggest} (about {tokens} tokens). {}Begin a new session, or take a \
         model with a bigger window",
        refusal.trim_end_matches('.'),
        if is_fixed { remedy(assembled) } else { String::new() },
    )
}

/// What makes the biggest part shorter, as a sentence of its own.
fn remedy(assembled: &Assembled) -> String {
    let remedy = Some(assembled.remedy()).filter(|remedy| !remedy.is_empty());
    remedy.map(|remedy| format!("{remedy}. ")).unwrap_or_default()
}

/// Why nothing can be asked: the conversation is too long, and stays so.
pub(super) fn too_long_to_fit(
    assembled: &Assembled,
    history: &History,
    space: &Space,
    family: Family,
    model: &str,
) -> String {
    let (biggest, tokens) = biggest(assembled, history, family);
    format!(
        "the conversation does not fit into the context window of {model} ({} tokens, {} of them for the answer), and \
         can't be made shorter; the biggest part of it is {biggest} (about {tokens} tokens). Begin a new session, or take \
         a model with a bigger window",
        space.window().unwrap_or_default(),
        space.reserve(),
    )
}
