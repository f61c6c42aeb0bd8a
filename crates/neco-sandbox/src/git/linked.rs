//! Git folders that lie elsewhere: those of worktrees and submodules. What leads to them is read byte for byte as git
//! reads it: whoever reads it in another way looks at one folder, and git runs what another says.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::survey::facts::Facts;
use crate::survey::unreadable;
use neco_safety::path::open_without_links;

/// Git reads no `.git` file that is longer.
const MOST_BYTES: u64 = 1 << 20;

/// The most modules of a repository that are told apart: each is some mounts.
const MOST_MODULES: usize = 100;

/// The same for worktrees.
const MOST_WORKTREES: usize = 100;

/// How far down modules may lie in folders of their own.
const MOST_DEPTH: usize = 8;

/// The folders of a worktree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Linked {
    pub(crate) own: PathBuf,
    /// The one it shares with the repository that it belongs to.
    pub(crate) shared: PathBuf,
}

/// Whether git takes what has this name for a repository. On some disks the size of letters is no difference.
pub(crate) fn is_git_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// Where a `.git` file leads, if that folder says that it belongs to it: a repository from someone
/// else could name any folder, but not make that one name it back.
pub(crate) fn named_back(git_file: &Path) -> Option<Linked> {
    let own = gitdir_of(git_file)?;
    let named_back = leads_to(&own, &text_of(&own.join("gitdir"))?)?;
    let shared = shared_by(&own)?;
    let is_its = named_back == fs::canonicalize(git_file).ok()?;
    (is_its && is_git_folder(&shared, &Facts::default()) && own.starts_with(&shared)).then_some(Linked { own, shared })
}

/// The git folder that something called `.git` is, or leads to.
pub(crate) fn own_folder(dot_git: &Path, facts: &Facts) -> Option<PathBuf> {
    let itself = facts.of(dot_git)?;
    let found = if itself.is_symlink() { fs::metadata(dot_git).ok()? } else { itself };
    match found.is_dir() {
        true => fs::canonicalize(dot_git).ok(),
        false => gitdir_of(dot_git),
    }
}

/// Where a `.git` file leads, whatever that folder says.
pub(crate) fn gitdir_of(git_file: &Path) -> Option<PathBuf> {
    leads_to(git_file.parent()?, named_in(&text_of(git_file)?)?)
}

/// Whether a `.git` file names a folder, be it there or not.
pub(crate) fn names_a_folder(git_file: &Path) -> bool {
    text_of(git_file).is_some_and(|text| named_in(&text).is_some())
}

/// The folder that a git folder shares with others, if it does.
pub(crate) fn shared_by(git: &Path) -> Option<PathBuf> {
    leads_to(git, &text_of(&git.join("commondir"))?)
}

/// Whether git may take a folder for one of its own, if something leads there.
pub(crate) fn is_git_folder(folder: &Path, facts: &Facts) -> bool {
    let is_there = |name: &str| facts.is_there(&folder.join(name));
    is_there("HEAD") && (is_there("objects") || is_there("commondir"))
}

/// The git folders of a repository's submodules; nothing if there are too many, or links among them, or some can't be
/// looked at.
pub(crate) fn modules_of(git: &Path, facts: &Facts) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut looked_at = 0;
    facts.listed.look_at(git);
    let mut waiting = vec![(git.join("modules"), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        if facts.listed.holds(&folder) == Some(false) {
            continue;
        }
        if facts.is_link(&folder) {
            return None;
        }
        for unreadable::Entry { name, kind } in unreadable::entries(&folder).ok()? {
            looked_at += 1;
            if kind.is_symlink() || found.len() >= MOST_MODULES || looked_at > MOST_MODULES * 4 || depth > MOST_DEPTH {
                return None;
            }
            let path = folder.join(name);
            let is_there = |name: &str| facts.is_there(&path.join(name));
            if kind.is_dir() && (is_there("HEAD") || is_there("config")) {
                waiting.push((path.join("modules"), depth + 1));
                found.push(path);
            } else if kind.is_dir() {
                waiting.push((path, depth + 1));
            }
        }
    }
    Some(found)
}

