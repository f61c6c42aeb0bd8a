//! States in a store of Neco's own, outside the workspace: git's objects, and Jujutsu's log of operations
//! over them.
//!
//! What a turn waits for is only what git's objects need: they and the commit are written, and the name of
//! the newest point. That each point is an operation of Jujutsu's log, and that everything is on the disk
//! for good, comes a moment later (see [`super::settling`]): it costs several waits for the disk. Whoever is killed
//! in between leaves points that the next one adds to the log, and a log that is lost is made anew.
//!
//! Jujutsu's own working copy is not used: it knows no names that are not UTF-8, keeps times in milliseconds
//! and would need a `.jj` in the workspace.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use gix::ObjectId;
use gix::objs::Kind;

use super::cache::replace;
use super::error::CheckpointError;
use super::objects::Objects;
use super::operations::Operations;
use super::point::{StoredPoint, commit_object};
use super::settling::{Mark, Settling};
use super::tree::files_and_trees;
use super::vault::Vault;

/// The newest point, as git knows it.
const HEAD: &str = "refs/heads/checkpoints";

/// A store in a folder of its own.
pub struct JjVault {
    folder: PathBuf,
    objects: Option<Objects>,
    operations: Arc<Mutex<Operations>>,
    /// What was written since everything was on the disk.
    written: Vec<ObjectId>,
    /// Whether the machine went down before everything was on the disk.
    distrusts: bool,
}

impl JjVault {
    /// A store in a folder, which is made when something is kept.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            objects: None,
            operations: Arc::new(Mutex::new(Operations::new(folder))),
            written: Vec::new(),
            distrusts: false,
        }
    }

    fn git(&self) -> PathBuf {
        self.folder.join("git")
    }

    fn operations(&self) -> MutexGuard<'_, Operations> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn objects(&self) -> Result<&Objects, CheckpointError> {
        self.objects.as_ref().ok_or_else(|| CheckpointError::Damaged("it is not there".to_owned()))
    }

    /// What a prune that was cut short left behind.
    fn tidy(&self) -> Result<(), CheckpointError> {
        let old = self.folder.join("git.old");
        if !old.exists() {
            return Ok(());
        }
        if self.git().exists() {
            return fs::remove_dir_all(&old).map_err(|error| CheckpointError::at(&old, error));
        }
        fs::rename(&old, self.git()).map_err(|error| CheckpointError::at(&old, error))
    }

    /// An empty repository beside the real one: it is moved into place when it is whole.
    fn build(&self) -> Result<PathBuf, CheckpointError> {
        let new = self.folder.join("git.new");
        if new.exists() {
            fs::remove_dir_all(&new).map_err(|error| CheckpointError::at(&new, error))?;
        }
        for folder in ["objects", "refs/heads"] {
            fs::create_dir_all(new.join(folder)).map_err(|error| CheckpointError::at(&new, error))?;
        }
        let files = [("HEAD", format!("ref: {HEAD}\n")), ("config", "[core]\n\tbare = true\n".to_owned())];
        for (name, text) in files {
            fs::write(new.join(name), text).map_err(|error| CheckpointError::at(&new, error))?;
        }
        Ok(new)
    }

    fn points(&self, head: ObjectId) -> Result<Vec<StoredPoint>, CheckpointError> {
        let mut points = Vec::new();
        let mut next = Some(head);
        while let Some(id) = next.filter(|id| self.has(*id)) {
            let point = StoredPoint::parse(id, &self.get(id)?)?;
            next = point.parent;
            points.push(point);
        }
        Ok(points)
    }
}

impl Vault for JjVault {
    const NAME: &'static str = "jj";

    fn open(&mut self) -> Result<(), CheckpointError> {
        let objects = self.git().join("objects");
        if self.objects.is_some() && objects.is_dir() {
            return Ok(());
        }
        self.tidy()?;
        if !self.git().exists() {
            let new = self.build()?;
            fs::rename(&new, self.git()).map_err(|error| CheckpointError::at(&new, error))?;
        }
        if !objects.is_dir() {
            return Err(CheckpointError::Damaged(format!("{} is missing", objects.display())));
        }
        self.distrusts = Mark::went_down(&self.folder);
        self.objects = Some(Objects::of_ours(&objects));
        Ok(())
    }

    fn trusts_what_is_known(&self) -> bool {
        !self.distrusts
    }

    fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        if self.written.is_empty() && !self.distrusts {
            Mark::set(&self.folder)?;
        }
        let (id, is_new) =
            if self.distrusts { self.objects()?.put_whole(kind, bytes)? } else { self.objects()?.put(kind, bytes)? };
        self.written.extend(is_new.then_some(id));
        Ok(id)
    }

    fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        self.objects()?.get(id)
    }

    fn has(&self, id: ObjectId) -> bool {
        self.objects.as_ref().is_some_and(|objects| objects.has(id))
    }

    fn head(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        if !self.git().exists() && !self.folder.join("git.old").exists() {
            return Ok(None);
        }
        self.open()?;
        let path = self.git().join(HEAD);
        let known = match fs::read(&path) {
            Ok(bytes) => ObjectId::from_hex(bytes.trim_ascii()).ok().filter(|id| self.has(*id)),
            Err(error) if error.kind() == ErrorKind::NotFound => return self.operations().newest(),
            Err(error) => return Err(CheckpointError::at(&path, error)),
        };
        match known {
            Some(known) => Ok(Some(known)),
            // The log of operations may know better.
            None => match self.operations().newest()?.filter(|id| self.has(*id)) {
                Some(newest) => Ok(Some(newest)),
                None => Err(CheckpointError::Damaged("the newest point is missing".to_owned())),
            },
        }
    }

    fn commit(&mut self, tree: ObjectId, message: &str) -> Result<ObjectId, CheckpointError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let parent = self.head()?;
        let id = self.put(Kind::Commit, &commit_object(tree, parent, message, seconds))?;
        replace(&self.git().join(HEAD), format!("{id}\n").as_bytes())?;
        if std::mem::take(&mut self.distrusts) {
            Mark::set(&self.folder)?;
        }
        Ok(id)
    }

    fn settling(&mut self) -> Result<Option<Settling>, CheckpointError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let points = self.points(head)?;
        let objects = self.objects()?;
        let files = self.written.iter().map(|id| objects.file(*id)).chain([self.git().join(HEAD)]).collect();
        self.written.clear();
        let operations = Arc::clone(&self.operations);
        Ok(Some(Settling { folder: self.folder.clone(), mark: Mark::read(&self.folder), files, points, operations }))
    }

    /// Builds a repository of what stays, by links to the files of its objects, and moves it into place.
    fn keep_only(&mut self, points: &[StoredPoint]) -> Result<(), CheckpointError> {
        let Some(head) = points.first() else { return Ok(()) };
        let old = self.objects()?;
        let new = self.build()?;
        let kept = Objects::of_ours(&new.join("objects"));
        for id in all_objects(self, points)? {
            link(&old.file(id), &kept.file(id))?;
        }
        replace(&new.join(HEAD), format!("{}\n", head.id).as_bytes())?;
        // Plain git reads no further back than this, and neither does Jujutsu.
        if let Some(last) = points.last().filter(|last| last.parent.is_some()) {
            replace(&new.join("shallow"), format!("{}\n", last.id).as_bytes())?;
        }
        // The log speaks of what is gone; it is made anew of what stays.
        self.operations().forget()?;
        let aside = self.folder.join("git.old");
        fs::rename(self.git(), &aside).map_err(|error| CheckpointError::at(&aside, error))?;
        fs::rename(&new, self.git()).map_err(|error| CheckpointError::at(&new, error))?;
        fs::remove_dir_all(&aside).map_err(|error| CheckpointError::at(&aside, error))?;
        self.objects = None;
        self.open()
    }

    fn set_aside(&mut self) -> Result<String, CheckpointError> {
        *self = Self::new(&self.folder);
        let free = (1..).map(|number| self.folder.join(format!("damaged-{number}"))).find(|path| !path.exists());
        let aside = free.unwrap_or_else(|| self.folder.join("damaged"));
        fs::create_dir_all(&aside).map_err(|error| CheckpointError::at(&aside, error))?;
        for name in ["git", "git.old", "repo", "files", Mark::FILE] {
            match fs::rename(self.folder.join(name), aside.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(CheckpointError::at(&self.folder.join(name), error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(aside.display().to_string())
    }
}

/// Every object that these points need.
fn all_objects(vault: &JjVault, points: &[StoredPoint]) -> Result<HashSet<ObjectId>, CheckpointError> {
    let mut all = HashSet::new();
    for point in points {
        all.insert(point.id);
        all.extend(point.details);
        files_and_trees(vault, point.tree, &mut all)?;
    }
    Ok(all)
}

fn link(from: &Path, to: &Path) -> Result<(), CheckpointError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| CheckpointError::at(folder, error))?;
    }
    let linked: io::Result<()> = match fs::hard_link(from, to) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::copy(from, to).map(drop),
        Ok(()) | Err(_) => Ok(()),
    };
    linked.map_err(|error| CheckpointError::at(from, error))
}
