//! What of the machine is seen in a box, and how: the plan that bubblewrap and Landlock both follow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::level::{Level, Settings};
use super::linked_git;
use super::names::{SECRETS_AT_HOME, SETTINGS, START_UP, START_UP_FOLDERS};
use super::search::Found;

/// How a path is seen in the box. What comes later in this list wins where two are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    /// As it is, and changeable.
    Writable,
    /// As it is.
    ReadOnly,
    /// As an empty folder that can't be changed, although there is nothing on the machine. Also for
    /// what would be a file: git does not list empty folders.
    StandIn,
    /// As a file that can't be read.
    HiddenFile,
    /// As a folder that can't be looked into.
    HiddenFolder,
    /// As a folder with nothing in it but what the box itself puts there.
    Emptied,
    /// A folder that the person chose to work in.
    Root,
}

/// Where the commands of a session work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The folders that are worked in: the workspace and those the person added.
    pub writable: Vec<PathBuf>,
    /// Folders that are seen although they lie in a hidden one.
    pub readable: Vec<PathBuf>,
}

/// Where things of this machine are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) home: Option<PathBuf>,
    /// Folders with what is ours: settings, keys, sessions.
    pub(super) own: Vec<PathBuf>,
    /// Folders for every box: temporary files, caches.
    pub(super) given: Vec<PathBuf>,
    /// What stands where nothing is, for other boxes.
    pub(super) stand_ins: BTreeSet<PathBuf>,
}

/// The plan of a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Every path that is not simply seen and not changed, those above before those below.
    pub(super) places: Vec<(PathBuf, Seen)>,
    /// Files that git would follow elsewhere, which are taken away again if a command makes them.
    pub(super) unwanted: Vec<PathBuf>,
}

impl Layout {
    /// The plan for these settings.
    pub(super) fn new(settings: &Settings, machine: &Machine, roots: &Roots, found: &Found) -> Self {
        let stand_ins = &machine.stand_ins;
        let mut drawing = Drawing { settings, stand_ins, places: BTreeMap::new(), unwanted: Vec::new() };
        match settings.level {
            Level::WorkspaceWrite => drawing.work_in(machine, roots, found),
            Level::ReadOnly => {}
            Level::Full => return Self::default(),
        }
        for path in roots.readable.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            drawing.put(path, Seen::ReadOnly);
        }
        for path in machine.given.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            drawing.put(path, Seen::Root);
        }
        drawing.hide(machine, found);
        drawing.finish()
    }

    /// The paths that are seen so.
    pub(super) fn seen_as(&self, wanted: &[Seen]) -> impl Iterator<Item = &PathBuf> {
        self.places.iter().filter(move |(_, seen)| wanted.contains(seen)).map(|(path, _)| path)
    }
}

struct Drawing<'a> {
    settings: &'a Settings,
    stand_ins: &'a BTreeSet<PathBuf>,
    places: BTreeMap<PathBuf, Seen>,
    unwanted: Vec<PathBuf>,
}

