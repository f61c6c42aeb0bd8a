//! Resolving: links and `..` followed to the end, also where the end does not exist yet.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// As many links as Linux itself follows.
const MOST_LINKS: usize = 40;

/// A path without links, `.` and `..`.
#[derive(Debug)]
pub struct Resolved {
    /// The path, absolute.
    pub path: PathBuf,
    /// Whether there is something.
    pub exists: bool,
}

/// Resolves an absolute path. What exists is resolved by the system, so that names are spelled as
/// the file system spells them; a tail that does not exist is kept as it is. A link that leads
/// nowhere is followed: what would be created is what it points to.
/// The error is what the system says: links in a circle, a file used as a folder, no permission.
pub fn resolve(path: &Path) -> io::Result<Resolved> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::canonicalize(&path) {
            Ok(path) => return Ok(Resolved { path, exists: true }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match step(&path)? {
            Step::Missing(path) => return Ok(Resolved { path, exists: false }),
            Step::Again(next) => path = next,
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

enum Step {
    /// An existing folder, resolved, and a plain tail that does not exist.
    Missing(PathBuf),
    /// The same path with one obstacle less.
    Again(PathBuf),
}

/// Takes a path that does not exist as a whole apart into what exists and the rest.
fn step(path: &Path) -> io::Result<Step> {
    let (front, tail) = split_at_first_missing(path)?;
    if let Ok(target) = fs::read_link(&front)
        && !front.exists()
    {
        let folder = front.parent().unwrap_or(Path::new("/"));
        return Ok(Step::Again(join(&folder.join(target), &tail)));
    }
    let front = fs::canonicalize(front)?;
    if tail.iter().any(|name| name == "..") {
        // Nothing is there, so `missing/..` can only mean the folder that would hold it.
        return Ok(Step::Again(without_parents(&front, &tail)));
    }
    if let Some(name) = tail.first()
        && let Some(real) = real_name(&front, name)
    {
        return Ok(Step::Again(join(&front.join(real), &tail[1..])));
    }
    if !tail.is_empty() && !front.is_dir() {
        return Err(rustix::io::Errno::NOTDIR.into());
    }
    Ok(Step::Missing(join(&front, &tail)))
}

/// The longest front that is there (be it a link to nowhere) and the names after it.
fn split_at_first_missing(path: &Path) -> io::Result<(PathBuf, Vec<OsString>)> {
    let mut front = PathBuf::new();
    let mut components = path.components();
    while let Some(component) = components.next() {
        let next = front.join(component);
        match fs::symlink_metadata(&next) {
            Ok(metadata) => {
                front = next;
                if metadata.is_symlink() && !front.exists() {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let rest = std::iter::once(component).chain(components).map(|name| name.as_os_str().to_owned());
                return Ok((front, rest.collect()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((front, components.map(|name| name.as_os_str().to_owned()).collect()))
}

fn join(front: &Path, tail: &[OsString]) -> PathBuf {
    let mut path = front.to_path_buf();
    path.extend(tail);
    path
}

fn without_parents(front: &Path, tail: &[OsString]) -> PathBuf {
    let mut path = front.to_path_buf();
    for component in tail.iter().flat_map(|name| Path::new(name).components()) {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    path
}

/// Names that are no UTF-8 are shown with replacement characters; a name that comes back that way
/// stands for the one entry that is shown so.
fn real_name(folder: &Path, name: &OsString) -> Option<OsString> {
    let shown = name.to_str().filter(|name| name.contains(char::REPLACEMENT_CHARACTER))?;
    let mut fitting = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|entry| entry.to_str().is_none() && entry.to_string_lossy() == shown);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}
