//! What of the machine is seen in a box, and how: the plan that bubblewrap and Landlock both follow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::level::{Level, Settings};
use super::named::Named;
use super::names::{OWN_SETTINGS, SECRETS_AT_HOME, SETTINGS_FILES, SETTINGS_FOLDERS, START_UP, START_UP_FOLDERS};
use super::search::Found;

/// How a path is seen in the box. What comes later in this list wins where two are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Seen {
    /// As it is, and changeable.
    Writable,
    /// As it is.
    ReadOnly,
    /// As an empty folder that can't be changed, although there is nothing on the machine.
    StandIn,
    /// As a small file of ours that can't be changed, where there is nothing otherwise.
    StandInFile,
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
    /// What is seen and not changed, although it lies in a hidden folder or in one that is worked in.
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
    /// What a person opened to this one command.
    pub(super) opened: Named,
}

/// The plan of a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Every path that is not simply seen and not changed, those above before those below.
    pub(super) places: Vec<(PathBuf, Seen)>,
    /// Files that git would follow elsewhere, which are taken away again if a command makes them.
    pub(super) unwanted: Vec<PathBuf>,
    /// Missing settings, which are put aside if a command makes them.
    pub(super) missing: Vec<PathBuf>,
    /// Folders that must not become repositories by themselves.
    pub(super) never_bare: Vec<PathBuf>,
    /// Settings that are links, and where they lead: nothing can cover a link, so they are put back.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

impl Layout {
    /// The plan for these settings.
    pub(super) fn new(settings: &Settings, machine: &Machine, roots: &Roots, found: &Found) -> Self {
        let (stand_ins, opened) = (&machine.stand_ins, &machine.opened);
        let mut drawing = Drawing {
            settings,
            stand_ins,
            opened,
            places: BTreeMap::new(),
            unwanted: Vec::new(),
            missing: Vec::new(),
            never_bare: Vec::new(),
            links: Vec::new(),
        };
        match settings.level {
            Level::WorkspaceWrite => drawing.work_in(machine, roots, found),
            Level::ReadOnly => drawing.look_at(roots),
            Level::Full => return Self::default(),
        }
        for path in roots.readable.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            drawing.keep_in_place(&path);
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

/// A plan that is being drawn.
pub(super) struct Drawing<'a> {
    settings: &'a Settings,
    stand_ins: &'a BTreeSet<PathBuf>,
    opened: &'a Named,
    places: BTreeMap<PathBuf, Seen>,
    pub(super) unwanted: Vec<PathBuf>,
    missing: Vec<PathBuf>,
    pub(super) never_bare: Vec<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
}

impl Drawing<'_> {
    pub(super) fn put(&mut self, path: PathBuf, seen: Seen) {
        let place = self.places.entry(path).or_insert(seen);
        *place = seen.max(*place);
    }

    /// They are seen wherever they are: a private folder for temporary files must not cover them.
    fn look_at(&mut self, roots: &Roots) {
        let seen = roots.writable.iter().filter_map(|root| fs::canonicalize(root).ok());
        seen.for_each(|root| self.put(root, Seen::ReadOnly));
    }

    fn work_in(&mut self, machine: &Machine, roots: &Roots, found: &Found) {
        for root in roots.writable.iter().chain(&self.settings.writable) {
            if let Some(root) = fs::canonicalize(root).ok().filter(|root| !is_of_the_system(root)) {
                self.put(root, Seen::Root);
            }
        }
        for root in &roots.writable {
            self.keep_settings(root, machine);
            if let Some(home) = machine.home.as_ref().filter(|home| home.starts_with(root)) {
                START_UP.iter().for_each(|name| self.keep_file(home.join(name)));
                START_UP_FOLDERS.iter().for_each(|name| self.keep_folder(&home.join(name)));
            }
        }
        // The one at the top is known without a search, which can be led astray.
        let at_the_top = roots.writable.iter().map(|root| root.join(".git"));
        let repositories: BTreeSet<PathBuf> = at_the_top.chain(found.repositories.iter().cloned()).collect();
        repositories.iter().for_each(|git| self.keep_git(git));
    }

    /// Settings stay as they are. Missing ones stay away: a stand-in keeps those from being made that a program
    /// on this machine would follow without a question; others are put aside at the end, so that nothing is
    /// seen of them.
    fn keep_settings(&mut self, root: &Path, machine: &Machine) {
        self.keep(root.join(OWN_SETTINGS));
        for (name, marks) in SETTINGS_FOLDERS {
            let is_used = machine.home.iter().any(|home| marks.iter().any(|mark| home.join(mark).exists()));
            match is_used {
                true => self.keep(root.join(name)),
                false => self.keep_if_there(root.join(name)),
            }
        }
        SETTINGS_FILES.iter().for_each(|name| self.keep_if_there(root.join(name)));
    }

