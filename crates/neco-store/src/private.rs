//! Files and folders that only their owner can read.

use std::fs::{DirBuilder, OpenOptions};
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

/// Options whose new files only the owner can read.
pub(crate) fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