/// The folders that a repository has for its worktrees; nothing if there are too many, or nobody can say.
pub(crate) fn worktrees_of(git: &Path, facts: &Facts) -> Option<Vec<PathBuf>> {
    let all = git.join("worktrees");
    facts.listed.look_at(git);
    if facts.listed.holds(&all) == Some(false) {
        return Some(Vec::new());
    }
    let folders = unreadable::entries(&all).ok()?.into_iter().filter(|entry| entry.kind.is_dir());
    let found: Vec<PathBuf> = folders.take(MOST_WORKTREES + 1).map(|entry| all.join(entry.name)).collect();
    (found.len() <= MOST_WORKTREES).then_some(found)
}

/// What a file that leads to a git folder says, without the ends of lines behind it; spaces are part of a name.
/// Nothing for what git reads as something else: what is longer than it reads, and what has a zero in it.
fn text_of(path: &Path) -> Option<Vec<u8>> {
    let mut text = bytes_of(path, MOST_BYTES)?;
    let length = text.iter().rposition(|byte| !b"\n\r".contains(byte))? + 1;
    text.truncate(length);
    (!text.contains(&0)).then_some(text)
}

/// What a file holds that is no longer than this; nothing for what is no file. Never waits for a pipe, follows no link,
/// and reads no more than was measured.
pub(crate) fn bytes_of(path: &Path, most: u64) -> Option<Vec<u8>> {
    let file = open_without_links(path).ok()?;
    file.metadata().ok().filter(|found| found.is_file() && found.len() <= most)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn named_in(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"gitdir: ").filter(|name| !name.is_empty())
}

