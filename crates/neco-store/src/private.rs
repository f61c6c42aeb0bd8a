//! Files and folders that only their owner can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes `dir` and what is missing above it; what is there already keeps its permissions.
pub(crate) fn create_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// The same, and a loss of power does not take what was made.
pub(crate) fn create_dir_durably(dir: &Path) -> io::Result<()> {
    let missing = dir.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).count();
    create_dir(dir)?;
    let mut parents = dir.ancestors().skip(1).take(missing).filter(|folder| !folder.as_os_str().is_empty());
    parents.try_for_each(sync_dir)
}

/// Makes names in `dir` durable: those of new files and those that were changed.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    // Elsewhere a folder can't be opened like a file, and its names need no help.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Puts a file in the place of another, whole or not at all, also when the power fails.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let unfinished = Path::new(&name);
    let mut file = file_options().create(true).truncate(true).write(true).open(unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(unfinished, path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// Options whose new files only the owner can read.
pub(crate) fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
