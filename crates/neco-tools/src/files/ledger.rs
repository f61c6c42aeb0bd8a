//! What one agent knows of files: which it has read or written, and in which state.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use neco_proto::ErrorCode;
use neco_proto::event::KnownFile;
use neco_safety::path::{Located, Stamp};
use neco_toolkit::ToolError;
use sha2::{Digest, Sha256};

/// Files up to this size are known by their content, bigger ones by their stamp alone.
pub const HASHED: u64 = 8 * 1024 * 1024;

/// What one agent knows of files. Shared by its tools.
#[derive(Debug, Default)]
pub struct Ledger {
    known: Mutex<HashMap<PathBuf, Known>>,
}

#[derive(Clone, Debug)]
struct Known {
    /// Nothing where it is known from an earlier process.
    stamp: Option<Stamp>,
    hash: Option<[u8; 32]>,
    mark: Option<Mark>,
    seen: Coverage,
}

/// How much of a file must be known before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// Some of it: the rest stays as it is.
    Some,
    /// All of it: all of it is replaced.
    All,
}

/// Lines of a file that were shown, counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub lines: Range<u64>,
    /// How many there are, where that is known.
    pub total: Option<u64>,
}

/// All lines of one state of a file that were shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Coverage {
    All,
    /// Stretches of lines in order that do not touch, and how many lines there are.
    Lines(Vec<Range<u64>>, Option<u64>),
}

impl Coverage {
    const NOTHING: Self = Self::Lines(Vec::new(), None);

    fn with(self, seen: Seen) -> Self {
        let Self::Lines(mut stretches, total) = self else { return Self::All };
        let mut added = seen.lines;
        stretches.retain(|stretch| {
            let apart = stretch.end < added.start || added.end < stretch.start;
            if !apart {
                added = stretch.start.min(added.start)..stretch.end.max(added.end);
            }
            apart
        });
        stretches.push(added);
        stretches.sort_by_key(|stretch| stretch.start);
        let total = seen.total.or(total);
        let is_all = |lines: &Range<u64>| total.is_some_and(|total| lines.start <= 1 && lines.end > total);
        if stretches.iter().any(is_all) { Self::All } else { Self::Lines(stretches, total) }
    }
}

/// A line of a big file and where it begins, so that reading on does not start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line, counted from zero.
    pub line: u64,
    /// Its first byte.
    pub offset: u64,
}

impl Ledger {
    /// Remembers a file that was written, and whether all that is in it is known.
    pub fn know_written(&self, path: &Path, stamp: Stamp, content: &[u8], known: Needed) {
        let seen = match known {
            Needed::All => Coverage::All,
            Needed::Some => Coverage::NOTHING,
        };
        self.put(path, Known { stamp: Some(stamp), hash: hash_of_small(content), mark: None, seen });
    }

    /// Remembers what was shown of a file that was read as a whole.
    pub fn know_read(&self, path: &Path, stamp: Stamp, content: &[u8], seen: Seen) {
        let hash = hash_of_small(content);
        let before = self.get(path).filter(|known| known.hash.is_some() && known.hash == hash);
        let seen = before.map_or(Coverage::NOTHING, |known| known.seen).with(seen);
        self.put(path, Known { stamp: Some(stamp), hash, mark: None, seen });
    }

    /// Remembers what was shown of a file that was too big to be read as a whole, and where reading stopped.
    pub fn know_part(&self, path: &Path, stamp: Stamp, mark: Option<Mark>, seen: Seen) {
        let before = self.get(path).filter(|known| known.stamp == Some(stamp));
        let seen = before.map_or(Coverage::NOTHING, |known| known.seen).with(seen);
        self.put(path, Known { stamp: Some(stamp), hash: None, mark, seen });
    }

