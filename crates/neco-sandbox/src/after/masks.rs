//! Stand-ins for what is not there and must not be made: empty folders that a box covers, and small
//! files that change nothing, all removed again when the last box that needs them is gone.
//!
//! A command may put a link in the place of a folder at any moment: stand-ins are made and removed by hands that
//! follow none.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::after::hands::Hands;
use crate::after::lists::{self, OwnList, StandIn};
use crate::after::traces::Note;

/// How many folders with stand-ins are held, so that those are found again wherever the folder goes.
const MOST_HELD: usize = 200;

/// The stand-ins of this process.
#[derive(Debug)]
pub(crate) struct Masks {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The list on disk, once there was something to write down.
    list: Option<OwnList>,
    standing: BTreeMap<PathBuf, Standing>,
    /// What is to be put right after commands that run, by a number that each of them has.
    notes: BTreeMap<u64, Vec<u8>>,
    last: u64,
}

#[derive(Debug)]
struct Standing {
    /// Which file or folder it is, so that no other is removed.
    number: Option<u64>,
    /// Nothing where too much is held already.
    hands: Option<Hands>,
    users: usize,
}

/// Keeps stand-ins in place until it is dropped.
#[derive(Debug)]
pub(crate) struct MaskGuard {
    pub(crate) masks: Arc<Masks>,
    paths: Vec<PathBuf>,
    noted: Option<u64>,
}

impl Masks {
    /// The stand-ins of a process that keeps its list in `folder`. Removes what dead processes left.
    pub(crate) fn new(folder: PathBuf) -> Self {
        lists::clean_up(&folder);
        Self { folder, state: Mutex::default() }
    }

    /// Everything that is a stand-in now, of this process and of others: to whoever looks, nothing is there.
    pub(crate) fn known(&self) -> BTreeSet<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let own = state.standing.keys().cloned();
        own.chain(self.of_others(&state)).collect()
    }

    /// The stand-ins of other processes that live.
    fn of_others(&self, state: &State) -> Vec<PathBuf> {
        lists::stand_ins_of_others(&self.folder, state.list.as_ref())
    }

    /// Writes down what is to be put right if this process is killed while a command runs.
    pub(crate) fn note(&self, guard: &mut MaskGuard, notes: &[Note]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = notes.iter().flat_map(Note::line).collect::<Vec<u8>>();
        self.list(&mut state)?.add(&lines)?;
        state.last += 1;
        let number = state.last;
        state.notes.insert(number, lines);
        guard.noted = Some(number);
        Ok(())
    }

    fn list<'a>(&self, state: &'a mut State) -> io::Result<&'a mut OwnList> {
        let list = match state.list.take() {
            Some(list) => list,
            None => OwnList::open(&self.folder)?,
        };
        Ok(state.list.insert(list))
    }

    /// Puts stand-ins where nothing is. Gives those that could be made; where none can be made because
    /// of where it is, a command can't make anything either.
    /// Fails when one can't be made for another reason, or something is there by now.
    pub(crate) fn put(self: &Arc<Self>, wanted: impl Iterator<Item = PathBuf>) -> io::Result<MaskGuard> {
        let mut guard = MaskGuard { masks: Arc::clone(self), paths: Vec::new(), noted: None };
        for path in wanted {
            if self.put_one(&path)? {
                guard.paths.push(path);
            }
        }
        Ok(guard)
    }

    fn put_one(&self, path: &Path) -> io::Result<bool> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standing) = state.standing.get_mut(path) {
            standing.users += 1;
            return Ok(true);
        }
        let Some(standing) = self.make(&mut state, path)? else { return Ok(false) };
        state.standing.insert(path.to_path_buf(), standing);
        Ok(true)
    }

    /// Written down before it is made: whoever is killed in between leaves a line too many, never a stand-in.
    fn make(&self, state: &mut State, path: &Path) -> io::Result<Option<Standing>> {
        self.list(state)?.add(&lists::line_of(path))?;
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let hands = match hands_for(path) {
            Ok(hands) => hands,
            Err(error) if nothing_can_be_made(&error) => return Ok(None),
            Err(error) => return Err(named(error)),
        };
        if let Err(error) = StandIn::at(path).make(&hands, path) {
            if nothing_can_be_made(&error) {
                return Ok(None);
            }
            // Another process of ours may have made it, and now both need it.
            let shared =
                error.kind() == io::ErrorKind::AlreadyExists && self.of_others(state).iter().any(|own| own == path);
            if !shared {
                return Err(named(error));
            }
        }
        let number = hands.number_of(path);
        let held = state.standing.values().filter(|standing| standing.hands.is_some()).count();
        Ok(Some(Standing { number, hands: (held < MOST_HELD).then_some(hands), users: 1 }))
    }

    fn release(&self, paths: &[PathBuf], noted: Option<u64>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = noted {
            state.notes.remove(&number);
        }
        let others = self.of_others(&state);
        for path in paths {
            let Some(standing) = state.standing.get_mut(path) else { continue };
            standing.users -= 1;
            if standing.users == 0
                && let Some(standing) = state.standing.remove(path)
                && !others.contains(path)
            {
                standing.remove(path);
            }
        }
        self.write_down_what_is_left(&mut state);
    }

    /// What is over is no longer to be put right by anybody.
    fn write_down_what_is_left(&self, state: &mut State) {
        let lines: Vec<u8> = state
            .standing
            .keys()
            .flat_map(|path| lists::line_of(path))
            .chain(state.notes.values().flatten().copied())
            .collect();
        if let Some(list) = &mut state.list
            && let Err(error) = list.write_anew(&self.folder, &lines)
        {
            // It is looked at once more by whoever comes next.
            tracing::warn!(%error, "a list of what is to be put right could not be shortened");
        }
    }
}

