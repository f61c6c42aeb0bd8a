//! Runs a checker to its end.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::OutputStream;
use neco_safety::world::denial::recognise;
use neco_safety::world::{Allowance, Exit, Freedom, Launch, Leftovers, Progress, Stdin, Stop};
use neco_toolkit::{ToolContext, ToolError};
use tokio::time::Instant;

use super::checker::Check;
use super::problem::Problem;
use crate::shell::box_words::denial_words;
use crate::shell::plain_text::plain_text;
use crate::shell::wording::{ending, last_lines};

/// Bytes of output that are read; a checker that prints more has said enough.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How long a checker that ran too long has to clean up.
const GRACE: Duration = Duration::from_secs(2);

/// Lines that are shown of a checker that failed without naming a problem.
const LAST_LINES: usize = 40;

/// What a checker came to.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) name: String,
    pub(super) problems: Vec<Problem>,
    /// Why it is not known whether that is all, with its last words.
    pub(super) broken: Option<Broken>,
    pub(super) took: Duration,
}

/// A checker that did not do its work.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    /// What happened, in our words.
    pub(super) why: String,
    /// The last lines of what it printed.
    pub(super) said: String,
}

enum End {
    Ended(Exit),
    TimedOut,
    Printed,
}

/// Runs a checker in the sandbox. Its processes are gone when this ends or is dropped.
pub(super) async fn run(check: &Check, limit: Duration, ctx: &ToolContext) -> Result<Ran, ToolError> {
    let started = Instant::now();
    ctx.live.push(OutputStream::Output, &format!("{}\n", check.line));
    let (output, end) = output(check, limit, ctx).await?;
    let took = started.elapsed();
    let (check, world) = (check.clone(), Arc::clone(&ctx.world));
    let reading = tokio::task::spawn_blocking(move || {
        let text = plain_text(&output);
        let mut problems = check.format.read(&text, &check.folder);
        problems.sort();
        problems.dedup();
        let why = match end {
            End::TimedOut => {
                Some(format!("was stopped after {} s; tools.diagnostics.timeout is the limit", limit.as_secs()))
            }
            End::Printed => Some("printed without end and was stopped".to_owned()),
            End::Ended(Exit::Code(0)) => None,
            End::Ended(exit) if problems.is_empty() => Some(format!("failed ({}) and named no place", ending(exit))),
            End::Ended(Exit::Code(_)) => None,
            End::Ended(exit) => Some(format!("did not finish ({})", ending(exit))),
        };
        let broken = why.map(|why| {
            let denied = world.processes().closed(Freedom::AsConfigured).and_then(|closed| recognise(&text, &closed));
            let denied = denied.map(|denial| format!("; {}", denial_words(&denial))).unwrap_or_default();
            Broken { why: format!("{why}{denied}"), said: last_words(&text) }
        });
        Ran { name: check.name, problems, broken, took }
    });
    reading.await.map_err(|_| ToolError::failed("the output of the checker can't be read"))
}

async fn output(check: &Check, limit: Duration, ctx: &ToolContext) -> Result<(Vec<u8>, End), ToolError> {
    let mut words = check.words.iter().cloned();
    let launch = Launch {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        folder: check.folder.clone(),
        stdin: Stdin::Closed,
        terminal: false,
        leftovers: Leftovers::End,
        variables: Vec::new(),
        errors: None,
    };
    let refused = |error: neco_safety::world::SpawnError| ToolError::new(error.code(), error.to_string());
    let mut running = ctx.world.processes().run(launch, Allowance::default()).await.map_err(refused)?;
    let mut output = Vec::new();
    let deadline = Instant::now() + limit;
    loop {
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => {
                running.stop(Stop::Kill);
                running.terminate(Duration::ZERO).await;
                return Err(ToolError::failed("cancelled"));
            }
            () = tokio::time::sleep_until(deadline) => {
                running.terminate(GRACE).await;
                return Ok((output, End::TimedOut));
            }
            progress = running.next() => match progress {
                Progress::Output(bytes) => output.extend_from_slice(bytes),
                Progress::Ended(ending) => return Ok((output, End::Ended(ending.exit))),
            },
        }
        if output.len() > MOST_BYTES {
            running.terminate(GRACE).await;
            return Ok((output, End::Printed));
        }
    }
}

/// The end of the output, without what only programs read.
fn last_words(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(['{', '['])).collect();
    last_lines(&lines.join("\n"), LAST_LINES).to_owned()
}
