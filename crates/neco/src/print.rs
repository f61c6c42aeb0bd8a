//! What a run of the command line is printed with, under the names that it is used by here.
//!
//! All of it is the same for every front end: it comes from `neco_view`, and from the line window of `neco_tui`.

pub use neco_proto::clean;
pub use neco_tui::line::print::{Printer, screen};
pub use neco_tui::line::run::report as json;
pub use neco_view::figures;
pub use neco_view::paint::text::{agents, diff};
pub use neco_view::paint::{colour as paint, wrap};
