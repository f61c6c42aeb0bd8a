//! What must stay until a box is gone, and what is put right then.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::masks::MaskGuard;

/// Under how many names something is put aside at most.
const MOST_ASIDE: usize = 100;

/// Dropped when nothing runs in the box any more. Touches the disk.
#[derive(Debug)]
pub(crate) struct Keep {
    _masks: MaskGuard,
    unwanted: Vec<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
}

impl Keep {
    pub(super) fn new(masks: MaskGuard, unwanted: Vec<PathBuf>, links: Vec<(PathBuf, PathBuf)>) -> Self {
        Self { _masks: masks, unwanted, links }
    }
}

impl Drop for Keep {
    /// What was made although it leads git to other settings goes again: nobody but the command made it.
    fn drop(&mut self) {
        for path in &self.unwanted {
            let Ok(found) = fs::symlink_metadata(path) else { continue };
            let removed = if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            tracing::warn!(path = %path.display(), ok = removed.is_ok(), "a command made a file that leads git elsewhere; it was removed");
        }
        for (path, text) in &self.links {
            if let Some(put_back) = put_back(path, text) {
                let ok = put_back.is_ok();
                tracing::warn!(path = %path.display(), ok, "a command replaced settings that are a link; the link was put back");
            }
        }
    }
}

/// Puts a link back where something else is now, which is put aside; nothing where there was no need.
fn put_back(path: &Path, text: &Path) -> Option<io::Result<()>> {
    fs::symlink_metadata(path).ok()?;
    if fs::read_link(path).is_ok_and(|now| now == text) {
        return None;
    }
    Some(put_aside(path).and_then(|()| symlink(text, path)))
}

fn put_aside(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (1..=MOST_ASIDE)
        .map(|number| path.with_file_name(format!("{name}.replaced-{number}")))
        .find(|aside| fs::symlink_metadata(aside).is_err());
    match free {
        Some(aside) => fs::rename(path, aside),
        None => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_link_is_put_back_and_what_replaced_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
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
