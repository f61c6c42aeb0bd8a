//! Runs git, in the box as commands are.

use std::ffi::OsString;
use std::time::Duration;

use neco_proto::ErrorCode;
use neco_safety::world::{Exit, Freedom, Launch, Leftovers, Process, Progress, Stdin, Stop};
use neco_toolkit::{ToolContext, ToolError};

use super::order::Order;
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
/// Fails when it can't be started, takes too long, or the call is cancelled.
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
        variables: Vec::new(),
        errors: None,
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

/// For runs that only look: nothing is loaded from elsewhere, whatever the repository lacks.
const NO_LOADING: [&str; 2] = ["-c", "protocol.allow=never"];

/// Options before the words of git, so that no program of the repository's own is started by a look.
/// Fails when git can't be asked for its settings, or one of them can't be switched off. Settings of the user's own may
/// name programs: they are theirs. Those of the repository came with it.
async fn quieting(limit: Duration, ctx: &ToolContext) -> Result<Vec<String>, ToolError> {
    let words = ["config", "--list", "--show-scope", "-z"].map(str::to_owned);
    let ran = start(&words, limit, false, ctx).await?;
    options(&ran.raw)
}

fn options(listed: &[u8]) -> Result<Vec<String>, ToolError> {
    let mut options: Vec<String> = NO_LOADING.map(str::to_owned).to_vec();
    let mut set = |key: &str, value: &str| {
        // What stands before the first `=` is the name.
        if key.contains('=') {
            let words = "the settings of this repository name a program in a way that can't be switched off; look at \
                         its .git/config";
            return Err(ToolError::failed(words));
        }
        options.extend(["-c".to_owned(), format!("{key}={value}")]);
        Ok(())
    };
    let listed = String::from_utf8_lossy(listed);
    let mut words = listed.split('\0');
    while let (Some(scope), Some(entry)) = (words.next(), words.next()) {
        let key = entry.split('\n').next().unwrap_or_default();
        let is_own = matches!(scope, "local" | "worktree");
        let lower = key.to_ascii_lowercase();
        match (lower.split('.').next(), lower.rsplit('.').next()) {
            (Some("filter"), Some("clean" | "smudge" | "process")) if is_own => set(key, "")?,
            (Some("filter"), Some("required")) if is_own => set(key, "false")?,
            // A rule for one way outranks the one for all.
            (Some("protocol"), Some("allow")) if lower != "protocol.allow" => set(key, "never")?,
            (_, _) => {}
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_repository_are_switched_off_and_the_users_stay() {
        let listed = b"global\0filter.lfs.clean\ngit-lfs clean\0local\0Filter.My Spy.clean\nspy\0worktree\0filter.p.process\nx\
            \0local\0filter.p.required\ntrue\0local\0user.name\nAda\0local\0protocol.ext.allow\nalways\0local\0core.bare\0";
        let options = options(listed).unwrap();
        let set: Vec<&str> = options.iter().map(String::as_str).filter(|word| *word != "-c").collect();
        assert_eq!(
            set,
            [
                "protocol.allow=never",
                "Filter.My Spy.clean=",
                "filter.p.process=",
                "filter.p.required=false",
                "protocol.ext.allow=never"
            ]
        );
        assert!(super::options(b"local\0filter.a=b.clean\nspy\0").is_err());
        assert!(super::options(b"").is_ok());
    }
}
