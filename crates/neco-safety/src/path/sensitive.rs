//! Files that hold secrets, or that decide what programs do: looked at and changed only after asking.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use neco_proto::secret_file::SecretFile;
pub use neco_proto::secret_file::is_sample;

use super::credentials::is_own_credential;
use super::later::{AGENT, BUILD, EDITOR, folded, is_agents_folder};

/// Says why a path is sensitive. Judged by its names alone, without regard to case: whoever can
/// spell `.ENV` on a file system that ignores case reads the same file.
#[must_use]
pub fn is_sensitive(path: &Path) -> Option<&'static str> {
    among(path, path.iter(), (Cow::default(), Cow::default()), |_| true)
}

/// The same for a path in a folder that the person chose to work in: that folder and those above it
/// make nothing sensitive as a whole, or nobody could work on the settings of an editor.
pub fn is_sensitive_below(root: &Path, path: &Path) -> Option<&'static str> {
    below(root, path, |_| true)
}

/// The same in a folder that is only there to be read, such as one of skills: what decides there what agents do is no
/// secret.
pub fn is_unread_below(root: &Path, path: &Path) -> Option<&'static str> {
    below(root, path, |why| why != AGENT)
}

fn below(root: &Path, path: &Path, counts: impl Fn(&str) -> bool) -> Option<&'static str> {
    let Ok(below) = path.strip_prefix(root) else { return is_sensitive(path) };
    let mut above = root.iter().rev().map(folded);
    let parent = above.next().unwrap_or_default();
    let grandparent = above.next().unwrap_or_default();
    among(path, below.iter(), (grandparent, parent), counts)
}

/// Why one of the names that end `path` makes it sensitive: the folders as a whole, the last one as a file.
fn among<'a>(
    path: &Path,
    names: impl Iterator<Item = &'a OsStr>,
    above: (Cow<'a, str>, Cow<'a, str>),
    counts: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let counts = |why: &&'static str| counts(why);
    let (mut grandparent, mut parent) = above;
    let mut names = names.map(folded).peekable();
    while let Some(name) = names.next() {
        let as_folder = folder_by_name(&name).or_else(|| folder_inside(&parent, &name)).filter(counts);
        if as_folder.is_some() {
            return as_folder;
        }
        if names.peek().is_none() {
            let by_name = || file_by_name(&name).filter(counts);
            let by_place = || file_inside(&grandparent, &parent, &name).filter(counts);
            return is_own_settings(path).filter(counts).or_else(by_name).or_else(by_place);
        }
        grandparent = std::mem::replace(&mut parent, name);
    }
    None
}

/// Why a path with `.git` in it is not written without asking: files such as `commondir` and
/// `gitdir` lead git to other folders, whose hooks and filters it then runs.
pub fn is_in_git_folder(path: &Path) -> Option<&'static str> {
    path.iter().any(|name| name.eq_ignore_ascii_case(".git")).then_some(GIT)
}

/// Why a path is not written without asking that makes a folder a repository by itself, or lies in one that may be:
/// git takes every folder with `HEAD`, `objects` and `refs` for one, and runs what the `config` in it says. Looks at the
/// folders up to the root.
pub fn may_make_a_repository(root: &Path, path: &Path) -> Option<&'static str> {
    let is_head = |name: &OsStr| name == "HEAD" || (cfg!(target_os = "macos") && name.eq_ignore_ascii_case("HEAD"));
    if path.file_name().is_some_and(is_head) {
        return Some(GIT);
    }
    let parts =
        ["objects", "refs", "commondir", "config", "config.worktree", "hooks", "modules", "worktrees", "gitdir"];
    let is_part = |name: &OsStr| parts.iter().any(|part| name.eq_ignore_ascii_case(part));
    let above = path.ancestors().take_while(|folder| *folder != root && folder.starts_with(root));
    let mut named_so = above.filter(|place| place.file_name().is_some_and(is_part));
    let has_head = |place: &Path| place.parent().is_some_and(|folder| folder.join("HEAD").symlink_metadata().is_ok());
    named_so.any(has_head).then_some(GIT)
}

