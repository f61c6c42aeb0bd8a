//! Jujutsu's log of operations over the points of a store: every point is an operation, its newest state the
//! working copy of the only workspace.
//!
//! Branches of sessions are Jujutsu's bookmarks. It is a second account of what git's objects say already, for whoever
//! looks at the store with `jj`; it is built under another name and moved into place, and one that can't be read is made
//! anew.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::executor::block_on;
use gix::ObjectId;
use jj_lib::backend::CommitId;
use jj_lib::config::{ConfigLayer, ConfigSource, StackedConfig};
use jj_lib::default_backend_factories::default_backend_factories;
use jj_lib::git_backend::GitBackend;
use jj_lib::local_working_copy::LocalWorkingCopy;
use jj_lib::object_id::ObjectId as _;
use jj_lib::op_store::RefTarget;
use jj_lib::ref_name::{RefName, WorkspaceName};
use jj_lib::repo::{ReadonlyRepo, Repo, RepoLoader};
use jj_lib::settings::UserSettings;
use jj_lib::signing::Signer;

use super::error::CheckpointError;
use super::leftovers::remove_locks;
use super::lock::StoreLock;
use super::objects::all_of;
use super::point::StoredPoint;

/// What Jujutsu is told of its user; nothing of the person's own settings is read.
const SETTINGS: &str = "\
user.name = 'Neco'
user.email = 'neco@localhost'
operation.hostname = 'localhost'
operation.username = 'neco'
";

/// Points that become an operation each; what is older becomes one together.
const MOST_ALONE: usize = 50;

/// The folder that makes a store one that `jj` can be told to look at.
const READER: &str = ".jj";

/// The log of a store.
pub struct Operations {
    folder: PathBuf,
    repo: Option<Arc<ReadonlyRepo>>,
}

