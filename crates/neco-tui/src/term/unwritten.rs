//! A frame that is not written after all: what was known of the terminal before it holds again.

use super::alternate::Live;
use super::screen::Screen;

/// What is known of a terminal before a frame is drawn.
#[derive(Debug)]
pub struct Known {
    shown: Live,
    below: Option<Live>,
    folded: Option<(usize, usize)>,
    shows_cursor: bool,
    bytes: usize,
}

impl Screen<Vec<u8>> {
    /// What is known now, for a frame that may be taken back.
    pub fn known(&self) -> Known {
        Known {
            shown: self.shown.clone(),
            below: self.below.clone(),
            folded: self.folded,
            shows_cursor: self.shows_cursor,
            bytes: self.out.len(),
        }
    }

    /// Takes back what was drawn since `known`: none of its bytes were written.
    pub fn take_back(&mut self, known: Known) {
        let Known { shown, below, folded, shows_cursor, bytes } = known;
        (self.shown, self.below, self.folded, self.shows_cursor) = (shown, below, folded, shows_cursor);
        self.out.truncate(bytes);
    }
}
