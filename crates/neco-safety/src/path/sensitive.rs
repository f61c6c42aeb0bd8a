//! Files that hold secrets, or that decide what programs do: looked at and changed only after asking.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

/// Says why a path is sensitive. Judged by its names alone, without regard to case: whoever can
/// spell `.ENV` on a file system that ignores case reads the same file.
#[must_use]
pub fn is_sensitive(path: &Path) -> Option<&'static str> {
    let mut before = [Cow::Borrowed(""), Cow::Borrowed("")];
    for component in path.iter() {
        let name = folded(component);
        let [grandparent, parent] = &before;
        if let Some(reason) = by_name(&name).or_else(|| inside(grandparent, parent, &name)) {
            return Some(reason);
        }
        let [_, parent] = before;
        before = [parent, name];
    }
    None
}

/// The same for an entry that a walk has found, whose folders were judged on the way to it.
#[must_use]
pub fn is_sensitive_entry(path: &Path) -> Option<&'static str> {
    let mut names = path.iter().rev().map(folded);
    let name = names.next()?;
    let parent = names.next().unwrap_or_default();
    let grandparent = names.next().unwrap_or_default();
    by_name(&name).or_else(|| inside(&grandparent, &parent, &name))
}

fn folded(name: &OsStr) -> Cow<'_, str> {
    let name = name.to_string_lossy();
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name }
}

const SECRETS: &str = "it may hold secrets";
const CREDENTIALS: &str = "it holds credentials";
const PRIVATE_KEY: &str = "it may be a private key";
const GIT: &str = "it decides what git runs";
const START_UP: &str = "it runs when a shell or a session starts";
const EDITOR: &str = "it decides what an editor runs";
const AGENT: &str = "it decides what an agent may do";
const BUILD: &str = "it decides what is run in this folder";

/// Names that are sensitive wherever they are; a folder makes all that is in it so.
fn by_name(name: &str) -> Option<&'static str> {
    match name {
        ".envrc" => Some(BUILD),
        ".ssh" | ".gnupg" | ".password-store" => Some(PRIVATE_KEY),
        ".aws" | ".azure" | ".netrc" | "_netrc" | ".npmrc" | ".yarnrc" | ".pypirc" | ".pgpass" | ".my.cnf"
        | ".git-credentials" | ".htpasswd" | ".vault-token" | "credentials" | "credentials.json"
        | "credentials.toml" | "credentials.yml" | "credentials.yaml" | "credentials.xml" | "credentials.ini"
        | "application_default_credentials.json" | "secrets.json" | "secrets.toml" | "secrets.yml"
        | "secrets.yaml" => Some(CREDENTIALS),
        ".gitconfig" => Some(GIT),
        ".bashrc" | ".bash_profile" | ".bash_login" | ".bash_logout" | ".bash_aliases" | ".profile" | ".zshrc"
        | ".zshenv" | ".zprofile" | ".zlogin" | ".zlogout" | ".cshrc" | ".tcshrc" | ".login" | ".kshrc"
        | ".mkshrc" | "config.fish" | ".inputrc" | ".xinitrc" | ".xprofile" | ".xsession" | ".pam_environment" => {
            Some(START_UP)
        }
        ".vimrc" | ".gvimrc" | ".exrc" | ".nvimrc" | ".nvim.lua" | ".emacs" | ".emacs.d" | ".dir-locals.el"
        | ".vim" | ".idea" | ".zed" | ".helix" => Some(EDITOR),
        ".mcp.json" => Some(AGENT),
        _ if name.starts_with(".env") => Some(SECRETS),
        _ if name.starts_with("id_") && !name.ends_with(".pub") && is_key_name(name) => Some(PRIVATE_KEY),
        _ => by_extension(name),
    }
}

fn by_extension(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "pem" | "key" | "p12" | "pfx" | "ppk" | "jks" | "keystore" | "kdbx" => Some(PRIVATE_KEY),
        "code-workspace" | "sublime-project" => Some(EDITOR),
        _ => None,
    }
}

/// Names that are sensitive in a certain folder.
fn inside(grandparent: &str, parent: &str, name: &str) -> Option<&'static str> {
    match (grandparent, parent, name) {
        (_, ".git", "config" | "config.worktree" | "hooks" | "modules" | "worktrees") => Some(GIT),
        (".git", "info", "attributes") | (".config", "git", _) => Some(GIT),
        (_, ".vscode", "settings.json" | "tasks.json" | "launch.json" | "mcp.json" | "extensions.json") => {
            Some(EDITOR)
        }
        (_, ".config", "nvim" | "helix" | "zed") => Some(EDITOR),
        (_, ".neco", "tools" | "hooks" | "plugins" | "policy" | "commands") | (".config", "neco", _) => Some(AGENT),
        (_, ".neco", name) if name.ends_with(".toml") => Some(AGENT),
        (_, ".claude" | ".codex" | ".gemini" | ".cursor" | ".agents", name) if is_settings_name(name) => Some(AGENT),
        (_, ".docker", "config.json") | (_, ".kube", "config") => Some(CREDENTIALS),
        (".config", "gcloud" | "gh" | "op", _) => Some(CREDENTIALS),
        (_, ".cargo", "config" | "config.toml") => Some(BUILD),
        _ => None,
    }
}

fn is_key_name(name: &str) -> bool {
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"].iter().any(|kind| name.starts_with(kind))
}

fn is_settings_name(name: &str) -> bool {
    matches!(name, "hooks" | "plugins") || [".json", ".toml", ".yml", ".yaml"].iter().any(|end| name.ends_with(end))
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
            ".cargo/config.toml",
            ".npmrc",
        ];
        for path in sensitive {
            assert!(is_sensitive(Path::new(path)).is_some(), "{path}");
            let on_the_way = Path::new(path).ancestors().any(|part| is_sensitive_entry(part).is_some());
            assert!(on_the_way, "{path} must be met by a walk too");
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        let ordinary = [
            "src/env.rs",
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
            ".vscode/notes.md",
            "",
        ];
        for path in ordinary {
            assert_eq!(is_sensitive(Path::new(path)), None, "{path}");
        }
    }
}
