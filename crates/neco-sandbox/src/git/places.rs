//! What of a git repository stays as it is in a box: all that decides what git runs, and where it looks.
//!
//! Every folder between a git folder and what is kept in it is a place of its own, because a mount
//! holds itself in its place but not the folders above it.

use std::path::{Path, PathBuf};

use crate::git::check::{LEADING, list_leading};
use crate::git::linked;
use crate::plan::layout::{Drawing, Seen};

impl Drawing<'_> {
    /// A repository stays where it is, and what decides what git runs stays as it is, wherever that lies.
    pub(crate) fn keep_git(&mut self, git: &Path) {
        let Some(kind) = self.facts.of(git) else { return };
        let own = linked::own_folder(git, self.facts);
        if kind.is_dir() {
            self.keep_git_folder(git);
            if let Some(folder) = git.parent() {
                self.keep_from_being_bare(folder);
            }
        } else {
            self.keep_what_is_there(git);
            self.layout.git_folders.insert(git.to_path_buf());
        }
        let Some(own) = own else { return };
        if kind.is_symlink() {
            // All of it stays as it is.
            self.layout.git_folders.extend(linked::modules_of(&own, self.facts).unwrap_or_default());
            self.layout.git_folders.insert(own);
            return;
        }
        let shared = linked::shared_by(&own).unwrap_or_else(|| own.clone());
        // Outside of what is worked in, only what says that it belongs here is opened.
        let is_in_reach = |folder: &Path| self.is_in_root(folder) && linked::is_git_folder(folder, self.facts);
        if (is_in_reach(&own) && is_in_reach(&shared)) || linked::named_back(git).is_some() {
            if shared != git {
                self.keep_git_folder(&shared);
            }
            if own != shared {
                self.keep_worktree(&shared, &own);
            }
        }
    }

    fn keep_git_folder(&mut self, git: &Path) {
        if self.layout.git_folders.contains(git) {
            return;
        }
        self.keep_git_settings(git);
        match linked::modules_of(git, self.facts) {
            Some(modules) => {
                for module in modules {
                    self.pin_between(git, &module);
                    self.keep_git_settings(&module);
                }
            }
            None => {
                tracing::warn!(git = %git.display(), "submodules can't be told apart: all of them are read-only");
                self.put(git.join("modules"), Seen::ReadOnly);
            }
        }
    }

    fn keep_git_settings(&mut self, git: &Path) {
        if !self.layout.git_folders.insert(git.to_path_buf()) {
            return;
        }
        self.put(git.to_path_buf(), Seen::Writable);
        list_leading(git, &self.facts.listed);
        self.keep(git.join("hooks"));
        self.keep(git.join("config"));
        self.keep_file(git.join("config.worktree"));
        self.keep_file(git.join("commondir"));
        // Missing ones are looked for at the end.
        let leading: Vec<PathBuf> = self.facts.listed.among(git, LEADING.iter().copied());
        for path in leading.into_iter().filter(|path| path.exists()) {
            path.parent().into_iter().for_each(|folder| self.pin_between(git, folder));
            self.keep_what_is_there(&path);
        }
        let leads_elsewhere = git.join("gitdir");
        if !self.is_there(&leads_elsewhere) || !self.keeps(&leads_elsewhere) {
            self.layout.unwanted.push(leads_elsewhere);
        }
        match linked::worktrees_of(git, self.facts) {
            Some(worktrees) => worktrees.iter().for_each(|own| self.keep_worktree(git, own)),
            None => {
                tracing::warn!(git = %git.display(), "too many worktrees to tell apart: all others are read-only");
                self.put(git.join("worktrees"), Seen::ReadOnly);
            }
        }
    }

    /// The folder that a worktree has in the repository it belongs to.
    fn keep_worktree(&mut self, git: &Path, own: &Path) {
        self.pin_between(git, own);
        self.layout.git_folders.insert(own.to_path_buf());
        self.keep_what_is_there(&own.join("commondir"));
        self.keep_what_is_there(&own.join("gitdir"));
        self.keep_file(own.join("config.worktree"));
    }

    /// The last folder and those above it, up to the git folder, can't be moved away.
    fn pin_between(&mut self, git: &Path, last: &Path) {
        for folder in last.ancestors().take_while(|folder| *folder != git && folder.starts_with(git)) {
            self.put(folder.to_path_buf(), Seen::Writable);
        }
    }

    /// Git takes a folder with `HEAD`, `objects` and `refs` for a repository if the `.git` in it is
    /// broken, which a command can do. Where there is a `HEAD` already, one of the others is made unfit;
    /// otherwise the folder is watched, and `HEAD` is put aside when it makes a repository of it.
    fn keep_from_being_bare(&mut self, folder: &Path) {
        let free = ["refs", "objects"].map(|name| folder.join(name)).into_iter().find(|path| !self.is_there(path));
        match free {
            Some(path) if self.is_there(&folder.join("HEAD")) => self.put(path, Seen::StandIn),
            Some(_) => self.layout.never_bare.push(folder.to_path_buf()),
            None if self.is_there(&folder.join("HEAD")) => {}
            None => self.layout.never_bare.push(folder.to_path_buf()),
        }
    }
}
