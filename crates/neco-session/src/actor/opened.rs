//! What a person has open in an editor, as far as it may be told: editors send it by themselves, so what is selected in
//! a file is told like what is read of it, and not where reading it would be refused.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use neco_proto::event::{Notification, NotificationLevel};
use neco_proto::{EventBody, IdeContext};
use neco_safety::path::{Access, PathError};
use neco_safety::policy::Telling;
use neco_safety::world::Files;
use neco_store::StoreError;

use crate::hub::SessionContext;

/// Files that are known to be withheld; of more than that the person may be told again.
const MOST_WITHHELD: usize = 1000;

/// Files of which an editor sent something that is not told; the person is told of a file once.
#[derive(Default)]
pub(super) struct Withheld(HashSet<String>);

impl Withheld {
    /// What is open, without what may not be told.
    pub async fn may_be_told(&mut self, ctx: &SessionContext, mut open: IdeContext) -> Result<IdeContext, StoreError> {
        let (Some(file), Some(selection)) = (open.active_file.clone(), &mut open.selection) else { return Ok(open) };
        let (cwd, name) = (ctx.cwd().to_owned(), file.clone());
        let (roots, telling) = ctx.telling().await;
        let looked = tokio::task::spawn_blocking(move || refused(&cwd, &roots, &telling, &name)).await;
        // A file that could not be looked at is not told.
        let Some(why) = looked.unwrap_or_else(|_| Some("it could not be looked at".to_owned())) else {
            return Ok(open);
        };
        selection.text = format!("[not told: {why}]");
        if self.0.len() >= MOST_WITHHELD {
            self.0.clear();
        }
        if self.0.insert(file.clone()) {
            let text = format!("What is selected in {file} is not told to the model: {why}");
            ctx.emit(EventBody::Notification(Notification::new(NotificationLevel::Warning, text))).await?;
        }
        Ok(open)
    }
}

/// Why what stands in a file is not told; nothing where it may be.
fn refused(cwd: &Path, roots: &[PathBuf], telling: &Telling, name: &str) -> Option<String> {
    // A folder that is gone holds nothing that could be told, and closes no other.
    let roots: Vec<PathBuf> = roots.iter().filter(|root| root.is_dir()).cloned().collect();
    let files = match Files::new(cwd, Vec::new()).and_then(|files| files.with_roots(&roots)) {
        Ok(files) => files,
        Err(error) => return Some(format!("it could not be looked at: {error}")),
    };
    match files.locate(name, Access::Read) {
        Ok(located) => telling.refuses(&located),
        Err(PathError::Outside { .. }) => Some("it lies outside the workspace".to_owned()),
        // What is no path is no file, such as a buffer without a name.
        Err(PathError::Empty | PathError::Nul(_)) => None,
        Err(error) => Some(format!("it could not be looked at: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use neco_safety::Policy;

    use super::*;

    #[test]
    fn what_may_not_be_read_is_not_told_because_it_is_selected() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::write(cwd.join(".env"), "KEY=x").unwrap();
        std::os::unix::fs::symlink(".env", cwd.join("plain.txt")).unwrap();
        let telling = Policy::default().telling();
        let refused = |name: &str| refused(&cwd, &[], &telling, name).is_some();
        for name in [".env", "plain.txt", "/etc/hostname", "../x", ".git/config"] {
            assert!(refused(name), "{name}");
        }
        for name in ["src/a.rs", "Untitled-1", ""] {
            assert!(!refused(name), "{name}");
        }
    }

    #[test]
    fn what_can_not_be_looked_at_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::write(cwd.join(".env"), "KEY=x").unwrap();
        std::os::unix::fs::symlink("circle", cwd.join("circle")).unwrap();
        let telling = Policy::default().telling();
        let gone = cwd.join("gone");
        let with_root = |name: &str| refused(&cwd, std::slice::from_ref(&gone), &telling, name).is_some();
        assert!(with_root(".env") && with_root("circle/x") && !with_root("src/a.rs"));
        assert!(refused(&gone, &[], &telling, "src/a.rs").is_some(), "there is no workspace");
    }
}
