//! The repository as the rules read it: crates with their manifests, and files.

#![allow(dead_code, reason = "each file of tests uses a part")]

use std::fs;
use std::path::{Path, PathBuf};

/// A crate below `crates/`.
pub struct Crate {
    pub name: String,
    pub folder: PathBuf,
    pub manifest: toml::Table,
}

/// The repository's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A file of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every crate below `crates/`, by name.
pub fn crates() -> Vec<Crate> {
    let mut crates: Vec<Crate> = folders(&root().join("crates")).into_iter().map(open).collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(crates.iter().any(|each| each.name == "neco"), "the crates were not found");
    crates
}

/// The folders in a folder; none when there is no such folder.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Every file below `folder` whose name ends in `.END`, `target` left out.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("target") {
            found.extend(files(&path, end));
        } else if path.extension().is_some_and(|extension| extension == end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every Rust file of the workspace.
pub fn rust_files() -> Vec<PathBuf> {
    ["crates", "xtask", "benches"].iter().flat_map(|folder| files(&root().join(folder), "rs")).collect()
}

/// A path as people write it: relative to the repository, with `/`.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string().replace('\\', "/")
}

/// The last name of a path, without `.rs` and the like.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Fails with every violation of a rule at once.
pub fn none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}:\n  {}", violations.join("\n  "));
}

fn open(folder: PathBuf) -> Crate {
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
    let name = manifest["package"]["name"].as_str().unwrap().to_owned();
    Crate { name, folder, manifest }
}
