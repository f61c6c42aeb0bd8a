//! One run: a fresh folder, a session in it that nobody is asked about, and the check.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Caller};
use neco_proto::event::{AgentComplete, BudgetReached, CallStatus, CompleteReason, ToolCallEnd};
use neco_proto::{Answer, ApprovalMode, Command, ErrorCode, Event, EventBody, Query};
use neco_safety::tools::{Effects, effects};
use neco_view::reduce::IdleTracker;
use tokio_util::sync::CancellationToken;

use super::place::Place;
use super::plan::RunKey;
use super::results::{Limit, Outcome, RunResult};
use super::task::{Limits, Task};
use crate::error::failed;
use crate::persons_shell::PersonsShell;
use crate::shared::SharedApp;
use crate::workspace::Workspace;
use crate::workspace::rules::RuleFlags;

/// How long the work may take to end after it was stopped.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// Bytes of the end of what a command printed that are kept.
const MOST_TAIL: usize = 2000;

/// What runs happen on.
pub struct Bench<'a> {
    /// The program that opens sessions.
    pub app: &'a SharedApp,
    /// The settings that it was given, those of evaluations included.
    pub overrides: &'a [String],
    /// Whether the folders of runs stay.
    pub keep: bool,
    /// Ends what is under way.
    pub stop: CancellationToken,
}

/// What is told of a run while it is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What the person should know of the session.
    Note(String),
    /// The agent begins this turn.
    Turn(u32),
}

/// How a command of a task ended.
pub(crate) struct Ran {
    /// Its exit code, if it has one.
    pub code: Option<i32>,
    /// The end of what it printed.
    pub tail: String,
}

