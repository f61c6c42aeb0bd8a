//! Task files: what is set up, what is asked, and how it is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::time::Duration;

use neco_config::Env;
use neco_proto::app::AppError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::builtin;
use crate::error::invalid;

/// Turns of a run where nothing else is said.
const TURNS: u32 = 30;

/// Seconds of a run where nothing else is said.
const SECONDS: f64 = 600.0;

/// Seconds of a set-up or a check where nothing else is said.
const COMMAND_SECONDS: f64 = 60.0;

/// Bytes of a task's fingerprint: tasks of one name are told apart by it, and no more.
const FINGERPRINT: usize = 6;

/// A file of tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    /// Limits of all its tasks.
    #[serde(default)]
    pub limits: Limits,
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its name, which no other has.
    pub name: String,
    /// What it is written in, for the table.
    #[serde(default)]
    pub language: String,
    /// Programs that it needs; where one is missing the task is skipped.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Files that are there from the beginning, by their path in the folder.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// A command line that is run before the agent begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// What the agent is asked.
    pub prompt: String,
    /// The command line that decides: the task is solved when it ends with 0.
    pub check: String,
    /// Files that are put there before the check, over whatever the agent left: it sees none of them.
    #[serde(default)]
    pub check_files: BTreeMap<String, String>,
    /// Limits of this task.
    #[serde(default)]
    pub limits: Limits,
    /// Files that solve it; no model is told of them.
    #[serde(default)]
    pub solution: BTreeMap<String, String>,
}

/// How far a run may go. What is not said here is said elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Most seconds of the agent's work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Most tokens, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Most US dollars, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Most seconds of the set-up, and of the check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_seconds: Option<f64>,
}

impl TaskFile {
    /// Reads a task file, which is YAML.
    ///
    /// # Errors
    /// When it can't be understood, or a task in it makes no sense.
    pub fn read(text: &str) -> Result<Self, AppError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // A file `n` or `on` is no truth value.
        let read = serde_saphyr::from_str_with_options(text, serde_saphyr::options! { strict_booleans: true });
        let file: Self = read.map_err(|error| invalid(error.to_string().trim_end()))?;
        file.check()?;
        Ok(file)
    }

    /// The tasks that come with the program.
    ///
    /// # Errors
    /// Never, as a test reads them.
    pub fn built_in() -> Result<Self, AppError> {
        let files = builtin::FILES.iter().map(|text| Self::read(text)).collect::<Result<Vec<_>, _>>()?;
        let tasks = files.into_iter().flat_map(Self::with_limits).collect();
        Ok(Self { limits: Limits::default(), tasks })
    }

    /// The tasks, each with all the limits that hold for it.
    pub fn with_limits(self) -> Vec<Task> {
        let all = self.limits;
        self.tasks.into_iter().map(|task| Task { limits: task.limits.or(all), ..task }).collect()
    }

    fn check(&self) -> Result<(), AppError> {
        if self.tasks.is_empty() {
            return Err(invalid("the file has no tasks"));
        }
        self.limits.check("the file")?;
        let mut names = BTreeSet::new();
        match self.tasks.iter().find(|task| !names.insert(&task.name)) {
            Some(twice) => Err(invalid(format!("two tasks are called {:?}", twice.name))),
            None => self.tasks.iter().try_for_each(Task::check),
        }
    }
}