impl Standing {
    fn remove(&self, path: &Path) {
        let again = if self.hands.is_none() { hands_for(path).ok() } else { None };
        if let Some(hands) = self.hands.as_ref().or(again.as_ref()) {
            StandIn::at(path).remove(hands, path, self.number);
        }
    }
}

/// Hands for the folder that something is in, if no link is on the way.
pub(crate) fn hands_for(path: &Path) -> io::Result<Hands> {
    Hands::open_straight(path.parent().unwrap_or(Path::new("/")))
}

impl Drop for Masks {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (path, standing) in &state.standing {
            standing.remove(path);
        }
        if let Some(list) = state.list.take() {
            list.remove();
        }
    }
}

impl MaskGuard {
    /// Whether a stand-in is here.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.paths.iter().any(|own| own == path)
    }
}

impl Drop for MaskGuard {
    fn drop(&mut self) {
        self.masks.release(&self.paths, self.noted);
    }
}

/// Whether a stand-in could not be made because of where it was to be.
fn nothing_can_be_made(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn stand_ins_are_shared_and_go_with_the_last_user() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let masks = Arc::new(Masks::new(at("state")));
        let wanted = || [at(".vscode"), at(".mcp.json")].into_iter();
        let first = masks.put(wanted()).unwrap();
        let second = masks.put(wanted()).unwrap();
        assert!(first.holds(&at(".vscode")) && second.holds(&at(".mcp.json")));
        drop(first);
        assert!(at(".vscode").is_dir() && at(".mcp.json").is_dir());
        drop(second);
        assert!(!at(".vscode").exists() && !at(".mcp.json").exists());
        drop(masks);
        assert_eq!(fs::read_dir(at("state")).unwrap().count(), 0, "no list is left");
    }

    #[test]
    fn what_is_there_or_was_filled_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("mine")).unwrap();
        let masks = Arc::new(Masks::new(at("state")));
        let failed = masks.put([at("made"), at("mine")].into_iter()).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::AlreadyExists);
        assert!(at("mine").is_dir() && !at("made").exists(), "nothing is half done");
        let guard = masks.put([at("made"), at("not-there/made")].into_iter()).unwrap();
        assert!(guard.holds(&at("made")) && !guard.holds(&at("not-there/made")));
        fs::write(at("made/file"), "someone's").unwrap();
        drop(guard);
        assert!(at("mine").is_dir() && at("made/file").is_file());
    }

    #[test]
    fn a_mask_that_can_not_be_written_down_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("state"), "no folder").unwrap();
        let masks = Arc::new(Masks::new(folder.path().join("state/masks")));
        assert!(masks.put([folder.path().join(".vscode")].into_iter()).is_err());
        assert!(!folder.path().join(".vscode").exists());
    }

    #[test]
    fn files_stand_in_for_files_and_go_only_as_they_were_made() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let masks = Arc::new(Masks::new(at("state")));
        let guard = masks.put([at("commondir"), at("config.worktree"), at("refs")].into_iter()).unwrap();
        assert_eq!(fs::read_to_string(at("commondir")).unwrap(), ".\n");
        assert_eq!(fs::metadata(at("refs")).unwrap().permissions().mode() & 0o111, 0);
        fs::write(at("config.worktree"), "[someone]").unwrap();
        drop(guard);
        assert!(!at("commondir").exists() && !at("refs").exists() && at("config.worktree").exists());
        // Left by a killed process.
        fs::write(at("commondir"), ".\n").unwrap();
        fs::write(at("state/1-dead"), at("commondir").as_os_str().as_bytes()).unwrap();
        drop(Masks::new(at("state")));
        assert!(!at("commondir").exists());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_and_not_while_another_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let living = Arc::new(Masks::new(at("state")));
        let guard = living.put([at("shared")].into_iter()).unwrap();
        // A list that nobody holds, as after `kill -9`.
        let text = [at("shared"), at("left")].map(|path| path.display().to_string()).join("\0");
        fs::create_dir(at("left")).unwrap();
        fs::write(at("state/1-dead"), text).unwrap();
        drop(Masks::new(at("state")));
        assert!(!at("left").exists() && at("shared").is_dir() && !at("state/1-dead").exists());
        drop(guard);
        assert!(!at("shared").exists());
    }

    #[test]
    fn nothing_is_made_or_removed_behind_a_link() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/.git")).unwrap();
        fs::create_dir_all(at("outside/.git")).unwrap();
        let masks = Arc::new(Masks::new(at("state")));
        symlink(at("outside"), at("link")).unwrap();
        let refused = masks.put([at("link/.git/commondir"), at("link/.git/hooks")].into_iter());
        assert!(refused.is_err() && fs::read_dir(at("outside/.git")).unwrap().count() == 0);
        let guard = masks.put([at("a/.git/commondir"), at("a/.git/hooks")].into_iter()).unwrap();
        // Moved while it stands, and something else put in its place.
        fs::rename(at("a"), at("moved")).unwrap();
        symlink(at("outside"), at("a")).unwrap();
        fs::write(at("outside/.git/commondir"), ".\n").unwrap();
        fs::create_dir(at("outside/.git/hooks")).unwrap();
        drop(guard);
        assert_eq!(fs::read_dir(at("moved/.git")).unwrap().count(), 0, "they go where they are");
        assert_eq!(fs::read_dir(at("outside/.git")).unwrap().count(), 2, "and nothing else does");
    }

    #[test]
    fn what_is_over_is_no_longer_written_down() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let at = |name: &str| folder.path().join(name);
        let masks = Arc::new(Masks::new(at("state")));
        let written = || {
            let lists: Vec<_> = fs::read_dir(at("state")).unwrap().flatten().map(|entry| entry.path()).collect();
            assert_eq!(lists.len(), 1, "{lists:?}");
            String::from_utf8(fs::read(&lists[0]).unwrap()).unwrap()
        };
        let mut lasting = masks.put([at(".vscode")].into_iter()).unwrap();
        masks.note(&mut lasting, &[Note::Settings(at("early"))]).unwrap();
        for _ in 0..20 {
            let mut guard = masks.put([at(".zed")].into_iter()).unwrap();
            masks.note(&mut guard, &[Note::Settings(at("late"))]).unwrap();
            assert!(written().contains("late"));
        }
        let now = written();
        assert!(now.contains("/early") && now.contains("/.vscode") && !now.contains("late") && !now.contains(".zed"));
        drop(lasting);
        assert_eq!(written(), "");
    }
}
