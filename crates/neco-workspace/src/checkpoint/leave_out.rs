//! What is no part of a state: what git ignores, what is too long, what holds secrets.
//!
//! What git tracks is not ignored, whatever a rule says: that is how git sees it. Rules come from
//! `.gitignore` files, the repository's `info/exclude` and the person's own file for all repositories,
//! the nearest deciding. `.ignore` files play no part: they are about searching.

use std::cell::OnceCell;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use neco_proto::Diff;
use neco_proto::event::LeftOutWhy;
use neco_safety::path::sensitive::holds_secrets;

use super::restore::Interrupted;
use crate::bytes::fingerprint;
use crate::changed::tracked;
use crate::git;
use crate::rules::{content_of, rules_in};

/// What a person decides about it.
#[derive(Clone, Debug)]
pub struct LeaveOutSettings {
    /// Bytes of a file that is still kept.
    pub max_file_bytes: u64,
    /// Most files of a workspace.
    pub max_files: usize,
    /// More patterns of what is left out, seen from the workspace.
    pub patterns: Vec<String>,
    /// The person's ignore file for all repositories.
    pub excludes_file: Option<PathBuf>,
    /// Where Neco keeps everything, should that be inside: no part of any state, and never touched.
    pub own: Option<PathBuf>,
}

impl Default for LeaveOutSettings {
    fn default() -> Self {
        Self { max_file_bytes: 5_000_000, max_files: 100_000, patterns: Vec::new(), excludes_file: None, own: None }
    }
}

/// The rules for one look at a workspace.
pub struct LeaveOut<'a> {
    root: &'a Path,
    /// Where Neco keeps things, should that be inside.
    store: &'a Path,
    settings: &'a LeaveOutSettings,
    own: Option<Gitignore>,
    excludes: Option<Gitignore>,
    /// Names all rules that hold everywhere.
    key: u64,
    /// The repository around the root: its top and its git folder.
    repository: Option<(PathBuf, PathBuf)>,
    tracked: OnceCell<Vec<Vec<u8>>>,
    cut_short: OnceCell<bool>,
    /// Files that are kept although they are ignored now.
    wanted: &'a [Vec<u8>],
}

/// The rules of a folder and of those above it.
#[derive(Debug)]
pub struct FolderRules {
    own: Option<Gitignore>,
    /// Set for the top of a working tree: rules from above end here, and these come last.
    repository: Option<Option<Gitignore>>,
    above: Option<Arc<FolderRules>>,
    /// Set for a folder that is ignored but holds files that are tracked or wanted: only those count.
    is_ignored: bool,
    /// Names these rules and those above them.
    key: u64,
}

/// What is decided of something by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is part of the state.
    Part,
    /// It is, although a rule ignores it: it is tracked, or wanted.
    PartAnyhow,
    /// It is no part of it.
    LeftOut(LeftOutWhy),
}

impl<'a> LeaveOut<'a> {
    /// The rules of a workspace. `wanted`, sorted, are files that are kept even if they are ignored.
    pub fn new(root: &'a Path, store: &'a Path, settings: &'a LeaveOutSettings, wanted: &'a [Vec<u8>]) -> Self {
        let repository = git::repository_of(root).map(|(top, git)| (top.to_path_buf(), git));
        let top = repository.as_ref().map_or(root, |(top, _)| top);
        let (excludes, excluded) = match settings.excludes_file.as_deref() {
            Some(file) => rules_and_key(top, file),
            None => (None, 0),
        };
        let key = settings_key(settings, [root, store], excluded);
        Self {
            root,
            store,
            settings,
            own: patterns(root, &settings.patterns),
            excludes,
            key,
            repository,
            tracked: OnceCell::new(),
            cut_short: OnceCell::new(),
            wanted,
        }
    }

    /// The rules of the folders above the workspace, as far as its repository goes.
    pub fn above(&self) -> Option<Arc<FolderRules>> {
        let (top, git) = self.repository.as_ref()?;
        let mut folders: Vec<&Path> =
            self.root.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
        folders.reverse();
        let mut rules = None;
        for folder in folders {
            rules = folder_rules(folder, true, (folder == top).then(|| Some(git.clone())), rules);
        }
        rules
    }

