//! What runs add up to.

use std::collections::BTreeMap;

use neco_proto::{Mode, Usage};
use serde::Serialize;

use super::plan::RunKey;
use super::results::{Outcome, RunResult};

/// What an evaluation came to, as programs read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// All that was run with the same model, level and mode, in the order of the runs.
    pub groups: Vec<Group>,
    /// Runs that are still to be done.
    pub left: usize,
    /// The runs.
    pub runs: Vec<RunResult>,
}

/// What was run with the same model, level and mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The model or group.
    pub model: String,
    /// The tool level that was asked for; nothing when Neco took one by itself.
    pub level: Option<u8>,
    /// The level that it was, when Neco took it by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_level: Option<u8>,
    /// The mode.
    pub mode: Mode,
    /// Runs that came to an end: those that passed and those that failed.
    pub ran: u32,
    /// Those whose check passed.
    pub passed: u32,
    /// Those that a limit ended.
    pub limited: u32,
    /// Runs that could not be run.
    pub errors: u32,
    /// Runs that were skipped.
    pub skipped: u32,
    /// `passed` of `ran`; nothing when none ran.
    pub success: Option<f64>,
    /// Turns of a run, on average.
    pub turns: Option<f64>,
    /// Seconds of a run, on average.
    pub seconds: Option<f64>,
    /// Tokens and money of all runs.
    pub usage: Usage,
    /// Calls of tools.
    pub calls: u32,
    /// Of those, the ones that failed.
    pub failed_calls: u32,
    /// Of those, the ones that were to change files.
    pub failed_edits: u32,
    /// How many passed and how many ran, by language.
    pub languages: BTreeMap<String, Tally>,
}

/// How many passed, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Passed.
    pub passed: u32,
    /// Ran.
    pub ran: u32,
}

impl Summary {
    /// Of these runs, of which some have no result yet.
    pub fn of<'a>(runs: impl IntoIterator<Item = (&'a RunKey, Option<&'a RunResult>)>) -> Self {
        let mut summary = Self { groups: Vec::new(), left: 0, runs: Vec::new() };
        for (key, result) in runs {
            let place = summary.groups.iter().position(|group| group.is_of(key)).unwrap_or(summary.groups.len());
            if place == summary.groups.len() {
                summary.groups.push(Group::of(key));
            }
            match (result, summary.groups.get_mut(place)) {
                (Some(result), Some(group)) => {
                    group.add(result);
                    summary.runs.push(result.clone());
                }
                (Some(_) | None, _) => summary.left += 1,
            }
        }
        summary.groups.iter_mut().for_each(Group::average);
        summary
    }
}

impl Group {
    fn of(key: &RunKey) -> Self {
        Self {
            model: key.model.clone(),
            level: key.level,
            used_level: None,
            mode: key.mode,
            ran: 0,
            passed: 0,
            limited: 0,
            errors: 0,
            skipped: 0,
            success: None,
            turns: None,
            seconds: None,
            usage: Usage::default(),
            calls: 0,
            failed_calls: 0,
            failed_edits: 0,
            languages: BTreeMap::new(),
        }
    }

    fn is_of(&self, key: &RunKey) -> bool {
        (&self.model, self.level, self.mode) == (&key.model, key.level, key.mode)
    }

    fn add(&mut self, run: &RunResult) {
        match run.outcome {
            Outcome::Skipped => {
                self.skipped += 1;
                return;
            }
            Outcome::Error => {
                self.errors += 1;
                return;
            }
            Outcome::Passed | Outcome::Failed => {}
        }
        let passed = u32::from(run.outcome == Outcome::Passed);
        self.ran += 1;
        self.passed += passed;
        self.limited += u32::from(run.limit.is_some());
        self.used_level = if self.level.is_none() { run.used_level.or(self.used_level) } else { None };
        // Sums, until all are there.
        self.turns = Some(self.turns.unwrap_or_default() + f64::from(run.turns));
        self.seconds = Some(self.seconds.unwrap_or_default() + run.seconds);
        self.usage += run.usage;
        self.calls += run.calls;
        self.failed_calls += run.failed_calls;
        self.failed_edits += run.failed_edits;
        let tally = self.languages.entry(run.language.clone()).or_default();
        tally.passed += passed;
        tally.ran += 1;
    }

    fn average(&mut self) {
        let ran = f64::from(self.ran.max(1));
        self.success = (self.ran > 0).then(|| f64::from(self.passed) / ran);
        self.turns = self.turns.map(|sum| sum / ran);
        self.seconds = self.seconds.map(|sum| sum / ran);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_run_counts_neither_way() {
        let key = |task: &str| RunKey {
            task: task.to_owned(),
            fingerprint: String::new(),
            model: "m/a".to_owned(),
            level: None,
            mode: Mode::Agent,
            repetition: 1,
        };
        let run = |task: &str, outcome, turns| RunResult {
            turns,
            seconds: 2.0,
            used_level: Some(8),
            ..RunResult::new(key(task), "sh".to_owned(), outcome, None)
        };
        let results = [
            run("a", Outcome::Passed, 2),
            run("b", Outcome::Failed, 4),
            run("c", Outcome::Error, 9),
            run("d", Outcome::Skipped, 0),
        ];
        let left = key("e");
        let known = results.iter().map(|run| (&run.key, Some(run)));
        let summary = Summary::of(known.chain([(&left, None)]));
        let [group] = summary.groups.as_slice() else { panic!("{summary:?}") };
        assert_eq!((group.ran, group.passed, group.errors, group.skipped), (2, 1, 1, 1));
        assert_eq!((group.success, group.turns, group.seconds), (Some(0.5), Some(3.0), Some(2.0)));
        assert_eq!((group.used_level, summary.left, summary.runs.len()), (Some(8), 1, 4));
        assert_eq!(group.languages["sh"], Tally { passed: 1, ran: 2 });
    }
}
