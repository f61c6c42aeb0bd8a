//! The states of one workspace, whatever keeps them: looks, points, and the way back to one.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gix::ObjectId;
use gix::objs::Kind;
use neco_proto::event::CheckpointWhen;

use super::cache::{Cache, Stamp};
use super::checkpoints::{
    BeforeRestore, Change, Checkpoints, Decides, FileDiff, FileSides, Note, Point, Preview, Pruned, RestoreOptions,
    Restored, Snapshot,
};
use super::details::Details;
use super::diff::{file_diff, file_sides};
use super::error::CheckpointError;
use super::leave_out::{LeaveOut, LeaveOutSettings};
use super::lock::StoreLock;
use super::objects::Contents;
use super::open::sign;
use super::pieces::put_pieces_back;
use super::plan::{Plan, Step, plan};
use super::point::{StoredPoint, message};
use super::restore::{Interrupted, Target, apply};
use super::scan::{Scanned, scan};
use super::settling::{FEW_FORCED, MOST_FORCED};
use super::shelf::Shelf;
use super::tree::{TreeChange, changes, files, state_changes, with_file, with_text};
use super::vault::Vault;

/// The workspace, and where its states are kept.
#[derive(Clone, Debug)]
pub struct Place {
    /// The workspace.
    pub root: PathBuf,
    /// The folder of the store: nobody else's.
    pub store: PathBuf,
    /// The person's own folder, of which no states are kept as a whole.
    pub home: Option<PathBuf>,
    /// What is left out.
    pub settings: LeaveOutSettings,
    /// What people typed and did not save: it is part of the states.
    pub unsaved: Unsaved,
}

/// Who tells what is typed in files and not saved, so that a state has what a person sees.
#[derive(Clone, Default)]
pub struct Unsaved {
    tells: Option<Arc<Tells>>,
    hears: Option<Arc<Hears>>,
}

/// Gives what is typed in files of a workspace: in those that are known to it, and from then on in those that are named.
type Tells = dyn Fn(&Path, &[PathBuf]) -> Vec<Typed> + Send + Sync;

/// Hears which files of a workspace were put back.
type Hears = dyn Fn(&Path, &[PathBuf]) + Send + Sync;

/// A file, seen from the workspace, and what is typed in it.
pub type Typed = (PathBuf, Vec<u8>);

impl Unsaved {
    /// `tells` gives what is typed in files of a workspace: in those that are known to it, and from then on in those that
    /// are named. It may wait a moment.
    pub fn new(tells: impl Fn(&Path, &[PathBuf]) -> Vec<Typed> + Send + Sync + 'static) -> Self {
        Self { tells: Some(Arc::new(tells)), hears: None }
    }

    /// `hears` is told which files of a workspace were put back, whatever is typed in them. It may wait a moment.
    #[must_use]
    pub fn hearing(self, hears: impl Fn(&Path, &[PathBuf]) + Send + Sync + 'static) -> Self {
        Self { hears: Some(Arc::new(hears)), ..self }
    }

    fn put_back(&self, root: &Path, files: &[PathBuf]) {
        if let Some(hears) = &self.hears {
            hears(root, files);
        }
    }

    fn below(&self, root: &Path, files: &[PathBuf]) -> Vec<Typed> {
        self.tells.as_ref().map(|tells| tells(root, files)).unwrap_or_default()
    }
}

impl fmt::Debug for Unsaved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Unsaved").field(&self.tells.is_some()).finish()
    }
}

/// The states of one workspace in a vault.
pub struct Keeper<V> {
    pub(super) place: Place,
    shelf: Mutex<Shelf<V>>,
}

