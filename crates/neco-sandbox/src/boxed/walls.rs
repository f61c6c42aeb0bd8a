//! What a box of namespaces is made of, as its builder is told.

use std::ffi::OsString;
use std::ops::Deref;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::plan::layout::Seen;

/// The walls of a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Walls {
    /// What is seen of the machine otherwise than as it is and not changed, those above before those below.
    pub(crate) places: Vec<(AnyPath, Seen)>,
    /// What certain places are, by device and number: no box is built around others that were put there.
    pub(crate) identities: Vec<(AnyPath, (u64, u64))>,
    /// Things of ours that cover others.
    pub(crate) covers: Covers,
    /// Hidden files that are seen as others, which can be read.
    pub(crate) instead: Vec<(AnyPath, PathBuf)>,
    /// What is seen as `/tmp` and `/var/tmp`.
    #[serde(with = "any_path")]
    pub(crate) temporary: PathBuf,
    /// Whether the machine's network is the box's.
    pub(crate) network: bool,
    /// Files below `/run` that are seen although the rest of it is not.
    pub(crate) from_run: Vec<PathBuf>,
    /// The folder that the command starts in.
    #[serde(with = "any_path")]
    pub(crate) folder: PathBuf,
}

impl Walls {
    /// What covers a hidden file.
    pub(crate) fn cover_of_file(&self, path: &Path) -> &Path {
        self.instead.iter().find(|(own, _)| **own == *path).map_or(&self.covers.closed_file, |(_, other)| other)
    }
}

/// Empty things that cover others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Covers {
    /// A folder that can't be looked into.
    pub(crate) closed_folder: PathBuf,
    /// A file that can't be read.
    pub(crate) closed_file: PathBuf,
    /// A folder with nothing in it.
    pub(crate) empty_folder: PathBuf,
}

/// A path of any bytes: JSON holds text, and names of files need not be any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnyPath(PathBuf);

/// The same for fields that are paths.
pub(crate) mod any_path {
    use super::{AnyPath, Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        AnyPath(path.to_path_buf()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        AnyPath::deserialize(deserializer).map(|path| path.0)
    }
}

/// The same for fields that are lists of paths.
pub(crate) mod any_paths {
    use super::{AnyPath, Deserialize, Deserializer, PathBuf, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().cloned().map(AnyPath))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<AnyPath>::deserialize(deserializer)?.into_iter().map(|path| path.0).collect())
    }
}

impl From<PathBuf> for AnyPath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl From<&str> for AnyPath {
    fn from(path: &str) -> Self {
        Self(path.into())
    }
}

impl Deref for AnyPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Serialize for AnyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => text.serialize(serializer),
            None => self.0.as_os_str().as_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AnyPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Bytes(Vec<u8>),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => Self(text.into()),
            Written::Bytes(bytes) => Self(OsString::from_vec(bytes).into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_bytes_arrive() {
        let odd = PathBuf::from(OsString::from_vec(b"/w/.env\xff".to_vec()));
        let paths: Vec<AnyPath> = vec![odd.into(), "/w/.env".into()];
        let text = serde_json::to_string(&paths).unwrap();
        assert_eq!(serde_json::from_str::<Vec<AnyPath>>(&text).unwrap(), paths);
    }
}
