//! Why the index could not answer.

use std::io;

use crate::bytes::Damaged;

/// Why the index could not answer.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Its files are damaged; the next look at the workspace builds them anew.
    #[error("the index is damaged")]
    Damaged,
    /// Its files can't be read or written.
    #[error("the index can't be used: {0}")]
    Io(#[from] io::Error),
    /// The call was cancelled; what was indexed by then is kept.
    #[error("cancelled")]
    Cancelled,
}

impl From<Damaged> for IndexError {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}
