//! A command of the person while it runs: however much it prints, only the end of it waits to be shown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// Bytes that wait to be shown at most.
const MOST: usize = 32 * 1024;

/// What was printed and not shown yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    text: String,
    /// Lines before it that nobody will see.
    left_out: usize,
    /// Whether somebody was told that there is something.
    told: bool,
}

/// The same, shared with whoever prints.
pub(super) type Shared = Arc<Mutex<Pieces>>;

impl Pieces {
    /// Adds a piece; whether somebody is to be told that there is something.
    pub(super) fn push(&mut self, piece: &str) -> bool {
        self.text.push_str(piece);
        if self.text.len() > 2 * MOST {
            let cut = self.text.ceil_char_boundary(self.text.len() - MOST);
            let gone: String = self.text.drain(..cut).collect();
            self.left_out += gone.bytes().filter(|byte| *byte == b'\n').count().max(1);
        }
        !std::mem::replace(&mut self.told, true)
    }

    /// Takes what there is, and how many lines before it are missing.
    pub(super) fn take(&mut self) -> (String, usize) {
        self.told = false;
        (std::mem::take(&mut self.text), std::mem::take(&mut self.left_out))
    }
}

/// What waits; a writer that broke has left nothing half done.
pub(super) fn lock(pieces: &Shared) -> MutexGuard<'_, Pieces> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command that runs.
pub(super) struct Running {
    /// Which one: what the ones before it still print is not for this one.
    pub(super) number: u64,
    /// Dropping what runs kills it.
    pub(super) task: AbortHandle,
    /// What it printed.
    pub(super) pieces: Shared,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_told_of_once() {
        let mut pieces = Pieces::default();
        assert!(pieces.push("a\n"));
        for _ in 0..1000 {
            assert!(!pieces.push(&"yes\n".repeat(1000)), "nobody has looked yet");
        }
        assert!(pieces.text.len() <= 2 * MOST);
        let (text, left_out) = pieces.take();
        assert_eq!(text.lines().count() + left_out, 1_000_001);
        assert!(pieces.push("b"), "somebody has looked");
        assert_eq!(pieces.take(), ("b".to_owned(), 0));
    }
}
