//! What is known of git folders, and of what leads to them, from before a command ran: whatever is not as it was
//! then is looked at as the command's.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::git::check::{LEADING, Repository, SETTINGS, list_leading, settings};
use crate::git::todo;
use crate::survey::facts::Facts;
use crate::survey::unreadable;

/// Times of files lag behind by so much at most.
pub(crate) const COARSE: Duration = Duration::from_millis(50);

/// A change within so short a time after another may leave no trace.
pub(crate) const UNSETTLED: Duration = Duration::from_millis(100);

/// What changes whenever a file is written anew.
pub(crate) type Stamp = (u64, i64, i64, u64);

/// What tells a folder from another that later has its number.
pub(crate) type Birth = (u64, u64, Option<SystemTime>);

/// What is known of git folders, and of what leads to them.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Those that every box protects, and where they were.
    protected: HashMap<Birth, PathBuf>,
    /// Those that a command could change or move to where git enters them, and where they were, with the state of what
    /// decides what git runs in them.
    open: HashMap<Birth, (PathBuf, u64)>,
    /// What decides what git runs in them or where it leads, file by file: of those that are protected only what a
    /// command could still make.
    items: HashMap<PathBuf, Option<Stamp>>,
    /// The settings of those that a command could change.
    settings: HashMap<PathBuf, Vec<u8>>,
    /// Those whose submodules could not be told apart.
    crowded: HashSet<PathBuf>,
    /// Folders in them that could not be looked at.
    unread: HashSet<PathBuf>,
    /// Indexes that could not be read.
    unclear: HashMap<PathBuf, Option<Stamp>>,
    /// What rebases had yet to run.
    todos: HashMap<PathBuf, BTreeSet<Vec<u8>>>,
    /// Before the first command. What is older was only not found in time.
    since: Option<SystemTime>,
}

/// How something known stands in a list, for whoever comes after this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    birth: Birth,
    /// Nothing for what is protected.
    state: Option<u64>,
}

