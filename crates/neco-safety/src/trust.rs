//! Trust: which folders may switch something on by themselves, and what exactly was seen when that
//! was decided.
//!
//! What is trusted is one folder, at its resolved path, as long as it is that folder: a folder moved
//! elsewhere, another one put in its place, or one below it is asked about anew. What a folder
//! switches on is trusted item by item, by hash: what is changed or added later is off until a
//! person has seen it. Only a person decides, through the command line; no tool reaches the file.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// The file in the folder of the user's configuration. The name is protected from tools wherever it lies.
pub const TRUST_FILE: &str = "trusted-folders.json";

/// Nobody trusts as many folders as fill this.
const MOST_BYTES: u64 = 4 << 20;

/// Why trust can't be looked up or kept.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file can't be read.
    #[error("{0} can't be read: {1}")]
    Read(PathBuf, io::Error),
    /// The file is not what we wrote.
    #[error("{0} is damaged ({1}); remove it and trust your folders again")]
    Damaged(PathBuf, String),
    /// Somebody else could have written it.
    #[error("{0} can be written by others; make it yours alone with `chmod 600`")]
    Exposed(PathBuf),
    /// It can't be written.
    #[error("{0} can't be written: {1}")]
    Write(PathBuf, io::Error),
    /// The folder can't be trusted.
    #[error("{0} can't be trusted: {1}")]
    Folder(PathBuf, String),
}

/// How it stands with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody decided yet.
    Unknown,
    /// A person trusts it.
    Trusted,
    /// A person does not trust it.
    Declined,
}

/// A folder that a person decided about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedFolder {
    /// Where it is, resolved.
    pub path: String,
    /// Which folder it is at that place.
    inode: u64,
    /// When it was made, in nanoseconds, where the system knows: the number of a folder that is gone
    /// is given to the next one.
    #[serde(default)]
    born: Option<u64>,
    owner: u32,
    /// Whether it is trusted.
    pub trusted: bool,
    /// What it switched on when that was decided, as hashes.
    #[serde(default)]
    pub items: BTreeSet<String>,
    /// What of it stays off although the folder is trusted, as hashes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    declined: BTreeSet<String>,
}

impl DecidedFolder {
    fn is_the_same_as(&self, other: &Self) -> bool {
        self.path == other.path && self.inode == other.inode && self.born == other.born && self.owner == other.owner
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    folders: Vec<DecidedFolder>,
}

/// The folders that a person decided about.
#[derive(Debug)]
pub struct Trust {
    file: PathBuf,
    kept: Kept,
}

impl Trust {
    /// Reads what was decided; nothing was when there is no file.
    /// Fails when the file can't be read, is damaged, or others could have written it.
    pub fn open(config_dir: &Path) -> Result<Self, TrustError> {
        let file = config_dir.join(TRUST_FILE);
        let kept = read(&file)?;
        Ok(Self { file, kept })
    }

    /// Trust in nothing, for whoever can't look it up.
    pub fn none() -> Self {
        Self { file: PathBuf::new(), kept: Kept::default() }
    }

    /// Whether a person trusts this very folder, which holds the settings in question. Folders above
    /// and below it don't count.
    pub fn is_trusted(&self, folder: &Path) -> bool {
        self.standing(folder) == Standing::Trusted
    }

    /// How it stands with a folder.
    pub fn standing(&self, folder: &Path) -> Standing {
        match self.decided(folder) {
            Some(decided) if decided.trusted => Standing::Trusted,
            Some(_) => Standing::Declined,
            None => Standing::Unknown,
        }
    }

    /// Whether a person trusts this folder and has seen this item of it.
    pub fn covers(&self, folder: &Path, item: &str) -> bool {
        self.decided(folder).is_some_and(|decided| decided.trusted && decided.items.contains(item))
    }

    /// Whether a person was shown this item and has decided, either way.
    pub fn has_seen(&self, folder: &Path, item: &str) -> bool {
        self.decided(folder).is_some_and(|decided| decided.items.contains(item) || decided.declined.contains(item))
    }