/// Whether all that is in a folder is sensitive, by its own name; the folders above it were judged before.
pub fn is_sensitive_folder(path: &Path) -> Option<&'static str> {
    let mut names = path.iter().rev().map(folded);
    let name = names.next()?;
    folder_by_name(&name).or_else(|| folder_inside(&names.next().unwrap_or_default(), &name))
}

/// Whether a file is sensitive, by its own name; the folders above it were judged before. A folder
/// that would be sensitive as a whole counts as one.
pub fn is_sensitive_file(path: &Path) -> Option<&'static str> {
    let mut names = path.iter().rev();
    let name = names.next()?;
    let mut above = names.map(folded);
    let parent = above.next().unwrap_or_default();
    among(path, std::iter::once(name), (above.next().unwrap_or_default(), parent), |_| true)
}

/// Whether a file, or all that is in a folder, holds secrets by its own name; the folders above it were
/// judged before. Unlike what is sensitive, this is not about what programs do.
pub fn holds_secrets(path: &Path, is_folder: bool) -> bool {
    let why = if is_folder { is_sensitive_folder(path) } else { is_sensitive_file(path) };
    why.is_some_and(|why| [SECRETS, CREDENTIALS, PRIVATE_KEY].contains(&why))
}

/// Our own settings, wherever they lie on this machine. A process has one list of them, because what is sensitive is so
/// for everybody in it: the list only grows, and whoever is added guards more and opens nothing.
static OWN_SETTINGS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// From now on the settings in this folder are sensitive, whatever it is called.
pub fn guard_settings(folder: PathBuf) {
    let mut guarded = OWN_SETTINGS.write().unwrap_or_else(PoisonError::into_inner);
    if !guarded.contains(&folder) {
        guarded.push(folder);
    }
}

/// Whether a path lies in a folder of Neco's own, which no sandbox opens.
pub fn is_of_neco(path: &Path) -> bool {
    let names: Vec<Cow<'_, str>> = path.iter().map(OsStr::to_string_lossy).collect();
    let in_usual = |place: &[&str]| names.windows(place.len()).any(|own| own == place);
    let guarded = OWN_SETTINGS.read().unwrap_or_else(PoisonError::into_inner);
    in_usual(&[".config", "neco"])
        || in_usual(&[".local", "share", "neco"])
        || guarded.iter().any(|folder| path.starts_with(folder))
}

fn is_own_settings(path: &Path) -> Option<&'static str> {
    if is_own_credential(path) {
        return Some(CREDENTIALS);
    }
    let guarded = OWN_SETTINGS.read().unwrap_or_else(PoisonError::into_inner);
    guarded.iter().find_map(|folder| is_settings_of(folder, path))
}

fn is_settings_of(folder: &Path, path: &Path) -> Option<&'static str> {
    let below = path.strip_prefix(folder).ok()?;
    let mut names = below.iter().map(folded);
    let (first, is_file) = (names.next()?, names.next().is_none());
    let guarded = match first.as_ref() {
        "tools" | "hooks" | "plugins" | "policy" | "policies" | "commands" => true,
        "skills" | "agents" | "workflows" | "rules" => true,
        name => is_file && is_settings_name(name),
    };
    guarded.then_some(AGENT)
}

const SECRETS: &str = "it may hold secrets";
const CREDENTIALS: &str = "it holds credentials";
const PRIVATE_KEY: &str = "it may be a private key";
const GIT: &str = "it decides what git runs";
const START_UP: &str = "it runs when a shell or a session starts";

/// Folders that are sensitive wherever they are.
fn folder_by_name(name: &str) -> Option<&'static str> {
    match name {
        ".ssh" | ".gnupg" | ".password-store" => Some(PRIVATE_KEY),
        ".aws" | ".azure" => Some(CREDENTIALS),
        ".emacs.d" | ".vim" | ".idea" | ".zed" | ".helix" => Some(EDITOR),
        _ => None,
    }
}

/// Folders that are sensitive in a certain folder.
fn folder_inside(parent: &str, name: &str) -> Option<&'static str> {
    match (parent, name) {
        (".git", "hooks" | "modules" | "worktrees") | (".config", "git") => Some(GIT),
        (".config", "nvim" | "helix" | "zed") => Some(EDITOR),
        (".config", "gcloud" | "gh" | "op") => Some(CREDENTIALS),
        (".config", "neco") => Some(AGENT),
        (".neco", "tools" | "policy" | "commands") => Some(AGENT),
        (parent, "hooks" | "plugins") if is_agents_folder(parent) => Some(AGENT),
        _ => None,
    }
}

