//! Working trees of git that a session has for itself, and the way back from one.
//!
//! A worktree is made from the commit that is checked out, beside everything else that Neco keeps, with a
//! branch of its own. The person's working tree, index and branch stay as they are. What came of the work
//! is brought back as commits on that branch, or as a patch. Git is asked to do all of it, without hooks:
//! they are for the person's own work.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use crate::git::repository_of;
use crate::worktree_git::{git, git_bytes};

/// What the name of the file ends with that says what a worktree is.
const FACTS: &str = "worktree";

/// Lists files that git does not track; that starts no program and enters no other repository.
const UNKNOWN: [&str; 4] = ["ls-files", "--others", "--exclude-standard", "--directory"];

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum WorktreeError {
    /// The folder is in no repository.
    #[error("{} is in no git repository, so there is nothing to make a worktree of", .0.display())]
    NoRepository(PathBuf),
    /// Nothing was committed yet.
    #[error("nothing is committed in {} yet, so there is nothing to make a worktree of", .0.display())]
    NoCommit(PathBuf),
    /// Git could not do it.
    #[error("git {what} failed: {said}")]
    Git { what: String, said: String },
    /// Somebody works in it.
    #[error("somebody works in it")]
    InUse,
    /// It holds files that git does not know and nobody else has.
    #[error("it holds files that git ignores: {0}")]
    HoldsIgnored(String),
    /// Something on the disk can't be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// How the result of a worktree is brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BringBack {
    /// As commits on its branch.
    #[default]
    Branch,
    /// As a file with the difference.
    Patch,
}

/// A worktree of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its top folder.
    pub path: PathBuf,
    /// The top folder of the working tree that it was made from.
    pub repository: PathBuf,
    /// Its branch; where the result is a patch there is none of that name.
    pub branch: String,
    /// The commit it was made from.
    pub base: String,
    /// How its result is brought back.
    pub bring_back: BringBack,
}

/// What came of the work in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brought {
    /// Nothing was changed.
    Nothing,
    /// It is on the branch.
    Branch {
        /// How many commits more than the base.
        commits: usize,
        /// How many files differ from the base.
        files: usize,
    },
    /// It is in a file.
    Patch {
        /// The file.
        file: PathBuf,
        /// How many files differ from the base.
        files: usize,
    },
}