    /// Every folder that was decided about, in the order of paths.
    pub fn folders(&self) -> &[DecidedFolder] {
        &self.kept.folders
    }

    /// Keeps what a person decided about a folder and the items that they were shown. What they were
    /// shown before counts on, unless it was declined and the folder is trusted now.
    /// Fails when the folder can't be trusted or the file can't be written.
    pub fn decide(
        &mut self,
        folder: &Path,
        trusted: bool,
        items: impl IntoIterator<Item = String>,
    ) -> Result<(), TrustError> {
        let mut decided = identify(folder)?;
        decided.trusted = trusted;
        decided.items = items.into_iter().collect();
        self.keep(decided)
    }

    /// Keeps that a person trusts a folder with some items alone: those that are `declined` stay off, and nobody is
    /// asked about them again.
    /// Fails when the folder can't be trusted or the file can't be written.
    pub fn decide_parts(
        &mut self,
        folder: &Path,
        items: impl IntoIterator<Item = String>,
        declined: impl IntoIterator<Item = String>,
    ) -> Result<(), TrustError> {
        let mut decided = identify(folder)?;
        decided.trusted = true;
        (decided.items, decided.declined) = (items.into_iter().collect(), declined.into_iter().collect());
        self.keep(decided)
    }

    /// What was decided now outranks what was decided before.
    fn keep(&mut self, mut decided: DecidedFolder) -> Result<(), TrustError> {
        self.change(|folders| {
            if let Some(known) = folders.iter().find(|known| known.is_the_same_as(&decided))
                && (known.trusted || !decided.trusted)
            {
                let still_on = known.items.difference(&decided.declined).cloned().collect::<Vec<_>>();
                let still_off = known.declined.difference(&decided.items).cloned().collect::<Vec<_>>();
                decided.items.extend(still_on);
                decided.declined.extend(still_off);
            }
            folders.retain(|known| known.path != decided.path);
            folders.push(decided);
        })
    }

    /// Forgets what was decided about a folder, which need not exist any more. False when nothing was.
    /// Fails when the file can't be written.
    pub fn forget(&mut self, folder: &Path) -> Result<bool, TrustError> {
        let resolved = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let is_it = |known: &DecidedFolder| Path::new(&known.path) == resolved || Path::new(&known.path) == folder;
        if !self.kept.folders.iter().any(is_it) {
            return Ok(false);
        }
        self.change(|folders| folders.retain(|known| !is_it(known)))?;
        Ok(true)
    }

    fn decided(&self, folder: &Path) -> Option<&DecidedFolder> {
        let present = identify(folder).ok()?;
        self.kept.folders.iter().find(|known| known.is_the_same_as(&present))
    }

    /// Others may have decided meanwhile: their decisions are kept, and who decides now waits for us.
    fn change(&mut self, change: impl FnOnce(&mut Vec<DecidedFolder>)) -> Result<(), TrustError> {
        let _alone = self.lock().map_err(|error| TrustError::Write(self.file.clone(), error))?;
        self.kept = read(&self.file)?;
        change(&mut self.kept.folders);
        self.kept.folders.sort_by(|one, other| one.path.cmp(&other.path));
        self.write().map_err(|error| TrustError::Write(self.file.clone(), error))
    }

    /// The folder is locked, as the file itself is replaced; until what is returned is dropped.
    fn lock(&self) -> io::Result<std::fs::File> {
        let folder = self.file.parent().ok_or(io::ErrorKind::NotFound)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let folder = std::fs::File::open(folder)?;
        rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(folder)
    }

