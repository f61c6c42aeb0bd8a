//! What is ignored: the rules of every folder on the way, read once, and only from regular files.
//!
//! The walking library could read these files itself, but it opens whatever stands under their
//! names: a link to an endless device fills the memory, a pipe waits for ever.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::git;
use crate::small_file::{self, Links};

/// No file of rules is nearly as large; what is larger is something else.
const MOST_BYTES: u64 = 1 << 20;

/// What the rules say of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Silent,
    /// It is left out.
    Ignored,
    /// It is wanted, whatever its name is.
    Wanted,
}

/// The rules of the folders below `top`, shared by the threads of a walk.
#[derive(Debug)]
pub(crate) struct Rules {
    /// No folder above it plays a part.
    top: PathBuf,
    folders: RwLock<HashMap<PathBuf, Option<Arc<Folder>>>>,
    /// What they come from that lies in no folder that is walked.
    elsewhere: Mutex<Vec<Elsewhere>>,
}

/// A file that rules come from, or would come from if it were there, as it was before it was read.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    path: PathBuf,
    mark: Option<Mark>,
}

/// What tells one state of a file from another; of a folder, only whether it is the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    number: (u64, u64),
    content: Option<(u64, i64, i64, i64, i64)>,
}

impl Elsewhere {
    fn of(path: PathBuf) -> Self {
        let mark = Mark::of(&path);
        Self { path, mark }
    }

    pub(crate) fn is_same(&self) -> bool {
        Mark::of(&self.path) == self.mark
    }
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let facts = std::fs::symlink_metadata(path).ok()?;
        let times =
            |facts: &Metadata| (facts.len(), facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec());
        Some(Self { number: (facts.dev(), facts.ino()), content: (!facts.is_dir()).then(|| times(&facts)) })
    }
}

/// A folder that has rules or ends those above it.
#[derive(Debug)]
struct Folder {
    /// Of `.ignore`, which outranks every `.gitignore`.
    ignore: Option<Gitignore>,
    /// Of `.gitignore`.
    git: Option<Gitignore>,
    /// Set for the top of a working tree: git's rules from above end here, and these come last.
    repository: Option<Option<Gitignore>>,
    /// The nearest folder above that has something to say.
    above: Option<Arc<Folder>>,
}

impl Rules {
    /// The rules of a walk of `root`: those of its repository, else those up to the workspace. Up to
    /// the root of the file system they would include a folder of someone's dotfiles that may ignore
    /// everything.
    pub(crate) fn of(workspace: &Path, root: &Path) -> Self {
        let top = match git::repository_of(root) {
            Some((top, _)) => top,
            None if root.starts_with(workspace) => workspace,
            None => root,
        };
        Self { top: top.to_path_buf(), folders: RwLock::default(), elsewhere: Mutex::default() }
    }

    /// The same, with what they come from above `root` noted: it is to be looked at again later.
    pub(crate) fn noted(workspace: &Path, root: &Path) -> Self {
        let names = |folder: &Path| [".git", ".ignore", ".gitignore"].map(|name| Elsewhere::of(folder.join(name)));
        let above: Vec<Elsewhere> = root.ancestors().skip(1).flat_map(names).collect();
        Self { elsewhere: Mutex::new(above), ..Self::of(workspace, root) }
    }

    /// Whether what the rules come from is as it was, apart from files in the folders that were walked.
    pub(crate) fn are_same_elsewhere(&self) -> bool {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).iter().all(Elsewhere::is_same)
    }

    /// What the rules say of something in a folder that is not ignored itself.
    pub(crate) fn judge(&self, path: &Path, is_folder: bool) -> Verdict {
        let Some(nearest) = path.parent().and_then(|folder| self.folder(folder)) else { return Verdict::Silent };
        let said = nearest.ignore_says(path, is_folder).or_else(|| nearest.git_says(path, is_folder));
        said.unwrap_or(Verdict::Silent)
    }

    /// The folder, or the nearest one above it that has something to say.
    fn folder(&self, path: &Path) -> Option<Arc<Folder>> {
        if let Some(known) = self.folders.read().unwrap_or_else(PoisonError::into_inner).get(path) {
            return known.clone();
        }
        if !path.starts_with(&self.top) {
            return None;
        }
        let above = path.parent().and_then(|parent| self.folder(parent));
        let folder = Folder::read(path, above, |file| {
            self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).push(Elsewhere::of(file));
        });
        // Another thread may have read it too; both have read the same.
        self.folders.write().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), folder.clone());
        folder
    }
}

