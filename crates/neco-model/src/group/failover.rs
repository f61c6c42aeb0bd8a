//! One question, asked of one after the other until one answers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use neco_config::section::Strategy;
use neco_proto::event::{ModelRetry, ModelSwitch};

use super::breaker::Breaker;
use super::pick::Turns;
use super::retry::RetryPolicy;
use crate::delta::Delta;
use crate::error::{ErrorKind, ModelError, Place};
use crate::provider::{DeltaStream, Provider};
use crate::request::Request;

/// One key of one model.
pub struct Lane {
    /// `provider/model`, with the number of the key where there are several.
    pub name: String,
    /// Makes one attempt for each question.
    pub provider: Arc<dyn Provider>,
    breaker: Breaker,
}

/// One model with its keys.
pub struct Member {
    lanes: Vec<Arc<Lane>>,
    /// Shared by all models of a provider: its keys take turns whatever is asked.
    turns: Arc<Turns>,
}

/// Models that share the load and stand in for each other; often only one.
pub struct Group {
    label: String,
    members: Vec<Arc<Member>>,
    strategy: Strategy,
    turns: Turns,
    policy: RetryPolicy,
}

impl Lane {
    /// A lane called `name`.
    #[must_use]
    pub fn new(name: String, provider: Arc<dyn Provider>) -> Self {
        Self { name, provider, breaker: Breaker::default() }
    }

    /// Whether it failed and is left alone for a while.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.breaker.rests()
    }
}

impl Member {
    /// A model with its keys, which take turns as `turns` says.
    #[must_use]
    pub fn new(lanes: Vec<Lane>, turns: Arc<Turns>) -> Self {
        Self { lanes: lanes.into_iter().map(Arc::new).collect(), turns }
    }

    /// One for each key.
    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.lanes.iter().map(Arc::as_ref)
    }

    fn in_order(&self, asked_now: bool) -> Vec<&Arc<Lane>> {
        let count = self.lanes.len();
        let order: Vec<usize> = if asked_now {
            self.turns.order(Strategy::RoundRobin, count).collect()
        } else {
            self.turns.order_for_later(count).collect()
        };
        order.into_iter().filter_map(|key| self.lanes.get(key)).collect()
    }
}

impl Group {
    /// A group called `label`.
    #[must_use]
    pub fn new(label: String, members: Vec<Arc<Member>>, strategy: Strategy, policy: RetryPolicy) -> Self {
        Self { label, members, strategy, turns: Turns::default(), policy }
    }

    /// Everything that may be asked, in order; what is rested comes last.
    fn candidates(&self) -> VecDeque<Candidate> {
        let mut fresh = VecDeque::new();
        let mut rested = Vec::new();
        for (place, model) in self.turns.order(self.strategy, self.members.len()).enumerate() {
            let Some(member) = self.members.get(model) else { continue };
            for lane in member.in_order(place == 0) {
                let candidate = Candidate { model, lane: lane.clone() };
                if lane.breaker.rests() { rested.push(candidate) } else { fresh.push_back(candidate) }
            }
        }
        fresh.extend(rested);
        fresh
    }
}

impl Provider for Group {
    fn label(&self) -> &str {
        &self.label
    }

    fn scripted(&self) -> bool {
        let mut lanes = self.members.iter().flat_map(|member| &member.lanes).peekable();
        lanes.peek().is_some() && lanes.all(|lane| lane.provider.scripted())
    }

    fn context_window(&self) -> Option<u64> {
        self.members.iter().flat_map(|member| &member.lanes).map(|lane| lane.provider.context_window()).min()?
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let question = Question {
            request,
            policy: self.policy,
            candidates: self.candidates(),
            attempt: None,
            wait: None,
            failures: 0,
            announced: None,
            streamed: false,
            over: false,
        };
        stream::unfold(question, |mut question| async move { question.next().await.map(|item| (item, question)) })
            .boxed()
    }
}

