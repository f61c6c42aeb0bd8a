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
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use gix::ObjectId;
use gix::objs::Kind;

use super::branches::{id_in, remove};
use super::cache::replace;
use super::error::CheckpointError;
use super::exchanges::{REWOUND, SESSIONS, whole};
use super::leftovers::remove_unfinished;
use super::objects::Objects;
use super::operations::Operations;
use super::point::{StoredPoint, commit_object};
use super::pruned::fill;
use super::settling::{MOST_FORCED, Mark, Settled, Settling, Unforced, force_all, force_files, replace_for_good};
use super::tree::files_and_trees;
use super::vault::Vault;
use super::written::Written;
use crate::small_file::read_ours;

/// The newest point, as git knows it.
pub(super) const HEAD: &str = "refs/heads/checkpoints";

/// The folder of all branches.
pub(super) const BRANCHES: &str = "refs/heads";

/// A store in a folder of its own.
pub struct JjVault {
    folder: PathBuf,
    objects: Option<Objects>,
    pub(super) operations: Arc<Mutex<Operations>>,
    /// The objects of another repository that trees here may lead to.
    borrowed: Option<PathBuf>,
    /// What may not be on the disk.
    written: Written,
    /// Whether the machine went down before everything was on the disk.
    distrusts: bool,
    /// Whether nothing may be written.
    is_only_read: bool,
    /// What was found then: the newest point as it is named, and the newest one that is whole.
    looked_for_whole: Option<(Option<ObjectId>, Option<ObjectId>)>,
}

