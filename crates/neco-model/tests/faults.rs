//! A thousand random schedules of faults through the real group: whatever goes wrong and in whatever
//! order, an answer is whole and given once, or the call ends with a proper error.
//!
//! A reference model of the policy, written as a plain loop, says what must come of each schedule.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{StreamExt, stream};
use neco_config::section::Strategy as Choice;
use neco_model::group::{Group, Lane, Member, RetryPolicy, Turns};
use neco_model::route::Timeouts;
use neco_model::scripted::{Fault, ScriptCall, ScriptedModel, Turn};
use neco_model::{Answer, Delta, DeltaStream, ErrorKind, ModelError, Provider, Request, Script};
use neco_proto::Message;
use proptest::prelude::*;

const RETRIES: usize = 2;
const MAX_RETRY_AFTER: f64 = 60.0;
/// Of paused time: far longer than all waits of a schedule together.
const FOR_EVER: Duration = Duration::from_secs(10_000_000);

/// What one key of one model does, attempt by attempt; the last turn goes on.
type Plan = Vec<Turn>;

/// Models, their keys, and the plan of each.
type Schedule = Vec<Vec<Plan>>;

/// Counts attempts and the ones that are under way.
struct Watched {
    inner: ScriptedModel,
    attempts: Arc<AtomicUsize>,
    alive: Arc<AtomicUsize>,
}

struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Provider for Watched {
    fn label(&self) -> &str {
        self.inner.label()
    }

    fn stream(&self, request: Request) -> DeltaStream {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        self.alive.fetch_add(1, Ordering::Relaxed);
        let under_way = UnderWay(Arc::clone(&self.alive));
        stream::unfold((self.inner.stream(request), under_way), |(mut inner, under_way)| async move {
            inner.next().await.map(|item| (item, (inner, under_way)))
        })
        .boxed()
    }
}

struct House {
    group: Group,
    /// By model and key.
    attempts: Vec<Vec<Arc<AtomicUsize>>>,
    alive: Arc<AtomicUsize>,
}

impl House {
    fn new(schedule: &Schedule) -> Self {
        let alive = Arc::new(AtomicUsize::new(0));
        let mut attempts = Vec::new();
        let mut members = Vec::new();
        for (model, keys) in schedule.iter().enumerate() {
            let counts: Vec<Arc<AtomicUsize>> = keys.iter().map(|_| Arc::default()).collect();
            let lane = |(key, plan): (usize, &Plan)| {
                let script = Script { turns: plan.clone(), loop_last: true, ..Script::default() };
                let limit = Some(Duration::from_secs(100));
                let timeouts = Timeouts { connect: None, first_byte: limit, idle: limit };
                let inner = ScriptedModel::new("scripted", &format!("m{model}"), Arc::new(script), timeouts);
                let (attempts, alive) = (Arc::clone(&counts[key]), Arc::clone(&alive));
                Lane::new(format!("scripted/m{model} (key {key})"), Arc::new(Watched { inner, attempts, alive }))
            };
            let lanes = keys.iter().enumerate().map(lane).collect();
            members.push(Arc::new(Member::new(lanes, Arc::new(Turns::default()))));
            attempts.push(counts);
        }
        let policy = RetryPolicy {
            retries: u32::try_from(RETRIES).unwrap(),
            backoff: Duration::from_secs(1),
            max_retry_after: Duration::from_secs_f64(MAX_RETRY_AFTER),
        };
        Self { group: Group::new("house".to_owned(), members, Choice::First, policy), attempts, alive }
    }

    fn counted(&self) -> Vec<Vec<usize>> {
        let load = |count: &Arc<AtomicUsize>| count.load(Ordering::Relaxed);
        self.attempts.iter().map(|keys| keys.iter().map(load).collect()).collect()
    }
}

/// What must come of a schedule.
#[derive(Debug, PartialEq)]
struct Expected {
    /// The turn that answers; `None` when the call fails.
    answer: Option<Turn>,
    attempts: Vec<Vec<usize>>,
}

enum After {
    Again,
    NextKey,
    NextModel,
    GiveUp,
}

/// What follows an attempt that plays `turn`; `None` when it answers.
fn after(turn: &Turn) -> Option<After> {
    Some(match turn.fault.as_ref()? {
        // What breaks after the finish breaks nothing.
        Fault::DropAfter(at) | Fault::StallAfter(at) | Fault::ErrorAfter(at) if *at >= pieces(turn) => return None,
        Fault::Status { code: 401..=403, .. } => After::NextKey,
        Fault::Status { code: 404, .. } => After::NextModel,
        Fault::Status { code: 400 | 413 | 422, .. } => After::GiveUp,
        Fault::Status { retry_after: Some(wait), .. } if *wait > MAX_RETRY_AFTER => After::NextKey,
        Fault::Status { .. } | Fault::DropAfter(_) | Fault::StallAfter(_) | Fault::ErrorAfter(_) => After::Again,
        Fault::Empty => return None,
    })
}

