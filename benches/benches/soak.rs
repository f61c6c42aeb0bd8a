//! 10,000 turns of one session with compactions: every question fits and is paired, the rules are in it,
//! and the memory of the process stays where it is.

#[path = "support/promise.rs"]
#[allow(dead_code, reason = "one long run needs no median")]
mod promise;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use futures::StreamExt;
use futures::stream;
use neco_agent::context::tokens_of_all;
use neco_model::scripted::Script;
use neco_model::tokens::{Family, estimate};
use neco_model::{Delta, DeltaStream, Entry, FinishReason, Provider, Request};
use neco_proto::{ApprovalMode, CallId, Client, Command, EventBody, Message, Part};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use serde_json::json;

const WINDOW: u64 = 64_000;
const ROUNDS: usize = 200;
const TURNS: usize = 50;
/// Rounds before which memory may grow.
const WARM: usize = 40;
/// Growth for 1,000 turns that is none: ids of calls are kept, so that none is used twice.
const LIMIT: f64 = 512.0;

fn main() -> Result<(), String> {
    if !promise::is_asked_for() {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(soak())
}

/// Answers by rule and checks every question.
#[derive(Default)]
struct Model {
    asked: AtomicUsize,
    /// Turns of the present round.
    turns: AtomicUsize,
    most: AtomicU64,
    wrong: AtomicUsize,
}

impl Provider for Model {
    fn label(&self) -> &str {
        "bench/soak"
    }

    fn scripted(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<u64> {
        Some(WINDOW)
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let tokens = tokens(&request);
        self.most.fetch_max(tokens, Ordering::Relaxed);
        let summary = request.tools.is_empty();
        let ruled = summary || request.system.contains("Always answer in verse.");
        if tokens > WINDOW || !paired(&request) || !ruled {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
        let pieces = if summary {
            let notes = format!("## Goal and requirements\n- go on looking\n## Next steps\n- number {number}");
            vec![Delta::Text(notes), Delta::Finish(FinishReason::Stop)]
        } else if self.turns.fetch_add(1, Ordering::Relaxed) + 1 < TURNS {
            let arguments = json!({ "path": format!("file{}.txt", number % 9), "offset": number % 40 + 1 });
            vec![
                Delta::CallStart { index: 0, id: Some(format!("call_{number}")), name: "read_file".to_owned() },
                Delta::CallArguments { index: 0, text: arguments.to_string() },
                Delta::Finish(FinishReason::ToolCalls),
            ]
        } else {
            self.turns.store(0, Ordering::Relaxed);
            vec![Delta::Text(format!("That was {number}.")), Delta::Finish(FinishReason::Stop)]
        };
        let begin = Delta::Begin { model: self.label().to_owned() };
        stream::iter(std::iter::once(begin).chain(pieces).map(Ok)).boxed()
    }
}

fn tokens(request: &Request) -> u64 {
    let family = Family::of("bench/soak");
    let tool = |tool: &neco_model::ToolDeclaration| {
        estimate(&format!("{}{}{}", tool.name, tool.description, tool.schema), family)
    };
    estimate(&request.system, family)
        + request.tools.iter().map(tool).sum::<u64>()
        + tokens_of_all(&request.history, family)
}

fn paired(request: &Request) -> bool {
    let messages: Vec<&Message> = request.history.iter().map(Entry::message).collect();
    messages.iter().enumerate().all(|(at, message)| {
        let calls: Vec<&CallId> = message.tool_calls().map(|call| &call.id).collect();
        let results: Vec<&CallId> = messages.get(at + 1).map(|next| results(next)).unwrap_or_default();
        calls.is_empty() || calls == results
    })
}

fn results(message: &Message) -> Vec<&CallId> {
    let mut found = Vec::new();
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            found.push(&result.call_id);
        }
    }
    found
}

async fn soak() -> Result<(), String> {
    let model = Arc::new(Model::default());
    let stage = stage()?.played_by(model.clone());
    let session = stage.open().await?;
    let begun = Instant::now();
    let (mut compactions, mut sizes) = (0, Vec::new());
    for round in 0..ROUNDS {
        compactions += say(&session, &format!("Look once more, for the {round}th time.")).await?;
        sizes.push(resident()?);
    }
    session.close().await;
    let slope = slope(&sizes[WARM..]) * 1000.0 / TURNS as f64;
    let turns = ROUNDS * TURNS;
    let (most, wrong) = (model.most.load(Ordering::Relaxed), model.wrong.load(Ordering::Relaxed));
    let value = format!(
        "{slope:.0} kB for 1,000 turns after warm-up, {} kB at the end; {turns} turns in {:.1?}, {compactions} compactions, \
         at most {most} of {WINDOW} tokens, {wrong} questions wrong",
        sizes.last().copied().unwrap_or_default(),
        begun.elapsed(),
    );
    promise::report(
        "10,000 turns",
        &value,
        "memory flat, nothing wrong",
        slope < LIMIT && wrong == 0 && compactions > 0,
    );
    Ok(())
}

fn stage() -> Result<Stage, String> {
    let file = |number: usize| {
        let line = |line: usize| format!("file {number}, line {line}: some words that stand in a file\n");
        (format!("file{number}.txt"), (1..=120).map(line).collect::<String>())
    };
    let rules = ("AGENTS.md".to_owned(), "Always answer in verse.\n".to_owned());
    let files = (0..9).map(file).chain([rules]).collect();
    let tools = vec!["read_file".to_owned()];
    let setup = Setup { approval: ApprovalMode::Auto, max_turns: 1000, tools, ..Setup::default() };
    Stage::new(StageSetup { files, script: Script::new().say("nothing"), setup })
}

/// How many compactions it took.
async fn say(session: &Session, text: &str) -> Result<usize, String> {
    let message = Command::UserMessage { content: text.to_owned(), attachments: Vec::new() };
    let receipt = session.send(message).await.map_err(|error| error.to_string())?;
    let mut compactions = 0;
    let mut events = session.events(receipt.seq);
    while let Some(event) = events.next().await {
        match event.map_err(|error| error.to_string())?.body {
            EventBody::Compaction(_) => compactions += 1,
            EventBody::Error(error) => return Err(error.message),
            EventBody::AgentComplete(_) => break,
            _ => {}
        }
    }
    Ok(compactions)
}

/// What this process has in memory, in kB.
fn resident() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    line.trim().trim_end_matches(" kB").parse().map_err(|_| format!("{line:?} is no size"))
}

/// How much one sample is above the one before it, by least squares.
fn slope(samples: &[f64]) -> f64 {
    let count = samples.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, samples.iter().sum::<f64>() / count);
    let (mut over, mut under) = (0.0, 0.0);
    for (at, sample) in samples.iter().enumerate() {
        over += (at as f64 - middle) * (sample - mean);
        under += (at as f64 - middle).powi(2);
    }
    over / under
}
