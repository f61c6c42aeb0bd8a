//! The file of results: a line for each run, written when the run is over.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::CompleteReason;
use neco_proto::{SessionId, Usage};
use serde::{Deserialize, Serialize};

use super::plan::RunKey;
use crate::error::{failed, invalid};

/// How a line of a result begins.
const BEGINNING: &str = "{\"task\"";

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The check passed.
    Passed,
    /// The check did not pass.
    Failed,
    /// It could not be run: the model could not be had, or the set-up failed.
    Error,
    /// A program that the task needs is not installed.
    Skipped,
}

/// The limit that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Turns.
    Turns,
    /// Time.
    Seconds,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
}

/// One run, as it is kept and as programs read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Which run.
    #[serde(flatten)]
    pub key: RunKey,
    /// What the task is written in.
    #[serde(default)]
    pub language: String,
    /// What it came to.
    pub outcome: Outcome,
    /// Why, where it did not pass: the end of what the check printed, or what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it could not be run because no session could be opened or the model could not be had: more of the same
    /// would fail the same way. It is not kept.
    #[serde(skip)]
    pub is_unreached: bool,
    /// How the agent's work ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<CompleteReason>,
    /// The limit that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Its session, which `neco session show` shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The tool level that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_level: Option<u8>,
    /// Turns of the root agent.
    #[serde(default)]
    pub turns: u32,
    /// Calls of tools, those of all agents.
    #[serde(default)]
    pub calls: u32,
    /// Of those, the ones that failed.
    #[serde(default)]
    pub failed_calls: u32,
    /// Of those, the ones that were to change files.
    #[serde(default)]
    pub failed_edits: u32,
    /// Tokens and money.
    #[serde(default)]
    pub usage: Usage,
    /// Seconds of the agent's work; set-up and check are not in it.
    #[serde(default)]
    pub seconds: f64,
    /// When it began.
    pub began: Timestamp,
    /// The folder, where it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl RunResult {
    /// A run in which nothing has happened yet.
    pub fn new(key: RunKey, language: String, outcome: Outcome, reason: Option<String>) -> Self {
        Self {
            key,
            language,
            outcome,
            reason,
            is_unreached: false,
            ended: None,
            limit: None,
            session: None,
            used_level: None,
            turns: 0,
            calls: 0,
            failed_calls: 0,
            failed_edits: 0,
            usage: Usage::default(),
            seconds: 0.0,
            began: Timestamp::now(),
            folder: None,
        }
    }

    /// Whether it need not be run again: what a model had no chance to do is tried again.
    pub fn is_final(&self) -> bool {
        matches!(self.outcome, Outcome::Passed | Outcome::Failed)
    }
}

/// The results there are, and the file that holds them. No other process writes to it meanwhile.
#[derive(Debug)]
pub struct Results {
    file: File,
    path: PathBuf,
    runs: Vec<RunResult>,
    /// Whether the last line was cut off: the process was killed while it was written.
    is_torn: bool,
}

impl Results {
    /// Opens a file of results, or makes one.
    ///
    /// # Errors
    /// When it can't be used, is something else, or another process writes to it.
    pub fn open(path: &Path) -> Result<Self, AppError> {
        let cannot = |why: &dyn std::fmt::Display| failed(format!("{} can't be used: {why}", path.display()));
        let opened = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = opened.map_err(|error| cannot(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let words = format!("another process writes its results to {}", path.display());
                return Err(AppError::new(Trouble::InUse, words).hint("Name another file with --results."));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(&error)),
        }
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).map_err(|error| cannot(&error))?;
        file.read_to_string(&mut text).map_err(|error| cannot(&error))?;
        let runs: Vec<RunResult> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        // The first result may have been cut off, and nothing else that can't be read is a file of results.
        let may_be_ours = is_torn && text.lines().count() == 1 && text.starts_with(BEGINNING);
        if runs.is_empty() && !text.trim().is_empty() && !may_be_ours {
            return Err(invalid(format!("{} holds no results of evaluations", path.display()))
                .hint("Name another file with --results."));
        }
        Ok(Self { file, path: path.to_owned(), runs, is_torn })
    }

    /// The last result of a run, if there is one.
    pub fn of(&self, key: &RunKey) -> Option<&RunResult> {
        self.runs.iter().rev().find(|run| run.key == *key)
    }

    /// Adds a result; it is on the disk when this is ready. It may block.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn add(&mut self, run: RunResult) -> Result<(), AppError> {
        let torn = if self.is_torn { "\n" } else { "" };
        let line = serde_json::to_string(&run).map_err(failed)?;
        let written = self.file.write_all(format!("{torn}{line}\n").as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| failed(format!("{} can't be written: {error}", self.path.display())))?;
        self.is_torn = false;
        self.runs.push(run);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::Mode;

    use super::*;

    fn run(task: &str, outcome: Outcome) -> RunResult {
        let key = RunKey {
            task: task.to_owned(),
            fingerprint: "0".to_owned(),
            model: "m/a".to_owned(),
            level: Some(1),
            mode: Mode::Agent,
            repetition: 1,
        };
        RunResult::new(key, "sh".to_owned(), outcome, None)
    }

    #[test]
    fn results_are_there_again_and_the_last_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let (error, passed) = (run("a", Outcome::Error), run("a", Outcome::Passed));
        let mut results = Results::open(&path).unwrap();
        results.add(error.clone()).unwrap();
        assert!(Results::open(&path).unwrap_err().message.contains("another process"));
        drop(results);
        let mut results = Results::open(&path).unwrap();
        assert_eq!(results.of(&error.key), Some(&error));
        results.add(passed.clone()).unwrap();
        assert_eq!(results.of(&error.key), Some(&passed));
        assert_eq!(results.of(&run("b", Outcome::Passed).key), None);
    }

    #[test]
    fn a_line_that_was_cut_off_costs_that_line_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        Results::open(&path).unwrap().add(run("a", Outcome::Passed)).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{}", whole.get(..20).unwrap())).unwrap();
        Results::open(&path).unwrap().add(run("b", Outcome::Failed)).unwrap();
        let results = Results::open(&path).unwrap();
        assert!(results.of(&run("a", Outcome::Passed).key).is_some());
        assert!(results.of(&run("b", Outcome::Failed).key).is_some());
    }

    #[test]
    fn something_else_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        for text in ["one\ntwo\n", "one\n", "one", "{\"a\": 1}\n", "{\"task\": \"a\"}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(Results::open(&path).unwrap_err().message.contains("holds no results"), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn the_first_line_may_be_the_one_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let whole = serde_json::to_string(&run("a", Outcome::Passed)).unwrap();
        std::fs::write(&path, whole.get(..20).unwrap()).unwrap();
        Results::open(&path).unwrap().add(run("b", Outcome::Failed)).unwrap();
        assert!(Results::open(&path).unwrap().of(&run("b", Outcome::Failed).key).is_some());
    }
}
