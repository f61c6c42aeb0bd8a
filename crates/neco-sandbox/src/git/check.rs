//! Repositories that a command made: what in them would start a program is put aside, whoever enters them next.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::after::hands::Hands;
use crate::after::known::Known;
use crate::git::config::without_programs;
use crate::git::index::{Entered, Indexes};
use crate::git::linked::{self, gitdir_of, names_a_folder, own_folder, shared_by};
use crate::git::todo;
use crate::plan::listed::Listed;
use crate::survey::facts::Facts;
use crate::survey::unreadable;

/// No settings that git wrote are longer.
const MOST_BYTES: u64 = 64 * 1024;

/// The settings of a git folder.
pub(crate) const SETTINGS: &[&str] = &["config", "config.worktree"];

/// What in a git folder leads git to other objects and addresses, or says which of the person's programs it runs on
/// which files.
pub(crate) const LEADING: &[&str] =
    &["info/attributes", "objects/info/alternates", "objects/info/http-alternates", "remotes", "branches"];

/// Lists a git folder and the folders in it that these lie in.
pub(crate) fn list_leading(git: &Path, listed: &Listed) {
    listed.look_at(git);
    ["info", "objects/info"].iter().for_each(|below| listed.look_below(git, below));
}

/// What a command left behind.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// What must not be there, and was put aside or removed.
    pub(crate) taken: Vec<PathBuf>,
    /// What must not be there, and still is.
    pub(crate) left: Vec<PathBuf>,
    /// Files that it changed and that act later.
    pub(crate) acting: Vec<PathBuf>,
}

impl Aftermath {
    pub(crate) fn add(&mut self, other: Self) {
        self.taken.extend(other.taken);
        self.left.extend(other.left);
        self.acting.extend(other.acting);
    }

    /// Notes what became of one thing.
    pub(crate) fn note<T>(&mut self, path: &Path, done: io::Result<T>) {
        match done {
            Ok(_) => {
                tracing::warn!(path = %path.display(), "a command made what it must not make; it was put aside");
                self.taken.push(path.to_path_buf());
            }
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "a command made what it must not make, and it is still there");
                self.left.push(path.to_path_buf());
            }
        }
    }
}

/// A repository as it is now.
#[derive(Debug)]
pub(crate) struct Repository {
    /// What makes a folder one.
    pub(crate) dot_git: PathBuf,
    /// The git folders that it uses: its own, the one that it shares, those of submodules and worktrees.
    pub(crate) folders: Vec<PathBuf>,
    /// Links in them, each with the folder that it is in.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Folders in them that can't be looked at.
    pub(crate) unread: Vec<PathBuf>,
    /// Those of them whose submodules can't be told apart.
    pub(crate) crowded: Vec<PathBuf>,
    /// What git enters from it.
    pub(crate) enters: Vec<PathBuf>,
    /// Repositories on this machine that it fetches from and pushes to.
    pub(crate) remotes: Vec<PathBuf>,
    /// Its index, if nobody can say what git finds in it.
    pub(crate) unclear: Option<PathBuf>,
}

impl Repository {
    /// Looks at what something called `.git` leads to.
    pub(crate) fn at(dot_git: PathBuf, indexes: &mut Indexes, facts: &Facts) -> Self {
        let own = own_folder(&dot_git, facts);
        Self::with(dot_git, own, indexes, facts)
    }

    /// Looks at a folder that is one by itself.
    pub(crate) fn by_itself(folder: &Path, indexes: &mut Indexes, facts: &Facts) -> Self {
        Self::with(folder.join(".git"), Some(folder.to_path_buf()), indexes, facts)
    }

