//! Deciding about a call with five hundred rules in force.
#![allow(clippy::unwrap_used, reason = "without its input a benchmark has nothing to go on with")]

#[path = "support/promise.rs"]
mod promise;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use divan::{Bencher, black_box};
use neco_proto::{ApprovalMode, Mode, Risk};
use neco_safety::command::Place;
use neco_safety::policy::{Action, Confinement, RuleReader, SideEffect, Source, Who};
use neco_safety::{Policy, Verdict};
use serde_json::{Value, json};

const RULES: usize = 500;

/// Decisions in one measurement: one alone is too short to be timed.
const AT_ONCE: u32 = 20;

const LIMIT: Duration = Duration::from_micros(50);

/// Lines as models write them.
const LINES: [&str; 4] = [
    "git status",
    "cargo test -p neco-safety 2>&1 | tail -20",
    "cd web && npm run build && ls -la dist | head",
    "find . -name '*.rs' -not -path './target/*' | xargs grep -ln 'fn main'",
];

fn main() {
    divan::main();
    if promise::is_asked_for() {
        report();
    }
}

fn report() {
    let policy = policy();
    let write = json!({ "path": "src/main.rs", "content": "fn main() {}\n".repeat(40) });
    let write_time = each(|| decide(&policy, &write, None));
    promise::report("a write", &format!("{write_time:?}"), "at most 50 µs", write_time <= LIMIT);
    for line in LINES {
        let arguments = json!({ "command": line });
        let time = each(|| decide(&policy, &arguments, Some(line)));
        promise::report(line, &format!("{time:?}"), "at most 50 µs", time <= LIMIT);
    }
}

fn each(mut decide: impl FnMut() -> Verdict) -> Duration {
    let mut all = || {
        for _ in 0..AT_ONCE {
            black_box(decide());
        }
    };
    promise::median(|| (), |()| all()) / AT_ONCE
}

#[divan::bench(args = LINES)]
fn commands(bencher: Bencher<'_, '_>, line: &str) {
    let policy = policy();
    let arguments = json!({ "command": line });
    bencher.bench(|| decide(&policy, &arguments, Some(line)));
}

/// None of the rules fits, so that every one of them is looked at.
fn policy() -> Policy {
    let mut text = String::new();
    for number in 0..RULES {
        let rule = match number % 4 {
            0 => format!("tool = 'bash'\ncommand = 'program{number} run'\n"),
            1 => format!("tool = 'server{number}__*'\n"),
            2 => format!("tool = 'write_file'\npath = 'generated{number}/**'\n"),
            _ => format!("tool = '*'\nargs = '\"nothing-like-this-{number}\"'\n"),
        };
        write!(text, "[[rules]]\n{rule}decision = 'allow'\npriority = {}\n\n", number % 900).unwrap();
    }
    let place = Place::new(PathBuf::from("/home/me/project")).with_home(PathBuf::from("/home/me"));
    let reader = RuleReader { place: &place };
    let read = reader.file(&text, "bench.toml", Source::User);
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    assert_eq!(read.rules.len(), RULES);
    Policy::new(place.clone(), read.rules)
}

fn decide(policy: &Policy, arguments: &Value, command: Option<&str>) -> Verdict {
    let paths = [PathBuf::from("/home/me/project/src/main.rs")];
    let action = Action {
        tool: if command.is_some() { "bash" } else { "write_file" },
        origin: neco_proto::ToolOrigin::BUILT_IN,
        arguments,
        touch: if command.is_some() { SideEffect::Runs } else { SideEffect::Writes },
        risk: if command.is_some() { Risk::Low } else { Risk::Medium },
        command,
        folder: None,
        paths: if command.is_some() { &[] } else { &paths },
        because: None,
        freedom: neco_safety::world::Freedom::AsConfigured,
    };
    let who = Who {
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        person_present: true,
        role: Who::ROOT,
        confinement: Confinement::Boxed,
        network: false,
    };
    policy.judge(&action, &who)
}
