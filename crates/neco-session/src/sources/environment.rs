//! Where the agent works: gathered once a session, so that the prompt stays the same from turn to turn.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use neco_agent::context::{Layer, Situation, Source};
use neco_workspace::{ChangedFiles, Head};

/// Programs that are worth knowing of, in the order they are named.
const PROGRAMS: [&str; 30] = [
    "git", "gh", "rg", "jq", "make", "cmake", "ninja", "gcc", "clang", "cargo", "go", "node", "npm", "pnpm", "yarn",
    "bun", "deno", "python3", "uv", "pip", "ruby", "php", "java", "mvn", "gradle", "dotnet", "docker", "kubectl",
    "sqlite3", "psql",
];

/// Changed files that are named.
const MOST_NAMED: usize = 10;

/// What is known of the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The workspace.
    pub cwd: String,
    /// The operating system.
    pub os: String,
    /// The shell that runs commands.
    pub shell: String,
    /// What is checked out, when the workspace is in a git repository.
    pub head: Option<Head>,
    /// What differs from what git last saw; nothing when that was not looked at.
    pub changed: Option<ChangedFiles>,
    /// Programs that commands find.
    pub programs: Vec<&'static str>,
    /// Today.
    pub date: String,
}

impl Facts {
    /// Those in words.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { cwd, os, shell, head, changed, programs, date } = self;
        let git = match head {
            Some(Head::Branch(branch)) => format!("git, on branch {branch}"),
            Some(Head::Detached(commit)) => format!("git, at commit {commit} without a branch"),
            Some(Head::Unknown) => "git".to_owned(),
            None => "none".to_owned(),
        };
        let changed = changed.as_ref().map(status).unwrap_or_default();
        let programs = if programs.is_empty() { "none of the usual ones".to_owned() } else { programs.join(", ") };
        format!(
            "Environment, when the session began\n- workspace: {cwd} (relative paths start here)\n- system: {os}; \
             commands run in {shell}\n- version control: {git}{changed}\n- programs on the PATH: {programs}\n- today: \
             {date}"
        )
    }
}

/// The programs that commands with this `PATH` find.
#[must_use]
pub fn programs(path: &OsStr) -> Vec<&'static str> {
    // A relative entry would make what runs depend on the folder.
    let folders: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let runs = |path: PathBuf| {
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    PROGRAMS.into_iter().filter(|name| folders.iter().any(|folder| runs(folder.join(name)))).collect()
}

fn status(changed: &ChangedFiles) -> String {
    let names: Vec<&str> = changed.paths.iter().take(MOST_NAMED).map(String::as_str).collect();
    match (names.as_slice(), changed.paths.len().saturating_sub(MOST_NAMED)) {
        ([], _) => "; no tracked file is changed".to_owned(),
        (names, 0) => format!("; changed: {}", names.join(", ")),
        (names, more) => format!("; changed: {} and {more} more", names.join(", ")),
    }
}

/// The source that tells them.
pub struct Environment(pub String);

impl Source for Environment {
    fn layer(&self) -> Layer {
        Layer::Environment
    }

    fn text(&self, _: &Situation) -> Option<String> {
        Some(self.0.clone())
    }
}