/// Pieces of the whole answer: words of thought and text, calls with their arguments, and the finish.
fn pieces(turn: &Turn) -> usize {
    let words = |text: &str| text.split_inclusive(' ').count();
    let call = |call: &ScriptCall| 1 + words(&arguments(call));
    words(&turn.reasoning) + words(&turn.say) + turn.calls.iter().map(call).sum::<usize>() + 1
}

fn arguments(call: &ScriptCall) -> String {
    call.arguments_raw.clone().unwrap_or_else(|| call.arguments.to_string())
}

fn expected(schedule: &Schedule) -> Expected {
    let mut attempts: Vec<Vec<usize>> = schedule.iter().map(|keys| vec![0; keys.len()]).collect();
    'models: for (model, keys) in schedule.iter().enumerate() {
        for (key, plan) in keys.iter().enumerate() {
            for at in 0..=RETRIES {
                attempts[model][key] += 1;
                let turn = plan.get(at).unwrap_or(plan.last().unwrap());
                match after(turn) {
                    None => return Expected { answer: Some(turn.clone()), attempts },
                    Some(After::Again) => {}
                    Some(After::NextKey) => break,
                    Some(After::NextModel) => continue 'models,
                    Some(After::GiveUp) => return Expected { answer: None, attempts },
                }
            }
        }
    }
    Expected { answer: None, attempts }
}

fn fault() -> impl Strategy<Value = Fault> {
    let code = prop::sample::select(vec![400, 401, 403, 404, 408, 409, 413, 429, 429, 500, 502, 503, 529]);
    let wait = prop_oneof![3 => Just(None), 1 => (0.0..90.0_f64).prop_map(Some)];
    prop_oneof![
        4 => (code, wait).prop_map(|(code, wait)| Fault::Status {
            code,
            // Only these are asked how long to wait.
            retry_after: wait.filter(|_| [429, 500, 503, 529].contains(&code)),
            message: None,
        }),
        2 => (0_usize..9).prop_map(Fault::DropAfter),
        1 => (0_usize..9).prop_map(Fault::StallAfter),
        2 => (0_usize..9).prop_map(Fault::ErrorAfter),
        1 => Just(Fault::Empty),
    ]
}

