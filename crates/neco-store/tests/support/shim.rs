//! The library that stands between a test and the C library; see `shim.c`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles it; says why not, where that can't be done.
pub fn library() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join(format!("neco-store-shim-{}.so", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/shim.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&library, &source])
        .arg("-lpthread")
        .output()
        .map_err(|error| format!("no C compiler: {error}"))?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Ok(library)
}
