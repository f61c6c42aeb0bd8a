//! What must stay until a box is gone, and what is put right then.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::bare::{is_straight, put_aside, unmake};
use super::masks::MaskGuard;

/// Ends when nothing runs in the box any more, also when it is dropped. Touches the disk.
#[derive(Debug)]
pub(crate) struct Keep {
    masks: Option<MaskGuard>,
    put_right: PutRight,
}

/// What is put right at the end.
#[derive(Debug, Default)]
pub(super) struct PutRight {
    /// What leads git elsewhere and was not there before: nobody but the command made it.
    pub(super) unwanted: Vec<PathBuf>,
    /// Settings that were not there before.
    pub(super) settings: Vec<PathBuf>,
    /// Folders that were no repositories by themselves.
    pub(super) never_bare: Vec<PathBuf>,
    /// Settings that are links, and where they lead.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

impl Keep {
    pub(super) fn new(masks: MaskGuard, put_right: PutRight) -> Self {
        Self { masks: Some(masks), put_right }
    }

    /// Puts everything right. Gives what was taken away that the command had made, or someone else meanwhile.
    pub(crate) fn end(mut self) -> Vec<PathBuf> {
        self.end_here()
    }

    fn end_here(&mut self) -> Vec<PathBuf> {
        let PutRight { unwanted, settings, never_bare, links } = std::mem::take(&mut self.put_right);
        let mut taken: Vec<PathBuf> = unwanted.into_iter().filter(|path| remove(path)).collect();
        taken.extend(settings.into_iter().filter(|path| set_aside(path)));
        taken.extend(never_bare.iter().filter(|folder| unmake(folder).is_some()).map(|folder| folder.join("HEAD")));
        taken.extend(links.into_iter().filter(|(path, text)| is_put_back(path, text)).map(|(path, _)| path));
        drop(self.masks.take());
        taken
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        self.end_here();
    }
}

fn remove(path: &Path) -> bool {
    let Some(found) = fs::symlink_metadata(path).ok().filter(|_| is_straight(path)) else { return false };
    let removed = if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    tracing::warn!(path = %path.display(), ok = removed.is_ok(), "a command made a file that leads git elsewhere; it was removed");
    true
}

/// It gets another name: someone else may have made it, and nothing of theirs is to be lost.
fn set_aside(path: &Path) -> bool {
    if fs::symlink_metadata(path).is_err() {
        return false;
    }
    let ok = put_aside(path, "refused").is_ok();
    tracing::warn!(path = %path.display(), ok, "a command made settings; they were put aside");
    true
}

fn is_put_back(path: &Path, text: &Path) -> bool {
    let Some(done) = put_back(path, text) else { return false };
    tracing::warn!(path = %path.display(), ok = done.is_ok(), "a command replaced settings that are a link; the link was put back");
    true
}

/// Puts a link back where something else is now, which is put aside; nothing where there was no need.
fn put_back(path: &Path, text: &Path) -> Option<io::Result<()>> {
    fs::symlink_metadata(path).ok()?;
    if fs::read_link(path).is_ok_and(|now| now == text) {
        return None;
    }
    Some(put_aside(path, "replaced").and_then(|_| symlink(text, path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_link_is_put_back_and_what_replaced_it_is_kept() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let (link, text) = (folder.path().join(".vscode"), Path::new("../shared"));
        symlink(text, &link).unwrap();
        assert!(put_back(&link, text).is_none(), "nothing happened to it");
        fs::remove_file(&link).unwrap();
        assert!(put_back(&link, text).is_none(), "what is gone does no harm");
        fs::create_dir(&link).unwrap();
        fs::write(link.join("tasks.json"), "{}").unwrap();
        put_back(&link, text).unwrap().unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), text);
        assert!(folder.path().join(".vscode.replaced-1/tasks.json").is_file());
        fs::remove_file(&link).unwrap();
        symlink("elsewhere", &link).unwrap();
        put_back(&link, text).unwrap().unwrap();
        assert_eq!(fs::read_link(folder.path().join(".vscode.replaced-2")).unwrap(), Path::new("elsewhere"));
    }
}