    /// The rules of a folder among whose names `has_rules` and `has_git` were seen.
    pub fn enter(
        &self,
        folder: &Path,
        has_rules: bool,
        has_git: bool,
        above: Option<Arc<FolderRules>>,
    ) -> Option<Arc<FolderRules>> {
        let git = has_git.then(|| match &self.repository {
            Some((top, git)) if top == folder => Some(git.clone()),
            Some(_) | None => git::git_folder(folder),
        });
        folder_rules(folder, has_rules, git, above)
    }

    /// The rules that those of a folder below are added to: in one that is ignored nothing else counts.
    pub fn on_the_way(&self, rules: Option<&Arc<FolderRules>>, folder: &Path) -> Option<Arc<FolderRules>> {
        if !self.is_ignored(rules.map(AsRef::as_ref), folder, true) {
            return rules.cloned();
        }
        Some(Arc::new(FolderRules { own: None, repository: None, above: None, is_ignored: true, key: 0 }))
    }

    /// A name for all rules that hold in a folder; nothing where more than rules decides.
    pub fn key(&self, rules: Option<&FolderRules>) -> Option<u64> {
        let only_rules = self.wanted.is_empty() && rules.is_none_or(|rules| !rules.is_ignored);
        only_rules.then(|| key_of([self.key, rules.map_or(0, |rules| rules.key)]))
    }

    /// Whether this is where a version control system, or Neco, keeps its own: it is never looked into, never touched
    /// and never listed.
    pub fn is_nobodys(&self, path: &Path, name: &[u8]) -> bool {
        Diff::REPOSITORIES.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
            // Byte by byte: both are whole paths, and this is asked of every file.
            || path.as_os_str() == self.store.as_os_str()
            || self.settings.own.as_deref().is_some_and(|own| own.as_os_str() == path.as_os_str())
    }

    /// Whether a restore was cut short, and nobody was told yet.
    pub fn is_cut_short(&self) -> bool {
        *self.cut_short.get_or_init(|| Interrupted::is_marked(self.store))
    }

    /// Whether something is part of a state, as far as its name tells.
    pub fn decide(&self, rules: Option<&FolderRules>, path: &Path, is_folder: bool) -> Decision {
        if holds_secrets(path, is_folder) {
            return Decision::LeftOut(LeftOutWhy::Secret);
        }
        if says(self.own.as_ref(), path, is_folder) == Some(true) {
            return Decision::LeftOut(LeftOutWhy::Ignored);
        }
        if !self.is_ignored(rules, path, is_folder) {
            return Decision::Part;
        }
        if self.is_tracked(path, is_folder) || self.is_wanted(path, is_folder) {
            return Decision::PartAnyhow;
        }
        Decision::LeftOut(LeftOutWhy::Ignored)
    }

    /// Whether a file would be part of a state that is not there yet.
    pub fn would_take(&self, below: &Path) -> bool {
        let (mut rules, mut at) = (self.above(), self.root.to_path_buf());
        let mut names = below.components().peekable();
        while let Some(name) = names.next() {
            let has = |name: &str| at.join(name).exists();
            rules = self.enter(&at, has(".gitignore"), has(".git"), rules);
            at.push(name);
            let is_left_out =
                matches!(self.decide(rules.as_deref(), &at, names.peek().is_some()), Decision::LeftOut(_));
            if is_left_out || self.is_nobodys(&at, name.as_os_str().as_bytes()) {
                return false;
            }
        }
        true
    }

    /// Whether a file of that length is too long.
    pub fn is_too_big(&self, bytes: u64) -> bool {
        bytes > self.settings.max_file_bytes
    }

    /// Most files.
    pub fn max_files(&self) -> usize {
        self.settings.max_files
    }

    fn is_ignored(&self, rules: Option<&FolderRules>, path: &Path, is_folder: bool) -> bool {
        let said = rules.and_then(|rules| rules.say(path, is_folder));
        said.or_else(|| says(self.excludes.as_ref(), path, is_folder)).unwrap_or(false)
    }