    fn with(dot_git: PathBuf, own: Option<PathBuf>, indexes: &mut Indexes, facts: &Facts) -> Self {
        let shared = own.as_ref().and_then(|own| shared_by(own)).filter(|shared| Some(shared) != own.as_ref());
        let has_worktrees = shared.is_none();
        let mut folders: Vec<PathBuf> = own.into_iter().chain(shared).collect();
        let (mut modules, mut crowded) = (Vec::new(), Vec::new());
        for git in &folders {
            match linked::modules_of(git, facts) {
                Some(found) => modules.extend(found),
                None => crowded.push(git.clone()),
            }
        }
        folders.extend(modules);
        // From one of several worktrees the others are none of a session's business.
        if has_worktrees {
            let worktrees = folders.iter().filter_map(|git| linked::worktrees_of(git, facts)).flatten();
            folders.extend(worktrees.collect::<Vec<_>>());
        }
        let Entered { repositories: enters, remotes, unclear } = indexes.entered_from(&dot_git, &folders, facts);
        let (mut links, mut unread) = (Vec::new(), Vec::new());
        for git in &folders {
            let below = indexes.links.below(git, facts);
            links.extend(below.links.into_iter().map(|link| (git.clone(), link)));
            unread.extend(below.unread);
        }
        Self { dot_git, folders, links, unread, crowded, enters, remotes, unclear }
    }

    /// Puts aside what leads git where nobody looked, besides what is in its git folders.
    pub(crate) fn mend<'a>(
        &self,
        known: &Known,
        facts: &Facts,
        hands_for: impl Fn(&Path) -> Option<&'a Hands>,
        aftermath: &mut Aftermath,
    ) {
        let mut put_aside = |path: &Path| match hands_for(path) {
            Some(hands) if hands.is_there(path) => aftermath.note(path, hands.put_aside(path, "refused")),
            // Another repository that uses it came first.
            Some(_) => {}
            None => aftermath.left.push(path.to_path_buf()),
        };
        if known.is_commands(&self.dot_git, facts) && self.leads_astray(|path| hands_for(path).is_some()) {
            put_aside(&self.dot_git);
        }
        for index in self.unclear.iter().filter(|index| known.is_new_index(index)) {
            put_aside(index);
        }
        for git in self.crowded.iter().filter(|git| known.was_told_apart(git)) {
            put_aside(&git.join("modules"));
        }
        // What no hands reach no command could change.
        let unread = self.unread.iter().filter(|folder| hands_for(folder).is_some() && known.was_read(folder));
        aftermath.left.extend(unread.cloned());
        for (git, link) in &self.links {
            let is_there = |hands: &&Hands| hands.link_text(link).is_some();
            if let Some(hands) = hands_for(link).filter(is_there).filter(|_| known.is_new(git, link)) {
                aftermath.note(link, hands.remove(link));
            }
        }
        for git in &self.folders {
            list_leading(git, &facts.listed);
            for path in facts.listed.among(git, LEADING.iter().copied()) {
                let Some(hands) = hands_for(&path).filter(|hands| hands.is_there(&path)) else { continue };
                if is_new_below(git, &path, known) && leads_elsewhere(&path, |other| hands_for(other).is_some()) {
                    aftermath.note(&path, hands.put_aside(&path, "refused"));
                }
            }
            let list = todo::list_of(git);
            // What no hands reach no command could change.
            let may_be_new = |hands: &&Hands| hands.is_there(&list) && known.is_new_todo(&list);
            let Some(hands) = hands_for(&list).filter(may_be_new) else { continue };
            if let Some(left) = todo::without_new_programs(&list, known.todo(&list)) {
                let done = hands.put_aside(&list, "refused").and_then(|_| hands.make_file(&list, &left));
                aftermath.note(&list, done);
            }
        }
    }

    /// Whether what makes a folder a repository is a link, or a file that git follows to where nobody can look after it.
    fn leads_astray(&self, is_reached: impl Fn(&Path) -> bool) -> bool {
        match fs::symlink_metadata(&self.dot_git) {
            Ok(found) if found.is_dir() => false,
            Ok(found) if found.is_file() => {
                let own = self.folders.first();
                !names_a_folder(&self.dot_git) || own.is_some_and(|own| !is_reached(&own.join("config")))
            }
            Ok(_) => true,
            Err(_) => false,
        }
    }
}

