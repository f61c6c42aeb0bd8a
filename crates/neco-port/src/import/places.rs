//! Where other agents keep the sessions of a folder.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_proto::app::port::Program;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::foreign::text;

/// The most files that are looked into for one list.
const MOST: usize = 5000;
/// Lines of a file that are read to learn its folder.
const HEAD: usize = 20;
/// Bytes of a file that are read to learn the hash of its folder.
const HEAD_BYTES: u64 = 4096;

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
    /// `~/.openclaw`, or what it was called before.
    pub openclaw: PathBuf,
}

impl Homes {
    /// The usual places below the home folder, or where the agents' own variables put them.
    pub fn of(env: &Env) -> Self {
        let variable = |name: &str| absolute_variable(env, name);
        let home = env.home();
        let older = [".openclaw", ".clawdbot", ".moltbot"].map(|name| home.join(name));
        let openclaw = older.iter().find(|folder| folder.is_dir()).unwrap_or(&older[0]).clone();
        let data = variable("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local").join("share"));
        Self {
            claude_code: variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            gemini_cli: home.join(".gemini"),
            opencode: data.join("opencode"),
            openclaw: variable("OPENCLAW_STATE_DIR").unwrap_or(openclaw),
        }
    }

    /// The files that hold sessions of a folder, or of all of them, newest first. Databases are looked into elsewhere.
    pub fn files(&self, format: Program, cwd: Option<&Path>) -> Vec<PathBuf> {
        let Some(cwd) = cwd else { return newest_first(self.all(format)) };
        let found = match format {
            Program::Neco | Program::Opencode => Vec::new(),
            Program::ClaudeCode => below(&self.folder(format).join(dashed(cwd)), 1, &["jsonl"]),
            Program::Codex | Program::Openclaw => with_folder(self.all(format), cwd),
            Program::GeminiCli => self.gemini(cwd),
        };
        newest_first(found)
    }

    fn all(&self, format: Program) -> Vec<PathBuf> {
        let folder = self.folder(format);
        match format {
            Program::Neco | Program::Opencode => Vec::new(),
            Program::ClaudeCode => below(&folder, 2, &["jsonl"]),
            Program::Codex => below(&folder, 4, &["jsonl"]),
            Program::GeminiCli => {
                let chats = |folder: PathBuf| below(&folder.join("chats"), 1, &["jsonl", "json"]);
                entries(&folder).into_iter().flat_map(chats).collect()
            }
            Program::Openclaw => below(&folder, 3, &["jsonl"]),
        }
    }

    /// The folder in which a program keeps the sessions of all folders.
    pub fn folder(&self, program: Program) -> PathBuf {
        match program {
            Program::ClaudeCode => self.claude_code.join("projects"),
            Program::Codex => self.codex.join("sessions"),
            Program::GeminiCli => self.gemini_cli.join("tmp"),
            Program::Openclaw => self.openclaw.join("agents"),
            Program::Neco | Program::Opencode => self.opencode.clone(),
        }
    }

    /// The databases in which a program keeps sessions, those that are there.
    pub fn databases(&self, program: Program) -> Vec<PathBuf> {
        let databases = match program {
            Program::Opencode => vec![self.opencode.join("opencode.db")],
            Program::Openclaw => {
                let database = |agent: PathBuf| agent.join("agent").join("openclaw-agent.sqlite");
                entries(&self.folder(program)).into_iter().map(database).collect()
            }
            Program::Neco | Program::ClaudeCode | Program::Codex | Program::GeminiCli => Vec::new(),
        };
        databases.into_iter().filter(|file| file.exists()).collect()
    }

    /// A folder is known by the hash of its path, by what it says of itself, by the list of all folders, or by
    /// what its files say: which of these there are depends on the age of the program.
    fn gemini(&self, cwd: &Path) -> Vec<PathBuf> {
        let (hash, registered) = (hash(cwd), registered(&self.gemini_cli));
        let chats = |folder: &Path| below(&folder.join("chats"), 1, &["jsonl", "json"]);
        let files = |folder: PathBuf| {
            let name = folder.file_name().unwrap_or_default();
            if name == hash.as_str() {
                return chats(&folder);
            }
            let listed = || registered.iter().find(|(_, own)| name == own.as_str()).map(|(path, _)| path.clone());
            match says_of_itself(&folder).or_else(listed) {
                Some(own) if own == cwd => chats(&folder),
                Some(_) => Vec::new(),
                None => chats(&folder).into_iter().filter(|file| begins_with(file, &hash)).collect(),
            }
        };
        entries(&self.folder(Program::GeminiCli)).into_iter().flat_map(files).collect()
    }
}

/// The absolute path that a variable holds.
pub fn absolute_variable(env: &Env, name: &str) -> Option<PathBuf> {
    env.var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The folder of a session of Gemini CLI, which is beside its file and not in it: its own folder says it, or the
/// list of all of them by its name or by the hash of the path.
pub fn gemini_folder(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?.parent()?;
    // It lies in `tmp` of the home of the program.
    let listed = || {
        let name = folder.file_name()?.to_str()?;
        let registered = registered(folder.parent()?.parent()?);
        registered.into_iter().find(|(path, own)| own == name || hash(path) == name).map(|(path, _)| path)
    };
    says_of_itself(folder).or_else(listed)
}

fn says_of_itself(folder: &Path) -> Option<PathBuf> {
    fs::read_to_string(folder.join(".project_root")).ok().and_then(|says| absolute(&says))
}

/// Whether a file names this hash at its beginning, however it is written.
fn begins_with(file: &Path, hash: &str) -> bool {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(&format!("\"{hash}\""))
}

/// The folders that Gemini CLI has a list of, with the names it gave them.
fn registered(home: &Path) -> Vec<(PathBuf, String)> {
    let list: Value = fs::read(home.join("projects.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let projects = list.get("projects").unwrap_or(&list).as_object();
    let entry = |(path, name): (&String, &Value)| Some((absolute(path)?, name.as_str()?.to_owned()));
    projects.into_iter().flatten().filter_map(entry).collect()
}

fn absolute(written: &str) -> Option<PathBuf> {
    // A slash at its end changes nothing.
    let path: PathBuf = Path::new(written.trim()).components().collect();
    path.is_absolute().then_some(path)
}

fn hash(path: &Path) -> String {
    Sha256::digest(path.to_string_lossy().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
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
