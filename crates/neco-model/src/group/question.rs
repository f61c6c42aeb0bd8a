//! One question, asked of one after the other until one answers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::event::{ModelRetry, ModelSwitch};
use tokio::time::Instant;

use super::bounds::{AnswerLimits, Measure};
use super::lane::{Lane, Leave};
use super::retry::{Failures, RetryPolicy};
use crate::delta::{Delta, FinishReason};
use crate::error::{ErrorKind, ModelError, Place};
use crate::provider::DeltaStream;
use crate::request::Request;
use crate::wire::format::Delivery;

/// Someone who may be asked.
pub(super) struct Candidate {
    /// Which model of the group it is.
    model: usize,
    lane: Arc<Lane>,
    /// Whether it does not see the pictures in the question.
    pub(super) blind: bool,
    policy: RetryPolicy,
    failures: Failures,
    /// It limits the rate until then; the error is what it said.
    limited: Option<(Instant, ModelError)>,
}

/// One question on its way.
pub(super) struct Question {
    label: Arc<str>,
    request: Request,
    delivery: Delivery,
    limits: AnswerLimits,
    /// How much of the answer has come.
    measure: Measure,
    /// Those who are not being asked, in order.
    others: Vec<Candidate>,
    asked: Option<Asked>,
    attempt: Option<DeltaStream>,
    wait: Option<Instant>,
    /// Those who will not be asked again, and why.
    fallen: Vec<Fallen>,
    /// What is handed over before anything else happens.
    told: VecDeque<Delta>,
    /// The model whose beginning was handed over last.
    announced: Option<String>,
    /// Whether something was handed over that a new attempt makes void.
    streamed: bool,
    over: bool,
}

struct Asked {
    candidate: Candidate,
    leave: Leave,
}

/// Where to go after a failure that is not tried again.
enum Next {
    Key,
    Model,
    Nowhere,
}

impl Candidate {
    /// One who is tried again as `policy` says, unless its provider is in a way of its own.
    pub(super) fn new(model: usize, lane: Arc<Lane>, blind: bool, policy: RetryPolicy) -> Self {
        let policy = lane.retry.unwrap_or(policy);
        Self { model, lane, blind, policy, failures: Failures::default(), limited: None }
    }
}

impl Question {
    pub(super) fn new(
        label: Arc<str>,
        candidates: Vec<Candidate>,
        request: Request,
        delivery: Delivery,
        limits: AnswerLimits,
    ) -> Self {
        Self {
            label,
            request,
            delivery,
            limits,
            measure: Measure::new(limits),
            others: candidates,
            asked: None,
            attempt: None,
            wait: None,
            fallen: Vec::new(),
            told: VecDeque::new(),
            announced: None,
            streamed: false,
            over: false,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.told.pop_front() {
                return Some(Ok(delta));
            }
            if self.over {
                return None;
            }
            if let Some(wait) = self.wait {
                tokio::time::sleep_until(wait).await;
                self.wait = None;
            }
            if self.asked.is_none() {
                self.asked = self.choose();
            }
            let Some(asked) = &self.asked else {
                self.over = true;
                return Some(Err(ModelError::new(ErrorKind::NotFound, Place::Http, "there is no model to ask")));
            };
            let provider = &asked.candidate.lane.provider;
            let attempt = self.attempt.get_or_insert_with(|| match self.delivery {
                Delivery::Streamed => provider.stream(self.request.clone()),
                Delivery::Whole => provider.whole(self.request.clone()),
            });
            match attempt.next().await {
                Some(Ok(delta)) => self.take(delta),
                Some(Err(error)) => return Some(self.failed(error)),
                None => return Some(self.failed(ended_early())),
            }
        }
    }

