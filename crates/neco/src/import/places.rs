//! Where other agents keep the sessions of a folder.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::foreign::text;
use super::format::Format;

/// The most files that are looked into for one list.
const MOST: usize = 5000;
/// Lines of a file that are read to learn its folder.
const HEAD: usize = 20;

/// Where the homes of other agents are.
#[derive(Clone, Debug)]
pub struct Homes {
    /// `~/.claude`.
    pub claude_code: PathBuf,
    /// `~/.codex`.
    pub codex: PathBuf,
    /// `~/.gemini`.
    pub gemini_cli: PathBuf,
    /// `~/.local/share/opencode`.
    pub opencode: PathBuf,
    /// `~/.openclaw`.
    pub openclaw: PathBuf,
}

impl Homes {
    /// The usual places below `home`, or where the agents' own variables put them.
    #[must_use]
    pub fn new(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let data = variable("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local").join("share"));
        Self {
            claude_code: variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            gemini_cli: home.join(".gemini"),
            opencode: data.join("opencode"),
            openclaw: variable("OPENCLAW_STATE_DIR").unwrap_or_else(|| home.join(".openclaw")),
        }
    }

    /// The files that hold sessions of `cwd`, newest first. Databases are looked into elsewhere.
    #[must_use]
    pub fn files(&self, format: Format, cwd: &Path) -> Vec<PathBuf> {
        let found = match format {
            Format::Neco | Format::Opencode => Vec::new(),
            Format::ClaudeCode => below(&self.claude_code.join("projects").join(dashed(cwd)), 1, &["jsonl"]),
            Format::Codex => with_folder(below(&self.codex.join("sessions"), 4, &["jsonl"]), cwd),
            Format::GeminiCli => self.gemini(cwd),
            Format::Openclaw => with_folder(below(&self.openclaw.join("agents"), 3, &["jsonl"]), cwd),
        };
        newest_first(found)
    }

    /// The database of opencode.
    #[must_use]
    pub fn opencode_database(&self) -> PathBuf {
        self.opencode.join("opencode.db")
    }

    /// The databases of OpenClaw, one for each of its agents.
    #[must_use]
    pub fn openclaw_databases(&self) -> Vec<PathBuf> {
        let agents = entries(&self.openclaw.join("agents"));
        let database = |agent: PathBuf| agent.join("agent").join("openclaw-agent.sqlite");
        agents.into_iter().map(database).filter(|file| file.exists()).collect()
    }

    /// A folder is known by a name of its own, or, before there were names, by the hash of its path.
    fn gemini(&self, cwd: &Path) -> Vec<PathBuf> {
        let hash: String =
            Sha256::digest(cwd.to_string_lossy().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let folders = entries(&self.gemini_cli.join("tmp"));
        let is_here = |folder: &PathBuf| {
            let named = folder.file_name().is_some_and(|name| name.to_string_lossy() == hash.as_str());
            named || gemini_folder(&folder.join("chats").join("any")).is_some_and(|own| own == cwd)
        };
        let chats = folders.into_iter().filter(is_here).map(|folder| folder.join("chats"));
        chats.flat_map(|chats| below(&chats, 1, &["jsonl", "json"])).collect()
    }
}

/// The folder of a session of Gemini CLI, which is beside its file and not in it.
#[must_use]
pub fn gemini_folder(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?.parent()?;
    let written = fs::read_to_string(folder.join(".project_root")).ok()?;
    Some(PathBuf::from(written.trim())).filter(|path| path.is_absolute())
}

/// Every character that is no letter or digit is a dash.
fn dashed(cwd: &Path) -> String {
    let dash = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    cwd.to_string_lossy().chars().map(dash).collect()
}

/// Those whose first lines name the folder.
fn with_folder(files: Vec<PathBuf>, cwd: &Path) -> Vec<PathBuf> {
    let is_here = |file: &PathBuf| folder_of(file).is_some_and(|own| own == cwd);
    newest_first(files).into_iter().take(MOST).filter(is_here).collect()
}

fn folder_of(file: &Path) -> Option<PathBuf> {
    let lines = BufReader::new(File::open(file).ok()?).lines().map_while(Result::ok);
    lines.take(HEAD).find_map(|line| {
        let record: Value = serde_json::from_str(&line).ok()?;
        text(&record, "cwd").or_else(|| text(record.get("payload")?, "cwd")).map(PathBuf::from)
    })
}

/// Files with one of these endings, at most so many folders deep. Links are not followed.
fn below(folder: &Path, depth: usize, endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        let Ok(kind) = path.symlink_metadata() else { continue };
        let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
        if kind.is_dir() && depth > 1 {
            files.extend(below(&path, depth - 1, endings));
        } else if kind.is_file() && ending.is_some_and(|ending| endings.contains(&ending.as_str())) {
            files.push(path);
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn newest_first(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort_by_cached_key(|file| std::cmp::Reverse(file.metadata().and_then(|data| data.modified()).ok()));
    files
}
