//! Many callers at once: an outage is one failure, and one caller finds out that it is over.

use std::time::Duration;

use futures::future::join_all;
use neco_model::scripted::{Fault, Turn};
use neco_model::{Delta, Provider};

use crate::memory::{House, run};
use crate::reading::{read, request};
use crate::schedule::{RETRIES, Schedule};

const CALLERS: usize = 8;

fn fails(code: u16, retry_after: Option<f64>) -> Turn {
    Turn { fault: Some(Fault::Status { code, retry_after, message: None }), ..Turn::default() }
}

fn answers(text: &str) -> Turn {
    Turn { say: text.to_owned(), ..Turn::default() }
}

async fn ask_together(house: &House) -> Vec<String> {
    let readings = join_all((0..CALLERS).map(|_| read(house.group.stream(request())))).await;
    readings.into_iter().map(|reading| reading.answer.text).collect()
}

#[test]
fn an_outage_rests_a_model_once_and_one_caller_probes_it() {
    let schedule: Schedule = vec![vec![vec![fails(500, None)]], vec![vec![answers("standing in")]]];
    let house = House::new(&schedule);
    run(async {
        assert_eq!(ask_together(&house).await, vec!["standing in"; CALLERS]);
        let before = house.counted((0, 0));
        assert_eq!(before, CALLERS * (RETRIES + 1));
        // One failure, however many ran into it: the first rest is half a minute.
        tokio::time::sleep(Duration::from_secs(31)).await;
        assert_eq!(ask_together(&house).await, vec!["standing in"; CALLERS]);
        assert_eq!(house.counted((0, 0)) - before, RETRIES + 1, "one of them finds out that it still fails");
        // The second rest is twice as long.
        let before = house.counted((0, 0));
        tokio::time::sleep(Duration::from_secs(31)).await;
        ask_together(&house).await;
        assert_eq!(house.counted((0, 0)), before);
    });
}

#[test]
fn a_probe_that_is_given_up_lets_another_one_try() {
    let stalls = Turn { delay_ms: 50_000, ..answers("late") };
    let schedule: Schedule =
        vec![vec![vec![fails(401, None), stalls, answers("back")]], vec![vec![answers("standing in")]]];
    let house = House::new(&schedule);
    run(async {
        assert_eq!(read(house.group.stream(request())).await.answer.text, "standing in");
        tokio::time::sleep(Duration::from_secs(301)).await;
        let mut probe = house.group.stream(request());
        let begun = futures::StreamExt::next(&mut probe).await.unwrap().unwrap();
        assert_eq!(begun, Delta::Begin { model: "scripted/m0".to_owned() });
        let polled = tokio::time::timeout(Duration::from_secs(1), futures::StreamExt::next(&mut probe)).await;
        assert!(polled.is_err(), "it is under way");
        assert_eq!(read(house.group.stream(request())).await.answer.text, "standing in");
        drop(probe);
        assert_eq!(read(house.group.stream(request())).await.answer.text, "back");
        assert_eq!(ask_together(&house).await, vec!["back"; CALLERS]);
    });
}

#[test]
fn a_limited_key_does_not_hold_up_the_next_one() {
    let limited = || vec![fails(429, Some(5.0)), answers("later")];
    let schedule: Schedule = vec![vec![limited(), vec![answers("second key")]], vec![vec![answers("other model")]]];
    let house = House::new(&schedule);
    let waited = run(async {
        let begin = tokio::time::Instant::now();
        assert_eq!(read(house.group.stream(request())).await.answer.text, "second key");
        begin.elapsed()
    });
    assert_eq!((waited, house.attempts()), (Duration::ZERO, vec![(0, 0), (0, 1)]));
    // When all of them limit the rate, the one that is ready first is waited for.
    let schedule: Schedule = vec![vec![vec![fails(429, Some(50.0))]], vec![limited()]];
    let house = House::new(&schedule);
    let waited = run(async {
        let begin = tokio::time::Instant::now();
        assert_eq!(read(house.group.stream(request())).await.answer.text, "later");
        begin.elapsed().as_secs_f64()
    });
    assert!((5.0..=6.5).contains(&waited), "{waited}");
    assert_eq!(house.attempts(), [(0, 0), (1, 0), (1, 0)]);
}

#[test]
fn when_nobody_answers_every_reason_is_told() {
    let schedule: Schedule = vec![vec![vec![fails(401, None)]], vec![vec![fails(429, Some(3600.0))]]];
    let house = House::new(&schedule);
    let error = run(read(house.group.stream(request()))).failed.unwrap().to_string();
    for part in [
        "none of the 2 models of `house` answered",
        "scripted/m0 (key 0): ",
        "scripted/m1 (key 0): ",
        "asks to wait 1 h, more than network.max_retry_after (1 min)",
    ] {
        assert!(error.contains(part), "{error}");
    }
}
