//! A session in plain lines, for whoever has no window: what is seen of it, what a person is asked then, and the signals
//! that stop it.
//!
//! Invariants: the same questions as the terminal window has; the runtime never waits for a person.
//!
//! Reading order: [`loop_event`] (what the main thread waits for), [`window`] (what is seen and asked) with [`mod@print`]
//! and [`ask`] (what a person is asked on the terminal), [`signals`], [`terminal`] (the streams) with [`say`] (lines beside a run), [`run`] (one request),
//! [`repl`] (one line after the other).

pub mod ask;
pub mod loop_event;
pub mod print;
pub mod repl;
pub mod run;
pub mod say;
pub mod signals;
pub mod terminal;
pub mod window;

pub use loop_event::LoopEvent;
pub use terminal::Terminal;
pub use window::{LineWindow, Person};
