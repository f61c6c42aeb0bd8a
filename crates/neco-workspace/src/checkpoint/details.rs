//! What git's objects can't say of a state: what was left out of it, and permissions that are others than a
//! new file has (644, 755, 664, 775). Kept as a list of lines beside the tree, so that a restore knows it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use neco_proto::event::LeftOutWhy;

use super::checkpoints::LeftOut;

/// What is known of a state besides its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// What was left out, in the order of the walk.
    pub left_out: Vec<LeftOut>,
    /// Permissions of files that are others than usual.
    pub modes: BTreeMap<Vec<u8>, u32>,
    /// Those of folders: one that is made again is as closed as it was.
    pub folders: BTreeMap<Vec<u8>, u32>,
}

impl Details {
    /// As an object.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for left in &self.left_out {
            text.push_str(&format!("left {} {}\n", left.why, escaped(left.path.as_os_str().as_bytes())));
        }
        for (path, mode) in &self.modes {
            text.push_str(&format!("mode {mode:o} {}\n", escaped(path)));
        }
        for (path, mode) in &self.folders {
            text.push_str(&format!("folder {mode:o} {}\n", escaped(path)));
        }
        text.into_bytes()
    }

    /// Reads what [`Details::to_bytes`] wrote; lines of a kind that is not known are passed over.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut details = Self::default();
        for line in String::from_utf8_lossy(bytes).lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(value), Some(path)) = (words.next(), words.next(), words.next()) else { continue };
            let path = unescaped(path);
            match kind {
                "left" => {
                    let path = PathBuf::from(OsStr::from_bytes(&path));
                    details.left_out.push(LeftOut { path, why: why(value) });
                }
                "mode" => details.modes.extend(u32::from_str_radix(value, 8).ok().map(|mode| (path, mode & 0o7777))),
                "folder" => {
                    details.folders.extend(u32::from_str_radix(value, 8).ok().map(|mode| (path, mode & 0o7777)))
                }
                _ => {}
            }
        }
        details
    }

    /// Whether all that is known of another state is the same, but for what was left out by its name.
    pub fn is_same(&self, other: &Self) -> bool {
        self.modes == other.modes && self.folders == other.folders
    }

    /// Whether a path, or a folder above it, was left out.
    pub fn leaves_out(&self, path: &Path) -> bool {
        // Sorted by the walk folder by folder, not by path: looked through, as restores are rare.
        self.left_out.iter().any(|left| path.starts_with(&left.path))
    }
}

fn why(name: &str) -> LeftOutWhy {
    let all = [LeftOutWhy::Ignored, LeftOutWhy::TooBig, LeftOutWhy::Secret];
    all.into_iter().find(|why| why.to_string() == name).unwrap_or(LeftOutWhy::Other)
}

fn escaped(path: &[u8]) -> String {
    let plain = |byte: u8| byte > b' ' && byte < 0x7f && byte != b'%';
    path.iter().map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") }).collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut path = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            path.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(bytes.next()), digit(bytes.next()));
        path.extend(high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok()));
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn details_are_read_as_they_were_written(
            paths in prop::collection::vec((prop::collection::vec(1u8..=255, 1..12), 0u32..0o10000), 0..6),
        ) {
            let whys = [LeftOutWhy::Ignored, LeftOutWhy::TooBig, LeftOutWhy::Secret, LeftOutWhy::Other];
            let left_out = paths.iter().zip(whys.iter().cycle()).map(|((path, _), why)| LeftOut {
                path: PathBuf::from(OsStr::from_bytes(path)),
                why: *why,
            });
            let modes: BTreeMap<_, _> = paths.iter().cloned().collect();
            let details = Details { left_out: left_out.collect(), folders: modes.clone(), modes };
            prop_assert_eq!(Details::parse(&details.to_bytes()), details);
        }

        #[test]
        fn any_bytes_are_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Details::parse(&bytes);
        }
    }
}
