//! Models that stand in for each other, and in which order they are asked.

use std::sync::Arc;

use futures::{StreamExt, stream};
use neco_config::section::Strategy;
use neco_proto::Part;

use super::bounds::AnswerLimits;
use super::lane::Lane;
use super::pick::Turns;
use super::question::{Candidate, Question, Rules};
use super::retry::RetryPolicy;
use crate::provider::{DeltaStream, Provider};
use crate::request::Request;
use crate::wire::format::Delivery;

/// One model with its keys.
pub struct Member {
    lanes: Vec<Arc<Lane>>,
    /// Shared by all models of a provider: its keys take turns whatever is asked.
    turns: Arc<Turns>,
}

/// Models that share the load and stand in for each other; often only one.
pub struct Group {
    label: Arc<str>,
    members: Vec<Arc<Member>>,
    strategy: Strategy,
    turns: Turns,
    policy: RetryPolicy,
    limits: AnswerLimits,
}

impl Member {
    /// A model with its keys, which take turns as `turns` says.
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
    /// A group called `label`, whose answers nothing limits.
    pub fn new(label: String, members: Vec<Arc<Member>>, strategy: Strategy, policy: RetryPolicy) -> Self {
        let limits = AnswerLimits::default();
        Self { label: label.into(), members, strategy, turns: Turns::default(), policy, limits }
    }

    /// The same with limits of its answers.
    #[must_use]
    pub fn limited(self, limits: AnswerLimits) -> Self {
        Self { limits, ..self }
    }

    /// Everything that may be asked, in order; who sees the pictures in the question comes before who
    /// does not.
    fn candidates(&self, request: &Request) -> Vec<Candidate> {
        let pictures = pictures(request);
        let mut candidates = Vec::new();
        for (place, model) in self.turns.order(self.strategy, self.members.len()).enumerate() {
            let Some(member) = self.members.get(model) else { continue };
            for lane in member.in_order(place == 0) {
                let blind = !pictures.iter().all(|kind| lane.provider.sees(kind));
                candidates.push(Candidate::new(model, lane.clone(), blind));
            }
        }
        candidates.sort_by_key(|candidate| candidate.blind);
        candidates
    }

    fn ask(&self, request: Request, delivery: Delivery) -> DeltaStream {
        let rules = Rules { policy: self.policy, limits: self.limits.within(self.context_window()) };
        let question = Question::new(self.label.clone(), self.candidates(&request), request, delivery, rules);
        stream::unfold(question, |mut question| async move { question.next().await.map(|item| (item, question)) })
            .boxed()
    }

    fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.members.iter().flat_map(|member| member.lanes())
    }
}

/// The kinds of pictures in a conversation.
fn pictures(request: &Request) -> Vec<&str> {
    let mut kinds: Vec<&str> = Vec::new();
    let parts = request.history.iter().flat_map(|entry| &entry.message().parts);
    for part in parts {
        if let Part::Image { media_type, .. } = part
            && !kinds.contains(&media_type.as_str())
        {
            kinds.push(media_type);
        }
    }
    kinds
}

impl Provider for Group {
    fn label(&self) -> &str {
        &self.label
    }

    fn scripted(&self) -> bool {
        let mut lanes = self.lanes().peekable();
        lanes.peek().is_some() && lanes.all(|lane| lane.provider.scripted())
    }

    fn context_window(&self) -> Option<u64> {
        self.lanes().map(|lane| lane.provider.context_window()).min()?
    }

    fn sees(&self, media_type: &str) -> bool {
        self.lanes().any(|lane| lane.provider.sees(media_type))
    }

    fn stream(&self, request: Request) -> DeltaStream {
        self.ask(request, Delivery::Streamed)
    }

    fn whole(&self, request: Request) -> DeltaStream {
        self.ask(request, Delivery::Whole)
    }
}