impl Operations {
    /// The log in the folder of a store; nothing is opened yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), repo: None }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("repo")
    }

    /// The newest point that it knows.
    pub fn newest(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        if !self.path().exists() {
            return Ok(None);
        }
        let _lock = self.hold()?;
        newest_of(self.load()?.as_ref())
    }

    /// Keeps others from the log; what a process that was killed left in its way goes.
    pub fn hold(&self) -> Result<StoreLock, CheckpointError> {
        let lock = StoreLock::of_log(&self.folder)?;
        remove_locks(&self.folder.join("git"));
        Ok(lock)
    }

    /// Adds the points that it does not know, of all points, newest first; and has bookmarks where branches are.
    pub fn add(&mut self, points: &[StoredPoint], branches: &[(String, ObjectId)]) -> Result<(), CheckpointError> {
        let _lock = self.hold()?;
        match self.add_new(points, branches) {
            Err(error) if error.is_damage() => {
                self.forget()?;
                self.add_new(points, branches)
            }
            result => result,
        }
    }

    /// Removes the log, which the caller [holds](Self::hold).
    pub fn forget(&mut self) -> Result<(), CheckpointError> {
        self.repo = None;
        for path in [self.folder.join(READER), self.path()] {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(CheckpointError::at(&path, error)),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn add_new(&mut self, points: &[StoredPoint], branches: &[(String, ObjectId)]) -> Result<(), CheckpointError> {
        if !self.path().exists() {
            let new = self.build()?;
            fs::rename(&new, self.path()).map_err(|error| CheckpointError::at(&new, error))?;
        }
        let mut repo = self.load()?;
        let known = newest_of(repo.as_ref())?;
        let new: Vec<&StoredPoint> = points.iter().take_while(|point| Some(point.id) != known).collect();
        if let Some(head) = new.first() {
            import(repo.as_ref(), &[head.id])?;
        }
        for point in new.iter().take(MOST_ALONE).rev() {
            repo = block_on(record(&repo, point))?;
        }
        repo = block_on(bookmark(&repo, branches))?;
        if !self.folder.join(READER).exists() {
            self.build_reader(&repo)?;
        }
        self.repo = Some(repo);
        Ok(())
    }

    /// What `jj` takes for a workspace. It has no working copy, so that `jj` looks at the log and at no files.
    fn build_reader(&self, repo: &ReadonlyRepo) -> Result<(), CheckpointError> {
        let new = self.folder.join(format!("{READER}.new"));
        if new.exists() {
            fs::remove_dir_all(&new).map_err(|error| CheckpointError::at(&new, error))?;
        }
        let state = new.join("working_copy");
        fs::create_dir_all(&state).map_err(|error| CheckpointError::at(&state, error))?;
        let files = [(new.join("repo"), "../repo"), (state.join("type"), LocalWorkingCopy::name())];
        for (path, text) in files {
            fs::write(&path, text).map_err(|error| CheckpointError::at(&path, error))?;
        }
        let (store, operation, settings) = (repo.store().clone(), repo.op_id().clone(), settings()?);
        let name = WorkspaceName::new("reader").to_owned();
        LocalWorkingCopy::init(store, self.folder.clone(), state, operation, name, &settings)
            .map_err(|error| damaged(&error))?;
        let reader = self.folder.join(READER);
        fs::rename(&new, &reader).map_err(|error| CheckpointError::at(&reader, error))
    }

    /// The log as it is now: another process may have added something.
    fn load(&mut self) -> Result<Arc<ReadonlyRepo>, CheckpointError> {
        let repo = match &self.repo {
            Some(repo) => block_on(repo.reload_at_head()).map_err(|error| damaged(&error))?,
            None => open(&self.path())?,
        };
        self.repo = Some(Arc::clone(&repo));
        Ok(repo)
    }

    fn build(&self) -> Result<PathBuf, CheckpointError> {
        let new = self.folder.join("repo.new");
        if new.exists() {
            fs::remove_dir_all(&new).map_err(|error| CheckpointError::at(&new, error))?;
        }
        fs::create_dir_all(&new).map_err(|error| CheckpointError::at(&new, error))?;
        let settings = settings()?;
        let signer = Signer::from_settings(&settings).map_err(|error| damaged(&error))?;
        let made = block_on(ReadonlyRepo::init(
            &settings,
            &new,
            &|settings, path| Ok(Box::new(GitBackend::init_external(settings, path, Path::new("../../git"))?)),
            signer,
            ReadonlyRepo::default_op_store_initializer(),
            ReadonlyRepo::default_op_heads_store_initializer(),
            ReadonlyRepo::default_index_store_initializer(),
            ReadonlyRepo::default_submodule_store_initializer(),
        ));
        made.map_err(|error| CheckpointError::at(&new, io::Error::other(all_of(&error))))?;
        Ok(new)
    }
}

fn settings() -> Result<UserSettings, CheckpointError> {
    let mut config = StackedConfig::with_defaults();
    config.add_layer(ConfigLayer::parse(ConfigSource::User, SETTINGS).map_err(|error| damaged(&error))?);
    UserSettings::from_config(config).map_err(|error| damaged(&error))
}

fn open(folder: &Path) -> Result<Arc<ReadonlyRepo>, CheckpointError> {
    let loader = RepoLoader::init_from_file_system(&settings()?, folder, &default_backend_factories());
    block_on(loader.map_err(|error| damaged(&error))?.load_at_head()).map_err(|error| damaged(&error))
}

fn newest_of(repo: &ReadonlyRepo) -> Result<Option<ObjectId>, CheckpointError> {
    let id = repo.view().get_wc_commit_id(WorkspaceName::DEFAULT);
    id.map(|id| ObjectId::try_from(id.as_bytes()).map_err(|error| damaged(&error))).transpose()
}

/// Makes Jujutsu know commits that were written by us, and those before them.
fn import(repo: &ReadonlyRepo, heads: &[ObjectId]) -> Result<(), CheckpointError> {
    let backend: &GitBackend =
        repo.store().backend_impl().ok_or_else(|| CheckpointError::Damaged("it is no git store".to_owned()))?;
    let heads: Vec<CommitId> = heads.iter().map(|head| CommitId::from_bytes(head.as_bytes())).collect();
    backend.import_head_commits(&heads).map_err(|error| damaged(&error))
}

/// Has bookmarks where branches are, with one operation.
async fn bookmark(
    repo: &Arc<ReadonlyRepo>,
    branches: &[(String, ObjectId)],
) -> Result<Arc<ReadonlyRepo>, CheckpointError> {
    let known: BTreeMap<String, Option<CommitId>> = repo
        .view()
        .local_bookmarks()
        .map(|(name, target)| (name.as_str().to_owned(), target.as_normal().cloned()))
        .collect();
    let is_new = |(name, id): &&(String, ObjectId)| {
        known.get(name).and_then(Option::as_ref).is_none_or(|known| known.as_bytes() != id.as_bytes())
    };
    let new: Vec<&(String, ObjectId)> = branches.iter().filter(is_new).collect();
    let names: HashSet<&str> = branches.iter().map(|(name, _)| name.as_str()).collect();
    let gone: Vec<&String> = known.keys().filter(|name| !names.contains(name.as_str())).collect();
    if new.is_empty() && gone.is_empty() {
        return Ok(Arc::clone(repo));
    }
    import(repo, &new.iter().map(|(_, id)| *id).collect::<Vec<_>>())?;
    let mut transaction = repo.start_transaction();
    let mut told = Vec::new();
    for (name, id) in new {
        let id = CommitId::from_bytes(id.as_bytes());
        let commit = repo.store().get_commit(&id).map_err(|error| damaged(&error))?;
        transaction.repo_mut().add_head(&commit).await.map_err(|error| damaged(&error))?;
        transaction.repo_mut().set_local_bookmark_target(RefName::new(name), RefTarget::normal(id));
        told.push(format!("{name}: {}", commit.description().lines().next().unwrap_or_default()));
    }
    for name in gone {
        transaction.repo_mut().set_local_bookmark_target(RefName::new(name), RefTarget::absent());
        told.push(format!("{name}: removed"));
    }
    transaction.commit(told.join("\n")).await.map_err(|error| damaged(&error))
}

async fn record(repo: &Arc<ReadonlyRepo>, point: &StoredPoint) -> Result<Arc<ReadonlyRepo>, CheckpointError> {
    let id = CommitId::from_bytes(point.id.as_bytes());
    let commit = repo.store().get_commit(&id).map_err(|error| damaged(&error))?;
    let mut transaction = repo.start_transaction();
    transaction.set_is_snapshot(true);
    transaction.repo_mut().add_head(&commit).await.map_err(|error| damaged(&error))?;
    let workspace = WorkspaceName::DEFAULT.to_owned();
    transaction.repo_mut().set_wc_commit(workspace, id).map_err(|error| damaged(&error))?;
    transaction.commit(format!("checkpoint: {}", point.note.label)).await.map_err(|error| damaged(&error))
}

/// A full disk, or one that must not be written, is no damage: what is there is still whole.
fn damaged(error: &(dyn std::error::Error + 'static)) -> CheckpointError {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let system = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).last();
    match system.map(io::Error::kind) {
        None | Some(ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
            CheckpointError::Damaged(all_of(error))
        }
        Some(kind) => CheckpointError::Io {
            path: PathBuf::from("the checkpoint store"),
            source: io::Error::new(kind, all_of(error)),
        },
    }
}
