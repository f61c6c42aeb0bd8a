//! Scenarios, scripted worlds and a disk that loses power, for tests.
//!
//! A scenario is a Markdown file that says what is in the folder, what the model will answer, what
//! the person says, and what must happen. It is played by the real session with real tools on real
//! files and a real store.
//!
//! Reading order: [`scenario`], [`stage`] (where it is played), [`talk`] (a person who follows it),
//! [`describe`] (events as lines); [`power`].

#[cfg(feature = "scenarios")]
pub mod describe;
#[cfg(target_os = "linux")]
pub mod power;
#[cfg(feature = "scenarios")]
pub mod scenario;
#[cfg(feature = "scenarios")]
pub mod stage;
#[cfg(feature = "scenarios")]
pub mod talk;

#[cfg(feature = "scenarios")]
pub use scenario::Scenario;
#[cfg(feature = "scenarios")]
pub use stage::Stage;
