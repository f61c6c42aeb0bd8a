//! Which files of the index a call is about.

use std::path::{Path, PathBuf};

use neco_safety::path::{Access, Located};
use neco_safety::policy::Closed;
use neco_safety::world::Files;
use neco_toolkit::ToolError;

use crate::files::near;
use crate::files::pattern::Pattern;

/// The folder, file and pattern that a call is narrowed to.
pub struct Narrow {
    /// Where it is.
    pub place: Located,
    /// The place, from the workspace.
    below: PathBuf,
    pattern: Option<Pattern>,
    workspace: PathBuf,
    closed: Closed,
}

impl Narrow {
    /// From what a call says.
    ///
    /// # Errors
    /// When the place does not exist or is not in the workspace, or the pattern is none.
    pub fn new(files: &Files, path: Option<&str>, glob: Option<&str>) -> Result<Self, ToolError> {
        let place = match path.filter(|path| !path.is_empty()) {
            Some(path) => near::existing(files, path)?,
            None => files.locate(".", Access::Read)?,
        };
        let Ok(below) = place.path().strip_prefix(files.workspace()) else {
            let words = format!("only the workspace is indexed; search {} with grep", place.shown());
            return Err(ToolError::failed(words));
        };
        let below = below.to_path_buf();
        let pattern = glob.filter(|glob| !glob.is_empty()).map(Pattern::new).transpose()?;
        let (workspace, closed) = (files.workspace().to_path_buf(), files.closed().clone());
        Ok(Self { place, below, pattern, workspace, closed })
    }

    /// Whether a file of the index is meant.
    pub fn fits(&self, path: &Path) -> bool {
        let inside = self.below.as_os_str().is_empty() || path.starts_with(&self.below);
        let closed = !self.closed.is_empty() && self.closed.holds(&self.workspace.join(path));
        inside && !closed && self.pattern.as_ref().is_none_or(|pattern| pattern.fits(path))
    }
}
