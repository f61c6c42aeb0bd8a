//! Watches over the folders of a session from before a command to after it: what is there when nothing runs is the
//! person's; what is there after a command and was not before is looked at as the command's.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use crate::after::hands::Hands;
use crate::after::known::{Birth, COARSE, Known, Mark, Stamp, birth, stamp};
use crate::after::traces::Note;
use crate::git::check::{Aftermath, Repository, mend};
use crate::git::index::Indexes;
use crate::survey::facts::Facts;
use crate::survey::search::{Found, MOST_SECRETS, Search};

/// The most repositories that are looked at. Where a command made more, no other runs.
const MOST_REPOSITORIES: usize = 2000;

/// How many of those that were too many are named.
const MOST_NAMED: usize = 10;

/// What watches over the folders of a session.
#[derive(Debug)]
pub(crate) struct Watch {
    roots: Vec<PathBuf>,
    hands: Vec<Hands>,
    searches: Vec<Search>,
    /// Whether commands write at all.
    writes: bool,
    /// Before the first command.
    since: SystemTime,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Boxes that are there now, and how many of them last.
    boxes: usize,
    lasting: usize,
    /// Settings below the top that were there when no box was, and when that was.
    settings: Option<(HashMap<PathBuf, Option<Birth>>, SystemTime)>,
    /// Git folders, and what leads to them, as they were when no box was there.
    known: Known,
    /// Hands for git folders outside of the roots.
    outside: Vec<Hands>,
    /// What could not be put aside.
    left: Vec<PathBuf>,
    /// Files that act later, as they were when no box was there.
    acting: HashMap<PathBuf, Option<Stamp>>,
    /// What came of a command that nobody waited for.
    untold: Aftermath,
    indexes: Indexes,
    /// Whether not everything was looked at after a command: nothing new is the person's until it was.
    unsettled: bool,
}

/// Every repository that there is.
struct Repositories {
    all: Vec<Repository>,
    /// What leads to others.
    too_many: Vec<PathBuf>,
}

/// One box that is watched; ends with it.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) watch: Arc<Watch>,
    /// Whether others work beside it.
    pub(crate) lasting: bool,
    over: bool,
}

impl Watch {
    /// For folders that commands work in, and whether they write to them; what is `readable` is no secret.
    pub(crate) fn new(roots: &[PathBuf], writes: bool, readable: &[PathBuf]) -> io::Result<Self> {
        Ok(Self {
            roots: roots.to_vec(),
            hands: roots.iter().map(|root| Hands::open(root)).collect::<io::Result<_>>()?,
            searches: roots.iter().map(|root| Search::new(root.clone(), readable.to_vec())).collect(),
            writes,
            since: SystemTime::now(),
            state: Mutex::default(),
        })
    }

    /// The same for what another process watched over since then.
    pub(crate) fn instead_of(mut self, since: SystemTime) -> Self {
        self.since = since;
        self
    }

