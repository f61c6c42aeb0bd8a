//! Which repositories git enters from another: those that its index names, below the folder that it works in.
//!
//! The index is read byte for byte as git reads it; one that can't be is said to be unclear, and a command that
//! wrote it does not keep it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::after::known::{Stamp, unsettled_for};
use crate::git::bare::is_bare;
use crate::git::check::SETTINGS;
use crate::git::entries::{Entries, entries_in};
use crate::git::linked::{bytes_of, is_git_name};
use crate::git::links::Links;
use crate::survey::facts::Facts;
use crate::survey::unreadable;

/// A larger index is not read.
const MOST_INDEX: u64 = 256 * 1024 * 1024;

/// Larger settings are not looked through.
const MOST_SETTINGS: u64 = 1024 * 1024;

/// So much is looked through in folders that an index names without saying what is in them.
const MOST_LOOKED_AT: usize = 20_000;

/// What indexes name, as long as nothing of it changes.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    read: HashMap<PathBuf, Index>,
    /// The same of the links in git folders.
    pub(crate) links: Links,
}

#[derive(Debug)]
struct Index {
    /// All that was read, as it was.
    from: Vec<(PathBuf, Option<Stamp>)>,
    /// Nothing if it can't be read.
    entries: Option<Entries>,
    /// Where the repository works, besides the folder that its `.git` is in.
    elsewhere: Vec<PathBuf>,
    /// Where it fetches from and pushes to.
    addresses: Vec<PathBuf>,
    /// Whether no change can look as if nothing had changed.
    settled: bool,
}

/// What git enters from a repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entered {
    /// What is called `.git` there, if it is there.
    pub(crate) repositories: Vec<PathBuf>,
    /// Git folders on this machine that it fetches from and pushes to, whose hooks run then.
    pub(crate) remotes: Vec<PathBuf>,
    /// The index, if nobody can say what git finds in it.
    pub(crate) unclear: Option<PathBuf>,
}

impl Indexes {
    /// What git enters from a repository whose git folders are these, its own first.
    pub(crate) fn entered_from(&mut self, dot_git: &Path, folders: &[PathBuf], facts: &Facts) -> Entered {
        let Some((top, own)) = dot_git.parent().zip(folders.first()) else { return Entered::default() };
        let is_as_read = |index: &&Index| {
            let is_same = |(path, before): &(PathBuf, Option<Stamp>)| said(path, facts) == *before;
            index.settled && index.from.iter().all(is_same)
        };
        if self.read.get(own).filter(is_as_read).is_none() {
            self.read.insert(own.clone(), Index::read(own, folders, facts));
        }
        let Some(index) = self.read.get(own) else { return Entered::default() };
        let unclear = || Some(own.join("index"));
        let mut entered = Entered::default();
        entered.remotes.extend(index.addresses.iter().flat_map(|address| git_folders_at(&top.join(address))));
        let Some(entries) = &index.entries else { return Entered { unclear: unclear(), ..entered } };
        let mut looked_at = 0;
        for top in index.elsewhere.iter().map(PathBuf::as_path).chain([top]) {
            let at = |name: &Vec<u8>| top.join(OsStr::from_bytes(name));
            // Where it works says so itself; it is looked at as a repository of its own.
            entered.repositories.push(top.join(".git"));
            entered.repositories.extend(entries.repositories.iter().map(|name| at(name).join(".git")));
            for folder in entries.folders.iter().map(at) {
                match all_below(&folder, &mut looked_at) {
                    Some(found) => entered.repositories.extend(found),
                    None => entered.unclear = unclear(),
                }
            }
        }
        entered
    }
}