struct Candidate {
    model: usize,
    lane: Arc<Lane>,
}

/// One question on its way.
struct Question {
    request: Request,
    policy: RetryPolicy,
    /// The one that is asked is in front.
    candidates: VecDeque<Candidate>,
    attempt: Option<DeltaStream>,
    wait: Option<Duration>,
    /// Of the one that is asked.
    failures: u32,
    /// The model whose beginning was handed over last.
    announced: Option<String>,
    /// Whether something was handed over that a new attempt makes void.
    streamed: bool,
    over: bool,
}

/// Where to go after a failure that is not tried again.
enum Next {
    Key,
    Model,
    Nowhere,
}

impl Question {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if self.over {
                return None;
            }
            if let Some(wait) = self.wait.take() {
                tokio::time::sleep(wait).await;
            }
            let Some(candidate) = self.candidates.front() else {
                self.over = true;
                return Some(Err(ModelError::new(ErrorKind::NotFound, Place::Http, "there is no model to ask")));
            };
            let request = &self.request;
            let attempt = self.attempt.get_or_insert_with(|| candidate.lane.provider.stream(request.clone()));
            match attempt.next().await {
                Some(Ok(delta)) => {
                    if let Some(delta) = self.pass(delta) {
                        return Some(Ok(delta));
                    }
                }
                Some(Err(error)) => return Some(self.failed(error)),
                None => return Some(self.failed(ended_early())),
            }
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
                if let Some(candidate) = self.candidates.front() {
                    candidate.lane.breaker.succeeded();
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

    fn failed(&mut self, error: ModelError) -> Result<Delta, ModelError> {
        self.attempt = None;
        self.failures += 1;
        let discards = std::mem::take(&mut self.streamed);
        let Some(wait) = self.policy.wait(self.failures, &error) else { return self.switch(error, discards) };
        self.wait = Some(wait);
        Ok(Delta::Retry(ModelRetry {
            attempt: self.failures + 1,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            code: error.code(),
            message: error.message,
            discards,
        }))
    }

    fn switch(&mut self, error: ModelError, discards: bool) -> Result<Delta, ModelError> {
        self.failures = 0;
        self.announced = None;
        let next = next_after(&error);
        let Some(failed) = self.candidates.pop_front() else { return self.give_up(error) };
        match next {
            Next::Nowhere => return self.give_up(error),
            Next::Key => {}
            Next::Model => self.candidates.retain(|candidate| candidate.model != failed.model),
        }
        failed.lane.breaker.failed(&error);
        let Some(to) = self.candidates.front() else { return self.give_up(error) };
        Ok(Delta::Switch(ModelSwitch {
            from: failed.lane.name.clone(),
            to: to.lane.name.clone(),
            code: error.code(),
            message: error.message,
            discards,
        }))
    }

    fn give_up(&mut self, error: ModelError) -> Result<Delta, ModelError> {
        self.over = true;
        Err(error)
    }
}

fn next_after(error: &ModelError) -> Next {
    match error.kind {
        ErrorKind::InvalidRequest
        | ErrorKind::ContextLength
        | ErrorKind::RequestTooLarge
        | ErrorKind::ContentFilter => Next::Nowhere,
        ErrorKind::NotFound => Next::Model,
        ErrorKind::Unreachable if error.never_retry => Next::Model,
        ErrorKind::Auth
        | ErrorKind::Permission
        | ErrorKind::Quota
        | ErrorKind::RateLimit
        | ErrorKind::Overloaded
        | ErrorKind::ServerError
        | ErrorKind::Timeout
        | ErrorKind::StreamCut
        | ErrorKind::MalformedToolCall
        | ErrorKind::Unreachable => Next::Key,
    }
}

fn ended_early() -> ModelError {
    ModelError::new(ErrorKind::StreamCut, Place::Stream, "the answer ended before it was whole")
}
