//! Text made ready to be drawn: folded to the width of the terminal, markdown, programs, changes.
//!
//! Reading order: [`wrap`], [`markdown`], [`highlight`], [`streaming`] (an answer as it comes) with [`easing`], [`diff`], [`figures`].

pub mod diff;
mod easing;
pub mod figures;
pub mod highlight;
pub mod markdown;
pub mod streaming;
mod table;
pub mod wrap;