    /// Whole or not at all, and for its owner alone: the new file is born with mode 0600.
    fn write(&self) -> io::Result<()> {
        let folder = self.file.parent().ok_or(io::ErrorKind::NotFound)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let text = serde_json::to_string_pretty(&self.kept).map_err(io::Error::other)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

fn read(file: &Path) -> Result<Kept, TrustError> {
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
        Err(error) => return Err(TrustError::Read(file.to_owned(), error)),
    };
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if !ours || metadata.mode() & 0o022 != 0 {
        return Err(TrustError::Exposed(file.to_owned()));
    }
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(TrustError::Damaged(file.to_owned(), "not a file of ours".to_owned()));
    }
    let text = std::fs::read(file).map_err(|error| TrustError::Read(file.to_owned(), error))?;
    serde_json::from_slice(&text).map_err(|error| TrustError::Damaged(file.to_owned(), error.to_string()))
}

/// The folder at a path, as it is now. The number of the device is left out: it changes when a
/// machine starts again.
fn identify(folder: &Path) -> Result<DecidedFolder, TrustError> {
    let refused = |words: String| TrustError::Folder(folder.to_owned(), words);
    let resolved = folder.canonicalize().map_err(|error| refused(error.to_string()))?;
    let metadata = std::fs::metadata(&resolved).map_err(|error| refused(error.to_string()))?;
    if !metadata.is_dir() {
        return Err(refused("it is not a folder".to_owned()));
    }
    let path = resolved.to_str().ok_or_else(|| refused("its name is not UTF-8".to_owned()))?.to_owned();
    let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(DecidedFolder {
        path,
        inode: metadata.ino(),
        born: born.and_then(|time| u64::try_from(time.as_nanos()).ok()),
        owner: metadata.uid(),
        trusted: false,
        items: BTreeSet::new(),
        declined: BTreeSet::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn items(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    /// A folder in a home where nothing is decided yet.
    fn a_folder() -> (tempfile::TempDir, PathBuf, Trust) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("repo");
        fs::create_dir(&folder).unwrap();
        let trust = Trust::open(home.path()).unwrap();
        (home, folder, trust)
    }

    #[test]
    fn what_was_decided_is_found_again_and_is_its_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("config");
        let folder = home.path().join("repo");
        fs::create_dir(&folder).unwrap();
        let mut trust = Trust::open(&config).unwrap();
        assert_eq!(trust.standing(&folder), Standing::Unknown);
        trust.decide(&folder, true, items(&["a"])).unwrap();
        let again = Trust::open(&config).unwrap();
        assert!(again.is_trusted(&folder) && again.covers(&folder, "a") && !again.covers(&folder, "b"));
        let mode = fs::metadata(config.join(TRUST_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        trust.decide(&folder, false, items(&["a"])).unwrap();
        assert_eq!(trust.standing(&folder), Standing::Declined);
        assert!(trust.has_seen(&folder, "a") && !trust.covers(&folder, "a"));
        assert!(trust.forget(&folder).unwrap() && !trust.forget(&folder).unwrap());
        assert_eq!(Trust::open(&config).unwrap().standing(&folder), Standing::Unknown);
    }

    #[test]
    fn trust_is_in_one_folder_and_not_in_its_name() {
        let (home, folder, mut trust) = a_folder();
        fs::create_dir(folder.join("nested")).unwrap();
        trust.decide(&folder, true, []).unwrap();
        std::os::unix::fs::symlink(&folder, home.path().join("link")).unwrap();
        assert!(trust.is_trusted(&home.path().join("link")), "a link leads to the same folder");
        assert!(!trust.is_trusted(&folder.join("nested")) && !trust.is_trusted(home.path()));
        let moved = home.path().join("moved");
        fs::rename(&folder, &moved).unwrap();
        assert!(!trust.is_trusted(&moved), "it may have been put there by someone else");
        fs::create_dir(&folder).unwrap();
        assert!(!trust.is_trusted(&folder), "another folder in its place is another folder");
        assert!(!trust.is_trusted(&home.path().join("link")));
        assert!(trust.decide(&home.path().join("nothing"), true, []).is_err());
    }

    #[test]
    fn a_folder_that_gets_the_number_of_one_that_is_gone_is_another() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("repo");
        let mut trust = Trust::open(home.path()).unwrap();
        // A file system may give the number again at once, or never: several tries find the first kind.
        for _ in 0..20 {
            fs::create_dir(&folder).unwrap();
            trust.decide(&folder, true, []).unwrap();
            assert!(trust.is_trusted(&folder));
            fs::remove_dir_all(&folder).unwrap();
            fs::create_dir(&folder).unwrap();
            let knows_birth = fs::metadata(&folder).unwrap().created().is_ok();
            assert!(!knows_birth || !trust.is_trusted(&folder));
            fs::remove_dir_all(&folder).unwrap();
        }
    }

    #[test]
    fn what_was_shown_before_counts_on_unless_it_was_declined() {
        let (_home, folder, mut trust) = a_folder();
        trust.decide(&folder, true, items(&["a"])).unwrap();
        trust.decide(&folder, true, items(&["b"])).unwrap();
        assert!(trust.covers(&folder, "a") && trust.covers(&folder, "b"));
        trust.decide(&folder, false, items(&["c"])).unwrap();
        assert!(["a", "b", "c"].iter().all(|item| trust.has_seen(&folder, item) && !trust.covers(&folder, item)));
        trust.decide(&folder, true, items(&["a"])).unwrap();
        assert!(trust.covers(&folder, "a") && !trust.has_seen(&folder, "b") && !trust.has_seen(&folder, "c"));
    }

    #[test]
    fn a_folder_is_trusted_in_part() {
        let (home, folder, mut trust) = a_folder();
        trust.decide_parts(&folder, items(&["a"]), items(&["b"])).unwrap();
        let again = Trust::open(home.path()).unwrap();
        assert!(again.is_trusted(&folder) && again.covers(&folder, "a") && !again.covers(&folder, "b"));
        assert!(again.has_seen(&folder, "b") && !again.has_seen(&folder, "c"), "nobody is asked about it again");
        trust.decide_parts(&folder, items(&["b"]), items(&["a"])).unwrap();
        assert!(trust.covers(&folder, "b") && !trust.covers(&folder, "a") && trust.has_seen(&folder, "a"));
        trust.decide(&folder, true, items(&["a", "b"])).unwrap();
        assert!(trust.covers(&folder, "a") && trust.covers(&folder, "b"));
    }

    #[test]
    fn many_may_decide_at_the_same_time() {
        let home = tempfile::tempdir().unwrap();
        let folders: Vec<PathBuf> = (0..16).map(|index| home.path().join(format!("f{index}"))).collect();
        folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        std::thread::scope(|scope| {
            for folder in &folders {
                scope.spawn(|| Trust::open(home.path()).unwrap().decide(folder, true, []).unwrap());
            }
        });
        let all = Trust::open(home.path()).unwrap();
        assert!(folders.iter().all(|folder| all.is_trusted(folder)));
    }

    #[test]
    fn decisions_of_others_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let (one, two) = (home.path().join("one"), home.path().join("two"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&two).unwrap();
        let (mut first, mut second) = (Trust::open(home.path()).unwrap(), Trust::open(home.path()).unwrap());
        first.decide(&one, true, []).unwrap();
        second.decide(&two, true, []).unwrap();
        let all = Trust::open(home.path()).unwrap();
        assert!(all.is_trusted(&one) && all.is_trusted(&two));
    }

    #[test]
    fn a_damaged_or_exposed_file_is_trust_in_nothing() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(TRUST_FILE);
        fs::write(&file, "{\"folders\": 5}").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(Trust::open(home.path()), Err(TrustError::Damaged(..))));
        fs::write(&file, "{\"folders\": []}").unwrap();
        assert!(Trust::open(home.path()).is_ok());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
        assert!(matches!(Trust::open(home.path()), Err(TrustError::Exposed(_))));
        assert!(!Trust::none().is_trusted(home.path()));
    }
}