    /// The next one to ask: one that is ready, else the one that limits the rate for the shortest
    /// time, else one that rests.
    fn choose(&mut self) -> Option<Asked> {
        let blind = self.others.iter().map(|candidate| candidate.blind).min()?;
        let now = Instant::now();
        let mut soonest: Option<(Instant, usize)> = None;
        for (at, candidate) in self.others.iter().enumerate().filter(|(_, candidate)| candidate.blind == blind) {
            match candidate.limited.as_ref().map(|(until, _)| *until) {
                Some(until) if until > now => soonest = Some(soonest.unwrap_or((until, at)).min((until, at))),
                Some(_) => return Some(self.ask_rested(at)),
                None => {
                    if let Some(leave) = candidate.lane.enter() {
                        return Some(Asked { candidate: self.others.remove(at), leave });
                    }
                }
            }
        }
        match soonest {
            Some((until, at)) => {
                self.wait = Some(until);
                Some(self.ask_rested(at))
            }
            None => self.others.iter().position(|candidate| candidate.blind == blind).map(|at| self.ask_rested(at)),
        }
    }

    fn ask_rested(&mut self, at: usize) -> Asked {
        let candidate = self.others.remove(at);
        let leave = candidate.lane.enter_rested();
        Asked { candidate, leave }
    }

    /// Hands over what is within the limits. An answer that goes past one is over: its connection is closed.
    fn take(&mut self, delta: Delta) {
        let (delta, bound) = self.measure.take(delta);
        let finish = bound.map(|bound| Delta::Finish(FinishReason::Bound(bound)));
        for delta in delta.into_iter().chain(finish) {
            let passed = self.pass(delta);
            self.told.extend(passed);
        }
    }

    /// Takes note of what goes by; the same beginning is not told twice.
    fn pass(&mut self, delta: Delta) -> Option<Delta> {
        match &delta {
            Delta::Begin { model } if self.announced.as_ref() == Some(model) => return None,
            Delta::Begin { model } => self.announced = Some(model.clone()),
            Delta::Finish(_) => {
                self.over = true;
                self.attempt = None;
                if let Some(asked) = self.asked.take() {
                    asked.leave.succeeded();
                }
            }
            Delta::Text(_)
            | Delta::Reasoning { .. }
            | Delta::CallStart { .. }
            | Delta::CallArguments { .. }
            | Delta::CallOpaque { .. }
            | Delta::Usage(_) => self.streamed = true,
            Delta::Retry(_) | Delta::Switch(_) => self.streamed = false,
        }
        Some(delta)
    }

    fn failed(&mut self, mut error: ModelError) -> Result<Delta, ModelError> {
        self.attempt = None;
        self.measure = Measure::new(self.limits);
        let discards = std::mem::take(&mut self.streamed);
        let Some(Asked { mut candidate, leave }) = self.asked.take() else { return self.give_up(error) };
        let wait = candidate.policy.wait(&mut candidate.failures, &error);
        let Some(wait) = wait else {
            candidate.policy.mention_long_wait(&mut error);
            return self.fall(candidate, &leave, error, discards);
        };
        let until = Instant::now() + wait;
        if error.kind == ErrorKind::RateLimit && self.has_better_than(until, candidate.blind) {
            leave.failed(&error);
            drop(leave);
            candidate.limited = Some((until, error.clone()));
            let from = candidate.lane.name.clone();
            self.others.push(candidate);
            return self.switch(from, error, discards);
        }
        let delta = retry(&candidate, wait, error, discards);
        self.wait = Some(until);
        self.asked = Some(Asked { candidate, leave });
        Ok(delta)
    }

    /// Whether someone else can be asked before `until`.
    fn has_better_than(&self, until: Instant, blind: bool) -> bool {
        self.others.iter().filter(|candidate| candidate.blind == blind).any(|candidate| match &candidate.limited {
            Some((other, _)) => *other < until,
            None => !candidate.lane.rests(),
        })
    }

