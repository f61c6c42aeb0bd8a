//! A process that is killed with -9 at any moment of its work: the session opens and goes on, nothing that was
//! acknowledged is missing, every call has its result, and every file is one that was written whole.
//!
//! `NECO_CRASHES` sets the number of kills, `NECO_CRASH_WRITES` that of kills in the middle of a write.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code, reason = "a test")]

#[path = "../cli/support.rs"]
mod support;
mod verdict;

use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use support::{House, call, say};
use verdict::Verdict;

/// How many processes work at a time.
const WORKERS: usize = 4;
/// How many files a run writes.
const FILES: usize = 6;
/// About how many lines a run prints.
const LINES: usize = 110;

/// The name and the content of a file that a run writes.
pub fn file(round: usize, number: usize) -> (String, String) {
    (format!("f-{round}-{number}.txt"), format!("round {round} file {number}\n").repeat(1 + number * 400))
}

fn turns(round: usize) -> Value {
    let write = |number| {
        let (path, content) = file(round, number);
        let mut turn = call("write_file", json!({ "path": path, "content": content }));
        turn["say"] = json!("I write the next file, and say a few words about it before.");
        turn
    };
    let mut turns: Vec<Value> = (0..FILES).map(write).collect();
    turns.insert(FILES / 2, call("bash", json!({ "command": format!("echo {round} > command-{round}.txt") })));
    turns.push(say("That is all of it."));
    json!(turns)
}

/// A number below `below`, another one each time.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// Runs the binary and kills it at some moment; gives what it printed, and whether it was killed at work.
fn run(house: &House, round: usize, goes_on: bool, random: &mut Random) -> (Vec<Value>, bool) {
    house.script("script.json", turns(round));
    let mut arguments = vec!["-m", "work", "--yes", "--output-format", "stream-json"];
    if goes_on {
        arguments.push("--continue");
    }
    let mut child = house.start(&arguments);
    let (count, wait) = (random.below(LINES), random.below(3000));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut printed: Vec<String> = lines.by_ref().take(count).collect();
    std::thread::sleep(Duration::from_micros(wait as u64));
    let was_at_work = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had printed before the kill was seen by somebody.
    printed.extend(lines);
    (printed.iter().filter_map(|line| serde_json::from_str(line).ok()).collect(), was_at_work)
}

/// Kills processes in one house, each going on with the session that the one before left, until enough are dead.
async fn worker(seed: u64, wanted: usize, killed: &AtomicUsize) -> Verdict {
    let house = House::playing(json!([]));
    let mut random = Random(seed);
    let mut all = Verdict::default();
    for round in 0.. {
        if killed.load(Ordering::SeqCst) >= wanted {
            break;
        }
        let goes_on = all.last_seq > 0;
        let (printed, was_at_work) = run(&house, round, goes_on, &mut random);
        killed.fetch_add(usize::from(was_at_work), Ordering::SeqCst);
        all.add(&house, round, &printed, &format!("seed {seed} round {round}")).await;
    }
    house.script("script.json", json!([say("Done.")]));
    if all.last_seq > 0 {
        house.run(&["-m", "finish", "--continue"]).ended_with(0);
        all.end(&house, &format!("seed {seed}")).await;
    }
    all
}

/// Runs the binary, which the system kills at its write of this number; gives what it printed, or nothing when it
/// came to its end before.
fn run_until_write(house: &House, number: usize) -> Option<Vec<Value>> {
    house.script("script.json", turns(number));
    let inject = format!("inject=pwrite64:signal=KILL:when={number}");
    let output = std::process::Command::new("strace")
        .args(["-f", "-qqq", "-e", "trace=pwrite64", "-e", &inject, "-o", "/dev/null"])
        .arg(env!("CARGO_BIN_EXE_neco"))
        .args(["-m", "work", "--yes", "--output-format", "stream-json"])
        .env_clear()
        .envs(house.variables())
        .env("CI", "1")
        .current_dir(house.project())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (!output.status.success()).then_some(printed)
}

#[tokio::test]
async fn what_was_printed_is_in_the_log_after_a_kill_in_the_middle_of_a_write() {
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: there is no strace");
        return;
    }
    let wanted = std::env::var("NECO_CRASH_WRITES").ok().and_then(|number| number.parse().ok()).unwrap_or(12);
    let (mut random, mut killed) = (Random(7), 0);
    for _ in 0..wanted {
        let (house, number) = (House::playing(json!([])), 20 + random.below(160));
        let Some(printed) = run_until_write(&house, number) else { continue };
        Verdict::default().add(&house, number, &printed, &format!("write {number}")).await;
        killed += 1;
    }
    assert!(killed * 2 > wanted, "only {killed} of {wanted} were killed at work");
}

#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let wanted = std::env::var("NECO_CRASHES").ok().and_then(|number| number.parse().ok()).unwrap_or(40);
    let killed = AtomicUsize::new(0);
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS as u64)
            .map(|seed| {
                let killed = &killed;
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(worker(seed + 1, wanted, killed))
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let sum = |count: fn(&Verdict) -> usize| verdicts.iter().map(count).sum::<usize>();
    println!(
        "{} processes killed with -9 at work: {} acknowledged events are there, {} calls have their result, {} files are whole",
        killed.into_inner(),
        sum(|verdict| verdict.acknowledged),
        sum(|verdict| verdict.calls),
        sum(|verdict| verdict.files)
    );
    assert!(sum(|verdict| verdict.acknowledged) > wanted && sum(|verdict| verdict.files) > wanted);
}