impl Worktree {
    /// Makes a worktree of the repository that `folder` lies in, below `worktrees`; gives it, and the folder
    /// in it that stands for `folder`. `id` tells it from all others.
    /// Fails when there is no repository or no commit, or git fails.
    pub fn create(
        folder: &Path,
        worktrees: &Path,
        id: &str,
        bring_back: BringBack,
    ) -> Result<(Self, PathBuf), WorktreeError> {
        let (top, _) = repository_of(folder).ok_or_else(|| WorktreeError::NoRepository(folder.to_path_buf()))?;
        let base = git(top, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .map_err(|_| WorktreeError::NoCommit(top.to_path_buf()))?;
        let project = top.file_name().map(|name| plain(&name.to_string_lossy())).unwrap_or_default();
        let name = if project.is_empty() { id.to_owned() } else { format!("{project}-{id}") };
        make_private(worktrees)?;
        let tree = Self {
            path: worktrees.join(&name),
            repository: top.to_path_buf(),
            branch: format!("neco/{id}"),
            base,
            bring_back,
        };
        let path = tree.path.as_os_str();
        // A patch needs no branch, so none is left behind.
        let how = match bring_back {
            BringBack::Branch => vec!["-b", &tree.branch],
            BringBack::Patch => vec!["--detach"],
        };
        let add: Vec<&OsStr> = ["worktree", "add", "--quiet"].into_iter().chain(how).map(OsStr::new).collect();
        git(top, &[&add[..], &[path, OsStr::new(&tree.base)]].concat())?;
        tree.write_facts()?;
        let inside = tree.path.join(folder.strip_prefix(top).unwrap_or(Path::new("")));
        // A folder that holds nothing that is committed is not there.
        fs::create_dir_all(&inside).map_err(|source| WorktreeError::Io { path: inside.clone(), source })?;
        Ok((tree, inside))
    }

    /// The worktree that a folder lies in, if it is one of those below `worktrees`.
    pub fn around(folder: &Path, worktrees: &Path) -> Option<Self> {
        let worktrees = worktrees.canonicalize().unwrap_or_else(|_| worktrees.to_path_buf());
        let name = folder.strip_prefix(&worktrees).ok()?.iter().next()?;
        Self::read_facts(&worktrees.join(name))
    }

    /// Whether the working tree that it is made from holds changes that are not committed: they are not in it.
    pub fn leaves_changes_behind(&self) -> Result<bool, WorktreeError> {
        Ok(!git(&self.repository, &["status", "--porcelain"])?.is_empty())
    }

    /// Brings back what came of the work; `title` is the first line of its commit.
    /// Fails when git fails; the worktree stays as it is then.
    pub fn bring_back(&self, title: &str) -> Result<Brought, WorktreeError> {
        git(&self.path, &["add", "--all"])?;
        let changed = git(&self.path, &["diff", "--cached", "--name-only", "-z", &self.base])?;
        let files = changed.split('\0').filter(|name| !name.is_empty()).count();
        if files == 0 && self.commits()? == 0 {
            return Ok(Brought::Nothing);
        }
        match self.bring_back {
            BringBack::Branch => {
                self.commit(title)?;
                Ok(Brought::Branch { commits: self.commits()?, files })
            }
            BringBack::Patch => Ok(Brought::Patch { file: self.write_patch()?, files }),
        }
    }

    /// Says that somebody works in it, as long as what is given lives: it is not removed meanwhile.
    pub fn hold(&self) -> Result<Held, WorktreeError> {
        let file = self.lock_file()?;
        file.lock_shared().map_err(|source| WorktreeError::Io { path: self.path.clone(), source })?;
        Ok(Held { _file: file })
    }

    /// Whether somebody works in it.
    pub fn is_held(&self) -> bool {
        self.lock_file().is_ok_and(|file| file.try_lock().is_err())
    }

    /// Makes the worktree again that was removed, from its branch, or from what it was made from.
    /// Fails when its repository is gone, or git fails.
    pub fn make_again(&self) -> Result<(), WorktreeError> {
        let missing = || WorktreeError::NoRepository(self.repository.clone());
        let (top, _) = repository_of(&self.repository).ok_or_else(missing)?;
        git(top, &["worktree", "prune"])?;
        let has_branch =
            git(top, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{}", self.branch)]).is_ok();
        let path = self.path.to_string_lossy();
        let how: Vec<&str> = match (self.bring_back, has_branch) {
            (BringBack::Branch, true) => vec![&path, &self.branch],
            (BringBack::Branch, false) => vec!["-b", &self.branch, &path, &self.base],
            (BringBack::Patch, _) => vec!["--detach", &path, &self.base],
        };
        git(top, &[&["worktree", "add", "--quiet"][..], &how].concat()).map(drop)
    }

    /// Whether what it was made from is still there.
    pub fn can_be_made_again(&self) -> bool {
        repository_of(&self.repository).is_some()
    }

    /// The files in it that git ignores, as far as a line has room; they are nowhere else.
    fn ignored(&self) -> Result<Option<String>, WorktreeError> {
        let all = git(&self.path, &[&UNKNOWN[..], &["--ignored"]].concat())?;
        let names: Vec<&str> = all.lines().collect();
        let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 5 { ", …" } else { "" };
        Ok((!names.is_empty()).then(|| format!("{shown}{more}")))
    }

    /// Removes the worktree, and its branch where that holds nothing more than what it was made from. What it
    /// was stays known, so that it can be made again.
    /// Fails when somebody works in it, it holds files that git ignores, or git fails, as it does when something in it
    /// is not committed.
    pub fn remove(&self) -> Result<(), WorktreeError> {
        match self.ignored()? {
            Some(names) => Err(WorktreeError::HoldsIgnored(names)),
            None => self.remove_with_ignored(),
        }
    }

    /// Whether what came of it is part of what the repository has checked out.
    pub fn is_merged(&self) -> bool {
        let merged = ["merge-base", "--is-ancestor", &self.branch, "HEAD"];
        let has_work = self.commits().is_ok_and(|commits| commits > 0);
        has_work && git(&self.repository, &merged).is_ok()
    }

    fn remove_with_ignored(&self) -> Result<(), WorktreeError> {
        let lock = self.lock_file()?;
        lock.try_lock().map_err(|_| WorktreeError::InUse)?;
        let is_empty = self.commits().unwrap_or(1) == 0;
        if !is_empty && self.bring_back == BringBack::Patch {
            // Commits without a branch would be nobody's.
            let name = self.branch.replacen("neco/", "refs/neco/worktrees/", 1);
            git(&self.path, &["update-ref", &name, "HEAD"])?;
        }
        // Git would look by itself, and enter repositories that somebody made in it.
        let changed = git(&self.path, &["diff", "--name-only", "HEAD"])?;
        if !changed.is_empty() || !git(&self.path, &UNKNOWN)?.is_empty() {
            let said = "it holds changes that are not committed".to_owned();
            return Err(WorktreeError::Git { what: "worktree remove".to_owned(), said });
        }
        let remove = ["worktree", "remove", "--force"].map(OsStr::new);
        git(&self.repository, &[&remove[..], &[self.path.as_os_str()]].concat())?;
        if is_empty && self.bring_back == BringBack::Branch {
            git(&self.repository, &["branch", "--quiet", "-D", &self.branch])?;
        }
        Ok(())
    }

    /// The file whose lock says that somebody works in it.
    fn lock_file(&self) -> Result<fs::File, WorktreeError> {
        let path = self.path.with_added_extension("lock");
        let opened = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        opened.map_err(|source| WorktreeError::Io { path, source })
    }

    /// Commits on the branch that the base has not.
    fn commits(&self) -> Result<usize, WorktreeError> {
        let count = git(&self.path, &["rev-list", "--count", &format!("{}..HEAD", self.base)])?;
        Ok(count.trim().parse().unwrap_or(0))
    }

    fn commit(&self, title: &str) -> Result<(), WorktreeError> {
        if git(&self.path, &["diff", "--cached", "--quiet"]).is_ok() {
            return Ok(());
        }
        let title = if title.trim().is_empty() { "work of a session" } else { title.trim() };
        // The box may hide where the person told git their name; one who never did can still have a commit.
        let set = |key: &str, otherwise: &str| {
            let own = git(&self.path, &["config", key]).ok().filter(|own| !own.trim().is_empty());
            format!("{key}={}", own.as_deref().unwrap_or(otherwise))
        };
        let (name, email) = (set("user.name", "neco"), set("user.email", "neco@localhost"));
        let who = ["-c", name.as_str(), "-c", email.as_str(), "-c", "commit.gpgSign=false"];
        git(&self.path, &[&who[..], &["commit", "--quiet", "--no-verify", "-m", title]].concat()).map(drop)
    }

    fn write_patch(&self) -> Result<PathBuf, WorktreeError> {
        let file = self.path.with_added_extension("patch");
        // Whatever the person has set for reading differences, this one is for `git apply`.
        let output = "\
            -c diff.submodule=short -c diff.ignoreSubmodules=none diff --cached --binary --full-index -O/dev/null \
            --no-color --no-ext-diff --no-textconv --src-prefix=a/ --dst-prefix=b/";
        let patch = git_bytes(&self.path, &output.split(' ').chain([self.base.as_str()]).collect::<Vec<_>>())?;
        fs::write(&file, patch).map_err(|source| WorktreeError::Io { path: file.clone(), source })?;
        Ok(file)
    }

    fn write_facts(&self) -> Result<(), WorktreeError> {
        let how = match self.bring_back {
            BringBack::Branch => "branch",
            BringBack::Patch => "patch",
        };
        let repository = self.repository.display();
        let text = format!("{repository}\n{}\n{}\n{how}\n", self.branch, self.base);
        let file = self.path.with_added_extension(FACTS);
        fs::write(&file, text).map_err(|source| WorktreeError::Io { path: file, source })
    }

    fn read_facts(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path.with_added_extension(FACTS)).ok()?;
        let mut lines = text.lines();
        Some(Self {
            path: path.to_path_buf(),
            repository: lines.next()?.into(),
            branch: lines.next()?.to_owned(),
            base: lines.next()?.to_owned(),
            bring_back: if lines.next()? == "patch" { BringBack::Patch } else { BringBack::Branch },
        })
    }
}

/// Somebody works in a worktree.
#[derive(Debug)]
pub struct Held {
    _file: fs::File,
}

/// All worktrees below `worktrees`, those included that were removed.
pub fn all(worktrees: &Path) -> Vec<Worktree> {
    let entries = fs::read_dir(worktrees).into_iter().flatten().flatten().map(|entry| entry.path());
    let facts = entries.filter(|path| path.extension() == Some(OsStr::new(FACTS)));
    facts.filter_map(|facts| Worktree::read_facts(&facts.with_extension(""))).collect()
}

/// Removes worktrees that nobody needs: those whose branch is merged, and those that were not touched for
/// `unused`; what is not committed keeps its worktree. Gives those that were removed.
pub fn tidy(worktrees: &Path, unused: Duration) -> Vec<Worktree> {
    let all = all(worktrees).into_iter().filter(|tree| tree.path.is_dir());
    all.filter(|tree| {
        let removed = match (tree.is_merged(), is_untouched(tree, unused)) {
            (_, true) => tree.remove_with_ignored(),
            (true, false) => tree.remove(),
            (false, false) => return false,
        };
        removed.is_ok()
    })
    .collect()
}

/// Git writes the index of a worktree whenever something is brought back.
fn is_untouched(tree: &Worktree, unused: Duration) -> bool {
    let index = git(&tree.path, &["rev-parse", "--git-path", "index"]).map(|path| tree.path.join(path));
    let touched = index.ok().and_then(|index| fs::metadata(index).ok()?.modified().ok());
    touched.is_some_and(|touched| SystemTime::now().duration_since(touched).is_ok_and(|age| age > unused))
}

fn make_private(folder: &Path) -> Result<(), WorktreeError> {
    use std::os::unix::fs::DirBuilderExt;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| WorktreeError::Io { path: folder.to_path_buf(), source })
}

/// A name as it can stand in a path and a command line.
fn plain(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    name.chars().map(letter).take(40).collect::<String>().trim_matches('-').to_owned()
}