    fn keep_if_there(&mut self, path: PathBuf) {
        if self.opened.concerns(&path) {
            return;
        }
        match self.is_there(&path) {
            true => self.keep_what_is_there(&path),
            false => self.missing.push(path),
        }
    }

    /// It stays as it is, and stays away if it is not there.
    pub(super) fn keep(&mut self, path: PathBuf) {
        self.keep_or(path, Seen::StandIn);
    }

    /// The same for what must be a file.
    pub(super) fn keep_file(&mut self, path: PathBuf) {
        self.keep_or(path, Seen::StandInFile);
    }

    fn keep_or(&mut self, path: PathBuf, stand_in: Seen) {
        if self.opened.concerns(&path) {
            return;
        }
        if self.is_there(&path) {
            self.keep_what_is_there(&path);
        } else {
            self.put(path, stand_in);
        }
    }

    /// Whether something is there that is no stand-in.
    pub(super) fn is_there(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok() && !self.stand_ins.contains(path)
    }

    fn keep_folder(&mut self, path: &Path) {
        if let Ok(path) = fs::canonicalize(path) {
            self.keep_in_place(&path);
        }
        self.keep_what_is_there(path);
    }

    /// What is not to be changed must not be moved away with the folder that it lies in, and another
    /// put there: the folders between a root and it are places of their own.
    pub(super) fn keep_in_place(&mut self, path: &Path) {
        let seen = |path: &Path| self.places.get(path).copied();
        let above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| seen(above) != Some(Seen::Root)).collect();
        let in_a_root = path.ancestors().skip(1).any(|above| seen(above) == Some(Seen::Root));
        let is_kept = above.iter().any(|above| seen(above) == Some(Seen::ReadOnly));
        if in_a_root && !is_kept {
            let above: Vec<PathBuf> = above.into_iter().map(Path::to_path_buf).collect();
            above.into_iter().for_each(|above| self.put(above, Seen::Writable));
        }
    }

    /// A link is kept by keeping what it leads to, also if that is not there yet.
    pub(super) fn keep_what_is_there(&mut self, path: &Path) {
        if let Ok(text) = fs::read_link(path) {
            self.links.push((path.to_path_buf(), text.clone()));
            let target = target_of(path, &text).filter(|target| self.is_in_root(target));
            if let Some(missing) = target.filter(|target| !self.is_there(target)) {
                self.put(missing, Seen::StandIn);
            }
        }
        if let Ok(path) = fs::canonicalize(path)
            && !self.stand_ins.contains(&path)
        {
            self.put(path, Seen::ReadOnly);
        }
    }

    fn is_in_root(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|above| self.places.get(above) == Some(&Seen::Root))
    }

    fn hide(&mut self, machine: &Machine, found: &Found) {
        let at_home = machine.home.iter().flat_map(|home| SECRETS_AT_HOME.iter().map(|name| home.join(name)));
        let secrets = at_home.chain(found.secrets.iter().cloned()).filter(|path| !self.is_readable(path));
        let secrets: Vec<PathBuf> = secrets.chain(self.settings.hidden.iter().cloned()).collect();
        let opened = self.opened;
        for path in secrets.iter().filter(|path| !opened.is(path)) {
            self.hide_one(path);
            let inside: Vec<PathBuf> = opened.below(path).filter_map(|path| fs::canonicalize(path).ok()).collect();
            inside.into_iter().for_each(|path| self.put(path, Seen::ReadOnly));
        }
        // What is ours is opened to nobody.
        machine
            .own
            .iter()
            .filter(|path| !self.is_readable(path))
            .cloned()
            .collect::<Vec<_>>()
            .iter()
            .for_each(|path| self.hide_one(path));
    }

    fn hide_one(&mut self, path: &Path) {
        let Ok(path) = fs::canonicalize(path) else { return };
        let Ok(kind) = fs::metadata(&path) else { return };
        if path.parent().is_some() {
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
        Layout {
            places,
            unwanted: self.unwanted,
            missing: self.missing,
            never_bare: self.never_bare,
            links: self.links,
        }
    }
}

/// Whether a folder is one that a box has to have of its own, or holds such.
pub(super) fn is_of_the_system(path: &Path) -> bool {
    let own = ["/dev", "/proc", "/sys"];
    path.parent().is_none() || own.iter().any(|own| path.starts_with(own)) || path == Path::new("/run")
}

/// Where a link leads, whether or not there is something.
fn target_of(link: &Path, text: &Path) -> Option<PathBuf> {
    let target = link.parent()?.join(text);
    let folder = fs::canonicalize(target.parent()?).ok()?;
    Some(folder.join(target.file_name()?))
}