/// Files that are sensitive wherever they are.
fn file_by_name(name: &str) -> Option<&'static str> {
    match name {
        ".envrc" => Some(BUILD),
        ".gitconfig" => Some(GIT),
        ".bashrc" | ".bash_profile" | ".bash_login" | ".bash_logout" | ".bash_aliases" | ".profile" | ".zshrc"
        | ".zshenv" | ".zprofile" | ".zlogin" | ".zlogout" | ".cshrc" | ".tcshrc" | ".login" | ".kshrc" | ".mkshrc"
        | "config.fish" | ".inputrc" | ".xinitrc" | ".xprofile" | ".xsession" | ".pam_environment" => Some(START_UP),
        ".vimrc" | ".gvimrc" | ".exrc" | ".nvimrc" | ".nvim.lua" | ".emacs" | ".dir-locals.el" => Some(EDITOR),
        ".mcp.json" | "trusted-folders.json" => Some(AGENT),
        // Whatever was said in any session: the store, its search index, and what was put aside of a damaged one.
        _ if ["neco.db", "neco-search.db", "neco-damaged-"].iter().any(|begin| name.starts_with(begin)) => {
            Some(SECRETS)
        }
        _ if name.ends_with(".code-workspace") || name.ends_with(".sublime-project") => Some(EDITOR),
        _ => SecretFile::of_name(name).map(|file| match file {
            SecretFile::Variables => SECRETS,
            SecretFile::Credentials => CREDENTIALS,
            SecretFile::PrivateKey => PRIVATE_KEY,
        }),
    }
}

/// Files that are sensitive in a certain folder.
fn file_inside(grandparent: &str, parent: &str, name: &str) -> Option<&'static str> {
    match (grandparent, parent, name) {
        (_, ".git", "config" | "config.worktree") | (".git", "info", "attributes") => Some(GIT),
        (_, ".vscode", "settings.json" | "tasks.json" | "launch.json" | "mcp.json" | "extensions.json") => Some(EDITOR),
        (_, parent, name) if is_settings_name(name) && is_agents_folder(parent) => Some(AGENT),
        (_, ".docker", "config.json") | (_, ".kube", "config") => Some(CREDENTIALS),
        (_, ".cargo", "config" | "config.toml") => Some(BUILD),
        _ => None,
    }
}

/// Whether a file holds secrets by its name alone, wherever it is, and is no private key: boxes hide it.
pub fn is_secret_by_name(name: &str) -> bool {
    let named = ["service-account.json", "service_account.json", "wallet.dat"].contains(&name);
    named || name.ends_with(".ovpn") || name.ends_with(".env") && SecretFile::of_name(name).is_some()
}