impl Task {
    /// What tells this task from another one of the same name: all that a model or a check could notice.
    pub fn fingerprint(&self) -> String {
        let noticed = Self { solution: BTreeMap::new(), language: String::new(), ..self.clone() };
        // A task has no part that JSON can't say.
        let hash = Sha256::digest(serde_json::to_vec(&noticed).unwrap_or_default());
        hash.iter().take(FINGERPRINT).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The programs that it needs and that are not there.
    pub fn missing(&self, env: &Env) -> Vec<&str> {
        self.needs.iter().map(String::as_str).filter(|name| env.find_program(name).is_none()).collect()
    }

    /// Whether one of these patterns means it: its name or its language, where `*` stands for any letters.
    pub fn is_meant(&self, patterns: &[String]) -> bool {
        let fits = |pattern: &String| fits(pattern, &self.name) || fits(pattern, &self.language);
        patterns.is_empty() || patterns.iter().any(fits)
    }

    fn check(&self) -> Result<(), AppError> {
        let whose = format!("task {:?}", self.name);
        let wrong = |why: String| Err(invalid(format!("{whose}: {why}")));
        let plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
        if self.name.is_empty() || !self.name.chars().all(plain) || self.name.starts_with(['.', '-']) {
            return wrong("a name has letters, digits, - _ and . and begins with a letter or a digit".to_owned());
        }
        for (what, text) in [("prompt", &self.prompt), ("check", &self.check)] {
            if text.trim().is_empty() {
                return wrong(format!("the {what} is empty"));
            }
        }
        for path in [&self.files, &self.check_files, &self.solution].into_iter().flat_map(BTreeMap::keys) {
            let inside = |part: Component| matches!(part, Component::Normal(_));
            if path.is_empty() || path.ends_with('/') || !Path::new(path).components().all(inside) {
                return wrong(format!("{path:?} is no path of a file in the task's folder"));
            }
        }
        self.limits.check(&whose)
    }
}

impl Limits {
    /// These, and `others` for what these do not say.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            turns: self.turns.or(others.turns),
            seconds: self.seconds.or(others.seconds),
            tokens: self.tokens.or(others.tokens),
            cost: self.cost.or(others.cost),
            command_seconds: self.command_seconds.or(others.command_seconds),
        }
    }

    /// Most turns.
    pub fn most_turns(&self) -> u32 {
        self.turns.unwrap_or(TURNS)
    }

    /// Most time of the agent's work.
    pub fn most_time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds.unwrap_or(SECONDS))
    }

    /// Most time of the set-up, and of the check.
    pub fn most_command_time(&self) -> Duration {
        Duration::from_secs_f64(self.command_seconds.unwrap_or(COMMAND_SECONDS))
    }

    fn check(&self, whose: &str) -> Result<(), AppError> {
        let seconds = |value: f64| value > 0.0 && value <= 86_400.0;
        let wrong = [
            ("turns", self.turns == Some(0)),
            ("seconds", self.seconds.is_some_and(|value| !seconds(value))),
            ("tokens", self.tokens == Some(0)),
            ("cost", self.cost.is_some_and(|value| !(value.is_finite() && value > 0.0))),
            ("command_seconds", self.command_seconds.is_some_and(|value| !seconds(value))),
        ];
        match wrong.iter().find(|(_, is_wrong)| *is_wrong) {
            Some((name, _)) => {
                Err(invalid(format!("the limits of {whose}: {name} must be above 0, and seconds at most a day")))
            }
            None => Ok(()),
        }
    }
}

/// Whether a pattern means a name; `*` stands for any letters, none included.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => {
            let Some(after) = name.strip_prefix(start) else { return false };
            after
                .char_indices()
                .map(|(at, _)| at)
                .chain([after.len()])
                .any(|at| after.get(at..).is_some_and(|tail| fits(rest, tail)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "tasks:\n  - name: a\n    prompt: do it\n    check: 'true'\n";

    #[test]
    fn what_is_not_said_has_a_value() {
        let task = TaskFile::read(SMALL).unwrap().with_limits().remove(0);
        assert_eq!((task.limits.most_turns(), task.limits.most_time()), (30, Duration::from_secs(600)));
        assert_eq!(task.limits.most_command_time(), Duration::from_secs(60));
    }

    #[test]
    fn limits_of_a_task_outrank_those_of_its_file() {
        let file = format!("limits: {{ turns: 9, seconds: 5 }}\n{SMALL}    limits: {{ turns: 3 }}\n");
        let task = TaskFile::read(&file).unwrap().with_limits().remove(0);
        assert_eq!((task.limits.turns, task.limits.seconds), (Some(3), Some(5.0)));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        for (text, why) in [
            ("tasks: []\n", "no tasks"),
            (&SMALL.replace("name: a", "name: a b"), "a name has letters"),
            (&SMALL.replace("do it", "''"), "the prompt is empty"),
            (&format!("{SMALL}    chek: x\n"), "chek"),
            (&format!("{SMALL}    files: {{ ../x: y }}\n"), "\"../x\" is no path"),
            (&format!("{SMALL}    check_files: {{ /etc/x: y }}\n"), "\"/etc/x\" is no path"),
            (&format!("{SMALL}    limits: {{ seconds: 0 }}\n"), "seconds must be above 0"),
            (&format!("{SMALL}{}", SMALL.replace("tasks:\n", "")), "two tasks are called \"a\""),
        ] {
            let error = TaskFile::read(text).unwrap_err();
            assert!(error.message.contains(why), "{}", error.message);
        }
    }

    #[test]
    fn a_task_that_a_model_would_notice_the_change_of_is_another_one() {
        let task = TaskFile::read(SMALL).unwrap().tasks.remove(0);
        let same = Task { solution: BTreeMap::from([("x".into(), "y".into())]), ..task.clone() };
        let other = Task { prompt: "do it well".to_owned(), ..task.clone() };
        assert_eq!(task.fingerprint(), same.fingerprint());
        assert_ne!(task.fingerprint(), other.fingerprint());
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, is) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b*", "abc", true),
            ("*é", "né", true),
            ("*b", "abc", false),
        ] {
            assert_eq!(fits(pattern, name), is, "{pattern} {name}");
        }
    }
}
