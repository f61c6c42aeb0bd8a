//! Files inside the roots.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::path::{Access, Located, Meant, PathError, Resolved, Root, is_own_credential, meant, resolve};
use crate::policy::Closed;

/// Files inside the roots: the workspace and others that the person opened, which may be changed, and
/// folders that may only be read.
#[derive(Clone, Debug)]
pub struct Files {
    /// The workspace first.
    roots: Vec<Arc<Root>>,
    workspace: PathBuf,
    /// What rules close to reading.
    closed: Closed,
}

impl Files {
    /// Files of a workspace and of folders that may only be read, such as the one for outputs that
    /// were too big; those need not exist yet.
    /// Fails when the workspace is not a folder that can be opened.
    pub fn new(workspace: &Path, read_only_roots: Vec<PathBuf>) -> io::Result<Self> {
        let workspace = std::fs::canonicalize(workspace)?;
        let root = Root::new(workspace.clone(), true, true);
        root.open()?;
        let mut roots = vec![Arc::new(root)];
        for path in read_only_roots {
            let path = resolve(&std::path::absolute(path)?)?.path;
            roots.push(Arc::new(Root::new(path, false, false)));
        }
        Ok(Self { roots, workspace, closed: Closed::default() })
    }

    /// The same with folders that may be changed as the workspace may be.
    /// Fails when one of them is not a folder that can be opened.
    pub fn with_roots(mut self, roots: &[PathBuf]) -> io::Result<Self> {
        for path in roots {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let root = Root::new(std::fs::canonicalize(path).map_err(named)?, true, false);
            root.open().map_err(|error| named(error.into()))?;
            self.roots.push(Arc::new(root));
        }
        Ok(self)
    }

    /// The same without what rules close to reading, for whoever walks.
    #[must_use]
    pub fn with_closed(self, closed: Closed) -> Self {
        Self { closed, ..self }
    }

    /// What rules close to reading: a search leaves it out. A path that a call names is judged with the call.
    #[must_use]
    pub fn closed(&self) -> &Closed {
        &self.closed
    }

    /// Whether rules close an entry of a folder to reading, or where it leads if it is a link: a listing leaves it out.
    pub fn leaves_out(&self, entry: &Path, kind: std::fs::FileType) -> bool {
        let leads_to_closed = || std::fs::canonicalize(entry).is_ok_and(|path| self.closed.holds(&path));
        !self.closed.is_empty() && (self.closed.holds(entry) || kind.is_symlink() && leads_to_closed())
    }

    /// The folders that may be changed, the workspace first.
    pub fn writable(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter(|root| root.writable).map(|root| root.path.as_path())
    }

    /// The folders that may only be read.
    pub fn read_only(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter(|root| !root.writable).map(|root| root.path.as_path())
    }

    /// The workspace, resolved.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Finds where a path really leads. A relative path starts at the workspace; `~` is a name like
    /// any other. The path need not exist; where nothing has the name as it is written, quotes and the like around it,
    /// `file://` before it and a slash behind a file are no part of it.
    /// Fails when it ends outside every root, by `..`, as an absolute path or through a link; when it is to be changed
    /// and lies where only reading is allowed; when it holds credentials of Neco's own; when it can't be resolved.
    pub fn locate(&self, path: impl AsRef<Path>, access: Access) -> Result<Located, PathError> {
        let given = path.as_ref();
        if given.as_os_str().is_empty() {
            return Err(PathError::Empty);
        }
        if given.as_os_str().as_bytes().contains(&0) {
            return Err(PathError::Nul(given.to_string_lossy().into_owned()));
        }
        let (wanted, resolved) = self.resolved(given)?;
        let Some((root, relative)) = self.root_of(&resolved.path) else {
            return Err(self.outside(given, &wanted, &resolved.path));
        };
        if is_own_credential(&resolved.path) {
            return Err(PathError::OwnCredential(resolved.path.display().to_string()));
        }
        let located = Located::new(Arc::clone(root), relative, wanted, resolved);
        if access == Access::Write && !root.writable {
            return Err(PathError::ReadOnlyRoot(located.shown()));
        }
        Ok(located)
    }

    /// The path as it is meant, and where it leads.
    fn resolved(&self, given: &Path) -> Result<(PathBuf, Resolved), PathError> {
        let look = |path: &Path| {
            let wanted = self.workspace.join(path);
            let resolved = resolve(&wanted).map_err(|error| PathError::while_resolving(given, &error))?;
            Ok((wanted, resolved))
        };
        let is_there = |looked: &Result<(PathBuf, Resolved), PathError>| {
            looked.as_ref().is_ok_and(|(_, resolved)| resolved.exists)
        };
        let as_written = look(given);
        if is_there(&as_written) {
            return as_written;
        }
        match meant(given) {
            Some(Meant::Surely(path)) => look(&path),
            Some(Meant::IfThere(path)) => Some(look(&path)).filter(is_there).unwrap_or(as_written),
            None => as_written,
        }
    }

    /// The deepest root that holds it, so that a folder that may only be read stays so inside the workspace.
    fn root_of(&self, path: &Path) -> Option<(&Arc<Root>, PathBuf)> {
        let inside = |root| -> Option<(&Arc<Root>, PathBuf)> {
            let root: &Arc<Root> = root;
            path.strip_prefix(&root.path).ok().map(|relative| (root, relative.to_path_buf()))
        };
        self.roots.iter().filter_map(inside).min_by_key(|(_, relative)| relative.components().count())
    }

    fn outside(&self, given: &Path, wanted: &Path, resolved: &Path) -> PathError {
        let temporary = ["/tmp", "/var/tmp"].iter().any(|folder| resolved.starts_with(folder));
        let leads_to = match wanted == resolved {
            true if temporary => " (in the sandbox commands have a /tmp of their own, which only they see)".to_owned(),
            true => String::new(),
            false => format!(" (it leads to {})", resolved.display()),
        };
        PathError::Outside {
            path: given.display().to_string(),
            workspace: self.workspace.display().to_string(),
            leads_to,
        }
    }
}