impl Known {
    /// What is there now, and which of it every box protects.
    pub(crate) fn of<'a>(repositories: impl Iterator<Item = (&'a Repository, bool)>, facts: &Facts) -> Self {
        let mut known = Self::default();
        for (repository, is_protected) in repositories {
            let dot_git = Some(&repository.dot_git).filter(|dot_git| !repository.folders.contains(dot_git));
            for place in repository.folders.iter().chain(dot_git) {
                match facts.birth(place) {
                    Some(birth) if is_protected => {
                        known.protected.insert(birth, place.clone());
                        known.note(leading(place, facts), facts);
                    }
                    Some(_) | None => known.leave_open(place),
                }
            }
            known.note(repository.links.iter().map(|(_, link)| link.clone()).collect(), facts);
            known.crowded.extend(repository.crowded.iter().cloned());
            known.unread.extend(repository.unread.iter().cloned());
            known.unclear.extend(repository.unclear.iter().map(|index| (index.clone(), facts.stamp(index))));
            let may_rebase = |git: &&PathBuf| facts.listed.may_hold(git, Path::new("rebase-merge"));
            let todos = repository.folders.iter().filter(may_rebase).filter_map(|folder| todo::programs_in(folder));
            known.todos.extend(todos);
        }
        known
    }

    /// The same, where no command ran before this time.
    pub(crate) fn since(self, since: SystemTime) -> Self {
        Self { since: Some(since), ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.protected.is_empty() && self.open.is_empty()
    }

    /// What a killed process knew.
    pub(crate) fn again(marks: impl Iterator<Item = (PathBuf, Mark)>) -> Self {
        let mut known = Self::default();
        for (path, mark) in marks {
            match mark.state {
                Some(state) => drop(known.open.insert(mark.birth, (path, state))),
                None => drop(known.protected.insert(mark.birth, path)),
            }
        }
        known
    }

    /// Everything that is known, with where it is.
    pub(crate) fn marks(&self) -> Vec<(PathBuf, Mark)> {
        let protected = self.protected.iter().map(|(birth, path)| (path, *birth, None));
        let open = self.open.iter().map(|(birth, (path, state))| (path, *birth, Some(*state)));
        protected.chain(open).map(|(path, birth, state)| (path.clone(), Mark { birth, state })).collect()
    }

    /// A box is about to be there that protects nothing but these: whatever else is known can be changed from now on.
    pub(crate) fn only_these_are_protected(&mut self, kept: &BTreeSet<PathBuf>) {
        let kept: HashSet<Birth> = kept.iter().filter_map(|path| birth(path)).collect();
        let open: Vec<Birth> = self.protected.keys().filter(|own| !kept.contains(own)).copied().collect();
        for own in open {
            // What is elsewhere by now nobody can vouch for.
            if let Some(place) = self.protected.remove(&own).filter(|place| birth(place) == Some(own)) {
                self.leave_open(&place);
            }
        }
    }

    fn leave_open(&mut self, place: &Path) {
        let facts = Facts::default();
        if let Some(birth) = facts.birth(place) {
            self.note(places_deciding(place, &facts), &facts);
            let files = SETTINGS.iter().map(|name| place.join(name));
            self.settings.extend(files.filter_map(|file| settings(&file).map(|text| (file, text))));
            self.open.insert(birth, (place.to_path_buf(), deciding(place)));
        }
    }

    fn note(&mut self, places: Vec<PathBuf>, facts: &Facts) {
        let mut found: Vec<_> = places.into_iter().map(|place| (facts.stamp(&place), place)).collect();
        // Another change right after one could look the same.
        if let Some(unsettled) = found.iter().filter_map(|(stamp, _)| unsettled_for((*stamp)?)).max() {
            std::thread::sleep(unsettled);
            found.iter_mut().for_each(|(then, place)| *then = stamp(place));
        }
        self.items.extend(found.into_iter().map(|(stamp, place)| (place, stamp)));
    }

    /// Whether a git folder, or what leads to one, is protected by every box.
    pub(crate) fn is_protected(&self, path: &Path) -> bool {
        birth(path).is_some_and(|own| self.protected.contains_key(&own))
    }

    /// Whether a git folder, or what leads to one, is not as it was when nothing ran.
    pub(crate) fn is_commands(&self, path: &Path, facts: &Facts) -> bool {
        let Some(birth) = facts.birth(path) else { return false };
        if self.protected.contains_key(&birth) {
            return false;
        }
        match self.open.get(&birth) {
            Some((place, before)) => place != path || *before != deciding(path),
            None => !self.is_older(path) || places_deciding(path, facts).iter().any(|place| !self.is_older(place)),
        }
    }

    /// Whether something in a git folder is not as it was when nothing ran.
    pub(crate) fn is_new(&self, git: &Path, item: &Path) -> bool {
        let own = birth(git);
        let protected = own.and_then(|own| self.protected.get(&own));
        let open = own.and_then(|own| self.open.get(&own)).map(|(place, _)| place);
        match (protected, open) {
            (Some(place), _) => self.is_new_since(&at_its_old_place(place, git, item), item),
            (None, Some(place)) if place == git => self.is_new_since(item, item),
            // Git may enter it where it is now.
            (None, Some(_)) => true,
            (None, None) => !self.is_older(git) || !self.is_older(item),
        }
    }

    fn is_new_since(&self, then: &Path, now: &Path) -> bool {
        self.items.get(then).map_or_else(|| !self.is_older(now), |before| *before != stamp(now))
    }

    /// What settings said when nothing ran; nothing if nobody knows.
    pub(crate) fn settings(&self, file: &Path) -> Option<&[u8]> {
        self.settings.get(file).map(Vec::as_slice)
    }

    /// Whether something was there, and as it is, before any command ran. No command can set these times.
    pub(crate) fn is_older(&self, path: &Path) -> bool {
        let Some(since) = self.since.and_then(|since| since.checked_sub(COARSE)) else { return false };
        let Ok(found) = fs::symlink_metadata(path) else { return true };
        // What is in a folder may come and go; but it must not have come here itself, under another name before.
        let above = path.parent().filter(|_| found.is_dir()).and_then(|above| fs::symlink_metadata(above).ok());
        let is_here_since = changed(&found) < since || above.is_some_and(|above| changed(&above) < since);
        is_here_since && found.created().is_ok_and(|made| made < since)
    }

    /// Whether the submodules of a git folder that can't be told apart could be, then.
    pub(crate) fn was_told_apart(&self, git: &Path) -> bool {
        let is_known = birth(git).is_some_and(|own| self.protected.contains_key(&own) || self.open.contains_key(&own));
        !self.crowded.contains(git) && (is_known || !self.is_older(&git.join("modules")))
    }

    /// Whether a folder that can't be looked at could be, then, or was not there.
    pub(crate) fn was_read(&self, folder: &Path) -> bool {
        !self.unread.contains(folder)
    }

    /// Whether an index that can't be read is another than then.
    pub(crate) fn is_new_index(&self, index: &Path) -> bool {
        match self.unclear.get(index) {
            Some(before) => *before != stamp(index),
            None => !self.is_older(index),
        }
    }

    /// Whether the list of a rebase may be a command's.
    pub(crate) fn is_new_todo(&self, file: &Path) -> bool {
        self.todos.contains_key(file) || !self.is_older(file)
    }

    /// What a rebase had yet to run.
    pub(crate) fn todo(&self, file: &Path) -> Option<&BTreeSet<Vec<u8>>> {
        self.todos.get(file)
    }
}