    /// All that is known of a file, to be kept beyond this process. A file that is too big to be known by its
    /// content is read again instead.
    pub fn to_keep(&self, located: &Located) -> Option<KnownFile> {
        let known = self.get(located.path())?;
        let (lines, total_lines) = match known.seen {
            Coverage::All => (None, None),
            Coverage::Lines(stretches, total) => {
                (Some(stretches.into_iter().map(|stretch| (stretch.start, stretch.end)).collect()), total)
            }
        };
        Some(KnownFile { path: located.shown(), sha256: hex(&known.hash?), lines, total_lines })
    }

    /// Takes in what an earlier process kept. What this one has seen itself stays.
    pub fn recall(&self, kept: &[KnownFile], workspace: &Path) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for file in kept {
            let Some(hash) = from_hex(&file.sha256) else { continue };
            let seen = match &file.lines {
                None => Coverage::All,
                Some(lines) => {
                    Coverage::Lines(lines.iter().map(|(start, end)| *start..*end).collect(), file.total_lines)
                }
            };
            let recalled = Known { stamp: None, hash: Some(hash), mark: None, seen };
            known.entry(workspace.join(&file.path)).or_insert(recalled);
        }
    }

    /// How much of a file is known.
    pub fn known(&self, path: &Path) -> Needed {
        match self.get(path).map(|known| known.seen) {
            Some(Coverage::All) => Needed::All,
            Some(Coverage::Lines(..)) | None => Needed::Some,
        }
    }

    /// Whether anything is known of a file.
    pub fn is_known(&self, path: &Path) -> bool {
        self.get(path).is_some()
    }

    /// Where reading stopped, if the file is still the same.
    pub fn mark(&self, path: &Path, stamp: &Stamp) -> Option<Mark> {
        self.get(path).filter(|known| known.stamp == Some(*stamp))?.mark
    }

    /// Whether a file may be changed: it was read as far as needed, and it is as it was then.
    /// Fails when it was not read or not to its end, or has another content since.
    pub fn check(
        &self,
        path: &Path,
        shown: &str,
        stamp: &Stamp,
        content: &[u8],
        needed: Needed,
    ) -> Result<(), ToolError> {
        let Some(known) = self.get(path) else {
            let error = ToolError::failed(format!("{shown} exists but was not read earlier"));
            return Err(error.advising("read it first with read_file, then change it"));
        };
        let same = known.hash.map_or(known.stamp == Some(*stamp), |known| known == hash(content));
        if !same {
            let message = format!(
                "{shown} was changed since you last read it; read it again, then make the change to what is there now"
            );
            return Err(ToolError::new(ErrorCode::FileChanged, message));
        }
        match (needed, known.seen) {
            (Needed::Some, _) | (Needed::All, Coverage::All) => Ok(()),
            (Needed::All, Coverage::Lines(..)) => Err(ToolError::failed(format!(
                "{shown} exists and you have read only a part of it, so all of it can't be replaced; read the rest \
                 first, or change a part with edit_file"
            ))),
        }
    }

    fn get(&self, path: &Path) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn put(&self, path: &Path, known: Known) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), known);
    }
}

fn hash_of_small(content: &[u8]) -> Option<[u8; 32]> {
    (content.len() as u64 <= HASHED).then(|| hash(content))
}

/// The sum of a content.
pub fn hash(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_file_is_known_when_every_line_was_shown(
            reads in prop::collection::vec((1u64..12, 0u64..5), 0..12),
            total in 0u64..10,
        ) {
            let mut coverage = Coverage::NOTHING;
            for (start, count) in &reads {
                let lines = *start..(start + count).min(total + 1).max(*start);
                coverage = coverage.with(Seen { lines, total: Some(total) });
            }
            let shown = |line| reads.iter().any(|(start, count)| (*start..start + count).contains(&line));
            let all = (1..=total).all(shown) && !reads.is_empty() && total > 0;
            if total > 0 {
                prop_assert_eq!(coverage == Coverage::All, all);
            }
        }
    }
}
