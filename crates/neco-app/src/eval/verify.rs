//! Whether tasks are sound: the check fails before anything is done, and passes with the solution.

use neco_proto::app::AppError;

use super::attempt::Bench;
use super::place::Place;
use super::task::Task;

/// What is known of a task's soundness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The check fails before, and passes with the solution.
    Sound,
    /// The check fails before; there is no solution to try.
    Untried,
    /// A program that it needs is not installed.
    Skipped(String),
    /// The check passes although nothing was done.
    PassesUndone,
    /// The check fails with the solution; the end of what it printed.
    FailsSolved(String),
    /// It can't be run.
    Error(String),
}

impl Bench<'_> {
    /// Looks whether a task is sound; no model is asked.
    pub async fn verify(&self, task: &Task) -> Verdict {
        let missing = task.missing(self.app.workspaces().env());
        if !missing.is_empty() {
            return Verdict::Skipped(missing.join(", "));
        }
        self.tried(task).await.unwrap_or_else(|error| Verdict::Error(error.message))
    }

    async fn tried(&self, task: &Task) -> Result<Verdict, AppError> {
        if self.checked(task, false).await?.is_none() {
            return Ok(Verdict::PassesUndone);
        }
        if task.solution.is_empty() {
            return Ok(Verdict::Untried);
        }
        Ok(self.checked(task, true).await?.map_or(Verdict::Sound, Verdict::FailsSolved))
    }

    /// What the check printed where it did not pass, in a folder with the solution or without.
    async fn checked(&self, task: &Task, solved: bool) -> Result<Option<String>, AppError> {
        let place = Place::make(&task.name, task.files.clone()).await?;
        let ran = async {
            let workspace = self.set_up(task, &place).await?;
            if solved {
                place.put(task.solution.clone()).await?;
            }
            place.put(task.check_files.clone()).await?;
            self.run(&workspace, &task.check, task.limits.most_command_time()).await
        };
        let ran = ran.await;
        place.end(self.keep).await;
        let ran = ran?;
        Ok((ran.code != Some(0)).then(|| ran.tail.trim().to_owned()))
    }
}
