//! A thousand schedules through the real group, with its clock paused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{StreamExt, stream};
use neco_config::section::Strategy as Choice;
use neco_model::group::{Group, Lane, Member, RetryPolicy, Turns};
use neco_model::route::Timeouts;
use neco_model::scripted::{Fault, ScriptedModel, Turn};
use neco_model::{DeltaStream, ErrorKind, ModelError, Provider, Request, Script};
use proptest::prelude::*;

use crate::policy::{self, Place, after, check, places};
use crate::reading::{read, request, says};
use crate::schedule::{MAX_RETRY_AFTER, Plan, RETRIES, Schedule, schedule};

/// Of paused time: far longer than all waits of a schedule together.
const FOR_EVER: Duration = Duration::from_secs(10_000_000);

/// Counts attempts and the ones that are under way.
struct Watched {
    inner: ScriptedModel,
    place: Place,
    attempts: Arc<Mutex<Vec<Place>>>,
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
        self.attempts.lock().unwrap().push(self.place);
        self.alive.fetch_add(1, Ordering::Relaxed);
        let under_way = UnderWay(Arc::clone(&self.alive));
        stream::unfold((self.inner.stream(request), under_way), |(mut inner, under_way)| async move {
            inner.next().await.map(|item| (item, (inner, under_way)))
        })
        .boxed()
    }
}

pub struct House {
    pub group: Group,
    /// Where, in the order in which they were made.
    attempts: Arc<Mutex<Vec<Place>>>,
    pub alive: Arc<AtomicUsize>,
}

impl House {
    pub fn new(schedule: &Schedule) -> Self {
        let (alive, attempts) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let mut members = Vec::new();
        for (model, keys) in schedule.iter().enumerate() {
            let lane = |(key, plan): (usize, &Plan)| {
                let script = Script { turns: plan.clone(), loop_last: true, ..Script::default() };
                let limit = Some(Duration::from_secs(100));
                let timeouts = Timeouts { first_byte: limit, idle: limit, ..Timeouts::default() };
                let inner = ScriptedModel::new("scripted", &format!("m{model}"), Arc::new(script), timeouts);
                let (attempts, alive) = (Arc::clone(&attempts), Arc::clone(&alive));
                let watched = Watched { inner, place: (model, key), attempts, alive };
                Lane::new(format!("scripted/m{model} (key {key})"), Arc::new(watched))
            };
            let lanes = keys.iter().enumerate().map(lane).collect();
            members.push(Arc::new(Member::new(lanes, Arc::new(Turns::default()))));
        }
        let policy = RetryPolicy {
            retries: u32::try_from(RETRIES).unwrap(),
            backoff: Duration::from_secs(1),
            max_retry_after: Duration::from_secs_f64(MAX_RETRY_AFTER),
            load_timeout: Duration::from_secs(300),
        };
        Self { group: Group::new("house".to_owned(), members, Choice::First, policy), attempts, alive }
    }

    pub fn attempts(&self) -> Vec<Place> {
        self.attempts.lock().unwrap().clone()
    }

    pub fn counted(&self, place: Place) -> usize {
        self.attempts().iter().filter(|known| **known == place).count()
    }
}

/// With its clock paused: all waits are over at once, in order.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async { tokio::time::timeout(FOR_EVER, future).await.expect("it hangs") })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_fails_an_answer_is_whole_and_given_once(schedule in schedule()) {
        let house = House::new(&schedule);
        let reading = run(read(house.group.stream(request())));
        let turn = |place, number| policy::turn(&schedule, place, number);
        let answered = check(&places(&schedule), &house.attempts(), |place, number| after(turn(place, number)));
        let answered = answered.map_err(TestCaseError::fail)?;
        prop_assert_eq!(house.alive.load(Ordering::Relaxed), 0);
        match answered {
            Some((place, number)) => {
                prop_assert_eq!(reading.failed, None);
                prop_assert!(says(&reading.answer, turn(place, number)), "{:?}", reading.answer);
            }
            None => prop_assert!(reading.failed.is_some_and(|error| !error.message.is_empty())),
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
            let before: Vec<usize> = places(&schedule).into_iter().map(|place| house.counted(place)).collect();
            tokio::time::sleep(Duration::from_secs(100_000)).await;
            assert_eq!(house.attempts().len(), before.iter().sum::<usize>(), "nobody asked for another attempt");
            // The next question is answered or fails properly, as if nothing had happened.
            read(house.group.stream(request())).await;
            for (place, before) in places(&schedule).into_iter().zip(before) {
                assert!(house.counted(place) - before <= RETRIES + 1);
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
    assert_eq!(reading.map(|error| error.kind), Some(ErrorKind::Loading));
    // Every five seconds or a little more, after a few waits that are shorter.
    let attempts = house.attempts().len();
    assert!((48..=64).contains(&attempts), "{attempts}");
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