/// Puts aside what in a git folder would start a program and is not as it was.
pub(crate) fn mend(git: &Path, known: &Known, hands: &Hands, aftermath: &mut Aftermath) {
    for path in SETTINGS.iter().map(|name| git.join(name)).filter(|path| known.is_new(git, path)) {
        mend_settings(git, &path, known, hands, aftermath);
    }
    mend_hooks(git, known, hands, aftermath);
    let elsewhere = git.join("commondir");
    if hands.is_there(&elsewhere) && known.is_new(git, &elsewhere) && !may_lead(git, &elsewhere) {
        aftermath.note(&elsewhere, hands.put_aside(&elsewhere, "refused"));
    }
}

fn mend_settings(git: &Path, path: &Path, known: &Known, hands: &Hands, aftermath: &mut Aftermath) {
    if !hands.is_there(path) {
        return;
    }
    let left = match settings(path) {
        Some(text) => match without_programs(&text, |worktree| leads_back(git, worktree)) {
            Some(left) => left,
            None => return,
        },
        // A link, a folder, a pipe, or too long.
        None => Vec::new(),
    };
    let left = known.settings(path).unwrap_or(&left);
    let done = hands.put_aside(path, "refused").and_then(|_| hands.make_file(path, left));
    aftermath.note(path, done);
}

/// Hooks that were there stay where others were added.
fn mend_hooks(git: &Path, known: &Known, hands: &Hands, aftermath: &mut Aftermath) {
    let hooks = git.join("hooks");
    let Some(found) = hooks_in(&hooks) else {
        return aftermath.note(&hooks, hands.put_aside(&hooks, "refused"));
    };
    let (new, old): (Vec<PathBuf>, Vec<PathBuf>) = found.into_iter().partition(|hook| known.is_new(git, hook));
    match (new.is_empty(), old.is_empty()) {
        (true, _) => {}
        (false, true) => aftermath.note(&hooks, hands.put_aside(&hooks, "refused")),
        (false, false) => new.iter().for_each(|hook| aftermath.note(hook, hands.put_aside(hook, "refused"))),
    }
}

/// Whether something in a git folder, or what is in it, is not as it was.
fn is_new_below(git: &Path, path: &Path, known: &Known) -> bool {
    let is_new_inside = || match unreadable::entries(path) {
        Ok(inside) => inside.iter().any(|entry| known.is_new(git, &path.join(&entry.name))),
        Err(_) => true,
    };
    known.is_new(git, path) || is_new_inside()
}

/// Whether what may lead git elsewhere does.
fn leads_elsewhere(path: &Path, is_reached: impl Fn(&Path) -> bool) -> bool {
    match path.file_name().and_then(OsStr::to_str) {
        Some("alternates") => !path.parent().and_then(Path::parent).zip(settings(path)).is_some_and(
            // Relative to the objects that others are added to.
            |(objects, text)| text.split(|byte| *byte == b'\n').all(|line| may_be_shared(objects, line, &is_reached)),
        ),
        // Templates bring an empty folder.
        Some("remotes" | "branches") => !fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
        Some(_) | None => true,
    }
}

/// Whether objects of another repository may be used, which lies where a look gets: in the folders of the session.
fn may_be_shared(objects: &Path, line: &[u8], is_reached: impl Fn(&Path) -> bool) -> bool {
    match line.first() {
        None | Some(b'#') => true,
        // Written in a way that is not git's own.
        Some(b'"') => false,
        Some(_) => fs::canonicalize(objects.join(OsStr::from_bytes(line))).is_ok_and(|other| is_reached(&other)),
    }
}

/// What a file says that is no longer than settings are; nothing for what is no file.
pub(crate) fn settings(path: &Path) -> Option<Vec<u8>> {
    linked::bytes_of(path, MOST_BYTES)
}

/// Whether the folder that a repository says to work in says that it is this one's: git makes no others.
fn leads_back(git: &Path, worktree: &str) -> bool {
    // What git may read in another way.
    let is_odd = worktree.is_empty() || worktree.contains(['#', ';', '\t']) || worktree.contains("  ");
    !is_odd && gitdir_of(&git.join(worktree).join(".git")).as_deref() == Some(git)
}

