//! Reading a set-up: its files with bounds, its pieces in order.

use std::fs;
use std::path::{Path, PathBuf};

use neco_config::{Env, read_small_file};
use neco_proto::app::setups::{SetupAgent, SetupKind};
use neco_safety::secrets::{Redactor, Scope};
use serde_json::Value;

use super::piece::{Level, NewFile, NewMemory, Piece, Take};
use super::places::{Places, project_of};
use super::references::Variables;
use super::{claude_code, codex, cursor, gemini, openclaw, opencode, relaxed, taken};

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 1000;

/// What is said of a text that held a key.
const KEY_OUT: &str = "something that looks like a key was taken out of it";
/// What is said of something that is nothing without the key in it.
pub(super) const HOLDS_KEY: &str = "it holds a key; write it anew without";

/// Why a setting is not taken that nobody here knows.
const NOTHING_LIKE: &str = "Neco has no such setting";

/// Reads the set-up of an agent: the person's own, and that of the project that a folder belongs to.
#[must_use]
pub fn read(agent: SetupAgent, env: &Env, folder: &Path) -> Vec<Piece> {
    let project = project_of(env, folder);
    let mut reading = Reading {
        places: Places::of(env),
        project,
        redactor: Redactor::new([]),
        in_place: env.home().join(".agents"),
        variables: Variables::default(),
        pieces: Vec::new(),
    };
    match agent {
        SetupAgent::ClaudeCode => claude_code::read(&mut reading),
        SetupAgent::Codex => codex::read(&mut reading),
        SetupAgent::Gemini => gemini::read(&mut reading),
        SetupAgent::Opencode => opencode::read(&mut reading),
        SetupAgent::Cursor => cursor::read(&mut reading),
        SetupAgent::Openclaw => openclaw::read(&mut reading),
    }
    reading.pieces
}

/// A set-up that is being read.
pub(super) struct Reading {
    pub(super) places: Places,
    /// The project, where there is one.
    pub(super) project: Option<PathBuf>,
    /// Takes keys out of texts that are copied.
    redactor: Redactor,
    /// The folder of all agents, which Neco reads as it is.
    pub(super) in_place: PathBuf,
    /// The variables that stand for secrets.
    pub(super) variables: Variables,
    pieces: Vec<Piece>,
}

/// Where a piece comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// The file.
    pub(super) file: &'a Path,
    /// Whose it is.
    pub(super) level: Level,
}

impl<'a> Source<'a> {
    pub(super) fn person(file: &'a Path) -> Self {
        Self { file, level: Level::Person }
    }

    pub(super) fn project(file: &'a Path) -> Self {
        Self { file, level: Level::Project }
    }
}

impl Reading {
    /// Adds a piece, with what is to be said of it. This is the one way in, and no key comes through it: a text loses its
    /// keys, and what is nothing without them is left to the person.
    pub(super) fn add(
        &mut self,
        kind: SetupKind,
        name: impl Into<String>,
        from: Source<'_>,
        take: Take,
        mut words: Vec<String>,
    ) {
        let (take, said) = self.without_key(take);
        match take {
            Take::Yours if said.is_some() => words = said.into_iter().collect(),
            _ => words.extend(said),
        }
        let name = self.redactor.redact(&name.into(), Scope::Outside).into_owned();
        let words = words.into_iter().map(|word| self.redactor.redact(&word, Scope::Outside).into_owned()).collect();
        self.pieces.push(Piece { kind, name, from: from.file.to_owned(), take, words });
    }

    /// What is to be done without the keys in it, and what is to be said of them.
    fn without_key(&self, take: Take) -> (Take, Option<String>) {
        let (clean, had_key) = match take {
            Take::File(level, NewFile { path, content }) => {
                let (content, had_key) = self.without_keys(&content);
                (Take::File(level, NewFile { path, content }), had_key)
            }
            Take::Remember(memory) => {
                let (content, had_key) = self.without_keys(&memory.content);
                (Take::Remember(NewMemory { content, ..memory }), had_key)
            }
            take => {
                let is_key = |text: &str| self.without_keys(text).1;
                let had_key = match &take {
                    Take::Rule(_, text) => is_key(text),
                    Take::Hook(hook) => is_key(&hook.command),
                    Take::Server(_, server) => server.values().any(|value| is_key(&value.to_string())),
                    Take::Set(settings) => settings.iter().any(|new| is_key(&new.value.to_string())),
                    _ => false,
                };
                return if had_key { (Take::Yours, Some(HOLDS_KEY.to_owned())) } else { (take, None) };
            }
        };
        (clean, had_key.then(|| KEY_OUT.to_owned()))
    }

    /// Adds a piece that has no meaning here.
    pub(super) fn refuse(&mut self, kind: SetupKind, name: impl Into<String>, from: Source<'_>, why: &str) {
        self.add(kind, name, from, Take::NotSupported, vec![why.to_owned()]);
    }