impl Index {
    fn read(own: &Path, folders: &[PathBuf], facts: &Facts) -> Self {
        let index = own.join("index");
        let settings = |git: &PathBuf| SETTINGS.iter().map(|name| git.join(name)).collect::<Vec<_>>();
        // Those of submodules are no settings of this one.
        let shared = folders.get(1).filter(|shared| !shared.starts_with(own));
        let settings: Vec<PathBuf> =
            [Some(&own.to_path_buf()), shared].into_iter().flatten().flat_map(settings).collect();
        let mut from: Vec<_> = settings.iter().chain([&index]).map(|path| (path.clone(), said(path, facts))).collect();
        // Asked before anything is read: what changes from then on has another stamp.
        let is_settled = |stamp: Option<Stamp>| stamp.and_then(unsettled_for).is_none();
        let mut settled = from.iter().all(|(_, stamp)| is_settled(*stamp));
        let say_something = settings.iter().filter(|file| said(file, facts).is_some());
        let texts: Vec<Vec<u8>> = say_something.filter_map(|file| bytes_of(file, MOST_SETTINGS)).collect();
        let works_in = texts.iter().flat_map(|text| named_in(text, b"worktree"));
        let addresses = texts.iter().flat_map(|text| named_in(text, b"url")).collect();
        let elsewhere: BTreeSet<PathBuf> = works_in.filter_map(|name| fs::canonicalize(own.join(name)).ok()).collect();
        let mut entries = match facts.is_there(&index) {
            true => bytes_of(&index, MOST_INDEX).and_then(|bytes| entries_in(&bytes)),
            false => Some(Entries::default()),
        };
        // One that shares most of its entries with others keeps those beside.
        for name in entries.as_ref().map(|entries| entries.shared.clone()).unwrap_or_default() {
            let beside = own.join(OsString::from_vec(name));
            let stamp = said(&beside, facts);
            settled &= is_settled(stamp);
            from.push((beside.clone(), stamp));
            if facts.is_there(&beside) {
                let more = bytes_of(&beside, MOST_INDEX).and_then(|bytes| entries_in(&bytes));
                entries = entries.zip(more).map(|(own, more)| own.and(more));
            }
        }
        Self { from, entries, elsewhere: elsewhere.into_iter().collect(), addresses, settled }
    }
}

/// What tells one state of a file from another. Settings with nothing in them say as much as none: such stand where
/// there are none while a command runs.
fn said(path: &Path, facts: &Facts) -> Option<Stamp> {
    let are_settings = SETTINGS.iter().any(|name| path.ends_with(name));
    facts.stamp(path).filter(|(_, _, _, length)| !are_settings || *length > 0)
}

/// Everything called `.git` in a folder and below; nothing if there is too much, or something can't be looked at.
fn all_below(folder: &Path, looked_at: &mut usize) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in unreadable::entries(&folder).ok()? {
            *looked_at += 1;
            if *looked_at > MOST_LOOKED_AT {
                return None;
            }
            if is_git_name(&entry.name) {
                found.push(folder.join(entry.name));
            } else if entry.kind.is_dir() {
                waiting.push(folder.join(entry.name));
            }
        }
    }
    Some(found)
}

/// What an address is on this machine: a git folder, or the one in a folder.
fn git_folders_at(address: &Path) -> Vec<PathBuf> {
    let with_ending = |address: &Path| {
        let mut text = address.as_os_str().to_owned();
        text.push(".git");
        PathBuf::from(text)
    };
    let folders =
        [address.to_path_buf(), with_ending(address)].into_iter().filter_map(|path| fs::canonicalize(path).ok());
    let git_folder = |folder: PathBuf| match is_bare(&folder) {
        true => folder,
        false => folder.join(".git"),
    };
    folders.map(git_folder).collect()
}

