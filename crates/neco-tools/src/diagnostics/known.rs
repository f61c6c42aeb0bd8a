//! The problems that are known already, so that only new ones are told.

use std::collections::HashMap;
use std::path::PathBuf;

use super::problem::{Problem, Severity};

type Identity = (Severity, Option<PathBuf>, Option<String>, String);

/// How often each problem is known of a project. Where it stands does not count: edits move things.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What was there before the first edit, and what was told since.
    told: HashMap<Identity, usize>,
}

/// What a check came to, against what was known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    /// Problems that were not known.
    pub(super) new: Vec<Problem>,
    /// How many known ones are gone.
    pub(super) gone: usize,
}

impl Known {
    /// What is there before the first edit.
    pub(super) fn before(problems: &[Problem]) -> Self {
        Self { told: counted(problems) }
    }

    /// What is new now; it is known from then on.
    pub(super) fn news(&mut self, now: &[Problem]) -> News {
        let mut left = self.told.clone();
        let mut new = Vec::new();
        for problem in now {
            match left.get_mut(&problem.identity()) {
                Some(count) if *count > 0 => *count -= 1,
                Some(_) | None => new.push(problem.clone()),
            }
        }
        self.told = counted(now);
        News { new, gone: left.values().sum() }
    }
}

fn counted(problems: &[Problem]) -> HashMap<Identity, usize> {
    let mut counts = HashMap::new();
    for problem in problems {
        *counts.entry(problem.identity()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(file: &str, line: u32, message: &str) -> Problem {
        Problem {
            severity: Severity::Error,
            file: Some(PathBuf::from(file)),
            line: Some(line),
            column: None,
            message: message.to_owned(),
            code: None,
        }
    }

    #[test]
    fn only_what_was_not_there_is_new_wherever_it_moved() {
        let old = problem("a", 3, "x");
        let mut known = Known::before(std::slice::from_ref(&old));
        assert_eq!(known.news(&[problem("a", 9, "x")]), News { new: vec![], gone: 0 });
        let second = problem("a", 12, "x");
        assert_eq!(known.news(&[old.clone(), second.clone()]), News { new: vec![second.clone()], gone: 0 });
        assert_eq!(known.news(&[old.clone(), second]), News { new: vec![], gone: 0 }, "told once");
        let other = problem("b", 1, "x");
        assert_eq!(known.news(std::slice::from_ref(&other)), News { new: vec![other], gone: 2 });
        assert_eq!(known.news(&[]), News { new: vec![], gone: 1 });
        assert_eq!(
            known.news(std::slice::from_ref(&old)),
            News { new: vec![old], gone: 0 },
            "mended and broken again is new"
        );
    }
}
