//! Checkers from npm and PyPI, put below the target folder once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A `node_modules` with these packages; says why when it can't be had.
pub fn node_modules(packages: &[&str]) -> Result<PathBuf, String> {
    let folder = filled("node", |folder| {
        let flags = ["install", "--prefix", ".", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"];
        let mut npm = Command::new("npm");
        npm.args(flags).args(packages).current_dir(folder);
        npm
    })?;
    Ok(folder.join("node_modules"))
}

/// A folder with the programs of a package; says why when it can't be had.
pub fn python_programs(package: &str) -> Result<PathBuf, String> {
    let folder = filled(package, |folder| {
        let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "0", "--target"];
        let mut pip = Command::new("python3");
        pip.args(flags).arg(folder.join("all")).arg(package);
        pip
    })?;
    Ok(folder.join("all/bin"))
}

/// Tests may be processes of their own, so a lock keeps two from filling one folder at once; a mark says
/// when all of it is there.
fn filled(name: &str, install: impl FnOnce(&Path) -> Command) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkers").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let installing = File::create(folder.join("lock")).unwrap();
    installing.lock().unwrap();
    let installed = folder.join("installed");
    if !installed.exists() {
        let output = install(&folder).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(said.lines().last().unwrap_or("no reason given").to_owned());
        }
        File::create(installed).unwrap();
    }
    Ok(folder)
}