fn is_hidden(seen: Seen) -> bool {
    match seen {
        Seen::HiddenFile | Seen::HiddenFolder | Seen::Emptied => true,
        Seen::Writable | Seen::ReadOnly | Seen::StandIn | Seen::StandInFile | Seen::Root => false,
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
        let workspace = home.join("project");
        for path in [
            ".ssh",
            ".aws",
            ".claude",
            ".config/neco",
            ".local/share/neco/outputs",
            "project/.git/hooks",
            "project/.vscode",
        ] {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in ["project/.git/config", "project/.env", ".netrc"] {
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
            opened: Named::default(),
        };
        let roots = Roots {
            writable: vec![workspace.to_path_buf()],
            readable: vec![stage.home.join(".local/share/neco/outputs")],
        };
        let found =
            Found { secrets: vec![stage.workspace.join(".env")], repositories: vec![stage.workspace.join(".git")] };
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
        assert_eq!((at(".neco"), at(".env")), (Some(Seen::StandIn), Some(Seen::HiddenFile)));
        assert_eq!((at(".mcp.json"), at(".gemini")), (None, None), "nothing is seen where nobody would follow it");
        let missing = |name: &str| layout.missing.contains(&stage.workspace.join(name));
        assert!(missing(".mcp.json") && missing(".gemini") && !missing(".claude") && !missing(".vscode"));
        assert_eq!(
            (at(".git/commondir"), at(".git/config.worktree")),
            (Some(Seen::StandInFile), Some(Seen::StandInFile))
        );
        assert_eq!((at("refs"), &layout.never_bare), (None, &vec![stage.workspace.clone()]));
        fs::write(stage.workspace.join("HEAD"), "x").unwrap();
        let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
        assert_eq!(seen(&layout, &stage.workspace.join("refs")), Some(Seen::StandIn), "half a repository");
        assert_eq!(layout.unwanted, [stage.workspace.join(".git/gitdir")]);
        let depth = |place: &(PathBuf, Seen)| place.0.components().count();
        assert!(layout.places.is_sorted_by_key(depth));
    }

    #[test]
    fn the_repository_at_the_top_is_kept_whatever_a_search_found() {
        let stage = stage();
        for path in ["modules/group/m/hooks", "worktrees/w"] {
            fs::create_dir_all(stage.workspace.join(".git").join(path)).unwrap();
        }
        for path in ["modules/group/m/HEAD", "worktrees/w/commondir", "worktrees/w/gitdir"] {
            fs::write(stage.workspace.join(".git").join(path), "x").unwrap();
        }
        let roots = Roots { writable: vec![stage.workspace.clone()], readable: Vec::new() };
        let settings = Settings::of(&SandboxSection::default(), None);
        let layout = Layout::new(&settings, &Machine::default(), &roots, &Found::default());
        let at = |path: &str| seen(&layout, &stage.workspace.join(".git").join(path));
        for pinned in ["", "modules", "modules/group", "modules/group/m", "worktrees", "worktrees/w"] {
            assert_eq!(at(pinned), Some(Seen::Writable), "{pinned}");
        }
        for kept in ["hooks", "config", "modules/group/m/hooks", "worktrees/w/commondir", "worktrees/w/gitdir"] {
            assert_eq!(at(kept), Some(Seen::ReadOnly), "{kept}");
        }
        for file in ["commondir", "modules/group/m/commondir", "worktrees/w/config.worktree"] {
            assert_eq!(at(file), Some(Seen::StandInFile), "{file}");
        }
    }

    #[test]
    fn settings_that_are_links_are_known_and_what_they_lead_to_is_kept() {
        let stage = stage();
        fs::create_dir(stage.workspace.join("shared")).unwrap();
        for (text, name) in [("shared", ".zed"), ("nowhere", ".idea"), ("/nowhere/at/all", ".envrc")] {
            std::os::unix::fs::symlink(text, stage.workspace.join(name)).unwrap();
        }
        let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
        let at = |path: &str| seen(&layout, &stage.workspace.join(path));
        assert_eq!((at("shared"), at("nowhere")), (Some(Seen::ReadOnly), Some(Seen::StandIn)));
        let mut links: Vec<_> =
            layout.links.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
        links.sort_unstable();
        assert_eq!(links, [".envrc", ".idea", ".zed"]);
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
        assert_eq!((at(".bashrc"), at(".config")), (Some(Seen::StandInFile), Some(Seen::ReadOnly)));
        assert_eq!(at(".aws"), Some(Seen::HiddenFolder));
    }

    #[test]
    fn reading_only_leaves_nothing_to_change() {
        let stage = stage();
        let section =
            SandboxSection { level: Level::ReadOnly, writable: vec!["/tmp".into()], ..SandboxSection::default() };
        let layout = draw(&stage, &section, &stage.workspace);
        assert_eq!(layout.seen_as(&[Seen::Root, Seen::Writable]).count(), 0);
        assert_eq!(seen(&layout, &stage.workspace), Some(Seen::ReadOnly), "it may lie below a covered folder");
        assert_eq!(seen(&layout, &stage.workspace.join(".env")), Some(Seen::HiddenFile));
    }
}
