//! One run of a script: fed, followed and ended in its time.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::clean::clean;
use neco_proto::event::OutputStream;
use neco_safety::path::later::later;
use neco_safety::secrets::Scope;
use neco_safety::world::{Allowance, Ending, Files, Launch, Process, ProcessInput, Progress, SpawnError, Stop};
use neco_toolkit::bound::BoundedText;
use neco_toolkit::{ActingFile, Bounded, ToolContext};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::Instant;

/// How long a script whose time is up has to clean up.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// Bytes of what it prints as errors that are kept: the last ones.
const KEPT: usize = 8 * 1024;

/// Pieces of errors that are still read when it is over.
const LAST_PIECES: usize = 64;

/// Why a script does not run.
pub(super) enum NotRun {
    Pipe(io::Error),
    Spawn(SpawnError),
}

/// How a run came to its end.
pub(super) enum Outcome {
    Ended(Ending),
    TimedOut,
    Cancelled,
}

/// A run that is over.
pub(super) struct Ran {
    pub outcome: Outcome,
    /// What it printed.
    pub printed: BoundedText,
    /// The end of what it printed as errors.
    pub errors: String,
    /// Hosts that its box did not let it reach.
    pub refused_hosts: Vec<String>,
    /// Files that it changed and that act later.
    pub acting: Vec<ActingFile>,
}

/// Runs a script with `input` to its end, which comes after `limit` and [`GRACE`] at the latest.
pub(super) async fn run(
    mut launch: Launch,
    allowance: Allowance,
    input: Vec<u8>,
    limit: Duration,
    ctx: &ToolContext,
) -> Result<Ran, NotRun> {
    let (errors, prints) = io::pipe().map_err(NotRun::Pipe)?;
    launch.errors = Some(Arc::new(OwnedFd::from(prints)));
    let errors = pipe::Receiver::from_owned_fd(errors.into()).map_err(NotRun::Pipe)?;
    let mut process = ctx.world.processes().run(launch, allowance).await.map_err(NotRun::Spawn)?;
    let feed = feed(process.take_input(), input);
    let mut followed = Followed {
        kept: Bounded::new(ctx.call_id.clone(), Arc::clone(&ctx.spill), ctx.max_output),
        errors: Errors { pipe: errors, kept: Vec::new(), is_open: true },
    };
    let outcome = followed.follow(process.as_mut(), feed, limit, ctx).await;
    let Followed { kept, mut errors } = followed;
    errors.read_rest();
    let errors = ctx.spill.redactor().redact(&errors.text(), Scope::Outside).into_owned();
    let acting = acting_files(process.changed_later(), ctx.world.files());
    let refused_hosts = process.refused_hosts();
    Ok(Ran { outcome, printed: kept.finish().await, errors, refused_hosts, acting })
}

/// What is known of a run that goes on.
struct Followed {
    kept: Bounded,
    errors: Errors,
}

impl Followed {
    /// Follows a script to its end.
    async fn follow(
        &mut self,
        process: &mut dyn Process,
        feed: impl Future<Output = ()>,
        limit: Duration,
        ctx: &ToolContext,
    ) -> Outcome {
        tokio::pin!(feed);
        let alarm = tokio::time::sleep(limit);
        tokio::pin!(alarm);
        let (mut is_fed, mut alarms, mut piece) = (false, 0_u32, vec![0; 8 * 1024]);
        loop {
            tokio::select! {
                // One that prints without end must not keep the clock or the user from being heard.
                biased;
                () = ctx.cancel.cancelled() => {
                    process.stop(Stop::Kill);
                    return Outcome::Cancelled;
                }
                () = &mut alarm => {
                    process.stop(if alarms == 0 { Stop::Terminate } else { Stop::Kill });
                    alarms += 1;
                    alarm.as_mut().reset(Instant::now() + GRACE);
                }
                () = &mut feed, if !is_fed => is_fed = true,
                read = self.errors.read(&mut piece), if self.errors.is_open => show(ctx, read),
                progress = process.next() => match progress {
                    Progress::Output(bytes) => {
                        show(ctx, bytes);
                        self.kept.push(bytes).await;
                    }
                    Progress::Ended(ending) if alarms == 0 => return Outcome::Ended(ending),
                    Progress::Ended(_) => return Outcome::TimedOut,
                },
            }
        }
    }
}

/// What a script prints as errors.
struct Errors {
    pipe: pipe::Receiver,
    kept: Vec<u8>,
    is_open: bool,
}

impl Errors {
    /// The next piece; nothing when no more comes. Safe to cancel.
    async fn read<'a>(&mut self, piece: &'a mut [u8]) -> &'a [u8] {
        let length = self.pipe.read(piece).await.unwrap_or(0);
        self.is_open = length > 0;
        let read = piece.get(..length).unwrap_or_default();
        self.keep(read);
        read
    }

    /// What is there already, when the script is over.
    fn read_rest(&mut self) {
        let mut piece = vec![0; 8 * 1024];
        for _ in 0..LAST_PIECES {
            let Some(length) = self.pipe.try_read(&mut piece).ok().filter(|length| *length > 0) else { break };
            self.keep(piece.get(..length).unwrap_or_default());
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        let more = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..more);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).trim().to_owned()
    }
}

/// A script need not read what it is told.
async fn feed(pipe: Option<Box<dyn ProcessInput>>, input: Vec<u8>) {
    if let Some(mut pipe) = pipe
        && pipe.write_all(&input).await.is_ok()
    {
        let _ = pipe.end().await;
    }
}

fn show(ctx: &ToolContext, bytes: &[u8]) {
    if !bytes.is_empty() {
        ctx.live.push(OutputStream::Output, &clean(&String::from_utf8_lossy(bytes)));
    }
}

/// Those of the changed files that act later without being called.
fn acting_files(changed: &[PathBuf], files: &Files) -> Vec<ActingFile> {
    let acting = |path: &PathBuf| {
        let root = files.writable().find(|root| path.starts_with(root))?;
        let shown = path.strip_prefix(files.workspace()).unwrap_or(path).display().to_string();
        Some(ActingFile { path: shown, does: later(root, path)? })
    };
    changed.iter().filter_map(acting).collect()
}