impl JjVault {
    /// A store in a folder, which is made when something is kept.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            objects: None,
            operations: Arc::new(Mutex::new(Operations::new(folder))),
            borrowed: None,
            written: Written::default(),
            distrusts: false,
            is_only_read: false,
            looked_for_whole: None,
        }
    }

    /// A store that is only looked at: nothing in its folder changes.
    pub fn only_read(folder: &Path) -> Self {
        Self { is_only_read: true, ..Self::new(folder) }
    }

    /// The same, where trees may lead to objects of another repository.
    pub fn borrowing(folder: &Path, objects: &Path) -> Self {
        Self { borrowed: Some(objects.to_path_buf()), ..Self::new(folder) }
    }

    /// What may not be on the disk.
    pub(super) fn unforced(&self) -> Result<Unforced, CheckpointError> {
        if self.written.by_others(&self.folder) {
            return Ok(Unforced::Anything);
        }
        Ok(self.written.files(self.objects()?, self.git().join(HEAD)))
    }

    pub(super) fn git(&self) -> PathBuf {
        self.folder.join("git")
    }

    fn operations(&self) -> MutexGuard<'_, Operations> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn objects(&self) -> Result<&Objects, CheckpointError> {
        self.objects.as_ref().ok_or_else(|| CheckpointError::Damaged("it is not there".to_owned()))
    }

    /// Whether something was ever kept.
    fn is_there(&self) -> bool {
        self.git().exists() || self.folder.join("git.old").exists()
    }

    /// Relies on everything again. A branch that does not lead to something whole goes, as it is written again from the
    /// log of its session.
    fn trust_again(&mut self) -> Result<(), CheckpointError> {
        for (name, id) in self.all_branches()? {
            if whole(self, id).is_none() {
                remove(&self.git().join(BRANCHES).join(name))?;
            }
        }
        self.distrusts = false;
        self.looked_for_whole = None;
        Ok(())
    }

    fn put_new(&mut self, kind: Kind, bytes: &[u8], is_doubted: bool) -> Result<ObjectId, CheckpointError> {
        if !self.written.is_marked() && !self.distrusts {
            self.written.mark(&self.folder)?;
        }
        let objects = self.objects()?;
        let (id, is_new) = if is_doubted { objects.put_whole(kind, bytes)? } else { objects.put(kind, bytes)? };
        if is_new {
            self.written.add_object(id);
        }
        Ok(id)
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
        for folder in ["objects/info", "refs/heads"] {
            fs::create_dir_all(new.join(folder)).map_err(|error| CheckpointError::at(&new, error))?;
        }
        let mut files = vec![("HEAD", format!("ref: {HEAD}\n")), ("config", "[core]\n\tbare = true\n".to_owned())];
        files.extend(self.borrowed.iter().map(|path| ("objects/info/alternates", format!("{}\n", path.display()))));
        for (name, text) in files {
            replace_for_good(&new.join(name), text.as_bytes())?;
        }
        force_files(&[new.join("refs/heads")], &[])?;
        Ok(new)
    }

    /// The newest point that is known to be on the disk, if there is any.
    fn newest_certain(&self) -> Result<Option<ObjectId>, CheckpointError> {
        if let Some(settled) = Settled::read(&self.folder).filter(|id| self.has(*id)) {
            return Ok(Some(settled));
        }
        match self.operations().newest() {
            Ok(newest) => Ok(newest.filter(|id| self.has(*id))),
            // It is made anew of what there is.
            Err(error) if error.is_damage() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The newest point that is whole, and so is everything between it and the last one that is on the disk for certain.
    /// What came after that a power cut may have taken in part, in any order.
    fn newest_whole(&mut self, named: Option<ObjectId>) -> Result<Option<ObjectId>, CheckpointError> {
        if let Some((of, found)) = &self.looked_for_whole
            && *of == named
        {
            return Ok(*found);
        }
        let settled = self.newest_certain()?;
        let mut since = Vec::new();
        let mut next = named;
        while let Some(id) = next.filter(|id| Some(*id) != settled) {
            let point = self.get(id).and_then(|bytes| StoredPoint::parse(id, &bytes));
            let Ok(point) = point else { break };
            next = point.parent;
            since.push(point);
        }
        let mut newest = settled;
        if next == settled {
            let mut whole = HashSet::new();
            newest = since
                .iter()
                .rev()
                .take_while(|point| self.is_whole(point, &mut whole))
                .last()
                .map(|point| point.id)
                .or(settled);
        }
        self.looked_for_whole = Some((named, newest));
        Ok(newest)
    }

    fn is_whole(&self, point: &StoredPoint, whole: &mut HashSet<ObjectId>) -> bool {
        let Ok(all) = all_objects(self, std::slice::from_ref(point)) else { return false };
        all.into_iter().all(|id| whole.contains(&id) || (self.get(id).is_ok() && whole.insert(id)))
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
        self.written.open();
        if self.objects.is_some() && objects.is_dir() {
            return Ok(());
        }
        if !self.is_only_read {
            self.tidy()?;
        }
        if !self.git().exists() && !self.is_only_read {
            let new = self.build()?;
            fs::rename(&new, self.git()).map_err(|error| CheckpointError::at(&new, error))?;
        }
        if !objects.is_dir() {
            return Err(CheckpointError::Damaged(format!("{} is missing", objects.display())));
        }
        if !self.is_only_read {
            let names = self.git().join(BRANCHES);
            let folders = [names.join(SESSIONS), names.join(REWOUND), names];
            remove_unfinished(
                [self.folder.as_path(), objects.as_path()].into_iter().chain(folders.iter().map(PathBuf::as_path)),
            );
        }
        self.distrusts = Mark::went_down(&self.folder);
        self.objects = Some(Objects::of_ours(&objects));
        Ok(())
    }

    fn is_only_read(&self) -> bool {
        self.is_only_read
    }

    fn trusts_what_is_known(&self) -> bool {
        !self.distrusts
    }

    fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        self.put_new(kind, bytes, self.distrusts)
    }

    /// What is there already was lost from its branch, so it may be damaged.
    fn put_private(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        self.put_new(kind, bytes, true)
    }

    fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        self.objects()?.get(id)
    }

    fn has(&self, id: ObjectId) -> bool {
        self.objects.as_ref().is_some_and(|objects| objects.has(id))
    }

    fn head(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        if !self.is_there() {
            return Ok(None);
        }
        self.open()?;
        self.newest()
    }

    fn newest(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        let path = self.git().join(HEAD);
        let named = match read_ours(&path) {
            Ok(bytes) => Some(ObjectId::from_hex(bytes.trim_ascii()).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(CheckpointError::at(&path, error)),
        };
        if self.distrusts {
            return self.newest_whole(named.flatten());
        }
        match named.flatten().filter(|id| self.has(*id)) {
            Some(id) => Ok(Some(id)),
            None => match self.newest_certain()? {
                Some(settled) => Ok(Some(settled)),
                None if named.is_none() => Ok(None),
                None => Err(CheckpointError::Damaged("the newest point is missing".to_owned())),
            },
        }
    }

    fn commit(&mut self, tree: ObjectId, message: &str) -> Result<ObjectId, CheckpointError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        // The store is open: something was put before.
        let parent = self.newest()?;
        let id = self.put(Kind::Commit, &commit_object(tree, parent, message, seconds))?;
        replace(&self.git().join(HEAD), format!("{id}\n").as_bytes())?;
        if self.distrusts {
            // What others left was looked at, and what was not whole was written anew.
            self.trust_again()?;
            self.written.mark_as_ours(&self.folder)?;
        }
        Ok(id)
    }

    fn branch(&mut self, name: &str) -> Result<Option<ObjectId>, CheckpointError> {
        if !self.is_there() {
            return Ok(None);
        }
        self.open()?;
        Ok(id_in(&self.git().join(BRANCHES).join(name)))
    }

    fn branches(&mut self, below: &str) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
        if !self.is_there() {
            return Ok(Vec::new());
        }
        self.open()?;
        let names = fs::read_dir(self.git().join(BRANCHES).join(below)).into_iter().flatten().flatten();
        let found = names.filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
            Some((format!("{below}/{name}"), id_in(&entry.path())?))
        });
        let mut found: Vec<(String, ObjectId)> = found.collect();
        found.sort();
        Ok(found)
    }

    /// What is looked at first in the repository is the session that was written last.
    fn set_branch(&mut self, name: &str, to: Option<ObjectId>) -> Result<(), CheckpointError> {
        let path = self.git().join(BRANCHES).join(name);
        let Some(id) = to else { return remove(&path) };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| CheckpointError::at(folder, error))?;
        }
        replace(&path, format!("{id}\n").as_bytes())?;
        self.written.add_branch(path);
        let first = format!("ref: {BRANCHES}/{name}\n");
        if name.starts_with(SESSIONS) && fs::read(self.git().join("HEAD")).ok().as_deref() != Some(first.as_bytes()) {
            replace(&self.git().join("HEAD"), first.as_bytes())?;
        }
        if self.distrusts && !self.git().join(HEAD).exists() {
            // There are no points that could be missing something.
            self.trust_again()?;
            self.written.mark(&self.folder)?;
        }
        Ok(())
    }

    fn force(&mut self) -> Result<(), CheckpointError> {
        self.unforced()?.force(&self.folder, MOST_FORCED)?;
        self.written.forced();
        // The name of the newest point is replaced without waiting for the disk: this one is not.
        match self.head()? {
            Some(head) => Settled::set(&self.folder, head),
            None => Ok(()),
        }
    }

    fn settling(&mut self) -> Result<Option<Settling>, CheckpointError> {
        if self.is_only_read {
            return Ok(None);
        }
        let points = self.head()?.map(|head| self.points(head)).transpose()?.unwrap_or_default();
        let branches = self.all_branches()?;
        if points.is_empty() && branches.is_empty() {
            return Ok(None);
        }
        let operations = Arc::clone(&self.operations);
        let (mark, unforced) = (Mark::read(&self.folder), self.unforced()?);
        Ok(Some(Settling { folder: self.folder.clone(), mark, unforced, points, branches, operations }))
    }

    fn is_settled(&self) -> bool {
        Mark::read(&self.folder).is_none()
    }

    fn settled(&mut self, settled: &Unforced) {
        self.written.settled(settled, self.objects.as_ref(), &self.folder);
    }

    /// Builds a repository of what stays, by links to the files of its objects, and moves it into place.
    fn keep_only(&mut self, points: &[StoredPoint]) -> Result<(), CheckpointError> {
        let Some(head) = points.first() else { return Ok(()) };
        let head = head.id;
        let branches = self.all_branches()?;
        let new = self.build()?;
        fill(self, &new, points, branches)?;
        force_all(&self.folder)?;
        let operations = Arc::clone(&self.operations);
        let mut operations = operations.lock().unwrap_or_else(PoisonError::into_inner);
        let _log = operations.hold()?;
        let aside = self.folder.join("git.old");
        fs::rename(self.git(), &aside).map_err(|error| CheckpointError::at(&aside, error))?;
        fs::rename(&new, self.git()).map_err(|error| CheckpointError::at(&new, error))?;
        // The log speaks of what is gone; it is made anew of what stays.
        operations.forget()?;
        force_all(&self.folder)?;
        Settled::set(&self.folder, head)?;
        fs::remove_dir_all(&aside).map_err(|error| CheckpointError::at(&aside, error))?;
        self.objects = None;
        self.open()
    }

    fn set_aside(&mut self) -> Result<String, CheckpointError> {
        *self = Self::new(&self.folder);
        let free = (1..).map(|number| self.folder.join(format!("damaged-{number}"))).find(|path| !path.exists());
        let aside = free.unwrap_or_else(|| self.folder.join("damaged"));
        fs::create_dir_all(&aside).map_err(|error| CheckpointError::at(&aside, error))?;
        Settled::forget(&self.folder);
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
pub(super) fn all_objects(vault: &JjVault, points: &[StoredPoint]) -> Result<HashSet<ObjectId>, CheckpointError> {
    let mut all = HashSet::new();
    for point in points {
        all.insert(point.id);
        all.extend(point.details);
        files_and_trees(vault, point.tree, &mut all)?;
    }
    Ok(all)
}