    /// Tells what is left of settings, a piece for each: `known` says why of those that are known.
    pub(super) fn rest(&mut self, mut settings: Value, known: &[(&str, &str)], from: Source<'_>) {
        for (path, why) in known {
            if taken::any(&mut settings, path).is_some() {
                self.refuse(SetupKind::Setting, *path, from, why);
            }
        }
        for (name, inside) in taken::left(&settings) {
            let of = if inside.is_empty() { String::new() } else { format!(": {}", inside.join(", ")) };
            self.refuse(SetupKind::Setting, name, from, &format!("{NOTHING_LIKE}{of}"));
        }
    }

    /// Adds a piece that the person has to do something about.
    pub(super) fn leave(&mut self, kind: SetupKind, name: impl Into<String>, from: Source<'_>, what: &str) {
        self.add(kind, name, from, Take::Yours, vec![what.to_owned()]);
    }

    /// Adds a file that Neco reads where it is, if it is there.
    pub(super) fn in_place(&mut self, kind: SetupKind, from: Source<'_>, words: &str) {
        if from.file.exists() {
            let words = Some(words.to_owned()).filter(|words| !words.is_empty()).into_iter().collect();
            self.add(kind, name_of(from.file), from, Take::InPlace, words);
        }
    }

    /// The bytes of a file; nothing when there is none, and a piece that says so when it can't be read.
    pub(super) fn bytes(&mut self, from: Source<'_>) -> Option<Vec<u8>> {
        let failed = |words: String| Piece {
            kind: SetupKind::File,
            name: name_of(from.file),
            from: from.file.to_owned(),
            take: Take::Failed,
            words: vec![words],
        };
        if from.level == Level::Project && self.leads_out(from.file) {
            self.pieces.push(failed("it is not read: a link leads out of the project".to_owned()));
            return None;
        }
        match read_small_file(from.file, from.level == Level::Project) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.pieces.push(failed(format!("it can't be read: {error}")));
                None
            }
        }
    }

    /// The text of a file.
    pub(super) fn text(&mut self, from: Source<'_>) -> Option<String> {
        let bytes = self.bytes(from)?;
        match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(_) => {
                self.broken(from, "it is not UTF-8 text");
                None
            }
        }
    }

    /// What a file of JSON holds, however loosely it is written.
    pub(super) fn json(&mut self, from: Source<'_>) -> Option<Value> {
        let text = self.text(from)?;
        match relaxed::parse(&text) {
            Ok(value @ Value::Object(_)) => Some(value),
            Ok(_) => {
                self.broken(from, "it is no JSON object");
                None
            }
            Err(error) => {
                self.broken(from, &error.to_string());
                None
            }
        }
    }

    /// What a file of TOML holds.
    pub(super) fn toml(&mut self, from: Source<'_>) -> Option<Value> {
        let text = self.text(from)?;
        match toml::from_str::<Value>(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                // What is printed beside the place may hold a key.
                self.broken(from, &format!("it is not TOML: {}", error.message()));
                None
            }
        }
    }

    /// Says that a file can't be used.
    pub(super) fn broken(&mut self, from: Source<'_>, why: &str) {
        self.add(SetupKind::File, name_of(from.file), from, Take::Failed, vec![why.to_owned()]);
    }

    /// The entries of a folder, sorted; that there are too many of them is told. One that leads out of the project has
    /// none.
    pub(super) fn entries(&mut self, from: Source<'_>) -> Vec<PathBuf> {
        if from.level == Level::Project && self.leads_out(from.file) {
            return Vec::new();
        }
        let entries = fs::read_dir(from.file).into_iter().flatten().flatten().take(MOST_ENTRIES + 1);
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        if entries.len() > MOST_ENTRIES {
            entries.truncate(MOST_ENTRIES);
            let words = format!("only {MOST_ENTRIES} of its entries were looked at; copy the others yourself");
            self.leave(SetupKind::File, name_of(from.file), from, &words);
        }
        entries.sort();
        entries
    }

    /// Whether a link leads to where Neco reads skills as they are.
    pub(super) fn reads_in_place(&self, link: &Path) -> bool {
        let places = [self.in_place.join("skills"), self.places.home.join(".claude").join("skills")];
        let leads_to = |place: &PathBuf| {
            let ends = (link.canonicalize(), place.canonicalize());
            matches!(ends, (Ok(end), Ok(place)) if end.starts_with(&place))
        };
        places.iter().any(leads_to)
    }

    /// A text without what looks like a key, and whether there was one.
    fn without_keys(&self, text: &str) -> (String, bool) {
        let clean = self.redactor.redact(text, Scope::Outside);
        let changed = clean != text;
        (clean.into_owned(), changed)
    }

    fn leads_out(&self, file: &Path) -> bool {
        let project = self.project.as_ref().and_then(|project| project.canonicalize().ok());
        match (file.canonicalize(), project) {
            (Ok(file), Some(project)) => !file.starts_with(project),
            // What is not there leads nowhere.
            (Err(_), _) => false,
            (Ok(_), None) => true,
        }
    }
}

/// What a file is called.
pub(super) fn name_of(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