    /// It will not be asked again.
    fn fall(
        &mut self,
        candidate: Candidate,
        leave: &Leave,
        error: ModelError,
        discards: bool,
    ) -> Result<Delta, ModelError> {
        match next_after(&error) {
            Next::Nowhere => {
                self.over = true;
                return Err(error);
            }
            Next::Key => {}
            Next::Model => self.others.retain(|other| other.model != candidate.model),
        }
        leave.failed(&error);
        let name = candidate.lane.name.clone();
        self.fallen.push(Fallen { model: candidate.model, name: name.clone(), error: error.clone() });
        self.switch(name, error, discards)
    }

    /// On to the next one.
    fn switch(&mut self, from: String, error: ModelError, discards: bool) -> Result<Delta, ModelError> {
        self.announced = None;
        self.asked = self.choose();
        let Some(Asked { candidate, .. }) = &self.asked else { return self.give_up(error) };
        let wait = self.wait.map(|until| until.saturating_duration_since(Instant::now()));
        let waits = wait.zip(candidate.limited.as_ref()).map(|(wait, (_, error))| (wait, error.clone()));
        // Another call may have taken the place that was free a moment ago.
        if let Some((wait, error)) = waits.clone().filter(|_| candidate.lane.name == from) {
            return Ok(retry(candidate, wait, error, discards));
        }
        self.told.extend(waits.map(|(wait, error)| retry(candidate, wait, error, false)));
        Ok(Delta::Switch(ModelSwitch {
            from,
            to: candidate.lane.name.clone(),
            code: error.code(),
            message: error.message,
            discards,
        }))
    }

    fn give_up(&mut self, error: ModelError) -> Result<Delta, ModelError> {
        self.over = true;
        Err(none_answered(&self.label, std::mem::take(&mut self.fallen)).unwrap_or(error))
    }
}

fn retry(candidate: &Candidate, wait: Duration, error: ModelError, discards: bool) -> Delta {
    Delta::Retry(ModelRetry {
        attempt: candidate.failures.total().saturating_add(1),
        attempts: candidate.policy.attempts(&candidate.failures, &error),
        model: candidate.lane.name.clone(),
        wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        code: error.code(),
        message: error.message,
        discards,
    })
}

fn next_after(error: &ModelError) -> Next {
    match error.kind {
        ErrorKind::InvalidRequest
        | ErrorKind::ContextLength
        | ErrorKind::RequestTooLarge
        | ErrorKind::ContentFilter => Next::Nowhere,
        ErrorKind::NotFound | ErrorKind::AnswerTooLarge => Next::Model,
        ErrorKind::Unreachable if error.never_retry => Next::Model,
        _ => Next::Key,
    }
}

fn ended_early() -> ModelError {
    ModelError::new(ErrorKind::StreamCut, Place::Stream, "the answer ended before it was whole")
}

/// Someone who was asked and will not be asked again.
struct Fallen {
    /// Which model of the group.
    model: usize,
    /// `provider/model`, with the number of the key where there are several.
    name: String,
    error: ModelError,
}

/// One error for all of them, with the reason of each; none when at most one was asked. It is of the
/// kind of the one that is most likely to pass.
fn none_answered(label: &str, fallen: Vec<Fallen>) -> Option<ModelError> {
    if fallen.len() < 2 {
        return None;
    }
    let mut models: Vec<usize> = fallen.iter().map(|fallen| fallen.model).collect();
    models.sort_unstable();
    models.dedup();
    let count = if models.len() > 1 {
        format!("none of the {} models of `{label}` answered", models.len())
    } else {
        format!("none of the {} keys of `{label}` got an answer", fallen.len())
    };
    let reasons: Vec<String> =
        fallen.iter().map(|fallen| format!("{}: {}", fallen.name, fallen.error.message)).collect();
    let told = fallen.iter().find(|fallen| fallen.error.retryable()).or(fallen.last())?;
    Some(ModelError { message: format!("{count}: {}", reasons.join("; ")), ..told.error.clone() })
}
