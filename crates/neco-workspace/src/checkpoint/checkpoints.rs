//! States of a workspace: the face that every backend has.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_proto::event::{CheckpointWhen, FileChangeKind, LeftOutWhy};

use super::error::CheckpointError;
use super::exchanges::Exchanges;
use super::turn_work::TurnWork;

/// What is said of a state when it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Before or after a turn, or before another state is put in its place.
    pub when: CheckpointWhen,
    /// What is going on, in a few words.
    pub label: String,
    /// Who works: a session's id.
    pub session: String,
}

/// What came of keeping the workspace as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The name of the state.
    pub rev: String,
    /// The state before it; `None` when it is the first one.
    pub parent: Option<String>,
    /// Whether it is another state than the last one: otherwise `rev` is that one.
    pub is_new: bool,
    /// What is different from `parent`; empty when nothing is new, and for the first state.
    pub changed: Vec<Change>,
    /// What is not part of it.
    pub left_out: Vec<LeftOut>,
    /// What a person should be told.
    pub notices: Vec<String>,
}

/// A file that is different, its path seen from the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// How it is different.
    pub kind: ChangeKind,
}

/// How a file is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It held something else, or was of another kind.
    Modified,
    /// It is gone.
    Deleted,
}

impl From<ChangeKind> for FileChangeKind {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Added => Self::Added,
            ChangeKind::Modified => Self::Modified,
            ChangeKind::Deleted => Self::Deleted,
        }
    }
}

/// A file or folder that is no part of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Seen from the workspace. For a folder, all below it is left out.
    pub path: PathBuf,
    /// Why.
    pub why: LeftOutWhy,
}

/// A state that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its name.
    pub rev: String,
    /// The state before it.
    pub parent: Option<String>,
    /// What was said of it.
    pub note: Note,
    /// When, in milliseconds since 1970; git keeps whole seconds.
    pub time_ms: i64,
}

/// What going back to a state would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// File by file: `Added` comes back, `Deleted` goes.
    pub changes: Vec<PlannedChange>,
    /// Files that would be another but are not touched, and why.
    pub kept: Vec<Kept>,
    /// Files that only others changed since, which stay as they are.
    pub theirs: Vec<PathBuf>,
    /// Files that were changed since and that no state holds, and what became of them: `was changed since …`.
    pub lost: Vec<Kept>,
    /// What is no part of states, then or now, and so stays as it is.
    pub left_out: Vec<LeftOut>,
}

/// What would happen to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    /// What.
    pub change: Change,
    /// Whether somebody else than the session changed it since that state.
    pub by_others: bool,
    /// Whether it was changed while a call ran, and it is not known whether by the call or by somebody else.
    pub unsure: bool,
}

/// A file that a restore leaves alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// Why, for a person.
    pub reason: String,
}

/// How to go back.
#[derive(Clone, Debug, Default)]
pub struct RestoreOptions {
    /// On whose behalf.
    pub session: String,
    /// Work of theirs that was cut short, so that nothing was kept after it.
    pub unfinished: Vec<Unfinished>,
    /// The states after turns that count as the session's, also where another one made them: a fork has those of the
    /// session that it came from.
    pub turns: Vec<String>,
    /// What calls did in them, by those states, as far as it is known. All that lies in another turn is the session's.
    pub work: HashMap<String, TurnWork>,
    /// Whether files stay as they are that nobody but others changed since.
    pub leave_theirs: bool,
    /// What of others' work a person agreed to have overwritten.
    pub agreed: Agreed,
    /// The moment that is gone back to, in milliseconds since 1970: what no state holds and was changed since is told.
    pub since_ms: Option<i64>,
    /// Hears how far putting files back is.
    pub progress: Progress,
}

/// Hears how far putting files back is: how many of how many.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(usize, usize) + Send + Sync>>);

impl Progress {
    /// `hears` must do next to nothing: files wait for it.
    pub fn new(hears: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hears)))
    }

    /// Tells it.
    pub fn tell(&self, done: usize, total: usize) {
        self.0.iter().for_each(|hears| hears(done, total));
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Progress").field(&self.0.is_some()).finish()
    }
}

/// Work, or a restore, that was cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The state before it.
    pub rev: String,
    /// The state that a restore was about to put in its place: what holds what that has is the restore's.
    pub to: Option<String>,
    /// When it began, in milliseconds since 1970: what was changed before is somebody else's.
    pub since_ms: i64,
    /// Until when it may have changed something, in milliseconds since 1970.
    pub until_ms: i64,
}

/// What of others' work, or of what may be theirs, a person agreed to have overwritten. Everything else of it refuses a
/// restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Agreed {
    /// Nothing.
    #[default]
    Nothing,
    /// These files, by the names that they were shown.
    Files(BTreeSet<String>),
    /// Whatever it is.
    Anything,
}

impl Agreed {
    /// Whether that holds for a file.
    pub fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Nothing => false,
            Self::Files(files) => files.contains(path.to_string_lossy().as_ref()),
            Self::Anything => true,
        }
    }
}