fn is_settings_name(name: &str) -> bool {
    [".json", ".toml", ".yml", ".yaml"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sensitive_is_known_by_its_names() {
        let sensitive = [
            ".env",
            ".env.local",
            "app/.ENV.production",
            ".env_backup",
            "prod.env",
            "deploy/db.prod.env",
            "x.ovpn",
            "service-account.json",
            ".envrc",
            "a/.ssh/config",
            ".aws/credentials",
            "deploy/id_ed25519",
            "certs/server.KEY",
            ".git/config",
            "sub/.git/hooks/pre-commit",
            ".git/modules/x/hooks/post-checkout",
            ".bashrc",
            ".vscode/tasks.json",
            ".idea/workspace.xml",
            ".neco/config.toml",
            ".neco/config.local.toml",
            ".neco/tools/a.toml",
            ".config/neco/config.toml",
            ".claude/settings.local.json",
            ".mcp.json",
            "home/trusted-folders.json",
            ".neco/hooks.json",
            ".cargo/config.toml",
            ".npmrc",
            "anywhere/keys.toml",
            "anywhere/data/neco.db",
            "anywhere/data/neco.db-wal",
            "anywhere/data/neco-search.db",
            "anywhere/data/neco-damaged-20260131-120000.db",
        ];
        for path in sensitive {
            assert!(is_sensitive(Path::new(path)).is_some(), "{path}");
        }
    }

    #[test]
    fn the_folder_that_was_chosen_is_not_sensitive_as_a_whole() {
        let root = Path::new("/home/me/.config/nvim");
        for path in ["", "init.lua", "lua/plugins.lua"] {
            assert_eq!(is_sensitive_below(root, &root.join(path)), None, "{path}");
        }
        for path in [".env", "lua/.ssh/config", ".git/hooks/pre-commit", "a/.git/config"] {
            assert!(is_sensitive_below(root, &root.join(path)).is_some(), "{path}");
        }
        assert!(is_sensitive_below(Path::new("/r/.git"), Path::new("/r/.git/config")).is_some());
        assert!(is_sensitive_below(Path::new("/r/.git"), Path::new("/r/.git/hooks/x")).is_some());
        assert_eq!(is_sensitive_below(Path::new("/r/.ssh"), Path::new("/r/.ssh")), None);
    }

    #[test]
    fn every_name_git_has_its_files_under_counts_for_writing() {
        for path in ["/r/.git", "/r/.git/commondir", "/r/sub/.GIT/gitdir", "/r/.git/refs/heads/main"] {
            assert!(is_in_git_folder(Path::new(path)).is_some(), "{path}");
        }
        for path in ["/r/.github/x", "/r/.gitignore", "/r/git/x", "/r/a.git/x"] {
            assert_eq!(is_in_git_folder(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn what_makes_a_folder_a_repository_counts_for_writing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let asks = |path: &str| may_make_a_repository(root, &root.join(path)).is_some();
        assert!(asks("HEAD") && asks("a/b/HEAD"), "nothing is a repository without one");
        assert!(!asks("config") && !asks("objects/a") && !asks("a/HEAD.md") && !asks("src/refs/x.rs"));
        std::fs::create_dir(root.join("a")).unwrap();
        std::fs::write(root.join("a/HEAD"), "ref: refs/heads/main").unwrap();
        for path in ["a/config", "a/refs/heads/x", "a/objects/a", "a/hooks/pre-commit", "a/commondir", "a/Config"] {
            assert!(asks(path), "{path}");
        }
        assert!(!asks("a/main/src/lib.rs") && !asks("config") && !asks("b/config") && !asks("a/b/config"));
    }

    #[test]
    fn our_own_settings_are_guarded_wherever_they_lie() {
        guard_settings(PathBuf::from("/srv/other-home"));
        guard_settings(PathBuf::from("/srv/agent-home"));
        crate::path::guard_credentials(PathBuf::from("/srv/data/run"));
        assert!(is_sensitive(Path::new("/srv/other-home/config.toml")).is_some(), "one more replaces none");
        assert!(is_sensitive(Path::new("/srv/data/run/token")).is_some(), "whoever reads it can come in");
        assert_eq!(is_sensitive(Path::new("/srv/data/runner/token.rs")), None);
        for path in [
            "config.toml",
            "policy.toml",
            "policies/a.toml",
            "hooks/x.sh",
            "trusted.json",
            "skills/x/SKILL.md",
            "Skills/x/run.sh",
            "agents/x.md",
            "workflows/x.toml",
            "rules/x.md",
        ] {
            assert!(is_sensitive(&Path::new("/srv/agent-home").join(path)).is_some(), "{path}");
        }
        for path in ["data/sessions/1/outputs/a.txt", "notes.md", "project/src/config.toml"] {
            assert_eq!(is_sensitive(&Path::new("/srv/agent-home").join(path)), None, "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        let ordinary = [
            "src/env.rs",
            ".env.example",
            "example.env",
            "process.env",
            "app/.env.local.sample",
            "src/credentials.rs",
            "deploy/id_rsa.pub",
            "src/key.rs",
            "ssh/config",
            ".gitignore",
            ".git/HEAD",
            ".github/workflows/ci.yml",
            "config.toml",
            ".neco/rules.md",
            ".claude/CLAUDE.md",
            "hooks/useThing.ts",
            "src/credentials/mod.rs",
            "vendor/site.key/readme.md",
            ".vscode/notes.md",
            "",
        ];
        for path in ordinary {
            assert_eq!(is_sensitive(Path::new(path)), None, "{path}");
        }
    }
}