impl Drawing<'_> {
    fn put(&mut self, path: PathBuf, seen: Seen) {
        let place = self.places.entry(path).or_insert(seen);
        *place = seen.max(*place);
    }

    fn work_in(&mut self, machine: &Machine, roots: &Roots, found: &Found) {
        for root in roots.writable.iter().chain(&self.settings.writable) {
            if let Some(root) = fs::canonicalize(root).ok().filter(|root| !is_of_the_system(root)) {
                self.put(root, Seen::Root);
            }
        }
        for root in &roots.writable {
            SETTINGS.iter().for_each(|name| self.keep(root.join(name)));
            if let Some(home) = machine.home.as_ref().filter(|home| home.starts_with(root)) {
                START_UP.iter().for_each(|name| self.keep(home.join(name)));
                START_UP_FOLDERS.iter().for_each(|name| self.keep_what_is_there(&home.join(name)));
            }
        }
        for repository in &found.repositories {
            self.keep_git(repository);
        }
    }

    /// A repository stays where it is, and what decides what git runs stays as it is.
    fn keep_git(&mut self, git: &Path) {
        let Ok(kind) = fs::symlink_metadata(git) else { return };
        if !kind.is_dir() {
            self.keep_what_is_there(git);
            if let Some(linked) = linked_git::folders_of(git) {
                self.put(linked.own.clone(), Seen::Writable);
                self.keep_git_folder(&linked.shared);
            }
            return;
        }
        self.keep_git_folder(git);
    }

    fn keep_git_folder(&mut self, git: &Path) {
        // A place of its own can't be moved away.
        self.put(git.to_path_buf(), Seen::Writable);
        self.keep(git.join("hooks"));
        self.keep(git.join("config"));
        self.keep_what_is_there(&git.join("config.worktree"));
        for module in linked_git::modules_of(git) {
            self.keep(module.join("config"));
            self.keep(module.join("hooks"));
        }
        for file in ["commondir", "gitdir"] {
            let path = git.join(file);
            match fs::symlink_metadata(&path) {
                Ok(_) => self.keep_what_is_there(&path),
                // It can't be masked: git takes an empty one for a broken repository.
                Err(_) => self.unwanted.push(path),
            }
        }
    }

    /// It stays as it is, and stays away if it is not there.
    fn keep(&mut self, path: PathBuf) {
        if fs::symlink_metadata(&path).is_ok() && !self.stand_ins.contains(&path) {
            self.keep_what_is_there(&path);
        } else {
            self.put(path, Seen::StandIn);
        }
    }

    /// A link is kept by keeping what it leads to.
    fn keep_what_is_there(&mut self, path: &Path) {
        if let Ok(path) = fs::canonicalize(path) {
            self.put(path, Seen::ReadOnly);
        }
    }

    fn hide(&mut self, machine: &Machine, found: &Found) {
        let at_home = machine.home.iter().flat_map(|home| SECRETS_AT_HOME.iter().map(|name| home.join(name)));
        let everything = at_home.chain(machine.own.iter().cloned()).chain(found.secrets.iter().cloned());
        let wanted: Vec<PathBuf> = everything.filter(|path| !self.is_readable(path)).collect();
        for path in wanted.iter().chain(&self.settings.hidden) {
            let Ok(path) = fs::canonicalize(path) else { continue };
            let Ok(kind) = fs::metadata(&path) else { continue };
            if path.parent().is_none() {
                continue;
            }
            self.put(path, if kind.is_dir() { Seen::HiddenFolder } else { Seen::HiddenFile });
        }
    }

    fn is_readable(&self, path: &Path) -> bool {
        let names = |allowed: &PathBuf| path.file_name() == Some(allowed.as_os_str());
        self.settings.readable.iter().any(|allowed| path.starts_with(allowed) || names(allowed))
    }

    fn finish(mut self) -> Layout {
        let needed: Vec<PathBuf> =
            self.places.iter().filter(|(_, seen)| !is_hidden(**seen)).map(|(path, _)| path.clone()).collect();
        for (path, seen) in &mut self.places {
            let holds_needed = needed.iter().any(|inner| inner != path && inner.starts_with(path));
            if *seen == Seen::HiddenFolder && holds_needed {
                *seen = Seen::Emptied;
            }
        }
        // What lies in a hidden folder is hidden with it, unless a root leads there.
        let emptied: Vec<PathBuf> =
            self.places.iter().filter(|(_, seen)| **seen == Seen::HiddenFolder).map(|(path, _)| path.clone()).collect();
        let mut places: Vec<(PathBuf, Seen)> = self.places.into_iter().collect();
        places.retain(|(path, _)| !emptied.iter().any(|folder| folder != path && path.starts_with(folder)));
        places.sort_by_key(|(path, _)| path.components().count());
        Layout { places, unwanted: self.unwanted }
    }
}

/// Whether a folder is one that a box has to have of its own, or holds such.
pub(super) fn is_of_the_system(path: &Path) -> bool {
    let own = ["/dev", "/proc", "/sys"];
    path.parent().is_none() || own.iter().any(|own| path.starts_with(own)) || path == Path::new("/run")
}

