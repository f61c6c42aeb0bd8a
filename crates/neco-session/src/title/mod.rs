//! Titles of sessions: the first words at once, better ones from a model if that is wanted, and a person's
//! own, which nothing replaces.
//!
//! [`keeper`] has titles as texts, and a session's title while it runs.

mod keeper;

pub(crate) use keeper::TitleKeeper;
pub use keeper::TitleSettings;
pub(crate) use keeper::title_event;
pub use keeper::{first_words, tidy};