/// What settings say for a key, however they say it; an address without what says that it is a file.
fn named_in(text: &[u8], key: &[u8]) -> Vec<PathBuf> {
    let named = |line: &[u8]| {
        let at = line.windows(key.len()).position(|part| part.eq_ignore_ascii_case(key))? + key.len();
        let value = line.get(at..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
        let value: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'"').collect();
        let path = value.strip_prefix(b"file://").unwrap_or(&value);
        Some(PathBuf::from(OsStr::from_bytes(path)))
    };
    text.split(|byte| *byte == b'\n').filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn repository(script: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let script = format!(
            "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; set -e; git init -q .; {script}"
        );
        assert!(Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status().unwrap().success());
        let git = folder.path().join(".git");
        (folder, git)
    }

    const LINK: &str = "git update-index --add --cacheinfo 160000,0123456789012345678901234567890123456789,";

    fn names(entered: &Entered, top: &Path) -> Vec<String> {
        let below = |path: &PathBuf| path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        entered.repositories.iter().map(below).collect()
    }

    #[test]
    fn what_is_shared_between_indexes_is_read_again_when_it_comes_or_goes() {
        let (folder, git) =
            repository(&format!("{LINK}sub; git update-index --split-index; mv .git/sharedindex.* kept"));
        let mut indexes = Indexes::default();
        let mut look = || indexes.entered_from(&git, std::slice::from_ref(&git), &Facts::default());
        assert_eq!(names(&look(), folder.path()), [".git"]);
        let bytes = fs::read(git.join("index")).unwrap();
        let name = entries_in(&bytes).unwrap().shared.into_iter().next().unwrap();
        fs::rename(folder.path().join("kept"), git.join(OsString::from_vec(name))).unwrap();
        assert_eq!(names(&look(), folder.path()), [".git", "sub/.git"]);
    }

    #[test]
    fn settings_with_nothing_in_them_say_as_much_as_none() {
        let (folder, git) = repository("mkdir else");
        let (mut indexes, settings) = (Indexes::default(), git.join("config.worktree"));
        let mut look = || {
            let entered = indexes.entered_from(&git, std::slice::from_ref(&git), &Facts::default());
            names(&entered, folder.path())
        };
        assert_eq!(look(), [".git"]);
        fs::write(&settings, "").unwrap();
        assert_eq!(said(&settings, &Facts::default()), None, "what was read still holds");
        fs::write(&settings, "[core]\nworktree = ../else\n").unwrap();
        assert_eq!(look(), ["else/.git", ".git"]);
    }

    #[test]
    fn a_folder_without_entries_of_its_own_is_looked_through() {
        let (folder, git) = repository(
            "mkdir -p a/b node_modules/x; echo 1 >a/b/f; echo 1 >g; git add .; git commit -qm x; \
             git sparse-checkout set --cone --sparse-index; mkdir -p a/target/in; git init -q a/target/in",
        );
        let entered = Indexes::default().entered_from(&git, std::slice::from_ref(&git), &Facts::default());
        assert_eq!(
            (names(&entered, folder.path()), &entered.unclear),
            (vec![".git".into(), "a/target/in/.git".into()], &None)
        );
    }

    #[test]
    fn a_folder_that_its_owner_may_not_read_hides_no_repository() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("a");
        fs::create_dir_all(closed.join("b/.git")).unwrap();
        let look = |mode: u32| {
            fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
            let found = all_below(folder.path(), &mut 0);
            fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
            found
        };
        let expected = Some(vec![closed.join("b/.git")]);
        assert_eq!(look(0o311), expected);
        // Nothing is closed to root.
        let unclear = if rustix::process::geteuid().is_root() { expected } else { None };
        assert_eq!(look(0o000), unclear);
    }

    #[test]
    fn where_a_repository_works_is_where_it_enters_others() {
        let (folder, git) = repository(&format!("mkdir else; {LINK}sub; git config core.worktree ../else"));
        let mut indexes = Indexes::default();
        let entered = indexes.entered_from(&git, std::slice::from_ref(&git), &Facts::default());
        assert_eq!(names(&entered, folder.path()), ["else/.git", "else/sub/.git", ".git", "sub/.git"]);
        fs::write(git.join("index"), "nonsense").unwrap();
        assert_eq!(
            indexes.entered_from(&git, std::slice::from_ref(&git), &Facts::default()).unclear,
            Some(git.join("index"))
        );
    }
}