impl Bench<'_> {
    /// Runs a task; gives nothing when it was stopped. What can't be run is a result too.
    pub async fn attempt(
        &self,
        task: &Task,
        key: &RunKey,
        heard: &(dyn Fn(Progress) + Send + Sync),
    ) -> Option<RunResult> {
        let missing = task.missing(self.app.workspaces().env());
        if !missing.is_empty() {
            let reason = format!("needs {}, which is not installed", missing.join(", "));
            return Some(RunResult::new(key.clone(), task.language.clone(), Outcome::Skipped, Some(reason)));
        }
        let mut result = RunResult::new(key.clone(), task.language.clone(), Outcome::Error, None);
        let place = match Place::make(&task.name, task.files.clone()).await {
            Ok(place) => place,
            Err(error) => return Some(RunResult { reason: Some(error.message), ..result }),
        };
        let seen = self.see(task, &place, &mut result, heard).await;
        result.folder = place.end(self.keep).await;
        if self.stop.is_cancelled() {
            return None;
        }
        match seen {
            Ok(outcome) => result.outcome = outcome,
            Err(error) => result.reason = Some(error.message),
        }
        Some(result)
    }

    /// Sets up, has the agent work, and checks.
    async fn see(
        &self,
        task: &Task,
        place: &Place,
        result: &mut RunResult,
        heard: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Outcome, AppError> {
        // Held until the end, so that the session and the commands share what the folder brings.
        let workspace = self.set_up(task, place).await?;
        let wanted = wanted(&result.key, &task.limits, place.path());
        let opened = self.app.open(&Caller::person(), wanted).await.inspect_err(|_| result.is_unreached = true)?;
        opened.notes.iter().for_each(|words| heard(Progress::Note(words.clone())));
        let worked = self.work(&opened, task, result, heard).await;
        let closed = self.app.close(opened.client).await;
        let complete = worked?;
        closed?;
        // A model that could not be had had no chance.
        if let Some(words) = complete.as_ref().and_then(unreached) {
            result.is_unreached = true;
            return Err(failed(words));
        }
        place.put(task.check_files.clone()).await?;
        let ran = self.run(&workspace, &task.check, task.limits.most_command_time()).await?;
        if ran.code == Some(0) {
            return Ok(Outcome::Passed);
        }
        let before = complete.as_ref().and_then(failure).map(|words| format!("{words}; ")).unwrap_or_default();
        let how = ran.code.map_or_else(|| "was ended".to_owned(), |code| format!("ended with {code}"));
        let reason = format!("{before}the check {how}: {}", ran.tail.trim());
        result.reason = Some(reason.trim_end_matches([':', ' ']).to_owned());
        Ok(Outcome::Failed)
    }

    /// Runs the set-up of a task; gives what its folder brings.
    pub(crate) async fn set_up(&self, task: &Task, place: &Place) -> Result<Arc<Workspace>, AppError> {
        let workspace = self.app.workspaces().at(place.path(), self.overrides).await?;
        if let Some(line) = &task.setup {
            let ran = self.run(&workspace, line, task.limits.most_command_time()).await?;
            if ran.code != Some(0) {
                let code = ran.code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
                return Err(failed(format!("the set-up ended with {code}: {}", ran.tail.trim())));
            }
        }
        Ok(workspace)
    }

    /// Runs a command line of a task as a person's own, for so long at most.
    pub(crate) async fn run(&self, workspace: &Workspace, line: &str, most: Duration) -> Result<Ran, AppError> {
        let (folder, state, env) = (workspace.folder().to_owned(), workspace.now(), workspace.env().clone());
        let opened =
            tokio::task::spawn_blocking(move || PersonsShell::open(&folder, &RuleFlags::default(), &state, &env));
        let shell = opened.await.map_err(failed)??;
        let tail = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&tail);
        let printed = Arc::new(move |text: String| {
            keep_tail(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), &text);
        });
        let ran = tokio::select! {
            ran = tokio::time::timeout(most, shell.run(line, printed)) => ran,
            () = self.stop.cancelled() => return Err(failed("stopped")),
        };
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let code = match ran {
            Ok(ran) => ran?.code,
            Err(_) => {
                keep_tail(&mut tail, &format!("\nstopped after {} s", most.as_secs_f64()));
                None
            }
        };
        Ok(Ran { code, tail })
    }

    /// Asks the agent and waits until it is done, or has to be.
    async fn work(
        &self,
        opened: &OpenedSession,
        task: &Task,
        result: &mut RunResult,
        heard: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Option<AgentComplete>, AppError> {
        let client = &opened.client;
        result.session = Some(opened.id);
        if let Answer::Snapshot(snapshot) = client.ask(Query::Snapshot).await? {
            result.used_level = Some(snapshot.generation);
        }
        let mut events = client.events(opened.since);
        let mut seen = Seen::default();
        let begun = Instant::now();
        client.send(Command::UserMessage { content: task.prompt.clone(), attachments: Vec::new() }).await?;
        let mut over = pin!(tokio::time::sleep(task.limits.most_time()));
        let mut is_stopped = false;
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => {
                        let event = event?;
                        seen.apply(&event, result);
                        if matches!(event.body, EventBody::TurnStart(_)) && seen.rest.is_root(&event) {
                            heard(Progress::Turn(result.turns));
                        }
                        if seen.rest.is_over() {
                            break;
                        }
                    }
                    None => break,
                },
                () = &mut over => {
                    // It does not end when it is told to: the session is closed all the same.
                    if is_stopped {
                        break;
                    }
                    result.limit = Some(Limit::Seconds);
                    is_stopped = true;
                    client.send(Command::StopAll).await?;
                    over.as_mut().reset(tokio::time::Instant::now() + LAST_WORDS);
                }
                () = self.stop.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    client.send(Command::StopAll).await?;
                    over.as_mut().reset(tokio::time::Instant::now() + LAST_WORDS);
                }
            }
        }
        result.seconds = begun.elapsed().as_secs_f64();
        if let Some(complete) = &seen.complete {
            result.ended = Some(complete.reason);
            result.limit = result.limit.or_else(|| limit(complete));
        }
        Ok(seen.complete)
    }
}

/// What is seen of a session at work.
#[derive(Default)]
struct Seen {
    rest: IdleTracker,
    complete: Option<AgentComplete>,
}

impl Seen {
    fn apply(&mut self, event: &Event, result: &mut RunResult) {
        self.rest.apply(event);
        match &event.body {
            EventBody::TurnStart(_) if self.rest.is_root(event) => result.turns += 1,
            EventBody::Usage(used) => result.usage += used.usage,
            EventBody::ToolCallEnd(end) => count(end, result),
            // Where nobody chose a level, the window of the model decides before the first turn.
            EventBody::Notification(told) if self.rest.is_root(event) => {
                result.used_level = told.fitted.or(result.used_level);
            }
            EventBody::AgentComplete(complete) if self.rest.is_root(event) => self.complete = Some(complete.clone()),
            // Nothing else is measured.
            _ => {}
        }
    }
}

