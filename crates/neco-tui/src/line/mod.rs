//! A session in plain lines, for whoever has no window: what is seen of it, what a person is asked then, and the signals
//! that stop it.
//!
//! Invariants: the same questions as the terminal window has; the runtime never waits for a person.
//!
//! Reading order: [`loop_event`] (what the main thread waits for), [`window`] (what is seen and asked) with [`mod@print`]
//! and [`ask`] (what a person is asked on the terminal), [`signals`], [`run`] (one request),
//! [`repl`] (one line after the other).

pub mod ask;
pub mod loop_event;
pub mod print;
pub mod repl;
pub mod run;
pub mod signals;
pub mod window;

pub use loop_event::LoopEvent;
pub use window::{LineWindow, Person};