impl<V: Vault> Keeper<V> {
    /// Nothing is opened yet.
    pub fn with(place: Place, vault: V) -> Self {
        Self { place, shelf: Mutex::new(Shelf::of(vault)) }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<V>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps other processes from the store.
    /// Fails when one is at it for long, or the store is only read.
    fn lock(&self, shelf: &Shelf<V>) -> Result<StoreLock, CheckpointError> {
        match shelf.vault.is_only_read() {
            true => Err(CheckpointError::OnlyRead(self.place.store.clone())),
            false => StoreLock::acquire(&self.place.store),
        }
    }

    /// Folders that are kept as a whole by nobody.
    fn check_place(&self) -> Result<(), CheckpointError> {
        let root = &self.place.root;
        let what = match &self.place.home {
            Some(home) if home == root => "your home folder",
            Some(home) if home.starts_with(root) => "a folder that holds your home folder",
            Some(_) | None if root.parent().is_none() => "the whole file system",
            Some(_) | None => return Ok(()),
        };
        Err(CheckpointError::NotAProject { root: root.clone(), what })
    }

    fn cache_file(&self) -> PathBuf {
        self.place.store.join("files")
    }

    /// Looks at the workspace. What is ignored now but `wanted` is looked at too.
    pub(super) fn look(&self, shelf: &mut Shelf<V>, wanted: &[Vec<u8>]) -> Result<Scanned, CheckpointError> {
        self.look_after_head(shelf, wanted).map(|(_, scanned)| scanned)
    }

    /// The same, with the name of the newest point.
    fn look_after_head(
        &self,
        shelf: &mut Shelf<V>,
        wanted: &[Vec<u8>],
    ) -> Result<(Option<ObjectId>, Scanned), CheckpointError> {
        let unsaved = self.place.unsaved.below(&self.place.root, &[]);
        let Shelf { vault, known, .. } = shelf;
        vault.open()?;
        let head = vault.newest()?;
        // Without a point nothing holds on to the objects that the cache speaks of.
        let has_points = head.is_some() && vault.trusts_what_is_known();
        let stamp = Stamp::of(&self.cache_file());
        let is_fresh = known.as_ref().is_some_and(|(own, _)| *own == stamp && stamp.is_some());
        if !is_fresh || !has_points {
            let read = if has_points { Cache::load(&self.cache_file()) } else { None };
            *known = Some((stamp, read.unwrap_or_default()));
        }
        let empty = Cache::default();
        let cache = known.as_ref().map_or(&empty, |(_, cache)| cache);
        let leave = LeaveOut::new(&self.place.root, &self.place.store, &self.place.settings, wanted);
        let mut scanned = scan(vault, &self.place.root, &leave, cache)?;
        for (path, text) in &unsaved {
            let is_new = is_nowhere(&self.place.root.join(path));
            if is_new && !leave.would_take(path) {
                continue;
            }
            let path = path.as_os_str().as_bytes();
            let tree = match is_new {
                true => with_file(vault, Some(scanned.tree), path, text)?,
                false => with_text(vault, scanned.tree, path, text)?,
            };
            if tree != scanned.tree {
                scanned.tree = tree;
                // No point holds on to what is saved.
                scanned.cache.forget(path);
            }
        }
        Ok((head, scanned))
    }

    pub(super) fn keep(
        &self,
        shelf: &mut Shelf<V>,
        note: &Note,
        wanted: &[Vec<u8>],
    ) -> Result<Snapshot, CheckpointError> {
        let (head, scanned) = self.look_after_head(shelf, wanted)?;
        let head = head.map(|head| shelf.newest(head)).transpose()?;
        let notices = Interrupted::notice(&self.place.store);
        let same = head.as_ref().filter(|head| shelf.is_same(head, &scanned));
        let (rev, changed) = match same {
            Some(same) => (same.id, Vec::new()),
            None => {
                let details = shelf.vault.put(Kind::Blob, &scanned.details.to_bytes())?;
                // The first state differs from nothing.
                let changed = match &head {
                    Some(head) => shelf.changes(head, &scanned)?,
                    None => Vec::new(),
                };
                (shelf.vault.commit(scanned.tree, &message(note, details))?, shown(changed))
            }
        };
        let is_new = same.is_none();
        let parent = if is_new { head.map(|head| head.id) } else { head.and_then(|head| head.parent) };
        if is_new && parent.is_none() {
            sign(&self.place.store, &self.place.root);
        }
        if scanned.is_new {
            scanned.cache.save(&self.cache_file())?;
            shelf.known = Some((Stamp::of(&self.cache_file()), scanned.cache));
        }
        let parent = parent.map(|parent| parent.to_string());
        let left_out = scanned.details.left_out;
        Ok(Snapshot { rev: rev.to_string(), parent, is_new, changed, left_out, notices: notices.into_iter().collect() })
    }

    /// What going back would do, as things are now.
    fn plan(&self, shelf: &mut Shelf<V>, rev: &str, options: &RestoreOptions) -> Result<Plan, CheckpointError> {
        let target = shelf.find(rev)?;
        let wanted = paths(files(&shelf.vault, target.tree)?);
        let details = shelf.details(&target)?;
        let mut now = self.look(shelf, &wanted)?;
        let mut found = state_changes(&shelf.vault, (now.tree, &now.details), (target.tree, &details))?;
        // What is typed in a file that would be another is a person's, whoever came upon it before.
        let touched: Vec<PathBuf> = found.iter().map(|change| OsStr::from_bytes(&change.path).into()).collect();
        if !touched.is_empty() && !self.place.unsaved.below(&self.place.root, &touched).is_empty() {
            now = self.look(shelf, &wanted)?;
            found = state_changes(&shelf.vault, (now.tree, &now.details), (target.tree, &details))?;
        }
        let typed = changes(&shelf.vault, Some(now.saved), Some(now.tree))?;
        // What was never saved is in no file that could go.
        let is_saved = |path: &[u8]| typed.iter().all(|change| change.path != path || change.before.is_some());
        found.retain(|change| change.after.is_some() || is_saved(&change.path));
        let changed = shelf.changed_by(&target, &now, options, &self.place.root)?;
        let mut planned = plan(&self.place.root, found, (&now.details, &details), &changed, options);
        // A file is replaced as it is on the disk, whatever is typed in it.
        for Step { change, .. } in &mut planned.steps {
            let typed = typed.iter().find(|typed| typed.path == change.path);
            change.before = typed.map_or(change.before, |typed| typed.before);
        }
        Ok(Plan { of: Some((now.tree, now.details)), ..planned })
    }

    fn go_back(
        &self,
        shelf: &mut Shelf<V>,
        rev: &str,
        options: &RestoreOptions,
        before: BeforeRestore<'_>,
    ) -> Result<Restored, CheckpointError> {
        let planned = self.plan_agreed(shelf, rev, options)?;
        let target = shelf.find(rev)?;
        let wanted = paths(files(&shelf.vault, target.tree)?);
        let note = |when, words: &str| Note {
            when,
            label: format!("{words} {}", target.id.to_hex_with_len(12)),
            session: options.session.clone(),
        };
        let undo = self.keep(shelf, &note(CheckpointWhen::Restore, "before going back to"), &wanted)?;
        // What was looked at is a moment old: what is kept now is what goes.
        let kept = shelf.find(&undo.rev)?;
        let is_still = |(tree, details): &(ObjectId, Details)| {
            kept.tree == *tree && shelf.details(&kept).is_ok_and(|kept| kept.is_same(details))
        };
        let mut planned =
            if planned.of.as_ref().is_some_and(is_still) { planned } else { self.plan_agreed(shelf, rev, options)? };
        // Whatever is missing is found before anything is touched.
        let contents = Contents::of(&shelf.vault, &mut planned)?;
        // A power cut must not take a file and what it would be brought back from.
        shelf.vault.force()?;
        let interrupted = Interrupted::begin(&self.place.store, &undo.rev)?;
        let details = shelf.details(&target)?;
        let to = Target { vault: &shelf.vault, contents, details: &details, progress: &options.progress };
        let applied = apply(&self.place.root, &planned, to, || before(&undo));
        interrupted.end();
        let done = applied?;
        let put_back: Vec<PathBuf> = done.changes.iter().map(|change| change.path.clone()).collect();
        self.place.unsaved.put_back(&self.place.root, &put_back);
        let now = self.keep(shelf, &note(CheckpointWhen::After, "went back to"), &wanted)?;
        Ok(Restored {
            undo,
            now,
            changes: done.changes,
            over_others: planned.steps.iter().any(|step| step.by_others),
            kept: done.kept,
            theirs: planned.theirs,
            lost: planned.lost,
            left_out: planned.left_out,
        })
    }

    /// What is different in `to`, or now, from `from`.
    fn different(
        &self,
        shelf: &mut Shelf<V>,
        from: &str,
        to: Option<&str>,
    ) -> Result<Vec<TreeChange>, CheckpointError> {
        let from = shelf.find(from)?;
        let Some(to) = to else {
            let wanted = paths(files(&shelf.vault, from.tree)?);
            let now = self.look(shelf, &wanted)?;
            return shelf.changes(&from, &now);
        };
        let to = shelf.find(to)?;
        let (before, after) = (shelf.details(&from)?, shelf.details(&to)?);
        state_changes(&shelf.vault, (from.tree, &before), (to.tree, &after))
    }

    /// What going back would do, unless it takes what is, or may be, of others and nobody agreed to.
    fn plan_agreed(&self, shelf: &mut Shelf<V>, rev: &str, options: &RestoreOptions) -> Result<Plan, CheckpointError> {
        let planned = self.plan(shelf, rev, options)?;
        planned.refused(&options.agreed).map_or(Ok(planned), Err)
    }

    /// The workspace, and where its states are kept.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Writes what is kept besides the states, and nobody else does meanwhile.
    pub(super) fn write_vault<T>(
        &self,
        write: impl FnOnce(&mut V) -> Result<T, CheckpointError>,
    ) -> Result<T, CheckpointError> {
        let mut shelf = self.shelf();
        let _lock = self.lock(&shelf)?;
        write(&mut shelf.vault)
    }

    /// Reads what is kept besides the states.
    pub(super) fn read_vault<T>(
        &self,
        read: impl FnOnce(&mut V) -> Result<T, CheckpointError>,
    ) -> Result<T, CheckpointError> {
        self.read(|shelf| read(&mut shelf.vault))
    }

    /// Does what can wait, file by file where there are no more than `most`.
    fn settle_forcing(&self, most: usize) -> Result<(), CheckpointError> {
        let Some(waits) = self.read(|shelf| shelf.vault.settling())? else { return Ok(()) };
        let settled = waits.unforced.clone();
        waits.run(most)?;
        self.shelf().vault.settled(&settled);
        Ok(())
    }

    /// What is there to be read, and nobody writes meanwhile. Where nothing was kept nothing is made.
    fn read<T>(&self, read: impl FnOnce(&mut Shelf<V>) -> Result<T, CheckpointError>) -> Result<T, CheckpointError> {
        let mut shelf = self.shelf();
        if !self.place.store.is_dir() {
            return read(&mut shelf);
        }
        let _lock = if shelf.vault.is_only_read() { None } else { Some(self.lock(&shelf)?) };
        read(&mut shelf)
    }
}

impl<V: Vault> Checkpoints for Keeper<V> {
    fn backend(&self) -> &'static str {
        V::NAME
    }

