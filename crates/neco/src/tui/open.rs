//! `neco` at a terminal: from the arguments to the exit code.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use neco_config::{Env, LoadOptions};
use neco_proto::{Attachment, Command};
use neco_tui::line::run::listen;
use neco_tui::text::highlight;
use neco_tui::theme::ThemeName;
use neco_tui::{Host, Looks, Wanted, WindowError};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::host::Surroundings;
use super::{looks, others, set_up};
use crate::args::{EverywhereArgs, InputFormat, OutputFormat, RunArgs};
use crate::compose::{self, quit};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::repl;
use crate::run::{files, picture, worktree};
use crate::say;
use crate::server;
use crate::signals::{InterruptMask, Signal, Signals};
use crate::terminal::{self, is_unattended};

/// How long it may take until everybody has heard a signal.
const A_MOMENT: Duration = Duration::from_millis(20);

/// How long the end may take after a signal.
const LAST_WORDS: Duration = Duration::from_secs(25);

/// How long a signal waits until the person has read how the session is resumed.
const LAST_LINE: Duration = Duration::from_secs(1);

/// The last session that something was said in.
pub struct Left {
    /// As people write it.
    id: String,
    /// Whether the person was told how it is resumed.
    is_told: bool,
}

/// Whether a window is meant rather than a single request: nothing is piped, and nobody said `-m`.
pub fn is_wanted(args: &RunArgs, env: &Env) -> bool {
    let terminal = terminal::look_at(env);
    let ends = args.input_format != InputFormat::Text
        || args.output.is_some()
        || args.output_schema.is_some()
        || args.timeout.is_some();
    let single = args.message.is_some() || args.print || args.words == ["-"] || ends;
    let single = single || args.output_format != OutputFormat::Text;
    terminal.stdin && terminal.stdout && !single && !is_unattended(env)
}

/// Opens the window, on what the arguments ask for, until the person leaves.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if !terminal::look_at(env).is_capable() {
        return repl::run(args, everywhere, env);
    }
    let folder = crate::folder(everywhere)?;
    let attachments = picture::attachments(&files::pictures(args))?;
    let goes_on = args.session.is_some() || args.continue_latest;
    let is_here = !server::is_elsewhere(everywhere, env)?;
    if is_here {
        others::offer_others(&folder, everywhere, env);
    }
    if is_here && let set_up::Outcome::Left(exit) = set_up::offer(args, goes_on, &folder, everywhere, env)? {
        return Ok(exit);
    }
    match show(args, everywhere, folder, attachments, env)? {
        (Some(Left { id, is_told }), Ok(exit @ (Exit::Done | Exit::Stopped(_)))) => {
            if !is_told {
                tell_resume(&server::resume(everywhere, env), &id, None);
            }
            Ok(exit)
        }
        (Some(Left { id, .. }), Err(failure)) if failure.code.is_some() => {
            let advice = failure.advised(env.data_dir());
            let hint = advice.hint.as_deref().unwrap_or_default();
            let resume = server::resume(everywhere, env);
            Err(Failure {
                hint: Some(format!("{hint}\nWhat is saved is safe. Then resume it with  {resume} {id}")),
                ..advice
            })
        }
        (_, seen) => seen,
    }
}

/// Shows the window until the person leaves; gives the last session that something was said in, and how it ended.
///
/// # Errors
/// When it can't begin.
pub fn show(
    args: &RunArgs,
    everywhere: &EverywhereArgs,
    folder: PathBuf,
    attachments: Vec<Attachment>,
    env: &Env,
) -> Result<(Option<Left>, Result<Exit, Failure>), Failure> {
    let goes_on = args.session.is_some() || args.continue_latest;
    let words = args.message().unwrap_or_default();
    let folder = worktree::begin(folder, args, &words, env)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    let most_turns = args.max_turns.unwrap_or(loaded.config.agent.max_turns);
    let looks = looks::of(&loaded, env, most_turns)?;
    let resume = (!args.passing).then(|| server::resume(everywhere, env));
    let looks = Looks { most_cost: args.max_cost.or(looks.most_cost), resume, ..looks };
    // Reading a long session takes as long as reading the languages of the programs in it.
    if goes_on && looks.theme != ThemeName::Plain {
        std::thread::spawn(highlight::warm);
    }
    let runtime = compose::runtime()?;
    let mask = InterruptMask::default();
    let mut signals = listen(&runtime, &mask)?;
    let status_line = loaded.config.tui.status_line.clone();
    let server = match server::named(everywhere, env) {
        Some(url) => Some(runtime.block_on(server::reach(url, env))?),
        None => None,
    };
    let around = Surroundings::new((args, everywhere, env), &folder, mask, status_line, server)?;
    let mut first = args.message().filter(|words| !words.trim().is_empty());
    if let Some(words) = first.take() {
        first = Some(files::added(words, args)?);
    } else if !args.files.is_empty() {
        return Err(Failure::usage("say what to do with the files: neco --file FILE \"…\""));
    }
    if args.picks() {
        first = Some("/resume".to_owned());
    }
    runtime.block_on(async {
        // Before the window has the terminal: a person may have to say whether they trust the folder.
        let client = unless_left(around.open_first(), &mut signals).await?;
        if let Some(content) = first.take_if(|_| !attachments.is_empty()) {
            client.send(Command::UserMessage { content, attachments }).await?;
        }
        Ok::<(), Failure>(())
    })?;
    let (told, seen) = see(&runtime, &around, signals, first, looks, env);
    let left = around.host.last_said();
    worktree::end(&folder, &words, left.as_deref().unwrap_or_default(), env);
    runtime.shutdown_background();
    let left = left.map(|id| Left { is_told: told.as_ref() == Some(&id), id });
    Ok((left, seen))
}