fn count(end: &ToolCallEnd, result: &mut RunResult) {
    result.calls += 1;
    if end.status == CallStatus::Error {
        result.failed_calls += 1;
        result.failed_edits += u32::from(effects(&end.tool).overlap(Effects::WRITES));
    }
}

/// The session of a run. Nobody is there, so that what would be asked is refused, and nothing waits.
fn wanted(key: &RunKey, limits: &Limits, folder: &Path) -> OpenSession {
    OpenSession {
        folder: folder.display().to_string(),
        chose_folder: true,
        model: Some(key.model.clone()),
        mode: Some(key.mode),
        generation: key.level,
        approval: Some(ApprovalMode::Auto),
        max_turns: Some(limits.most_turns()),
        max_cost: limits.cost,
        max_tokens: limits.tokens,
        ..OpenSession::default()
    }
}

/// The limit that ended the work, if one did.
fn limit(complete: &AgentComplete) -> Option<Limit> {
    match (complete.reason, complete.budget) {
        (CompleteReason::IterationLimit, _) => Some(Limit::Turns),
        (CompleteReason::Budget, Some(BudgetReached::Cost { .. })) => Some(Limit::Cost),
        (CompleteReason::Budget, Some(BudgetReached::Tokens { .. })) => Some(Limit::Tokens),
        (CompleteReason::Budget, Some(BudgetReached::Time { .. }) | None) => Some(Limit::Seconds),
        (
            CompleteReason::Natural
            | CompleteReason::Cancelled
            | CompleteReason::Failed
            | CompleteReason::Stopped
            | CompleteReason::LoopDetected,
            _,
        ) => None,
    }
}

/// What failed, where that ended the work.
fn failure(complete: &AgentComplete) -> Option<String> {
    let code = complete.error_code.filter(|_| complete.reason == CompleteReason::Failed)?;
    Some(format!("{} ({})", code.for_user(), code.number()))
}

/// The same where the model could not be had; what it did wrong by itself is its own.
fn unreached(complete: &AgentComplete) -> Option<String> {
    let is_elsewhere = matches!(
        complete.error_code?,
        ErrorCode::ModelTimedOut
            | ErrorCode::RateLimited
            | ErrorCode::NotAuthorised
            | ErrorCode::ProviderUnavailable
            | ErrorCode::RequestRefused
            | ErrorCode::BudgetUsedUp
            | ErrorCode::StoreFailed
    );
    failure(complete).filter(|_| is_elsewhere)
}

/// Adds to what was printed, of which only the end is kept.
fn keep_tail(tail: &mut String, text: &str) {
    tail.push_str(text);
    let from = tail.len().saturating_sub(MOST_TAIL);
    let from = (from..=tail.len()).find(|at| tail.is_char_boundary(*at)).unwrap_or_default();
    tail.drain(..from);
}

#[cfg(test)]
mod tests {
    use neco_proto::Usage;

    use super::*;

    #[test]
    fn a_model_that_was_had_and_wrote_what_can_not_be_read_failed_by_itself() {
        let ended = |code| AgentComplete {
            reason: CompleteReason::Failed,
            error_code: Some(code),
            final_text: String::new(),
            turns: 1,
            usage: Usage::default(),
            session_usage: Usage::default(),
            duration_ms: 1,
            waited_ms: 0,
            budget: None,
            by: None,
        };
        assert!(unreached(&ended(ErrorCode::ProviderUnavailable)).is_some());
        for code in [ErrorCode::BrokenCall, ErrorCode::AnswerTooLong, ErrorCode::EmptyAnswer] {
            assert!(unreached(&ended(code)).is_none() && failure(&ended(code)).is_some(), "{code:?}");
        }
    }

    #[test]
    fn only_the_end_of_what_was_printed_is_kept() {
        let mut tail = "é".repeat(MOST_TAIL);
        keep_tail(&mut tail, "x");
        assert!(tail.len() <= MOST_TAIL && tail.ends_with("éx"));
    }
}