impl Mark {
    /// As text without a slash.
    pub(crate) fn written(&self) -> String {
        let (device, number, made) = self.birth;
        let made = made.and_then(|made| made.duration_since(SystemTime::UNIX_EPOCH).ok()).map(|made| made.as_nanos());
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let state = self.state.map(|state| state.to_string());
        format!("{device} {number} {} {}", or_none(made.map(|made| made.to_string())), or_none(state))
    }

    /// What was written.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let [device, number, made, state] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let made = match made {
            "-" => None,
            made => Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(made.parse().ok()?)),
        };
        let state = if state == "-" { None } else { Some(state.parse().ok()?) };
        Some(Self { birth: (device.parse().ok()?, number.parse().ok()?, made), state })
    }
}

pub(crate) fn birth(path: &Path) -> Option<Birth> {
    fs::symlink_metadata(path).ok().as_ref().map(birth_of)
}

pub(crate) fn birth_of(found: &fs::Metadata) -> Birth {
    (found.dev(), found.ino(), found.created().ok())
}

/// When something last changed, which no command can set.
pub(crate) fn changed(found: &fs::Metadata) -> SystemTime {
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(part(found.ctime())) + Duration::from_nanos(part(found.ctime_nsec()))
}

/// All that decides what git runs in a folder, or where it leads.
fn places_deciding(git: &Path, facts: &Facts) -> Vec<PathBuf> {
    let hooks = git.join("hooks");
    let inside = entries(&hooks);
    let files = SETTINGS.iter().chain(&["commondir"]).map(|name| git.join(name));
    let leads = facts.of(git).is_some_and(|found| !found.is_dir()).then(|| git.to_path_buf());
    files.chain([hooks]).chain(inside).chain(leads).chain(leading(git, facts)).collect()
}

/// What in a git folder leads elsewhere besides its settings.
fn leading(git: &Path, facts: &Facts) -> Vec<PathBuf> {
    list_leading(git, &facts.listed);
    let is_missing = |place: &Path| facts.listed.holds(place) == Some(false);
    let inside = |place: &Path| if is_missing(place) { BTreeSet::new() } else { entries(place) };
    let places = LEADING.iter().map(|name| git.join(name));
    places.flat_map(|place| inside(&place).into_iter().chain([place])).collect()
}

/// What can't be read even so is another's, and counts by itself.
fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let inside = unreadable::entries(folder).unwrap_or_default();
    inside.into_iter().map(|entry| folder.join(entry.name)).collect()
}

/// Where something in a git folder was when that folder was here.
fn at_its_old_place(place: &Path, git: &Path, item: &Path) -> PathBuf {
    item.strip_prefix(git).map_or_else(|_| item.to_path_buf(), |below| place.join(below))
}

/// The state of all that decides what git runs in a folder.
fn deciding(git: &Path) -> u64 {
    let (mut state, facts) = (DefaultHasher::new(), Facts::default());
    places_deciding(git, &facts).iter().map(|path| facts.stamp(path)).collect::<Vec<_>>().hash(&mut state);
    state.finish()
}

/// How long it takes until every change gives another stamp; nothing if every one does.
pub(crate) fn unsettled_for((_, seconds, nanos, _): Stamp) -> Option<Duration> {
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    let changed = Duration::from_secs(part(seconds)) + Duration::from_nanos(part(nanos));
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + changed).ok()?;
    UNSETTLED.checked_sub(age)
}

pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    fs::symlink_metadata(path).ok().as_ref().map(stamp_of)
}

pub(crate) fn stamp_of(found: &fs::Metadata) -> Stamp {
    (found.ino(), found.ctime(), found.ctime_nsec(), found.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::index::Indexes;

    fn repository(dot_git: &Path) -> Repository {
        Repository::at(dot_git.to_path_buf(), &mut Indexes::default(), &Facts::default())
    }

    fn is_commands(known: &Known, path: &Path) -> bool {
        known.is_commands(path, &Facts::default())
    }

    #[test]
    fn what_no_box_protects_is_the_commands_once_it_changed_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a/.git/hooks", "b/.git/hooks"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let (a, b) = (repository(&at("a/.git")), repository(&at("b/.git")));
        let mut known = Known::of([(&a, true), (&b, true)].into_iter(), &Facts::default());
        fs::write(at("a/.git/config"), "x").unwrap();
        assert!(!is_commands(&known, &at("a/.git")), "no command could do that");
        known.only_these_are_protected(&BTreeSet::from([at("b/.git")]));
        assert!(!is_commands(&known, &at("a/.git")) && !known.is_protected(&at("a/.git")));
        fs::rename(at("a"), at("moved")).unwrap();
        assert!(is_commands(&known, &at("moved/.git")), "git may enter it there");
        fs::rename(at("moved"), at("a")).unwrap();
        assert!(!is_commands(&known, &at("a/.git")));
        fs::write(at("a/.git/config"), "longer").unwrap();
        fs::write(at("b/.git/hooks/pre-commit"), "").unwrap();
        assert!(is_commands(&known, &at("a/.git")) && !is_commands(&known, &at("b/.git")));
        fs::rename(at("b"), at("moved")).unwrap();
        fs::create_dir_all(at("b/.git")).unwrap();
        assert!(
            is_commands(&known, &at("b/.git")) && !is_commands(&known, &at("moved/.git")),
            "another one in its place"
        );
    }

    #[test]
    fn what_is_older_than_all_commands_is_the_persons_unless_it_came_from_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a/.git", "b/.git", "data"] {
            fs::create_dir_all(at(name)).unwrap();
            fs::write(at(name).join("config"), "[alias]\nx = !mine").unwrap();
        }
        fs::create_dir(at("c")).unwrap();
        std::thread::sleep(COARSE * 3);
        let known = Known::default().since(SystemTime::now());
        assert!(!is_commands(&known, &at("a/.git")), "only not found in time");
        fs::rename(at("data"), at("c/.git")).unwrap();
        fs::write(at("b/.git/config"), "[core]\nfsmonitor = evil").unwrap();
        assert!(is_commands(&known, &at("c/.git")) && is_commands(&known, &at("b/.git")));
        fs::write(at("a/file"), "").unwrap();
        assert!(!is_commands(&known, &at("a/.git")), "what is beside it may change");
    }

    #[test]
    fn what_changed_just_now_is_known_once_every_change_can_be_told() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        fs::write(&config, "one").unwrap();
        assert!(unsettled_for(stamp(&config).unwrap()).is_some());
        let mut known = Known::default();
        known.leave_open(folder.path());
        assert!(!is_commands(&known, folder.path()) && unsettled_for(stamp(&config).unwrap()).is_none());
        fs::write(&config, "two").unwrap();
        assert!(is_commands(&known, folder.path()), "as long, and right after");
    }

    #[test]
    fn marks_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/.git")).unwrap();
        fs::create_dir_all(at("b/.git")).unwrap();
        let (a, b) = (repository(&at("a/.git")), repository(&at("b/.git")));
        let known = Known::of([(&a, true), (&b, false)].into_iter(), &Facts::default());
        let written = known.marks().into_iter().map(|(path, mark)| (path, Mark::read(&mark.written()).unwrap()));
        let again = Known::again(written);
        assert_eq!((&again.protected, &again.open), (&known.protected, &known.open));
        for odd in ["", "1 2 3", "1 2 x -", "1 2 - - -"] {
            assert_eq!(Mark::read(odd), None, "{odd}");
        }
    }
}
