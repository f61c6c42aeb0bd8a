//! One request to the agent, from the command line to the exit code.
//!
//! Invariants: the main thread draws and asks and may wait for the terminal; the runtime's threads
//! never do. Signals are heard by a task that waits for nothing else. What is printed last is the end
//! of the agent's work; the session is on the disk before the process ends.
//!
//! Reading order: [`slash`], [`files`] and [`note`] (what is asked), [`ends`] (what it has to come to), [`agent`] and
//! [`turns`] (who is asked, and how often), [`request`] (opening the session) with [`opener`] and [`worktree`], then
//! [`attach`] (when another process has the session open) and [`on_server`]. What is seen of it is in `neco_tui::line::run`.

pub mod agent;
pub mod attach;
mod ends;
pub mod files;
mod note;
pub mod on_server;
pub mod opener;
pub mod request;
mod slash;
mod turns;
pub mod worktree;

pub use neco_app::picture;
pub use request::run;