    /// Begins to watch one more box, and says what is there, with what was seen of it for whoever draws its plan. While
    /// one `lasting` box is there others work too.
    /// Fails when something is there that no command must find.
    pub(crate) fn begin(self: &Arc<Self>, lasting: bool) -> io::Result<(Found, Facts, Watched)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.left.retain(|path| !is_gone(path));
        if let Some(path) = state.left.first() {
            let words = "a command made what it must not make, and it could not be put aside: no other command runs \
                         until it is gone";
            return Err(io::Error::other(format!("{}: {words}", path.display())));
        }
        let mut facts = Facts::default();
        let look = if state.unsettled { Search::found_wholly } else { Search::found };
        let found = self.all(|search| look(search, &facts));
        if state.unsettled && found.in_part {
            let words = "there is too much in the workspace to be looked through after a command, so that no other one \
                         is run: work in a folder in it, or remove what the last command made";
            return Err(io::Error::other(words));
        }
        if found.too_many_secrets {
            let words = format!(
                "more than {MOST_SECRETS} files look like secrets, which is more than can be hidden: remove those that \
                 are none, or name them in sandbox.readable"
            );
            return Err(io::Error::other(words));
        }
        if state.boxes == 0 && self.writes {
            if state.unsettled {
                state.unsettled = false;
                let aftermath = self.look_after(&mut state, &found, &facts);
                state.left.extend(aftermath.left);
                // What was put aside is elsewhere.
                facts = Facts::default();
            }
            if !found.in_part || state.known.is_empty() {
                self.trust(&mut state, &found, &facts);
            }
        }
        state.boxes += 1;
        state.lasting += usize::from(lasting);
        Ok((found, facts, Watched { watch: Arc::clone(self), lasting, over: false }))
    }

    /// Whether a repository was there when nothing ran.
    pub(crate) fn is_persons(&self, dot_git: &Path) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.known.is_protected(dot_git)
    }

    /// What is known without a look.
    pub(crate) fn remembered(&self) -> Found {
        self.all(Search::remembered)
    }

    /// What nobody was told of yet.
    pub(crate) fn take_untold(&self) -> Aftermath {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).untold)
    }

    /// Whoever comes next is told of this.
    pub(crate) fn leave_untold(&self, untold: Aftermath) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).untold.add(untold);
    }

    pub(crate) fn hands_for(&self, path: &Path) -> Option<&Hands> {
        self.hands.iter().filter(|hands| hands.reach(path)).max_by_key(|hands| hands.depth())
    }

    fn all(&self, look: impl Fn(&Search) -> Found) -> Found {
        let mut all = Found::default();
        for found in self.searches.iter().map(look) {
            all.secrets.extend(found.secrets);
            all.repositories.extend(found.repositories);
            all.bare.extend(found.bare);
            all.settings.extend(found.settings);
            all.acting.extend(found.acting);
            all.others.extend(found.others);
            all.put_aside |= found.put_aside;
            all.too_many_secrets |= found.too_many_secrets;
            all.in_part |= found.in_part;
        }
        all
    }

    /// What is there while nothing runs is the person's, or was looked at.
    fn trust(&self, state: &mut State, found: &Found, facts: &Facts) {
        let settings = found.settings.iter().map(|path| (path.clone(), birth(path)));
        state.settings = Some((settings.collect(), SystemTime::now()));
        state.acting = found.acting.iter().map(|path| (path.clone(), stamp(path))).collect();
        let protected: HashSet<&PathBuf> = found.repositories.iter().map(|(path, _)| path).collect();
        let is_protected = |dot_git: &PathBuf| {
            protected.contains(dot_git) || self.roots.iter().any(|root| root.join(".git") == *dot_git)
        };
        let repositories = self.repositories(state, found, facts).all;
        let each = repositories.iter().map(|repository| (repository, is_protected(&repository.dot_git)));
        state.known = Known::of(each, facts).since(self.since);
        let folders: BTreeSet<&PathBuf> = repositories.iter().flat_map(|repository| &repository.folders).collect();
        state.outside.clear();
        // Those above come before those below, which their hands reach, too.
        for folder in folders.into_iter().filter(|folder| self.hands_for(folder).is_none()) {
            if !state.outside.iter().any(|hands| hands.reach(folder)) {
                state.outside.extend(Hands::open(folder).ok());
            }
        }
    }

    /// Every repository: those that were found, and those that git enters from them wherever they are, which come
    /// before others that nobody enters.
    fn repositories(&self, state: &mut State, found: &Found, facts: &Facts) -> Repositories {
        let at_the_top = self.roots.iter().map(|root| root.join(".git"));
        let below = found.repositories.iter().map(|(path, _)| path.clone());
        let mut waiting: VecDeque<PathBuf> = at_the_top.chain(below).chain(found.others.iter().cloned()).collect();
        let mut seen = HashSet::new();
        let mut repositories = Repositories { all: Vec::new(), too_many: Vec::new() };
        for folder in &found.bare {
            let repository = Repository::by_itself(folder, &mut state.indexes, facts);
            waiting.extend(repository.enters.iter().cloned());
            repositories.all.push(repository);
        }
        while let Some(dot_git) = waiting.pop_front() {
            if !seen.insert(dot_git.clone()) || !facts.is_there(&dot_git) {
                continue;
            }
            if repositories.all.len() >= MOST_REPOSITORIES {
                repositories.too_many.push(dot_git);
                continue;
            }
            let repository = Repository::at(dot_git, &mut state.indexes, facts);
            repository.enters.iter().for_each(|next| waiting.push_front(next.clone()));
            // What lies elsewhere no command could change.
            let remotes = repository.remotes.iter().filter(|remote| self.hands_for(remote).is_some());
            waiting.extend(remotes.cloned());
            repositories.all.push(repository);
        }
        repositories
    }

    /// What is known to be the person's, for whoever comes after this process.
    pub(crate) fn notes(&self) -> Vec<Note> {
        if !self.writes {
            return Vec::new();
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = self.roots.iter().map(|path| Note::Root(path.clone(), self.since));
        roots.chain(state.known.marks().into_iter().map(|(path, mark)| Note::Known(path, mark))).collect()
    }

    /// Looks at what a command made whose process was killed; these git folders were there before.
    pub(crate) fn sweep(&self, known: impl Iterator<Item = (PathBuf, Mark)>, aftermath: &mut Aftermath) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).known = Known::again(known).since(self.since);
        aftermath.add(self.end(true));
    }

    /// Looks at what a command made, and ends watching its box.
    fn end(&self, lasting: bool) -> Aftermath {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.boxes = state.boxes.saturating_sub(1);
        state.lasting = state.lasting.saturating_sub(usize::from(lasting));
        if !self.writes {
            return Aftermath::default();
        }
        let facts = Facts::default();
        let found = self.all(|search| search.found_wholly(&facts));
        state.unsettled |= found.in_part;
        let mut aftermath = self.look_after(&mut state, &found, &facts);
        // Beside what lasts others make settings too: nobody could tell whose they are.
        if !lasting && state.lasting == 0 {
            let new = found.settings.iter().filter(|path| state.is_new_setting(path));
            for path in new.collect::<Vec<_>>() {
                if let Some(hands) = self.hands_for(path) {
                    aftermath.note(path, hands.put_aside(path, "refused"));
                }
            }
        }
        let acting = state.take_changed(found.acting);
        match lasting {
            // Nobody waits for it: it is told with the next one.
            true => state.untold.acting.extend(acting),
            false => aftermath.acting = acting,
        }
        aftermath
    }

    /// Puts aside what a command made of what was found.
    fn look_after(&self, state: &mut State, found: &Found, facts: &Facts) -> Aftermath {
        let mut aftermath = Aftermath::default();
        let Repositories { all: repositories, too_many } = self.repositories(state, found, facts);
        let too_many = too_many.into_iter().filter(|dot_git| state.known.is_commands(dot_git, facts));
        aftermath.left.extend(too_many.take(MOST_NAMED));
        // What no hands reach no command could change.
        let hands_for =
            |path: &Path| self.hands_for(path).or_else(|| state.outside.iter().find(|hands| hands.reach(path)));
        repositories.iter().for_each(|repository| repository.mend(&state.known, facts, hands_for, &mut aftermath));
        let folders: BTreeSet<&PathBuf> = repositories.iter().flat_map(|repository| &repository.folders).collect();
        for folder in folders.into_iter().filter(|folder| state.known.is_commands(folder, facts)) {
            if let Some(hands) = hands_for(&folder.join("config")) {
                mend(folder, &state.known, hands, &mut aftermath);
            }
        }
        aftermath
    }
}

