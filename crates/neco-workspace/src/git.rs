//! Facts about the repository, read from its files: no process is started for them.

use std::fs;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use crate::small_file::{self, Links};

/// What HEAD and the like hold at most; anything longer is not one of git's files.
const MOST_BYTES: u64 = 4096;

/// Longer settings are not looked through.
const MOST_SETTINGS: u64 = 1024 * 1024;

/// Where the repository is and what is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFacts {
    /// The top folder of the working tree.
    pub root: PathBuf,
    /// What is checked out.
    pub head: Head,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch, be it without a commit yet.
    Branch(String),
    /// No branch; the short id of a commit.
    Detached(String),
    /// The repository keeps it where this can't read it.
    Unknown,
}

impl GitFacts {
    /// The facts of the repository that `folder` lies in.
    pub fn of(folder: &Path) -> Option<Self> {
        let (root, git) = repository_of(folder)?;
        Some(Self { root: root.to_path_buf(), head: head_of(&git) })
    }
}

/// The top folder of the working tree that holds `path`, and its git folder.
pub(crate) fn repository_of(path: &Path) -> Option<(&Path, PathBuf)> {
    path.ancestors().find_map(|folder| git_folder(folder).map(|git| (folder, git)))
}

/// The file with rules of a repository's own that are not part of its tree.
pub(crate) fn exclude_file(git: &Path) -> PathBuf {
    shared_folder(git).join("info/exclude")
}

/// The folder that all working trees of a repository share: objects, names and settings are there.
pub(crate) fn shared_folder(git: &Path) -> PathBuf {
    let shared = small_file(&git.join("commondir")).map(|text| git.join(without_line_ends(&text)));
    shared.unwrap_or_else(|| git.to_path_buf())
}

/// The kind of the ids in a repository, which its settings name.
pub(crate) fn object_hash(git: &Path) -> gix::hash::Kind {
    let name = setting(&shared_folder(git), "extensions.objectformat");
    name.and_then(|name| name.parse().ok()).unwrap_or(gix::hash::Kind::Sha1)
}

/// What the settings of a repository, in the folder that its working trees share, say under a name.
pub(crate) fn setting(shared: &Path, name: &str) -> Option<String> {
    let settings = small_file::read(&shared.join("config"), MOST_SETTINGS, Links::Followed)?;
    let file = gix::config::File::try_from(settings.as_bstr()).ok()?;
    Some(file.string(name)?.to_string())
}

/// The git folder of a folder that is the top of a working tree. A worktree and a submodule have a
/// file there that names it.
pub(crate) fn git_folder(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    let kind = fs::metadata(&dot_git).ok()?;
    let git = match kind.is_dir() {
        true => dot_git,
        false => folder.join(without_line_ends(&small_file(&dot_git)?).strip_prefix("gitdir: ")?),
    };
    fs::symlink_metadata(git.join("HEAD")).is_ok().then_some(git)
}

/// To git all but the ends of lines is part of a name.
fn without_line_ends(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

fn head_of(git: &Path) -> Head {
    let head = git.join("HEAD");
    // Very old repositories have a link instead of a file.
    let linked = fs::read_link(&head).ok().map(|target| format!("ref: {}", target.display()));
    let Some(text) = linked.or_else(|| small_file(&head)) else {
        return Head::Unknown;
    };
    match text.trim().strip_prefix("ref:").map(str::trim) {
        // This is what a repository with another kind of storage writes for those who don't know it.
        Some("refs/heads/.invalid") => Head::Unknown,
        Some(name) => Head::Branch(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None => detached(text.trim()),
    }
}

fn detached(id: &str) -> Head {
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match id.get(..7) {
        Some(short) if is_id => Head::Detached(short.to_owned()),
        Some(_) | None => Head::Unknown,
    }
}

fn small_file(path: &Path) -> Option<String> {
    String::from_utf8(small_file::read(path, MOST_BYTES, Links::Followed)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(head: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), head).unwrap();
        folder
    }

    #[test]
    fn the_branch_is_known_from_any_folder() {
        let folder = repository("ref: refs/heads/feature/x\n");
        let facts = GitFacts::of(&folder.path().join("src/deep")).unwrap();
        assert_eq!(facts.root, folder.path());
        assert_eq!(facts.head, Head::Branch("feature/x".to_owned()));
    }

    #[test]
    fn other_heads() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let cases = [
            (format!("{id}\n"), Head::Detached("0123456".to_owned())),
            ("ref: refs/heads/.invalid".to_owned(), Head::Unknown),
            ("nonsense".to_owned(), Head::Unknown),
            (String::new(), Head::Unknown),
        ];
        for (text, expected) in cases {
            let folder = repository(&text);
            assert_eq!(GitFacts::of(folder.path()).unwrap().head, expected, "{text:?}");
        }
    }

    #[test]
    fn a_worktree_has_a_head_of_its_own() {
        let folder = repository("ref: refs/heads/main\n");
        let own = folder.path().join(".git/worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../.git/worktrees/tree\n").unwrap();
        let facts = GitFacts::of(&tree).unwrap();
        assert_eq!((facts.root, facts.head), (tree, Head::Branch("side".to_owned())));
    }

    #[test]
    fn no_repository_is_no_facts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(GitFacts::of(folder.path()), None);
        fs::create_dir(folder.path().join(".git")).unwrap();
        assert_eq!(GitFacts::of(folder.path()), None, "an empty .git is none");
    }
}
