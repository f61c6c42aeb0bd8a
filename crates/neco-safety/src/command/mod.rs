//! Commands: read as a shell reads them, and judged part by part.
//!
//! Invariants: [`fn@examine`] is pure and its cost is bounded, whatever the line; every simple command
//! of the line is judged, also those that other programs are told to start, and the worst decides;
//! what is not understood wholly is critical; nothing is safe, and no rule covers anything, unless
//! two readers found the same words.
//!
//! Reading order: [`place`], [`examined`], [`rule`], [`mod@examine`]; how a line is read: [`scan`],
//! [`ansi_c`], [`expand`], [`expansion`], [`walk`], [`reader`]; how a part is judged: [`named`], [`spelled`], [`handed`],
//! [`finding`], [`judge`], [`ground`], [`pattern`], [`option`], [`source`], [`allowed`], [`reaching`], [`environment`], [`program`],
//! [`known_safe`]; what it names: [`reach`], [`links`].

mod allowed;
mod ansi_c;
mod environment;
mod examine;
mod examined;
mod expand;
mod expansion;
mod finding;
mod ground;
mod handed;
mod judge;
mod known_safe;
mod links;
mod named;
mod option;
mod pattern;
mod place;
mod program;
mod reach;
mod reaching;
mod reader;
mod rule;
mod scan;
mod source;
mod spelled;
mod walk;

pub use examine::examine;
pub use examined::{Examined, OnHistory, Opened, Part, Reasons, Word};
pub use links::{LedOut, led_out};
pub use place::Place;

pub(crate) use place::straighten;
pub(crate) use reach::{Named, Reached, paths_named, pattern_named};
pub(crate) use rule::uncovered;
