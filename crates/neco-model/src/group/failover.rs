//! Models that stand in for each other, and in which order they are asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{BoxFuture, join_all};
use futures::{StreamExt, stream};
use neco_config::section::Strategy;
use neco_proto::Part;

use super::bounds::AnswerLimits;
use super::lane::Lane;
use super::question::{Candidate, Question};
use super::retry::RetryPolicy;
use crate::cost::Price;
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
                candidates.push(Candidate::new(model, lane.clone(), blind, self.policy));
            }
        }
        candidates.sort_by_key(|candidate| candidate.blind);
        candidates
    }

    fn ask(&self, request: Request, delivery: Delivery) -> DeltaStream {
        let limits = self.limits.within(self.context_window());
        let question = Question::new(self.label.clone(), self.candidates(&request), request, delivery, limits);
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

    fn window_is_assumed(&self) -> bool {
        self.lanes().any(|lane| lane.provider.window_is_assumed())
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(join_all(self.lanes().map(|lane| lane.provider.ready())).await) })
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

/// Whose turn it is.
#[derive(Debug, Default)]
pub struct Turns(AtomicUsize);

impl Turns {
    /// The positions `0..count` in the order in which they are tried this time.
    pub fn order(&self, strategy: Strategy, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = match strategy {
            Strategy::RoundRobin if count > 0 => self.0.fetch_add(1, Ordering::Relaxed) % count,
            // The cheapest of a group stands first in it: see `by_price`.
            Strategy::RoundRobin | Strategy::First | Strategy::Cheapest => 0,
        };
        (first..count).chain(0..first)
    }

    /// The same without taking a turn: for what is only asked if everything before it fails.
    pub fn order_for_later(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.0.load(Ordering::Relaxed).checked_rem(count).unwrap_or(0);
        (first..count).chain(0..first)
    }
}

/// Puts the cheapest first, by the price of input and output together; what is free costs nothing, and
/// what has no known price comes last. Those that cost the same stay in their order.
pub fn by_price<T>(models: &mut [T], price: impl Fn(&T) -> Option<Price>) {
    let dollars = |model: &T| price(model).map_or(f64::INFINITY, |price| price.input + price.output);
    models.sort_by(|one, other| dollars(one).total_cmp(&dollars(other)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_stands_first_and_the_unknown_last() {
        let price = |input, output| Some(Price { input, output, cache_read: 0.0, cache_write: 0.0, long: None });
        let mut models = [
            ("unknown", None),
            ("dear", price(5.0, 25.0)),
            ("cheap output", price(3.0, 1.0)),
            ("cheap input", price(1.0, 3.0)),
            ("free", price(0.0, 0.0)),
        ];
        by_price(&mut models, |(_, price)| *price);
        assert_eq!(models.map(|(name, _)| name), ["free", "cheap output", "cheap input", "dear", "unknown"]);
    }

    #[test]
    fn in_turn_or_always_the_first() {
        let turns = Turns::default();
        let order = |strategy| turns.order(strategy, 3).collect::<Vec<_>>();
        assert_eq!(order(Strategy::RoundRobin), [0, 1, 2]);
        assert_eq!(order(Strategy::RoundRobin), [1, 2, 0]);
        assert_eq!(order(Strategy::First), [0, 1, 2]);
        assert_eq!(order(Strategy::Cheapest), [0, 1, 2]);
        assert_eq!(order(Strategy::RoundRobin), [2, 0, 1]);
        assert_eq!(turns.order(Strategy::RoundRobin, 0).count(), 0);
        assert_eq!(turns.order_for_later(3).collect::<Vec<_>>(), turns.order_for_later(3).collect::<Vec<_>>());
        assert_eq!(turns.order_for_later(0).count(), 0);
    }
}