/// Says how a session is resumed, below what is known of it.
fn tell_resume(resume: &str, id: &str, about: Option<&str>) {
    let about = about.map(|about| format!("   {about}\n")).unwrap_or_default();
    // The terminal may be gone with a signal.
    let _ = say::out(&format!("\n{about}   Resume it with  {resume} {id}\n"));
}

/// Shows the window until the person leaves or a signal ends it; all sessions have ended then. Gives the session of
/// which it was told how it is resumed, and how it ended.
fn see(
    runtime: &Runtime,
    around: &Surroundings,
    signals: Signals,
    first: Option<String>,
    looks: Looks,
    env: &Env,
) -> (Option<String>, Result<Exit, Failure>) {
    let resume = looks.resume.clone();
    let (line, is_written) = oneshot::channel::<()>();
    say::hold_notes();
    let seen = runtime.block_on(async {
        let window = neco_tui::run(Arc::clone(&around.host) as Arc<dyn Host>, around.app(), Wanted::New, first, looks);
        tokio::select! {
            seen = until_closed(window, signals, is_written) => seen,
            () = defect(env) => Ok(Exit::Failed),
        }
    });
    // A window that was dropped in the middle of its work has let go of it already; what follows is for the rest.
    neco_tui::give_back();
    say::release_notes();
    let told = runtime.block_on(async {
        let tells = resume.is_some() && matches!(seen, Ok(Exit::Done | Exit::Stopped(_)));
        let shown = around.host.about_shown().await.filter(|_| tells);
        // First: what is done at the end of a session may take a while, and the person may skip it.
        if let Some((id, about)) = &shown {
            tell_resume(resume.as_deref().unwrap_or_default(), id, Some(about));
        }
        drop(line);
        // Whoever sends a signal does not want to pay for what is done at the end of a session.
        if matches!(seen, Ok(Exit::Stopped(_))) {
            around.stop_all().await;
        }
        around.close_all().await;
        shown.map(|(id, _)| id)
    });
    (told, seen)
}

/// What `opening` gives. A signal ends the process at once: the window that comes would not hear of it.
pub async fn unless_left<T>(opening: impl Future<Output = T>, signals: &mut Signals) -> T {
    let mut opening = pin!(opening);
    loop {
        tokio::select! {
            biased;
            signal = signals.next() => quit(signal),
            opened = &mut opening => return opened,
        }
    }
}

/// Waits until a window is closed: by the person, or by a signal. `is_written` is over once the last line is.
pub(super) async fn until_closed(
    window: impl Future<Output = Result<(), WindowError>>,
    signals: Signals,
    is_written: oneshot::Receiver<()>,
) -> Result<Exit, Failure> {
    let (told, stopped) = oneshot::channel();
    tokio::spawn(hear(signals, told, is_written));
    let seen = window.await;
    match tokio::time::timeout(A_MOMENT, stopped).await {
        // The window hears signals too, and may have been the first.
        Ok(Ok(signal)) => Ok(Exit::Stopped(signal)),
        Ok(Err(_)) | Err(_) => seen.map(|()| Exit::Done).map_err(failed),
    }
}

/// Hears signals: the first closes the window, which hears it as well; a second one ends the process once the last line
/// is written. Whoever has the terminal may hang on it, so the end does not wait for ever.
async fn hear(mut signals: Signals, told: oneshot::Sender<Signal>, is_written: oneshot::Receiver<()>) {
    let signal = signals.next().await;
    // Once the window is closed, only what is done at the end of a session is left.
    if told.send(signal).is_ok() {
        let _ = tokio::time::timeout(LAST_WORDS, signals.next()).await;
    }
    let _ = tokio::time::timeout(LAST_LINE, is_written).await;
    neco_tui::give_back();
    if signal == Signal::Interrupt {
        // The terminal has written the key into the row.
        let _ = say::out("\n");
    }
    quit(signal);
}

/// Breaks in the middle of a window, for the test of what is left of the terminal then; never in a build for use.
async fn defect(env: &Env) {
    if !cfg!(debug_assertions) || !env.is_set("TEST_DEFECT_IN_NECO") {
        return std::future::pending().await;
    }
    while !neco_tui::term::guard::is_taken() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("asked for by TEST_DEFECT_IN_NECO");
}

fn failed(error: WindowError) -> Failure {
    match error {
        // Its number stands in the lists of errors, and nowhere else in what is told.
        WindowError::Lost(lost) => {
            let failure = Failure::from(lost);
            let number = failure.code.map(|code| format!("error {}: ", code.number())).unwrap_or_default();
            Failure { message: format!("{number}{}", failure.message), ..failure }
        }
        WindowError::Terminal(_) | WindowError::Open(_) => Failure::new(Exit::Failed, error.to_string()),
    }
}