impl State {
    /// Which of these files that act later are not as they were. From now on they are as they are.
    fn take_changed(&mut self, acting: Vec<PathBuf>) -> Vec<PathBuf> {
        let now: HashMap<PathBuf, Option<Stamp>> = acting.iter().map(|path| (path.clone(), stamp(path))).collect();
        let before = std::mem::replace(&mut self.acting, now);
        let is_changed = |path: &PathBuf| match (before.get(path), self.acting.get(path).copied().flatten()) {
            // It was put aside.
            (_, None) => false,
            (Some(before), now) => *before != now,
            (None, Some(_)) => !self.known.is_older(path),
        };
        acting.into_iter().filter(is_changed).collect()
    }

    /// Whether a command put settings into a folder that was there before it, or others in the place of some. What
    /// comes with a folder of its own, as in a clone, nobody has opened yet.
    fn is_new_setting(&self, path: &Path) -> bool {
        let Some((before, when)) = &self.settings else { return false };
        match before.get(path) {
            Some(known) => *known != birth(path),
            None => {
                let made = path.parent().and_then(|folder| fs::symlink_metadata(folder).ok()?.created().ok());
                made.is_none_or(|made| made + COARSE < *when)
            }
        }
    }
}

impl Watched {
    /// Looks at what the command made.
    pub(crate) fn end(mut self) -> Aftermath {
        self.over = true;
        self.watch.end(self.lasting)
    }

    /// Says which git folders, and what leads to them, the box protects, before anything runs in it.
    pub(crate) fn protects(&self, kept: &BTreeSet<PathBuf>) {
        let mut state = self.watch.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.known.only_these_are_protected(kept);
    }

    /// No other command runs until these are gone.
    pub(crate) fn hold_up(watch: &Watch, left: &[PathBuf]) {
        watch.state.lock().unwrap_or_else(PoisonError::into_inner).left.extend_from_slice(left);
    }
}

/// Whether nothing is there; what can't be reached may be.
fn is_gone(path: &Path) -> bool {
    let gone = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    fs::symlink_metadata(path).is_err_and(|error| gone.contains(&error.kind()))
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.over {
            self.watch.end(self.lasting);
        }
    }
}