    fn root(&self) -> &Path {
        &self.place.root
    }

    fn snapshot(&self, note: &Note) -> Result<Snapshot, CheckpointError> {
        self.check_place()?;
        let mut shelf = self.shelf();
        let _lock = self.lock(&shelf)?;
        match self.keep(&mut shelf, note, &[]) {
            Err(error) if error.is_damage() => {
                let aside = shelf.vault.set_aside()?;
                shelf.known = None;
                let mut kept = self.keep(&mut shelf, note, &[])?;
                let told = format!("A new checkpoint store was begun, the old one was put aside ({aside}): {error}");
                kept.notices.push(told);
                Ok(kept)
            }
            result => result,
        }
    }

    fn list(&self) -> Result<Vec<Point>, CheckpointError> {
        self.read(|shelf| Ok(shelf.points()?.iter().map(StoredPoint::shown).collect()))
    }

    fn diff(&self, from: &str, to: Option<&str>) -> Result<Vec<FileDiff>, CheckpointError> {
        self.read(|shelf| {
            let found = self.different(shelf, from, to)?;
            found.into_iter().map(|change| file_diff(&shelf.vault, &change)).collect()
        })
    }

    fn sides(
        &self,
        from: &str,
        to: Option<&str>,
        only: Option<&Path>,
        take: &mut dyn FnMut(FileSides),
    ) -> Result<(), CheckpointError> {
        self.read(|shelf| {
            let is_meant = |change: &TreeChange| only.is_none_or(|only| only.as_os_str().as_bytes() == change.path);
            for change in self.different(shelf, from, to)?.iter().filter(|change| is_meant(change)) {
                take(file_sides(&shelf.vault, change)?);
            }
            Ok(())
        })
    }

