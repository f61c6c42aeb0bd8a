//! `cargo xtask dist`: the binary for download, and beside it what runs WASM tools.
//!
//! It is built twice. The first has symbols and is watched while it starts and works a few turns; the second is linked
//! with the functions that were seen side by side, so that what is mapped of the program is what runs.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::bench::start;
use crate::cargo::target;

/// Both builds have the same profile: the names of functions hold a mark of it.
const NECO: &[&str] = &["rustc", "--profile", "dist", "--package", "neco", "--bin", "neco", "--"];

/// What runs WASM tools.
const WASM: &str = "neco-wasm";

/// Only this linker takes a list of functions, and only here it is the usual one.
const LINKS_WITH_LLD: bool = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));

/// Builds it.
pub fn run(root: &Path) -> Result<ExitCode> {
    ensure!(is_installed("valgrind"), "valgrind is not installed: it finds out which functions a start uses");
    ensure!(
        LINKS_WITH_LLD || is_installed("ld.lld"),
        "ld.lld is not installed: it puts the functions that a start uses side by side"
    );
    let folder = target(root)?.join("dist");
    let (binary, watched) = (folder.join("neco"), folder.join("functions.txt"));
    // Should cargo build elsewhere, an old one must not be taken for what was built.
    remove(&binary)?;
    remove(&watched)?;
    let (shown, list) = (binary.to_string_lossy(), watched.to_string_lossy());
    start(root, &[NECO, &["-C", "strip=none"]].concat())?;
    let watch = ["run", "--release", "--package", "neco-bench", "--", "--bin", &shown, "--functions", &list];
    start(root, &watch)?;
    let functions = named_by_content(&watched)?;
    let order = format!("link-arg=-Wl,--symbol-ordering-file={}", functions.display());
    // The list also names functions of the system's libraries, which are not in the binary.
    let quiet = "link-arg=-Wl,--no-warn-symbol-ordering";
    let linker: &[&str] = if LINKS_WITH_LLD { &[] } else { &["-C", "link-arg=-fuse-ld=lld"] };
    start(root, &[NECO, &["-C", &order, "-C", quiet], linker].concat())?;
    let bytes = fs::metadata(&binary).with_context(|| format!("can't look at {shown}"))?.len();
    println!("{shown}: {:.1} MB", bytes as f64 / 1e6);
    wasm(root, &folder)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds what runs WASM tools, in a workspace of its own, and puts it beside the binary.
fn wasm(root: &Path, folder: &Path) -> Result<()> {
    let (of_its_own, built) = (root.join("wasm"), folder.join(WASM));
    let into = folder.join("wasm-build");
    start(&of_its_own, &["build", "--release", "--target-dir", &into.to_string_lossy()])?;
    let bytes = fs::copy(into.join("release").join(WASM), &built);
    let bytes = bytes.with_context(|| format!("can't make {}", built.display()))?;
    println!("{}: {:.1} MB", built.display(), bytes as f64 / 1e6);
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("can't remove {}", file.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Gives a list a name of its own: cargo does not look into it, and links anew only where the name is another.
fn named_by_content(list: &Path) -> Result<PathBuf> {
    let content = fs::read(list).with_context(|| format!("can't read {}", list.display()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&content);
    let named = list.with_file_name(format!("functions-{:016x}.txt", hasher.finish()));
    fs::rename(list, &named).with_context(|| format!("can't rename {}", list.display()))?;
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_list_has_another_name_and_the_same_one_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("functions.txt");
        let named = |content: &str| {
            fs::write(&list, content).unwrap();
            named_by_content(&list).unwrap()
        };
        let [one, same, other] = ["main\nrun\n", "main\nrun\n", "run\nmain\n"].map(named);
        assert!(one == same && one != other && !list.exists());
        assert_eq!(fs::read_to_string(other).unwrap(), "run\nmain\n");
        remove(&list).unwrap();
    }
}
