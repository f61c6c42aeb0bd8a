//! A machine in a folder: a home with secrets, a workspace, things outside, and someone who listens.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use neco_config::section::SandboxSection;
use neco_safety::world::{Allowance, Ending, Launch, Leftovers, Process, Progress, Stdin};
use neco_sandbox::{Ask, Roots, Running, Sandbox, SandboxSetup, Settings, Spawner, Strength};
use tempfile::TempDir;

/// Everything a test needs.
pub struct Stage {
    pub folder: TempDir,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub outside: PathBuf,
    /// Whether bubblewrap makes the namespaces of its strong boxes.
    pub bubblewrap: bool,
}

/// Where a copy of the launcher is, for users who can't reach the one that was built.
pub const LAUNCHER: &str = "NECO_TEST_LAUNCHER";

/// The launcher and the probe, which are one program of this crate.
pub fn launcher() -> PathBuf {
    std::env::var_os(LAUNCHER).map_or_else(|| env!("CARGO_BIN_EXE_escape_probe").into(), PathBuf::from)
}

/// Says that a box is not checked here. Where everything is to be checked, that is a failure; but not
/// for the weaker box, which takes a kernel that a machine may not have.
pub fn skipped(strength: Strength, why: &str) {
    assert!(strength == Strength::Weaker || std::env::var_os("CI").is_none(), "not checked: {why}");
    eprintln!("skipped: {why}");
}

/// Bubblewrap, where it is installed.
pub fn bwrap() -> Option<PathBuf> {
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].map(PathBuf::from).into_iter().find(|path| path.is_file())
}

/// A folder that boxes see as it is, unlike `/tmp`.
pub fn beside() -> PathBuf {
    folder_where(|_| true)
}

/// The same, but one that every user can reach.
pub fn beside_for_all() -> PathBuf {
    let may_enter = |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o001 != 0);
    folder_where(|path| path.ancestors().all(may_enter))
}

fn folder_where(fits: impl Fn(&Path) -> bool) -> PathBuf {
    let told = std::env::var_os("NECO_TEST_STAGE").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let candidates = [told, Some(env!("CARGO_TARGET_TMPDIR").into()), Some("/var/cache".into()), home];
    let seen = |path: &PathBuf| {
        let covered = ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|covered| path.starts_with(covered));
        !covered && fits(path) && tempfile::tempdir_in(path).is_ok()
    };
    candidates.into_iter().flatten().find(seen).expect("a folder outside /tmp that can be written to")
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("stage-").tempdir_in(beside()).unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (home, outside) = (root.join("home"), root.join("outside"));
        let workspace = home.join("project");
        for path in [".ssh", ".aws", ".claude", ".config/neco", "project/.vscode"] {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in
            [".ssh/id_ed25519", ".aws/credentials", ".config/neco/keys.toml", ".netrc", ".bashrc", "project/.env"]
        {
            fs::write(home.join(path), "secret").unwrap();
        }
        fs::create_dir_all(outside.join("empty")).unwrap();
        for path in ["file", "doomed", "moved", "taken"] {
            fs::write(outside.join(path), "outside").unwrap();
        }
        let made = Command::new("git").args(["init", "-q"]).current_dir(&workspace).status().unwrap();
        assert!(made.success(), "git init");
        for path in ["hooks", "modules/m", "worktrees/w"] {
            fs::create_dir_all(workspace.join(".git").join(path)).unwrap();
        }
        for (path, text) in [
            ("modules/m/HEAD", "ref: refs/heads/m"),
            ("modules/m/config", ""),
            ("worktrees/w/HEAD", "ref: refs/heads/w"),
            ("worktrees/w/commondir", "../.."),
            ("worktrees/w/gitdir", "/nowhere/.git"),
            ("worktrees/w/locked", ""),
        ] {
            fs::write(workspace.join(".git").join(path), text).unwrap();
        }
        Self { folder, home, workspace, outside, bubblewrap: false }
    }

    /// What a sandbox on this machine is made with.
    pub fn setup(&self, strength: Strength, section: &SandboxSection) -> SandboxSetup {
        SandboxSetup {
            settings: Settings::of(section, Some(&self.home)),
            launcher: launcher(),
            namespaces: strength == Strength::Strong && !self.bubblewrap,
            bwrap: bwrap().filter(|_| strength == Strength::Strong && self.bubblewrap),
            home: Some(self.home.clone()),
            own: vec![self.home.join(".config/neco")],
            state: self.folder.path().join("state"),
            temporary: self.folder.path().to_path_buf(),
        }
    }

    /// A sandbox on this machine; nothing where this strength can't be had, which is said.
    pub fn sandbox(&self, strength: Strength, section: &SandboxSection) -> Option<Sandbox> {
        self.sandbox_of(strength, self.setup(strength, section))
    }

    /// The same for what is made with something else.
    pub fn sandbox_of(&self, strength: Strength, setup: SandboxSetup) -> Option<Sandbox> {
        let sandbox = Sandbox::probe(setup, Ask::Anew).unwrap();
        if sandbox.report().strength != strength {
            skipped(strength, &format!("{strength:?} can't be had here: {:?}", sandbox.report().why));
            return None;
        }
        Some(sandbox)
    }

    /// A spawner whose processes run in a box.
    pub fn spawner(&self, strength: Strength, section: &SandboxSection) -> Option<Spawner> {
        let sandbox = self.sandbox(strength, section)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut environment = vec![(OsString::from("PATH"), path), ("HOME".into(), self.home.clone().into())];
        for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT"] {
            environment.extend(std::env::var_os(name).map(|value| (OsString::from(name), value)));
        }
        let root = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if std::env::var_os(name).is_none() && root.join(folder).is_dir() {
                environment.push((name.into(), root.join(folder).into()));
            }
        }
        let roots = Roots { writable: vec![self.workspace.clone()], readable: Vec::new() };
        Some(Spawner::new(environment, &[]).boxed(&sandbox, roots).unwrap())
    }

    pub fn shell(&self, command: &str) -> Launch {
        Launch {
            program: "sh".into(),
            arguments: vec!["-c".into(), command.into()],
            folder: self.workspace.clone(),
            stdin: Stdin::Closed,
            terminal: false,
            leftovers: Leftovers::End,
            variables: Vec::new(),
            errors: None,
        }
    }

    pub fn work(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }
}

/// All that a process prints, and its end.
pub async fn all(running: &mut Running) -> (String, Ending) {
    let mut text = Vec::new();
    loop {
        match running.next().await {
            Progress::Output(bytes) => text.extend_from_slice(bytes),
            Progress::Ended(ending) => return (String::from_utf8_lossy(&text).into_owned(), ending),
        }
    }
}

pub async fn run(spawner: &Spawner, launch: Launch) -> (String, Ending) {
    all(&mut spawner.start(launch).await.unwrap()).await
}

pub async fn run_freed(spawner: &Spawner, launch: Launch, allowed: impl Into<Allowance>) -> (String, Ending) {
    all(&mut spawner.start_freed(launch, allowed).await.unwrap()).await
}

/// The processes that have this argument.
pub fn with_argument(argument: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has = |folder: &Path| {
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
    };
    let found = entries.filter(|entry| has(&entry.path()));
    found.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// What is in a folder, by name.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