fn call() -> impl Strategy<Value = ScriptCall> {
    let id = prop_oneof![Just(None), Just(Some(None)), Just(Some(Some("same".to_owned())))];
    let raw = prop::option::of(prop::sample::select(vec!["{\"path\":", "", "not json", "{}{}", "[1,2"]));
    ("[a-c]{1,3}", id, raw).prop_map(|(name, id, raw)| ScriptCall {
        name,
        arguments: serde_json::json!({ "path": "src/a b.rs" }),
        arguments_raw: raw.map(str::to_owned),
        id,
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    let say = prop::sample::select(vec!["", "one", "one two three four", "日本 語 text"]);
    (say, prop::bool::ANY, prop::collection::vec(call(), 0..3), prop::option::weighted(0.75, fault()), 0_u64..3)
        .prop_map(|(say, thinks, calls, fault, delay)| {
            let reasoning = if thinks { "let me see".to_owned() } else { String::new() };
            Turn {
                say: say.to_owned(),
                reasoning,
                calls,
                fault,
                delay_ms: delay * 10,
                between_ms: delay,
                ..Turn::default()
            }
        })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let plan = prop::collection::vec(turn(), 1..5);
    prop::collection::vec(prop::collection::vec(plan, 1..4), 1..4)
}

fn request() -> Request {
    Request {
        system: "".into(),
        tools: Vec::new().into(),
        history: [Message::user("hello")].into_iter().collect(),
        cache_key: String::new(),
        output: None,
    }
}

/// The answer, checked piece by piece as it comes.
#[derive(Default)]
struct Reading {
    answer: Answer,
    /// Calls that were begun since the answer last began.
    begun: Vec<u32>,
    retries: u32,
    failed: Option<ModelError>,
}

impl Reading {
    fn take(&mut self, item: Result<Delta, ModelError>) {
        assert!(self.answer.finish.is_none() && self.failed.is_none(), "something came after the end: {item:?}");
        let delta = match item {
            Ok(delta) => delta,
            Err(error) => {
                self.failed = Some(error);
                return;
            }
        };
        match &delta {
            Delta::CallStart { index, .. } => {
                assert_eq!(*index as usize, self.begun.len(), "calls begin in order and once");
                self.begun.push(*index);
            }
            Delta::CallArguments { index, .. } => assert!(self.begun.contains(index), "arguments of no call"),
            Delta::Retry(retry) => {
                self.retries += 1;
                assert_eq!(retry.attempt, self.retries + 1);
                assert!(retry.attempt as usize <= RETRIES + 1);
                assert!(retry.wait_ms as f64 <= 1000.0 * MAX_RETRY_AFTER);
                assert_eq!(retry.discards, self.has_pieces(), "what was streamed is void, and only that");
                self.begun.clear();
            }
            Delta::Switch(switch) => {
                assert_eq!(switch.discards, self.has_pieces());
                self.retries = 0;
                self.begun.clear();
            }
            Delta::Begin { .. }
            | Delta::Text(_)
            | Delta::Reasoning { .. }
            | Delta::CallOpaque { .. }
            | Delta::Usage(_)
            | Delta::Finish(_) => {}
        }
        self.answer.add(&delta);
    }

    fn has_pieces(&self) -> bool {
        self.answer.pieces().next().is_some()
    }
}

async fn read(group: &Group) -> Reading {
    let mut reading = Reading::default();
    let mut stream = group.stream(request());
    while let Some(item) = stream.next().await {
        reading.take(item);
    }
    reading
}

fn check_answer(answer: &Answer, turn: &Turn) -> Result<(), TestCaseError> {
    let empty = turn.fault == Some(Fault::Empty);
    prop_assert_eq!(answer.text.as_str(), if empty { "" } else { turn.say.as_str() });
    let thoughts: String = answer.reasoning.iter().map(|(text, _)| text.as_str()).collect();
    prop_assert_eq!(thoughts.as_str(), if empty { "" } else { turn.reasoning.as_str() });
    let calls = if empty { &[][..] } else { &turn.calls[..] };
    prop_assert_eq!(answer.calls.len(), calls.len());
    for (given, written) in answer.calls.iter().zip(calls) {
        prop_assert_eq!((&given.name, &given.arguments), (&written.name, &arguments(written)));
    }
    Ok(())
}

/// With its clock paused: all waits are over at once, in order.
fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async { tokio::time::timeout(FOR_EVER, future).await.expect("it hangs") })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_fails_an_answer_is_whole_and_given_once(schedule in schedule()) {
        let expected = expected(&schedule);
        let house = House::new(&schedule);
        let reading = run(read(&house.group));
        prop_assert_eq!(house.counted(), expected.attempts);
        prop_assert_eq!(house.alive.load(Ordering::Relaxed), 0);
        match expected.answer {
            Some(turn) => {
                prop_assert_eq!(reading.failed, None);
                prop_assert!(reading.answer.finish.is_some());
                check_answer(&reading.answer, &turn)?;
            }
            None => {
                prop_assert_eq!(reading.answer.finish, None);
                let error = reading.failed.expect("neither an answer nor an error");
                prop_assert!(!error.message.is_empty());
            }
        }
    }

    #[test]
    fn a_reader_that_leaves_stops_the_call_and_harms_nothing(schedule in schedule(), pieces in 0_usize..25) {
        let house = House::new(&schedule);
        run(async {
            let mut stream = house.group.stream(request());
            for _ in 0..pieces {
                if stream.next().await.is_none() {
                    break;
                }
            }
            drop(stream);
            assert_eq!(house.alive.load(Ordering::Relaxed), 0, "the call goes on without its reader");
            let before = house.counted();
            tokio::time::sleep(Duration::from_secs(100_000)).await;
            assert_eq!(house.counted(), before, "nobody asked for another attempt");
            // The next question is answered or fails properly, as if nothing had happened.
            let reading = read(&house.group).await;
            assert!(reading.answer.finish.is_some() != reading.failed.is_some());
            for (now, before) in house.counted().iter().flatten().zip(before.iter().flatten()) {
                assert!(now - before <= RETRIES + 1);
            }
        });
    }
}

#[test]
fn a_server_that_loads_its_model_is_waited_for_and_no_longer_than_that() {
    let loading = Fault::Status { code: 503, retry_after: None, message: Some("Loading model".to_owned()) };
    let plan = vec![Turn { fault: Some(loading), ..Turn::default() }];
    let house = House::new(&vec![vec![plan]]);
    let reading = run(read_loading(&house.group));
    assert_eq!(reading.map(|error| error.kind), Some(ErrorKind::Overloaded));
    assert_eq!(house.counted(), [[61]]);
}

async fn read_loading(group: &Group) -> Option<ModelError> {
    let mut stream = group.stream(request());
    while let Some(item) = stream.next().await {
        if let Err(error) = item {
            return Some(error);
        }
    }
    None
}
