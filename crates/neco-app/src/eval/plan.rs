//! Which runs there are: every task with every model, level, mode and repetition.

use neco_proto::Mode;
use serde::{Deserialize, Serialize};

use super::task::Task;

/// What tasks are run with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The models or groups.
    pub models: Vec<String>,
    /// The tool levels; nothing stands for the one that Neco takes by itself.
    pub levels: Vec<Option<u8>>,
    /// The modes.
    pub modes: Vec<Mode>,
    /// How often each.
    pub repeat: u32,
}

/// What tells one run from all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKey {
    /// The task.
    pub task: String,
    /// What the task was, should its file be edited.
    pub fingerprint: String,
    /// The model or group.
    pub model: String,
    /// The tool level that was asked for; nothing when Neco took one by itself.
    pub level: Option<u8>,
    /// The mode.
    pub mode: Mode,
    /// Which repetition, from 1.
    pub repetition: u32,
}

impl Grid {
    /// All runs of these tasks. A model has done everything once before it is changed, as a server may have to load the
    /// next one; everything was done once before it is repeated.
    pub fn runs<'a>(&self, tasks: &'a [Task]) -> Vec<(&'a Task, RunKey)> {
        let mut runs = Vec::new();
        for repetition in 1..=self.repeat {
            for model in &self.models {
                for &level in &self.levels {
                    for &mode in &self.modes {
                        runs.extend(tasks.iter().map(|task| {
                            let (name, fingerprint) = (task.name.clone(), task.fingerprint());
                            (task, RunKey { task: name, fingerprint, model: model.clone(), level, mode, repetition })
                        }));
                    }
                }
            }
        }
        runs
    }
}

impl RunKey {
    /// What it is run with, in words.
    pub fn with(&self) -> String {
        let level = self.level.map_or_else(|| "level auto".to_owned(), |level| format!("level {level}"));
        let mode = if self.mode == Mode::Agent { String::new() } else { format!(", {} mode", self.mode) };
        let times = if self.repetition == 1 { String::new() } else { format!(", no. {}", self.repetition) };
        format!("{}, {level}{mode}{times}", self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_run_with_everything() {
        let task = |name: &str| Task { name: name.to_owned(), ..Task::default() };
        let grid = Grid {
            models: vec!["m/a".to_owned(), "m/b".to_owned()],
            levels: vec![None, Some(1)],
            modes: vec![Mode::Agent, Mode::Debug],
            repeat: 2,
        };
        let tasks = [task("x"), task("y")];
        let runs = grid.runs(&tasks);
        assert_eq!(runs.len(), 32);
        let with: Vec<String> = runs.iter().step_by(2).take(5).map(|(_, key)| key.with()).collect();
        assert_eq!(
            with,
            [
                "m/a, level auto",
                "m/a, level auto, debug mode",
                "m/a, level 1",
                "m/a, level 1, debug mode",
                "m/b, level auto"
            ]
        );
        assert_eq!(runs[31].1.with(), "m/b, level 1, debug mode, no. 2");
    }
}