/// Hears of the state before a restore once that is on the disk, and before anything is touched. What it
/// refuses is not done.
pub type BeforeRestore<'a> = &'a mut dyn FnMut(&Snapshot) -> Result<(), CheckpointError>;

/// What going back did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The state before: going back to it undoes this.
    pub undo: Snapshot,
    /// The state now.
    pub now: Snapshot,
    /// What was done.
    pub changes: Vec<Change>,
    /// Whether some of that was done to files that somebody else than the session had changed.
    pub over_others: bool,
    /// What was left alone, and why.
    pub kept: Vec<Kept>,
    /// Files that only others changed since, which stayed as they were.
    pub theirs: Vec<PathBuf>,
    /// Files that were changed since and that no state holds, and what became of them.
    pub lost: Vec<Kept>,
    /// What is no part of states, and so stayed as it was.
    pub left_out: Vec<LeftOut>,
}

/// The difference of a file between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// What happened to it.
    pub change: Change,
    /// As a unified diff, with its head; for a binary file a line that says so.
    pub text: String,
}

/// What a file held in one state, and holds in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSides {
    /// What happened to it.
    pub change: Change,
    /// What it held; nothing where it was not there.
    pub before: Option<Side>,
    /// What it holds; nothing where it is not there.
    pub after: Option<Side>,
}

/// What a file holds in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What it is and its permissions, as git writes them: `100644`.
    pub form: String,
    /// Its content; of a link, where that leads.
    pub content: Vec<u8>,
}

/// How much of a file is put back into an earlier state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutBack {
    /// All of it.
    Whole,
    /// It holds this from then on.
    Content(Vec<u8>),
}

/// Says how much of a file is put back that was found to be different in this way. What it refuses is not done.
pub type Decides<'a> = &'a mut dyn FnMut(&FileSides) -> Result<PutBack, CheckpointError>;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// States.
    pub points: usize,
    /// Bytes on the disk.
    pub bytes: u64,
}

/// The states of one workspace, and the exchanges of the sessions in it. Everything here blocks: async callers go aside for it.
pub trait Checkpoints: Exchanges + Send + Sync {
    /// The name of the backend.
    fn backend(&self) -> &'static str;

    /// The workspace.
    fn root(&self) -> &Path;

    /// Keeps the workspace as it is.
    /// Fails when it can't be kept; nothing is changed then.
    fn snapshot(&self, note: &Note) -> Result<Snapshot, CheckpointError>;

    /// All states that are kept, newest first.
    fn list(&self) -> Result<Vec<Point>, CheckpointError>;

    /// What is different in `to`, or now, from `from`, with the text of it.
    fn diff(&self, from: &str, to: Option<&str>) -> Result<Vec<FileDiff>, CheckpointError>;

    /// Hands every file that is different in `to`, or now, from `from` to `take`, one after the other by path; where one is
    /// named, `only` that.
    fn sides(
        &self,
        from: &str,
        to: Option<&str>,
        only: Option<&Path>,
        take: &mut dyn FnMut(FileSides),
    ) -> Result<(), CheckpointError>;

    /// What going back to `rev` would do.
    fn preview(&self, rev: &str, options: &RestoreOptions) -> Result<Preview, CheckpointError>;

    /// Goes back to `rev`. The present state is kept first, and `before` hears of it; what is left out is not
    /// touched, and neither is what somebody changes meanwhile.
    /// Fails when the state is not there or not whole, others changed or may have changed what would be overwritten, or
    /// `before` refuses; nothing is changed then.
    fn restore(
        &self,
        rev: &str,
        options: &RestoreOptions,
        before: BeforeRestore<'_>,
    ) -> Result<Restored, CheckpointError>;

    /// Puts files back that are different from `from`, each as far as `decides` says of what it holds right then, and
    /// whoever changed it. The present state is kept first, and `before` hears of it; no other file is touched.
    /// Fails when one of the files is not different or can't come back, or one of them refuses; nothing is changed then.
    fn put_back(
        &self,
        from: &str,
        files: &[PathBuf],
        options: &RestoreOptions,
        decides: Decides<'_>,
        before: BeforeRestore<'_>,
    ) -> Result<Restored, CheckpointError>;

    /// The person was told what [`Snapshot::notices`] or [`Checkpoints::cut_short`] said.
    fn told(&self);

    /// What a person should know of a restore that was cut short, until they were told; what it left lying about is
    /// taken away.
    fn cut_short(&self) -> Option<String>;

    /// Does what can wait after a state was kept, such as having it on the disk for good. Nothing is lost
    /// when a process ends before that, unless the machine itself goes down.
    fn settle(&self) -> Result<(), CheckpointError>;

    /// The same while somebody waits for it: whatever else is being written to the disk is not waited for.
    fn settle_at_once(&self) -> Result<(), CheckpointError>;

    /// Whether there is nothing to settle, as far as a glance tells.
    fn is_settled(&self) -> bool;

    /// Bytes on the disk.
    fn size(&self) -> Result<u64, CheckpointError>;

    /// Removes states from before `before_ms`; the newest one always stays.
    fn prune(&self, before_ms: i64) -> Result<Pruned, CheckpointError>;
}
