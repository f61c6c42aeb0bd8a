//! What the calls of a turn did, as its session knows it: what else is different after the turn is somebody else's.

use std::collections::BTreeMap;
use std::path::Path;

use gix::hash;

use super::others::{Hand, SLACK_MS, changed_ms};
use super::tree::TreeChange;
use super::vault::Vault;

/// What calls did between two states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnWork {
    /// The files that file tools wrote or removed, as they are shown, each with what was done to it last.
    pub written: BTreeMap<String, Written>,
    /// When calls ran that change something: their first and last moments, in milliseconds since 1970. A command, a
    /// checker or a hook may have changed any file then.
    pub ran: Vec<(i64, i64)>,
    /// When the state before was kept, in milliseconds since 1970.
    pub since_ms: i64,
    /// When the state after was kept, in milliseconds since 1970.
    pub until_ms: i64,
}

/// What a file tool did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It wrote what has this SHA-256, in hex.
    Sum(String),
    /// It removed it.
    Removed,
    /// It wrote or removed it; nobody knows which, or what was written.
    Unknown,
}

impl TurnWork {
    /// Whose a change is that lies between the two states.
    pub(super) fn hand<V: Vault>(&self, vault: &V, root: &Path, change: &TreeChange) -> Hand {
        let written = self.written.get(String::from_utf8_lossy(&change.path).as_ref());
        let is_as_written = match written {
            Some(Written::Sum(sum)) => sum_of(vault, change).is_some_and(|after| after == *sum),
            Some(Written::Removed) => change.after.is_none(),
            Some(Written::Unknown) | None => false,
        };
        match (is_as_written, self.may_be_of_a_call(root, change)) {
            (true, _) => Hand::Own,
            (false, true) => Hand::Unsure,
            (false, false) if written.is_some() => Hand::Over,
            (false, false) => Hand::Others,
        }
    }

    /// Whether a file may have been changed while a call ran. What is gone can't be dated, and neither can what was
    /// moved with its folder or touched since.
    fn may_be_of_a_call(&self, root: &Path, change: &TreeChange) -> bool {
        let Some(at) = changed_ms(root, change) else { return !self.ran.is_empty() };
        let around =
            |(first, last): &(i64, i64)| (first.saturating_sub(SLACK_MS)..=last.saturating_add(SLACK_MS)).contains(&at);
        let is_dated = (self.since_ms..=self.until_ms).contains(&at);
        self.ran.iter().any(|ran| !is_dated || around(ran))
    }
}

/// The SHA-256 of what a file holds after a change, in hex; nothing where it is gone or can't be read.
fn sum_of<V: Vault>(vault: &V, change: &TreeChange) -> Option<String> {
    let content = vault.get(change.after?.id).ok()?;
    let mut hasher = hash::hasher(hash::Kind::Sha256);
    hasher.update(&content);
    hasher.try_finalize().ok().map(|sum| sum.to_string())
}