    fn put_back(
        &self,
        from: &str,
        files: &[PathBuf],
        options: &RestoreOptions,
        decides: Decides<'_>,
        before: BeforeRestore<'_>,
    ) -> Result<Restored, CheckpointError> {
        let mut shelf = self.shelf();
        let _lock = self.lock(&shelf)?;
        put_pieces_back(self, &mut shelf, (from, files), options, decides, before)
    }

    fn preview(&self, rev: &str, options: &RestoreOptions) -> Result<Preview, CheckpointError> {
        let mut shelf = self.shelf();
        let _lock = self.lock(&shelf)?;
        Ok(self.plan(&mut shelf, rev, options)?.preview())
    }

    fn restore(
        &self,
        rev: &str,
        options: &RestoreOptions,
        before: BeforeRestore<'_>,
    ) -> Result<Restored, CheckpointError> {
        let mut shelf = self.shelf();
        let _lock = self.lock(&shelf)?;
        self.go_back(&mut shelf, rev, options, before)
    }

    fn told(&self) {
        Interrupted::told(&self.place.store);
    }

    fn cut_short(&self) -> Option<String> {
        let notice = Interrupted::notice(&self.place.store)?;
        // A look takes away what a restore was writing.
        let mut shelf = self.shelf();
        // Where that fails the next look does it.
        let _ = self.lock(&shelf).and_then(|_lock| self.look(&mut shelf, &[]));
        Some(notice)
    }