fn leads_to(from: &Path, name: &[u8]) -> Option<PathBuf> {
    fs::canonicalize(from.join(OsStr::from_bytes(name))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_leads_to_its_repository_only_if_that_knows_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let git = root.join("main/.git");
        let own = git.join("worktrees/w");
        fs::create_dir_all(own.join("x")).unwrap();
        fs::create_dir_all(git.join("objects")).unwrap();
        fs::write(git.join("HEAD"), "ref: x").unwrap();
        fs::create_dir(root.join("w")).unwrap();
        let file = root.join("w/.git");
        fs::write(&file, format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        assert_eq!(named_back(&file), None, "it does not name the worktree");
        fs::write(own.join("gitdir"), format!("{}\n", file.display())).unwrap();
        assert_eq!(named_back(&file), Some(Linked { own: own.clone(), shared: git.clone() }));
        fs::write(&file, format!("gitdir: {}\n", root.display())).unwrap();
        assert_eq!(named_back(&file), None);
    }

    /// The same question to git itself.
    fn as_git_says(git_file: &Path) -> Option<PathBuf> {
        let top = git_file.parent().unwrap();
        let mut git = std::process::Command::new("git");
        let output = git.args(["rev-parse", "--absolute-git-dir"]).current_dir(top).output().unwrap();
        let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        output.status.success().then(|| PathBuf::from(OsStr::from_bytes(path)))
    }

    #[test]
    fn a_git_file_is_read_as_git_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("w")).unwrap();
        for name in ["store", "store ", " store"] {
            let made = std::process::Command::new("git").args(["init", "-q", "--bare"]).arg(root.join(name)).status();
            assert!(made.unwrap().success());
        }
        let file = root.join("w/.git");
        let ends = "\n".repeat(5000);
        for (text, expected) in [
            ("gitdir: ../store".to_owned(), Some("store")),
            ("gitdir: ../store\n".to_owned(), Some("store")),
            ("gitdir: ../store\r\n\n".to_owned(), Some("store")),
            (format!("gitdir: ../store{ends}"), Some("store")),
            ("gitdir: ../store ".to_owned(), Some("store ")),
            ("gitdir: ../store \n".to_owned(), Some("store ")),
            ("gitdir:  ../store".to_owned(), None),
            ("gitdir:../store".to_owned(), None),
            (" gitdir: ../store".to_owned(), None),
            ("gitdir: ../store\nx".to_owned(), None),
            ("gitdir: \n".to_owned(), None),
            (format!("gitdir: ../store{}", "\n".repeat(1 << 20)), None),
        ] {
            fs::write(&file, &text).unwrap();
            let read = gitdir_of(&file);
            assert_eq!(read, expected.map(|name| root.join(name)), "{:?}", text.get(..30));
            assert_eq!(read, as_git_says(&file), "{:?}", text.get(..30));
        }
        let odd = root.join(OsStr::from_bytes(b"st\xffore"));
        fs::rename(root.join("store"), &odd).unwrap();
        fs::write(&file, b"gitdir: ../st\xffore").unwrap();
        assert_eq!((gitdir_of(&file), as_git_says(&file)), (Some(odd.clone()), Some(odd)));
        fs::write(&file, b"gitdir: ../store \0x").unwrap();
        assert!(gitdir_of(&file).is_none() && !names_a_folder(&file), "a zero is no part of a name");
        fs::write(&file, "gitdir: nowhere").unwrap();
        assert!(gitdir_of(&file).is_none() && names_a_folder(&file));
    }

    #[test]
    fn submodules_are_found_also_those_of_submodules() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["modules/a", "modules/group/b", "modules/a/modules/c"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
            fs::write(folder.path().join(path).join("HEAD"), "").unwrap();
        }
        let mut found = modules_of(folder.path(), &Facts::default()).unwrap();
        found.sort();
        let expected = ["modules/a", "modules/a/modules/c", "modules/group/b"].map(|path| folder.path().join(path));
        assert_eq!(found, expected);
        for number in 0..MOST_MODULES {
            fs::create_dir_all(folder.path().join(format!("modules/{number}"))).unwrap();
            fs::write(folder.path().join(format!("modules/{number}/HEAD")), "").unwrap();
        }
        assert_eq!(modules_of(folder.path(), &Facts::default()), None, "none is left out silently");
        let other = tempfile::tempdir().unwrap();
        fs::create_dir(other.path().join("modules")).unwrap();
        assert_eq!(modules_of(other.path(), &Facts::default()), Some(Vec::new()));
        std::os::unix::fs::symlink("/elsewhere", other.path().join("modules/m")).unwrap();
        assert_eq!(modules_of(other.path(), &Facts::default()), None, "git would follow it");
    }

    #[test]
    fn folders_that_their_owner_may_not_read_hide_no_submodules_and_no_worktrees() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("modules/group/m")).unwrap();
        fs::write(at("modules/group/m/HEAD"), "").unwrap();
        fs::create_dir_all(at("worktrees/w")).unwrap();
        let closed = ["modules/group", "modules", "worktrees"].map(at);
        let set = |mode: u32| {
            for path in &closed {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        set(0o311);
        let found = (modules_of(folder.path(), &Facts::default()), worktrees_of(folder.path(), &Facts::default()));
        set(0o755);
        assert_eq!(found, (Some(vec![at("modules/group/m")]), Some(vec![at("worktrees/w")])));
    }

    #[test]
    fn worktrees_are_all_told_apart_or_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(worktrees_of(folder.path(), &Facts::default()), Some(Vec::new()));
        fs::create_dir_all(folder.path().join("worktrees/w")).unwrap();
        assert_eq!(worktrees_of(folder.path(), &Facts::default()), Some(vec![folder.path().join("worktrees/w")]));
        for number in 0..MOST_WORKTREES {
            fs::create_dir_all(folder.path().join(format!("worktrees/{number}"))).unwrap();
        }
        assert_eq!(worktrees_of(folder.path(), &Facts::default()), None);
    }
}
