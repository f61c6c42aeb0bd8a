//! Agents below the root: how soon one that is started asks its model, how soon what it says reaches a parent
//! that waits, and what a hundred of them take; each beside the same number of plain tasks.

#[path = "support/promise.rs"]
#[allow(dead_code, reason = "not every figure needs a median")]
mod promise;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream;
use neco_model::scripted::Script;
use neco_model::{Delta, DeltaStream, FinishReason, Provider, Request};
use neco_proto::{ApprovalMode, Client, Command};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_view::reduce::IdleTracker;
use serde_json::json;
use tokio::sync::{mpsc, watch};

const ROUNDS: usize = 50;
const CREW: usize = 100;
/// Milliseconds from a call of the parent to the first question of the child, and from a word of the child to the
/// parent that waits for it.
const SOON: f64 = 5.0;
/// Kilobytes of a hundred agents.
const ROOM: f64 = 60.0 * 1024.0;

fn main() -> Result<(), String> {
    if !promise::is_asked_for() {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        soon().await?;
        crowd().await
    })
}

/// What the model does for the root and for a child, by how often each asked.
type Plan = Box<dyn Fn(Who, usize) -> Answer + Send + Sync>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Root,
    Child,
}

enum Answer {
    Call(&'static str, serde_json::Value),
    Calls(Vec<(&'static str, serde_json::Value)>),
    Say,
    Never,
}

struct Model {
    plan: Plan,
    asked: Mutex<HashMap<String, usize>>,
    /// When who was asked, in order.
    times: Mutex<Vec<(Who, usize, Instant)>>,
}

impl Model {
    fn new(plan: impl Fn(Who, usize) -> Answer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { plan: Box::new(plan), asked: Mutex::default(), times: Mutex::default() })
    }

    fn times(&self) -> Vec<(Who, usize, Instant)> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Provider for Model {
    fn label(&self) -> &str {
        "bench/agents"
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let who = if request.system.contains("You are the agent \"") { Who::Child } else { Who::Root };
        let number = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let times = asked.entry(request.cache_key.clone()).or_default();
            std::mem::replace(times, *times + 1)
        };
        self.times.lock().unwrap_or_else(PoisonError::into_inner).push((who, number, Instant::now()));
        let mut deltas = vec![Delta::Begin { model: self.label().to_owned() }];
        let calls = match (self.plan)(who, number) {
            Answer::Never => return stream::iter(deltas.into_iter().map(Ok)).chain(stream::pending()).boxed(),
            Answer::Say => Vec::new(),
            Answer::Call(name, arguments) => vec![(name, arguments)],
            Answer::Calls(calls) => calls,
        };
        let reason = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        if calls.is_empty() {
            deltas.push(Delta::Text("done".to_owned()));
        }
        for (index, (name, arguments)) in (0u32..).zip(calls) {
            deltas.push(Delta::CallStart { index, id: None, name: name.to_owned() });
            deltas.push(Delta::CallArguments { index, text: arguments.to_string() });
        }
        deltas.push(Delta::Finish(reason));
        stream::iter(deltas.into_iter().map(Ok)).boxed()
    }
}

fn stage(model: Arc<Model>) -> Result<Stage, String> {
    let setup = Setup { approval: ApprovalMode::Auto, max_turns: 10_000, guards: false, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script: Script::new().say("nothing"), setup })?;
    Ok(stage.played_by(model).with_config(|config| config.agents.max_live = 1000))
}

async fn say(session: &Session) -> Result<(), String> {
    let message = Command::UserMessage { content: "go".to_owned(), attachments: Vec::new() };
    session.send(message).await.map(drop).map_err(|error| error.to_string())
}

async fn until_rest(session: &Session) -> Result<(), String> {
    let (mut events, mut rest) = (session.events(session.first_seq()), IdleTracker::default());
    while let Some(event) = events.next().await {
        rest.apply(&event.map_err(|error| error.to_string())?);
        if rest.is_over() {
            return Ok(());
        }
    }
    Err("the session ended".to_owned())
}

/// A parent starts one child after the other and waits; each asks it something.
async fn soon() -> Result<(), String> {
    let task = || json!({ "agent": "explore", "task": "ask me" });
    let model = Model::new(move |who, number| match (who, number) {
        (Who::Root, number) if number / 3 >= ROUNDS => Answer::Say,
        (Who::Root, number) => match number % 3 {
            0 => Answer::Call("spawn_agent", task()),
            1 => Answer::Call("agent_wait", json!({})),
            _ => {
                let agent = format!("explore-{}", number / 3 + 1);
                Answer::Call("agent_message", json!({ "agent": agent, "kind": "answer", "text": "yes" }))
            }
        },
        (Who::Child, 0) => Answer::Call("report", json!({ "question": "may I?" })),
        (Who::Child, _) => Answer::Say,
    });
    let stage = stage(model.clone())?;
    let session = stage.open().await?;
    say(&session).await?;
    until_rest(&session).await?;
    session.close().await;
    let times = model.times();
    let at = |who: Who, wanted: &dyn Fn(usize) -> bool| -> Vec<Instant> {
        times.iter().filter(|(asked, number, _)| *asked == who && wanted(*number)).map(|(_, _, at)| *at).collect()
    };
    let spawned = at(Who::Root, &|number| number % 3 == 0);
    let began = at(Who::Child, &|number| number == 0);
    let heard = at(Who::Root, &|number| number % 3 == 2);
    let spawn = median(spawned.iter().zip(&began).map(|(from, to)| to.duration_since(*from)));
    let report = median(began.iter().zip(&heard).map(|(from, to)| to.duration_since(*from)));
    let plain = plain_latency().await;
    promise::report(
        "start of an agent to its first question",
        &format!("{spawn:.2} ms, the log on the disk included; a plain task {plain:.3} ms"),
        "at most 5 ms",
        spawn <= SOON,
    );
    promise::report(
        "word of an agent to the parent that waits",
        &format!("{report:.2} ms; over a channel between plain tasks {plain:.3} ms"),
        "under 5 ms",
        report < SOON,
    );
    Ok(())
}

/// A hundred agents at once that wait for their model.
async fn crowd() -> Result<(), String> {
    let model = Model::new(|who, number| match (who, number) {
        (Who::Root, 0) => {
            Answer::Calls((0..CREW).map(|_| ("spawn_agent", json!({ "agent": "explore", "task": "wait" }))).collect())
        }
        (Who::Root, _) => Answer::Say,
        (Who::Child, _) => Answer::Never,
    });
    let stage = stage(model.clone())?;
    let session = stage.open().await?;
    let before = resident()?;
    say(&session).await?;
    let children = || model.times().iter().filter(|(who, ..)| *who == Who::Child).count();
    while children() < CREW {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let agents = resident()? - before;
    session.close().await;
    let before = resident()?;
    let (stop, waits) = watch::channel(false);
    let tasks: Vec<_> = (0..CREW)
        .map(|_| {
            let mut waits = waits.clone();
            tokio::spawn(async move { drop(waits.changed().await) })
        })
        .collect();
    let plain = resident()? - before;
    drop(stop);
    futures::future::join_all(tasks).await;
    let value = format!("{:.1} MB; as many plain tasks {:.1} MB", agents / 1024.0, plain / 1024.0);
    promise::report("100 agents at once", &value, "under 60 MB", agents < ROOM);
    Ok(())
}

/// From a task to one that it starts, and back over a channel.
async fn plain_latency() -> f64 {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let (sender, mut receiver) = mpsc::channel(1);
        let begun = Instant::now();
        tokio::spawn(async move { sender.send(Instant::now()).await });
        if let Some(at) = receiver.recv().await {
            times.push(at.duration_since(begun));
        }
    }
    median(times.into_iter())
}

fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<f64> = times.map(|time| time.as_secs_f64() * 1000.0).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What this process has in memory, in kB.
fn resident() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    line.trim().trim_end_matches(" kB").parse().map_err(|_| format!("{line:?} is no size"))
}
