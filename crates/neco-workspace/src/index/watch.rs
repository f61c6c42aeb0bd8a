//! Who waits for the index: is told how far it is, and may stop it.

/// Who waits for the index.
pub trait Watch: Sync {
    /// Whether it is to stop.
    fn is_cancelled(&self) -> bool;

    /// How many of the files that changed are indexed.
    fn progress(&self, done: usize, total: usize);

    /// Another process is indexing the same folder; it is waited for.
    fn waiting(&self);
}

/// Someone who waits for ever and wants to know nothing.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Watch for Patient {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn progress(&self, _: usize, _: usize) {}

    fn waiting(&self) {}
}
