//! The file that keeps keys and logins, for its owner alone.
//!
//! It is read only when nobody else can read it, and written whole beside itself and moved into
//! place, so that whoever reads it meanwhile finds the old one or the new one. No error tells what
//! is in it.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

/// What the file begins with.
const HEAD: &str = "# Written by `neco auth`. These are secrets: nobody else may read this file.\n\n";
/// No person has so many keys.
const LARGEST: u64 = 1024 * 1024;

/// What is kept for one provider.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Its keys, which take turns.
    pub keys: Vec<SecretString>,
    /// What a login gave.
    pub login: Option<SecretString>,
}

/// What is kept for each provider.
pub type KeptKeys = BTreeMap<String, Kept>;

/// The file that keeps keys.
#[derive(Clone, Debug)]
pub struct KeysFile {
    path: PathBuf,
}

/// Why keys can't be read or kept. The text never holds a key.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum KeysFileError {
    /// Somebody else can read it.
    #[error("{0} can be read by others, so the keys in it are not used: chmod 600 {0}")]
    Open(String),
    /// It is not what `neco auth` writes.
    #[error("line {line} of {path} is not understood: correct it, or remove the file and set the keys again")]
    Garbled { path: String, line: usize },
    /// The system does not let us.
    #[error("{path} can't be {done}: {error}")]
    System { path: String, done: &'static str, error: io::Error },
}

impl Kept {
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.login.is_none()
    }
}

impl KeysFile {
    /// The file at `path`, which need not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything that is kept; nothing when there is no file.
    /// Fails when others can read the file, or it can't be read or understood.
    pub fn read(&self) -> Result<KeptKeys, KeysFileError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(KeptKeys::new()),
            Err(error) => return Err(self.failed("read", error)),
        };
        // The opened file is looked at, not its name: that may mean another one a moment later.
        let metadata = file.metadata().map_err(|error| self.failed("read", error))?;
        if !metadata.is_file() {
            return Err(self.failed("read", io::Error::other("it is not a file")));
        }
        if is_open_to_others(&metadata) {
            return Err(KeysFileError::Open(self.shown()));
        }
        let mut text = String::new();
        let read = file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| self.failed("read", error))?;
        if read as u64 > LARGEST {
            return Err(self.failed("read", io::Error::other("it is longer than any file of keys")));
        }
        self.parse(&text)
    }

    /// Changes what is kept; gives back what `change` does.
    /// Fails when the file can't be read or written; then nothing is changed.
    pub fn change<T>(&self, change: impl FnOnce(&mut KeptKeys) -> T) -> Result<T, KeysFileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        private_folder(folder).map_err(|error| self.failed("written", error))?;
        // Two who change it at once must not lose what the other one added. The folder is locked
        // since the file itself is replaced.
        let lock = File::open(folder).map_err(|error| self.failed("written", error))?;
        lock.lock().map_err(|error| self.failed("written", error))?;
        let mut kept = self.read()?;
        let result = change(&mut kept);
        self.write(&kept).map_err(|error| self.failed("written", error))?;
        Ok(result)
    }

    fn write(&self, kept: &KeptKeys) -> io::Result<()> {
        // People link their settings to another folder; the link stays.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let rows: BTreeMap<&String, Row> =
            kept.iter().filter(|(_, kept)| !kept.is_empty()).map(|(name, kept)| (name, Row::of(kept))).collect();
        let text = toml::to_string(&rows).map_err(io::Error::other)?;
        // Such files are made for their owner alone.
        let file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")));
        // The name of what would have been beside it says nothing to anybody.
        let mut file = file.map_err(|error| io::Error::from(error.kind()))?;
        file.write_all(HEAD.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    fn parse(&self, text: &str) -> Result<KeptKeys, KeysFileError> {
        let rows: BTreeMap<String, Row> = toml::from_str(text).map_err(|error| {
            // The error's own words quote the file.
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
            KeysFileError::Garbled { path: self.shown(), line: 1 + before.matches('\n').count() }
        })?;
        Ok(rows.into_iter().map(|(name, row)| (name, row.into_kept())).collect())
    }

    fn failed(&self, done: &'static str, error: io::Error) -> KeysFileError {
        KeysFileError::System { path: self.shown(), done, error }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

/// What is kept for one provider, as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    login: Option<String>,
}

impl Row {
    fn of(kept: &Kept) -> Self {
        let text = |secret: &SecretString| secret.expose_secret().to_owned();
        Self { keys: kept.keys.iter().map(text).collect(), login: kept.login.as_ref().map(text) }
    }

    fn into_kept(self) -> Kept {
        Kept { keys: self.keys.into_iter().map(Into::into).collect(), login: self.login.map(Into::into) }
    }
}

#[cfg(unix)]
fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

/// Elsewhere a file in a person's own folder is theirs.
#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(file: &KeysFile, provider: &str, key: &str) {
        file.change(|kept| kept.entry(provider.to_owned()).or_default().keys.push(key.into())).unwrap();
    }

    fn keys(file: &KeysFile, provider: &str) -> Vec<String> {
        let kept = file.read().unwrap().remove(provider).unwrap_or_default();
        kept.keys.iter().map(|key| key.expose_secret().to_owned()).collect()
    }

    #[test]
    fn what_is_kept_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeysFile::new(folder.path().join("new/keys.toml"));
        assert!(file.read().unwrap().is_empty());
        add(&file, "llama.cpp", "one");
        add(&file, "llama.cpp", "two \"quoted\"");
        file.change(|kept| kept.entry("copilot".into()).or_default().login = Some("gho".into())).unwrap();
        assert_eq!(keys(&file, "llama.cpp"), ["one", "two \"quoted\""]);
        assert_eq!(file.read().unwrap()["copilot"].login.as_ref().unwrap().expose_secret(), "gho");
        file.change(|kept| kept.remove("llama.cpp")).unwrap();
        assert_eq!(file.read().unwrap().into_keys().collect::<Vec<_>>(), ["copilot"]);
    }

    #[cfg(unix)]
    #[test]
    fn it_is_for_its_owner_alone() {
        use std::fs::{Permissions, metadata, set_permissions};
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inner/keys.toml");
        let file = KeysFile::new(&path);
        add(&file, "a", "sk-secret");
        assert_eq!(metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        for mode in [0o640, 0o604, 0o660, 0o622] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = file.read().unwrap_err().to_string();
            assert!(error.contains(&format!("chmod 600 {}", path.display())), "{error}");
            assert!(file.change(|_| ()).is_err());
        }
        set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert_eq!(keys(&file, "a"), ["sk-secret"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("keys.toml"));
        add(&KeysFile::new(&real), "a", "one");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        add(&KeysFile::new(&link), "a", "two");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(keys(&KeysFile::new(&real), "a"), ["one", "two"]);
    }

    #[test]
    fn an_error_does_not_quote_the_file() {
        let file = KeysFile::new("/k.toml");
        for text in
            ["\n[a]\nkeys = \"sk-secret\"", "\n[a]\nkeys = [sk-secret]", "\n[a]\nsk-secret = 1", "\n\nsk-secret"]
        {
            let error = file.parse(text).unwrap_err();
            assert!(
                error.to_string().starts_with("line ") && !format!("{error} {error:?}").contains("sk-s"),
                "{error}"
            );
        }
    }

    #[test]
    fn nothing_is_lost_when_many_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeysFile::new(folder.path().join("keys.toml"));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = &file;
                scope.spawn(move || add(file, "a", &format!("key-{number}")));
            }
        });
        assert_eq!(keys(&file, "a").len(), 8);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
