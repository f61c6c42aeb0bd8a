//! States in the person's own git repository: commits under `refs/neco/`, which no branch leads to.
//!
//! Only objects are added and one name is written; HEAD, branches, index, stash and working tree stay as
//! they are. What was said is for the person alone: it goes to a store of Neco's own, which borrows the objects of the
//! files. `git log refs/neco/checkpoints/…` shows the points. A repository that keeps names or objects
//! in a way that is not known here is refused before anything is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use gix::ObjectId;
use gix::objs::Kind;

use super::cache::replace;
use super::error::CheckpointError;
use super::exchanges::IN_GIT;
use super::jj::JjVault;
use super::leftovers::remove_unfinished;
use super::objects::Objects;
use super::point::{StoredPoint, commit_object};
use super::settling::{Settling, Unforced, force_all};
use super::vault::Vault;
use crate::git::{repository_of, setting, shared_folder};
use crate::small_file::{self, Links};

/// A file with many names can be.
const MOST_NAMES: u64 = 64 << 20;

/// The person's repository.
pub struct GitVault {
    /// The folder that all its working trees share.
    git: PathBuf,
    /// The name of the newest point.
    name: String,
    objects: Option<Objects>,
    /// Whether something was written that may not be on the disk.
    is_unforced: bool,
    /// Whether what the name says does not count: it is damaged, and git may have packed it.
    begins_anew: bool,
    /// Where exchanges are kept: others may read the repository, and it may be pushed.
    own: JjVault,
}

impl GitVault {
    /// The repository that a workspace lies in; the name of the folder `store`, where what is for the person alone is
    /// kept, tells its workspaces apart.
    /// Fails when there is none, or one of a kind that is not known here.
    pub fn of(root: &Path, store: &Path) -> Result<Self, CheckpointError> {
        let id = store.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (_, own) =
            repository_of(root).ok_or_else(|| CheckpointError::Unsupported("it is no git repository".to_owned()))?;
        let git = shared_folder(&own);
        check_kind(&git)?;
        Ok(Self {
            own: JjVault::borrowing(&store.join(IN_GIT), &git.join("objects")),
            git,
            name: format!("refs/neco/checkpoints/{id}"),
            objects: None,
            is_unforced: false,
            begins_anew: false,
        })
    }

    fn read_name(&self, name: &str) -> Result<Option<ObjectId>, CheckpointError> {
        let path = self.git.join(name);
        let damaged = || CheckpointError::Damaged(format!("{} is no name of a commit", path.display()));
        if let Some(text) = small_file::read(&path, 4096, Links::Refused) {
            return ObjectId::from_hex(text.trim_ascii()).map(Some).map_err(|_| damaged());
        }
        // `git gc` moves names into one file.
        let packed = small_file::read(&self.git.join("packed-refs"), MOST_NAMES, Links::Refused).unwrap_or_default();
        let mut lines = packed.split(|byte| *byte == b'\n');
        let line = lines.find_map(|line| line.strip_suffix(name.as_bytes())?.strip_suffix(b" "));
        line.map(|id| ObjectId::from_hex(id).map_err(|_| damaged())).transpose()
    }

    fn write_name(&self, name: &str, id: ObjectId) -> Result<(), CheckpointError> {
        let path = self.git.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| CheckpointError::at(folder, error))?;
        }
        replace(&path, format!("{id}\n").as_bytes())
    }

    fn objects(&self) -> Result<&Objects, CheckpointError> {
        self.objects.as_ref().ok_or_else(|| CheckpointError::Damaged("it is not open".to_owned()))
    }
}

impl Vault for GitVault {
    const NAME: &'static str = "git";

    fn open(&mut self) -> Result<(), CheckpointError> {
        if self.objects.is_none() {
            let names = self.git.join(&self.name);
            remove_unfinished(names.parent());
            self.objects = Some(Objects::of_theirs(&self.git.join("objects"))?);
        }
        Ok(())
    }

    fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        let (id, is_new) = self.objects()?.put(kind, bytes)?;
        self.is_unforced |= is_new;
        Ok(id)
    }

    fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        self.objects()?.get(id)
    }

    fn has(&self, id: ObjectId) -> bool {
        self.objects.as_ref().is_some_and(|objects| objects.has(id))
    }

    fn head(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        self.open()?;
        if self.begins_anew { Ok(None) } else { self.read_name(&self.name) }
    }

    fn commit(&mut self, tree: ObjectId, message: &str) -> Result<ObjectId, CheckpointError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let parent = self.head()?;
        let details = StoredPoint::parse(tree, &commit_object(tree, parent, message, seconds))?.details;
        let id = self.put(Kind::Commit, &commit_object(tree, parent, message, seconds))?;
        // No commit leads to it, so git would remove it one day.
        if let Some(details) = details {
            self.write_name(&format!("refs/neco/details/{details}"), details)?;
        }
        self.write_name(&self.name, id)?;
        self.begins_anew = false;
        Ok(id)
    }

    /// Where others write too, what is not on the disk can't be told apart.
    fn force(&mut self) -> Result<(), CheckpointError> {
        if self.is_unforced {
            force_all(&self.git)?;
            self.is_unforced = false;
        }
        Ok(())
    }

    fn settling(&mut self) -> Result<Option<Settling>, CheckpointError> {
        self.own.settling()
    }

    fn is_settled(&self) -> bool {
        self.own.is_settled()
    }

    fn settled(&mut self, settled: &Unforced) {
        self.own.settled(settled);
    }

    fn open_private(&mut self) -> Result<(), CheckpointError> {
        self.open()?;
        self.own.open()
    }

    fn put_private(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        self.own.put_private(kind, bytes)
    }

    fn get_private(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        self.own.get(id)
    }

    fn trusts_private(&self) -> bool {
        self.own.trusts_what_is_known()
    }

    fn branch(&mut self, name: &str) -> Result<Option<ObjectId>, CheckpointError> {
        self.own.branch(name)
    }

    fn branches(&mut self, below: &str) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
        self.own.branches(below)
    }

    fn set_branch(&mut self, name: &str, to: Option<ObjectId>) -> Result<(), CheckpointError> {
        self.own.set_branch(name, to)
    }

    /// A line of commits can't be cut without giving all of them other names: everything stays.
    fn keep_only(&mut self, _: &[StoredPoint]) -> Result<(), CheckpointError> {
        Ok(())
    }

    fn set_aside(&mut self) -> Result<String, CheckpointError> {
        let id = self.name.rsplit('/').next().unwrap_or_default().to_owned();
        let names = (1..).map(|number| format!("refs/neco/damaged/{id}-{number}"));
        let free = names.into_iter().find(|name| !self.git.join(name).exists());
        let aside = free.unwrap_or_else(|| format!("refs/neco/damaged/{id}"));
        self.objects = None;
        let (from, to) = (self.git.join(&self.name), self.git.join(&aside));
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(|error| CheckpointError::at(folder, error))?;
        }
        if from.exists() {
            fs::rename(&from, &to).map_err(|error| CheckpointError::at(&from, error))?;
        }
        self.begins_anew = true;
        Ok(aside)
    }
}

/// Refuses repositories whose names or objects are kept in another way than ours are written.
fn check_kind(git: &Path) -> Result<(), CheckpointError> {
    let is_other =
        |name: &str, usual: &str| setting(git, name).is_some_and(|format| !format.eq_ignore_ascii_case(usual));
    let why = if is_other("extensions.objectformat", "sha1") {
        "its repository uses another hash than SHA-1"
    } else if is_other("extensions.refstorage", "files") {
        "its repository keeps names in another way than files"
    } else if !git.join("objects").is_dir() {
        "its repository has no objects"
    } else {
        return Ok(());
    };
    Err(CheckpointError::Unsupported(why.to_owned()))
}