    fn settle(&self) -> Result<(), CheckpointError> {
        self.settle_forcing(FEW_FORCED)
    }

    fn settle_at_once(&self) -> Result<(), CheckpointError> {
        self.settle_forcing(MOST_FORCED)
    }

    fn is_settled(&self) -> bool {
        self.shelf().vault.is_settled()
    }

    fn size(&self) -> Result<u64, CheckpointError> {
        bytes_on_disk(&self.place.store)
    }

    fn prune(&self, before_ms: i64) -> Result<Pruned, CheckpointError> {
        let mut shelf = self.shelf();
        let _lock = self.lock(&shelf)?;
        let points = shelf.points()?;
        let is_new = |point: &&StoredPoint| point.seconds.saturating_mul(1000) >= before_ms;
        let stay = points.iter().take_while(is_new).count().max(1).min(points.len());
        if stay == points.len() {
            return Ok(Pruned::default());
        }
        let size = bytes_on_disk(&self.place.store)?;
        shelf.vault.keep_only(points.get(..stay).unwrap_or_default())?;
        let left = shelf.points()?.len();
        let bytes = size.saturating_sub(bytes_on_disk(&self.place.store)?);
        Ok(Pruned { points: points.len().saturating_sub(left), bytes })
    }
}

/// Whether there is nothing of a name.
fn is_nowhere(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

pub(super) fn paths(files: Vec<(Vec<u8>, super::tree::Item)>) -> Vec<Vec<u8>> {
    files.into_iter().map(|(path, _)| path).collect()
}

fn shown(changes: Vec<TreeChange>) -> Vec<Change> {
    let shown = |change: TreeChange| Change { kind: change.kind(), path: OsStr::from_bytes(&change.path).into() };
    changes.into_iter().map(shown).collect()
}

/// Bytes of all files in a folder; 0 when there is none.
pub fn bytes_on_disk(folder: &Path) -> Result<u64, CheckpointError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(CheckpointError::at(folder, error)),
    };
    let mut bytes = 0;
    for entry in entries.flatten() {
        let Ok(facts) = entry.metadata() else { continue };
        bytes += if facts.is_dir() { bytes_on_disk(&entry.path())? } else { on_disk(&facts) };
    }
    Ok(bytes)
}

fn on_disk(facts: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    facts.blocks().saturating_mul(512)
}