    fn is_tracked(&self, path: &Path, is_folder: bool) -> bool {
        let Some((top, git)) = &self.repository else { return false };
        let Ok(below) = path.strip_prefix(top) else { return false };
        // Asked only about what is ignored, so most looks at a workspace read it once or never.
        let tracked = self.tracked.get_or_init(|| tracked(git).unwrap_or_default());
        holds(tracked, below.as_os_str().as_bytes(), is_folder)
    }

    fn is_wanted(&self, path: &Path, is_folder: bool) -> bool {
        let below = path.strip_prefix(self.root).unwrap_or(path);
        holds(self.wanted, below.as_os_str().as_bytes(), is_folder)
    }
}

impl FolderRules {
    fn say(&self, path: &Path, is_folder: bool) -> Option<bool> {
        if self.is_ignored {
            return Some(true);
        }
        let mut folder = Some(self);
        while let Some(here) = folder {
            let said = says(here.own.as_ref(), path, is_folder);
            if said.is_some() {
                return said;
            }
            if let Some(exclude) = &here.repository {
                return says(exclude.as_ref(), path, is_folder);
            }
            folder = here.above.as_deref();
        }
        None
    }
}

/// The rules of a folder; `git` is its git folder, if it has something that is called so.
fn folder_rules(
    folder: &Path,
    has_rules: bool,
    git: Option<Option<PathBuf>>,
    above: Option<Arc<FolderRules>>,
) -> Option<Arc<FolderRules>> {
    if above.as_ref().is_some_and(|above| above.is_ignored) {
        return above;
    }
    let (own, own_key) = if has_rules { rules_and_key(folder, &folder.join(".gitignore")) } else { (None, 0) };
    let exclude = git.map(|git| match git {
        Some(git) => rules_and_key(folder, &git::exclude_file(&git)),
        None => (None, 0),
    });
    if own.is_none() && exclude.is_none() {
        return above;
    }
    let exclude_key = exclude.as_ref().map_or(0, |(_, key)| key.wrapping_add(1));
    let key = key_of([own_key, exclude_key, above.as_ref().map_or(0, |above| above.key)]);
    let repository = exclude.map(|(rules, _)| rules);
    Some(Arc::new(FolderRules { own, repository, above, is_ignored: false, key }))
}

/// The rules of a file for a folder, and a name for them.
fn rules_and_key(folder: &Path, file: &Path) -> (Option<Gitignore>, u64) {
    let Some(content) = content_of(file) else { return (None, 0) };
    (rules_in(folder, file, &content), fingerprint(&content))
}

/// Everything else that decides what is left out. Another version may know other secrets.
fn settings_key(settings: &LeaveOutSettings, [root, store]: [&Path; 2], excluded: u64) -> u64 {
    let own = settings.own.as_deref().unwrap_or(store);
    let paths = [root, store, own].map(|path| path.as_os_str().as_bytes());
    let patterns = settings.patterns.iter().map(String::as_bytes);
    let keys = [env!("CARGO_PKG_VERSION").as_bytes()].into_iter().chain(paths).chain(patterns).map(fingerprint);
    key_of(keys.chain([settings.max_file_bytes, excluded]))
}

fn key_of(parts: impl IntoIterator<Item = u64>) -> u64 {
    fingerprint(&parts.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

/// Whether sorted paths hold this one, or one below it.
fn holds(paths: &[Vec<u8>], path: &[u8], is_folder: bool) -> bool {
    if !is_folder {
        return paths.binary_search_by(|own| own.as_slice().cmp(path)).is_ok();
    }
    let below = [path, b"/"].concat();
    let at = paths.partition_point(|own| own.as_slice() < below.as_slice());
    paths.get(at).is_some_and(|own| own.starts_with(&below))
}

fn says(rules: Option<&Gitignore>, path: &Path, is_folder: bool) -> Option<bool> {
    match rules?.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn patterns(root: &Path, patterns: &[String]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        // What is no pattern fits nothing; the settings' check can't know.
        let _ = builder.add_line(None, pattern);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
