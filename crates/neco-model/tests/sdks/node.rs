//! Node with a package.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A folder in which Node finds the package.
pub struct Node {
    folder: PathBuf,
}

impl Node {
    /// Says why when it can't be had.
    ///
    /// Tests may be processes of their own, so a lock on a file keeps two from filling one folder at once;
    /// and npm unpacks a package's list before its code, so a mark of ours says when all of it is there.
    pub fn with(package: &str) -> Result<Self, String> {
        Command::new("node").arg("--version").output().map_err(|error| format!("there is no node ({error})"))?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdks").join(package.replace(['@', '/'], "_"));
        std::fs::create_dir_all(&folder).unwrap();
        let installing = File::create(folder.join("lock")).unwrap();
        installing.lock().unwrap();
        let installed = folder.join("installed");
        if !installed.exists() {
            install(&folder, package)?;
            File::create(installed).unwrap();
        }
        Ok(Self { folder })
    }

    /// What `program` prints, which is given `address`.
    pub fn run(&self, program: &str, address: &str) -> Value {
        let output = Command::new("node")
            .args(["--input-type=module", "--eval", program])
            .current_dir(&self.folder)
            .env("ADDRESS", address)
            .env_remove("NODE_OPTIONS")
            .output()
            .unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{}\n{stdout}\n{stderr}", output.status))
    }
}

fn install(folder: &Path, package: &str) -> Result<(), String> {
    let output = Command::new("npm")
        .args([
            "install",
            "--prefix",
            ".",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--fetch-retries=0",
            "--fetch-timeout=60000",
            package,
        ])
        .current_dir(folder)
        .output()
        .map_err(|error| format!("there is no npm ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("npm could not get it: {}", said.lines().next().unwrap_or("no reason given")))
}
