//! Calling cargo from a program that cargo started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// `cargo` in the repository, as a person's shell would start it.
///
/// What `cargo run` tells a program about its own package is taken out again: build scripts that
/// watch those variables (ring's does) would otherwise run anew at every change between a shell and
/// xtask.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        let about_a_package = name.to_str().is_some_and(|name| PACKAGE.iter().any(|prefix| name.starts_with(prefix)));
        if about_a_package {
            command.env_remove(&name);
        }
    }
    command
}

const PACKAGE: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// The folder that cargo builds in, as cargo says: a variable or any of its settings may name another.
/// Fails when cargo does not say.
pub fn target(root: &Path) -> Result<PathBuf> {
    let output = cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]).output();
    let output = output.context("cargo can't be started")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    target_in(&output.stdout)
}

fn target_in(metadata: &[u8]) -> Result<PathBuf> {
    let metadata: Value = serde_json::from_slice(metadata).context("cargo metadata is no JSON")?;
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    folder.map(PathBuf::from).context("cargo metadata names no folder that is built in")
}

/// Whether `cargo SUBCOMMAND` is installed.
pub fn has_subcommand(root: &Path, subcommand: &str) -> bool {
    let output = cargo(root).args([subcommand, "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_cargo_does_not_believe_to_be_in_this_package() {
        let command = cargo(Path::new("/"));
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        assert!(removed.contains(&"CARGO_PKG_NAME".as_ref()), "{removed:?}");
        assert!(removed.contains(&"CARGO_MANIFEST_DIR".as_ref()), "{removed:?}");
        assert!(!removed.contains(&"CARGO_TARGET_DIR".as_ref()), "{removed:?}");
    }

    #[test]
    fn the_folder_that_is_built_in_is_what_cargo_says() {
        let told = br#"{"packages": [], "target_directory": "/elsewhere/target", "version": 1}"#;
        assert_eq!(target_in(told).unwrap(), Path::new("/elsewhere/target"));
        assert!(target_in(b"{}").is_err() && target_in(b"error").is_err());
    }

    #[test]
    fn subcommands_are_found_or_not() {
        assert!(has_subcommand(Path::new("/"), "fmt"));
        assert!(!has_subcommand(Path::new("/"), "no-such-subcommand"));
    }
}
