//! Runs git, in the box as commands are.

use std::ffi::OsString;
use std::time::Duration;

use neco_proto::ErrorCode;
use neco_safety::world::{Exit, Freedom, Launch, Leftovers, Process, Progress, Stdin, Stop};
use neco_toolkit::{ToolContext, ToolError};

use super::order::Order;
use super::quiet::quieting;
use crate::shell::plain_text::plain_text;

/// Bytes that are kept of what git prints.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// How long git may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Settings for every run: no program that the repository or a person has for people and no watcher, names
/// as they are and from the workspace, and paths that are paths: a pattern could name what nobody judged.
const ALWAYS: &str = "\
    --no-pager --literal-pathspecs -c color.ui=false -c core.quotePath=false -c core.editor=true -c \
    core.fsmonitor=false -c status.relativePaths=true";
/// And for those that only look: no lock, no check of signatures by another program.
const LOOKING: [&str; 3] = ["--no-optional-locks", "-c", "log.showSignature=false"];

/// A run of git that is over.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// What it printed, as text.
    pub(super) text: String,
    /// What it printed.
    pub(super) raw: Vec<u8>,
    /// Whether it printed more.
    pub(super) cut: bool,
    /// Whether it ended with zero.
    pub(super) succeeded: bool,
}

/// Runs git to its end.
///
/// # Errors
/// When it can't be started, takes too long, or the call is cancelled.
pub(super) async fn run(order: &Order, limit: Duration, ctx: &ToolContext) -> Result<Ran, ToolError> {
    let mut words = Vec::new();
    if !order.changes || order.leaves_box {
        words.extend(quieting(limit, ctx).await?);
    }
    if !order.changes {
        words.extend(LOOKING.map(str::to_owned));
    }
    words.extend(order.words.iter().cloned());
    let unboxed = order.leaves_box;
    start(&words, limit, unboxed, ctx).await.map_err(|error| match error.code {
        ErrorCode::ToolTimedOut => ToolError::new(error.code, format!("{}: {}", order.line(), error.message)),
        _ => error,
    })
}

/// Runs git with these words.
pub(super) async fn start(
    words: &[String],
    limit: Duration,
    unboxed: bool,
    ctx: &ToolContext,
) -> Result<Ran, ToolError> {
    let launch = Launch {
        program: OsString::from("git"),
        arguments: ALWAYS.split(' ').map(OsString::from).chain(words.iter().map(OsString::from)).collect(),
        folder: ctx.world.files().workspace().to_path_buf(),
        stdin: Stdin::Closed,
        terminal: false,
        leftovers: Leftovers::End,
    };
    let freedom = if unboxed { Freedom::Unboxed } else { Freedom::AsConfigured };
    let started = ctx.world.processes().run(launch, freedom.into()).await;
    let mut running = started.map_err(|error| ToolError::new(error.code(), error.to_string()))?;
    let (mut raw, mut cut) = (Vec::new(), false);
    let alarm = tokio::time::sleep(limit);
    tokio::pin!(alarm);
    loop {
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => {
                end(running.as_mut()).await;
                return Err(ToolError::failed("the call was cancelled"));
            }
            () = &mut alarm => {
                end(running.as_mut()).await;
                let words = format!("it was not done after {} s and was killed", limit.as_secs());
                return Err(ToolError::new(ErrorCode::ToolTimedOut, words));
            }
            progress = running.next() => match progress {
                Progress::Output(piece) => {
                    let room = MOST_BYTES.saturating_sub(raw.len());
                    cut |= piece.len() > room;
                    raw.extend_from_slice(piece.get(..room).unwrap_or(piece));
                }
                Progress::Ended(ending) => {
                    return Ok(Ran { text: plain_text(&raw), raw, cut, succeeded: ending.exit == Exit::Code(0) });
                }
            },
        }
    }
}

/// Asks git to end and gives it time to take its locks away; one that stays would stop all later runs.
async fn end(running: &mut dyn Process) {
    running.stop(Stop::Terminate);
    let over = async { while !matches!(running.next().await, Progress::Ended(_)) {} };
    if tokio::time::timeout(GRACE, over).await.is_err() {
        running.stop(Stop::Kill);
    }
}