impl Folder {
    fn read(path: &Path, above: Option<Arc<Self>>, note: impl Fn(PathBuf)) -> Option<Arc<Self>> {
        let ignore = rules_of(path, &path.join(".ignore"));
        let git = rules_of(path, &path.join(".gitignore"));
        let repository = std::fs::symlink_metadata(path.join(".git")).is_ok().then(|| {
            let Some(git) = git::git_folder(path) else {
                note(path.join(".git/HEAD"));
                return None;
            };
            let exclude = git::exclude_file(&git);
            note(exclude.clone());
            rules_of(path, &exclude)
        });
        if ignore.is_none() && git.is_none() && repository.is_none() {
            return above;
        }
        Some(Arc::new(Self { ignore, git, repository, above }))
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |folder| folder.above.as_deref())
    }

    fn ignore_says(&self, path: &Path, is_folder: bool) -> Option<Verdict> {
        self.chain().find_map(|folder| says(folder.ignore.as_ref(), path, is_folder))
    }

    /// The nearest file that has something to say decides, up to the top of the working tree.
    fn git_says(&self, path: &Path, is_folder: bool) -> Option<Verdict> {
        for folder in self.chain() {
            if let Some(verdict) = says(folder.git.as_ref(), path, is_folder) {
                return Some(verdict);
            }
            if let Some(exclude) = &folder.repository {
                return says(exclude.as_ref(), path, is_folder);
            }
        }
        None
    }
}

fn says(rules: Option<&Gitignore>, path: &Path, is_folder: bool) -> Option<Verdict> {
    match rules?.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(Verdict::Ignored),
        Match::Whitelist(_) => Some(Verdict::Wanted),
    }
}

/// The rules of a file for a folder. Links are refused, as git does.
pub(crate) fn rules_of(folder: &Path, file: &Path) -> Option<Gitignore> {
    rules_in(folder, file, &content_of(file)?)
}

/// What such a file says, as far as it can be one.
pub(crate) fn content_of(file: &Path) -> Option<Vec<u8>> {
    small_file::read(file, MOST_BYTES, Links::Refused)
}

/// The rules that a file with this content has for a folder.
pub(crate) fn rules_in(folder: &Path, file: &Path, content: &[u8]) -> Option<Gitignore> {
    let text = String::from_utf8_lossy(content);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // A file with a line that is no pattern still counts with its other lines.
        let _ = builder.add_line(Some(file.to_path_buf()), line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_no_regular_file_of_sane_size_has_no_rules() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("plain"), "*.log\n").unwrap();
        fs::write(path("long"), "*.log\n".repeat(200_000)).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        symlink(path("plain"), path("link")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(rules_of(folder.path(), &path("plain")).is_some());
        for name in ["long", "endless", "link", "pipe", "missing"] {
            assert!(rules_of(folder.path(), &path(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn the_nearest_rule_decides_and_a_repository_ends_those_above() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for name in ["inner/.git/info", "sub", ".git/info"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        for (name, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/info/exclude", "*.excluded\n"),
            (".gitignore", "\u{feff}*.log\n*.out\n*.excluded2\n"),
            (".ignore", "!wanted.log\n"),
            ("sub/.gitignore", "!*.log\nx[\n*.x\n"),
            ("inner/.git/HEAD", "ref: refs/heads/main\n"),
            ("inner/.git/info/exclude", "*.mine\n"),
        ] {
            fs::write(top.join(name), text).unwrap();
        }
        let rules = Rules::of(top, top);
        for (path, verdict) in [
            ("a.log", Verdict::Ignored),
            ("wanted.log", Verdict::Wanted),
            ("a.excluded", Verdict::Ignored),
            ("sub/a.log", Verdict::Wanted),
            ("sub/a.out", Verdict::Ignored),
            ("sub/a.x", Verdict::Ignored),
            ("sub/a.rs", Verdict::Silent),
            ("inner/a.log", Verdict::Silent),
            ("inner/wanted.log", Verdict::Wanted),
            ("inner/a.mine", Verdict::Ignored),
            ("inner/a.excluded", Verdict::Silent),
        ] {
            assert_eq!(rules.judge(&top.join(path), false), verdict, "{path}");
        }
    }

    #[test]
    fn a_worktree_shares_the_exclude_file_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("main/.git/worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(folder.path().join("main/.git/info")).unwrap();
        fs::write(folder.path().join("main/.git/info/exclude"), "*.no\n").unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
        assert_eq!(Rules::of(&tree, &tree).judge(&tree.join("a.no"), false), Verdict::Ignored);
    }
}