/// What git may run of a folder of hooks; nothing if nobody can say. Samples don't run. A folder that can't be read can
/// still be run from.
fn hooks_in(folder: &Path) -> Option<Vec<PathBuf>> {
    let Ok(found) = fs::symlink_metadata(folder) else { return Some(Vec::new()) };
    if !found.is_dir() {
        return None;
    }
    let entries = unreadable::entries(folder).ok()?;
    let mut hooks: Vec<PathBuf> = entries.into_iter().map(|entry| folder.join(entry.name)).collect();
    hooks.retain(|hook| hook.extension().is_none_or(|end| end != "sample"));
    Some(hooks)
}

/// Whether a `commondir` leads here, as what stands in for a missing one says, or is as git writes it for a worktree.
fn may_lead(git: &Path, commondir: &Path) -> bool {
    let is_of_worktree = || git.parent().is_some_and(|above| above.file_name().is_some_and(|name| name == "worktrees"));
    match settings(commondir).as_deref() {
        Some(b"." | b".\n") => true,
        Some(b"../.." | b"../..\n") => is_of_worktree(),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn repository() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let made = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap();
        assert!(made.success());
        let git = folder.path().join(".git");
        (folder, git)
    }

    fn names(aftermath: &Aftermath) -> Vec<&str> {
        assert!(aftermath.left.is_empty(), "{aftermath:?}");
        aftermath.taken.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn a_repository_as_git_makes_it_is_left_alone_and_one_that_starts_programs_is_not() {
        let (folder, git) = repository();
        let hands = Hands::open(folder.path()).unwrap();
        let mut aftermath = Aftermath::default();
        mend(&git, &Known::default(), &hands, &mut aftermath);
        assert!(names(&aftermath).is_empty(), "{aftermath:?}");
        let text = fs::read_to_string(git.join("config")).unwrap();
        fs::write(git.join("config"), format!("{text}\tfsmonitor = /w/evil\n")).unwrap();
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("hooks/pre-commit"), "evil").unwrap();
        fs::write(git.join("commondir"), "../evil").unwrap();
        mend(&git, &Known::default(), &hands, &mut aftermath);
        assert_eq!(names(&aftermath), ["config", "hooks", "commondir"]);
        assert_eq!(fs::read_to_string(git.join("config")).unwrap(), text, "what is harmless stays");
        assert!(git.join("config.refused-1").is_file() && git.join("hooks.refused-1/pre-commit").is_file());
    }

    #[test]
    fn folders_that_their_owner_may_not_read_hide_nothing_from_a_look() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, git) = repository();
        let hands = Hands::open(folder.path()).unwrap();
        let (hooks, refs) = (git.join("hooks"), git.join("logs/refs"));
        fs::create_dir_all(&hooks).unwrap();
        fs::write(hooks.join("pre-commit"), "evil").unwrap();
        fs::create_dir_all(refs.join("heads")).unwrap();
        symlink("/elsewhere", refs.join("heads/x")).unwrap();
        let set = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&hooks, 0o311);
        assert_eq!(hooks_in(&hooks).unwrap().iter().filter(|hook| hook.ends_with("pre-commit")).count(), 1);
        // Below what can't be entered nobody gets but root.
        set(&refs, 0o000);
        let closed = Repository::at(git.clone(), &mut Indexes::default(), &Facts::default());
        let mut aftermath = Aftermath::default();
        closed.mend(&Known::default(), &Facts::default(), |_| Some(&hands), &mut aftermath);
        set(&refs, 0o755);
        let expected = if rustix::process::geteuid().is_root() { Vec::new() } else { vec![refs.join("heads")] };
        assert_eq!(aftermath.left, expected);
        let was_closed = Known::of([(&closed, true)].into_iter(), &Facts::default());
        assert_ne!(was_closed.was_read(&refs.join("heads")), !expected.is_empty(), "it was so before");
        set(&refs.join("heads"), 0o311);
        let mut aftermath = Aftermath::default();
        let open = Repository::at(git.clone(), &mut Indexes::default(), &Facts::default());
        open.mend(&Known::default(), &Facts::default(), |_| Some(&hands), &mut aftermath);
        set(&refs.join("heads"), 0o755);
        set(&hooks, 0o755);
        assert!(aftermath.left.is_empty() && fs::symlink_metadata(refs.join("heads/x")).is_err(), "{aftermath:?}");
    }

    #[test]
    fn links_and_pipes_in_the_place_of_settings_are_put_aside_without_being_followed() {
        let (folder, git) = repository();
        let hands = Hands::open(folder.path()).unwrap();
        fs::remove_file(git.join("config")).unwrap();
        symlink(folder.path().join("evil"), git.join("config")).unwrap();
        let _ = fs::remove_dir_all(git.join("hooks"));
        symlink("/nowhere", git.join("hooks")).unwrap();
        let made = Command::new("mkfifo").arg(git.join("config.worktree")).status().unwrap();
        assert!(made.success());
        let mut aftermath = Aftermath::default();
        mend(&git, &Known::default(), &hands, &mut aftermath);
        assert_eq!(names(&aftermath), ["config", "config.worktree", "hooks"]);
        assert_eq!(fs::read(git.join("config")).unwrap(), b"");
    }

    #[test]
    fn all_folders_that_git_would_use_are_known() {
        let (folder, git) = repository();
        let script = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git worktree add -q tree && \
            mkdir -p .git/modules/m && echo x >.git/modules/m/HEAD";
        assert!(Command::new("sh").args(["-c", script]).current_dir(folder.path()).status().unwrap().success());
        let own = git.join("worktrees/tree");
        let top = Repository::at(git.clone(), &mut Indexes::default(), &Facts::default());
        assert_eq!(top.folders, [git.clone(), git.join("modules/m"), own.clone()]);
        let tree = Repository::at(folder.path().join("tree/.git"), &mut Indexes::default(), &Facts::default());
        assert_eq!(tree.folders, [own.clone(), git.clone(), git.join("modules/m")]);
        assert!(may_lead(&own, &own.join("commondir")) && tree.crowded.is_empty());
        symlink("/elsewhere", git.join("modules/x")).unwrap();
        assert_eq!(Repository::at(git.clone(), &mut Indexes::default(), &Facts::default()).crowded, [git]);
    }

    #[test]
    fn nothing_leads_elsewhere_but_what_git_writes() {
        let (folder, git) = repository();
        let own = git.join("worktrees/w");
        fs::create_dir_all(&own).unwrap();
        let may = |git: &Path, text: &[u8]| {
            fs::write(git.join("commondir"), text).unwrap();
            may_lead(git, &git.join("commondir"))
        };
        assert!(may(&git, b".") && may(&git, b".\n") && may(&own, b"../..\n"));
        for text in [b". ".as_slice(), b"..", b"./", b".\n\n", b"../..", b"/", b" .", b""] {
            assert!(!may(&git, text), "{text:?}");
        }
        assert!(!may(&own, b"../.. ") && !may(&own, b"..") && !may(&own, b"../../"));
        // A folder to work in says whose it is.
        fs::create_dir(folder.path().join("other")).unwrap();
        assert!(!leads_back(&git, "../other") && !leads_back(&git, "..") && !leads_back(&git, "/"));
        fs::write(folder.path().join("other/.git"), "gitdir: ../.git\n").unwrap();
        assert!(leads_back(&git, "../other") && !leads_back(&git, "../other # x") && !leads_back(&git, "../other "));
    }

    #[test]
    fn a_git_file_that_leads_where_nobody_looks_goes() {
        let (folder, git) = repository();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let file = folder.path().join("sub/.git");
        let astray = |text: &[u8]| {
            fs::write(&file, text).unwrap();
            Repository::at(file.clone(), &mut Indexes::default(), &Facts::default())
                .leads_astray(|path| path.starts_with(folder.path()))
        };
        assert!(!astray(b"gitdir: ../.git") && !astray(b"gitdir: nowhere\n"));
        assert!(astray(b"gitdir:../.git") && astray(b"gitdir: ../.git\0") && astray(b"") && astray(b"gitdir: /\n"));
        fs::remove_file(&file).unwrap();
        symlink(&git, &file).unwrap();
        assert!(Repository::at(file.clone(), &mut Indexes::default(), &Facts::default()).leads_astray(|_| true));
    }
}