fn is_hidden(seen: Seen) -> bool {
    match seen {
        Seen::HiddenFile | Seen::HiddenFolder | Seen::Emptied => true,
        Seen::Writable | Seen::ReadOnly | Seen::StandIn | Seen::Root => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neco_config::section::SandboxSection;

    struct Stage {
        _folder: tempfile::TempDir,
        home: PathBuf,
        workspace: PathBuf,
    }

    fn stage() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap().join("home");
        let workspace = home.join("work");
        for path in [".ssh", ".aws", ".config/neco", ".local/share/neco/outputs", "work/.git/hooks", "work/.vscode"] {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in ["work/.git/config", "work/.env", ".netrc"] {
            fs::write(home.join(path), "x").unwrap();
        }
        Stage { _folder: folder, home, workspace }
    }

    fn draw(stage: &Stage, section: &SandboxSection, workspace: &Path) -> Layout {
        let settings = Settings::of(section, Some(&stage.home));
        let machine = Machine {
            home: Some(stage.home.clone()),
            own: vec![stage.home.join(".config/neco"), stage.home.join(".local/share/neco")],
            given: Vec::new(),
            stand_ins: BTreeSet::new(),
        };
        let roots = Roots {
            writable: vec![workspace.to_path_buf()],
            readable: vec![stage.home.join(".local/share/neco/outputs")],
        };
        let found = Found {
            secrets: vec![stage.workspace.join(".env")],
            repositories: vec![stage.workspace.join(".git")],
            incomplete: false,
        };
        Layout::new(&settings, &machine, &roots, &found)
    }

    fn seen(layout: &Layout, path: &Path) -> Option<Seen> {
        layout.places.iter().find(|(own, _)| own == path).map(|(_, seen)| *seen)
    }

    #[test]
    fn the_workspace_is_writable_and_what_matters_in_it_is_not() {
        let stage = stage();
        let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
        let at = |path: &str| seen(&layout, &stage.workspace.join(path));
        assert_eq!(at(""), Some(Seen::Root));
        assert_eq!(at(".git"), Some(Seen::Writable));
        assert_eq!((at(".git/hooks"), at(".git/config")), (Some(Seen::ReadOnly), Some(Seen::ReadOnly)));
        assert_eq!((at(".vscode"), at(".claude")), (Some(Seen::ReadOnly), Some(Seen::StandIn)));
        assert_eq!((at(".mcp.json"), at(".env")), (Some(Seen::StandIn), Some(Seen::HiddenFile)));
        assert_eq!(layout.unwanted, [stage.workspace.join(".git/commondir"), stage.workspace.join(".git/gitdir")]);
        let depth = |place: &(PathBuf, Seen)| place.0.components().count();
        assert!(layout.places.is_sorted_by_key(depth));
    }

    #[test]
    fn secrets_at_home_are_hidden_and_what_the_box_needs_there_is_not() {
        let stage = stage();
        let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
        let at = |path: &str| seen(&layout, &stage.home.join(path));
        assert_eq!((at(".ssh"), at(".netrc")), (Some(Seen::HiddenFolder), Some(Seen::HiddenFile)));
        assert_eq!((at(".config/neco"), at(".kube")), (Some(Seen::HiddenFolder), None));
        assert_eq!(
            (at(".local/share/neco"), at(".local/share/neco/outputs")),
            (Some(Seen::Emptied), Some(Seen::ReadOnly))
        );
        let allowed = SandboxSection { readable: vec!["~/.ssh".into(), ".env".into()], ..SandboxSection::default() };
        let layout = draw(&stage, &allowed, &stage.workspace);
        assert_eq!(
            (seen(&layout, &stage.home.join(".ssh")), seen(&layout, &stage.workspace.join(".env"))),
            (None, None)
        );
    }

    #[test]
    fn a_home_that_is_worked_in_keeps_what_starts_and_hides_what_is_secret() {
        let stage = stage();
        let layout = draw(&stage, &SandboxSection::default(), &stage.home);
        let at = |path: &str| seen(&layout, &stage.home.join(path));
        assert_eq!((at(""), at(".ssh")), (Some(Seen::Root), Some(Seen::HiddenFolder)));
        assert_eq!((at(".bashrc"), at(".config")), (Some(Seen::StandIn), Some(Seen::ReadOnly)));
        assert_eq!(at(".aws"), Some(Seen::HiddenFolder));
    }

    #[test]
    fn reading_only_leaves_nothing_to_change() {
        let stage = stage();
        let section =
            SandboxSection { level: Level::ReadOnly, writable: vec!["/tmp".into()], ..SandboxSection::default() };
        let layout = draw(&stage, &section, &stage.workspace);
        assert_eq!(layout.seen_as(&[Seen::Root, Seen::Writable]).count(), 0);
        assert_eq!(seen(&layout, &stage.workspace.join(".env")), Some(Seen::HiddenFile));
    }
}
