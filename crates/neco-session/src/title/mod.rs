//! Titles of sessions: the first words at once, better ones from a model if that is wanted, and a person's
//! own, which nothing replaces.
//!
//! Reading order: [`shorten`] (titles as texts), [`keeper`] (a session's title while it runs).

mod keeper;
mod shorten;

pub(crate) use keeper::TitleKeeper;
pub use keeper::TitleSettings;
pub(crate) use shorten::title_event;
pub use shorten::{first_words, tidy};
