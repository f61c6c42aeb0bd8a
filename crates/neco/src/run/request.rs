//! Opening the session that a request goes to, and seeing it through.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_app::disk;
use neco_app::shared::SharedApp;
use neco_config::Env;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Caller};
use neco_proto::{Attachment, Client, ClientError, Command, SessionId};

use super::drive::{Run, RunUi, see_through};
use super::ends::Ends;
use super::guest::{self, Begun};
use super::message::Message;
use super::opener::{TerminalOpener, wanted};
use super::{attach, files, message, note, picture, slash, turns, worktree};
use crate::args::{EverywhereArgs, InputFormat, OutputFormat, RunArgs};
use crate::ask::{self, Tty};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::print::json::Report;
use crate::say;
use crate::short_id::short_id;
use crate::terminal::{Terminal, is_unattended};

/// One request, from its arguments to how the process ends.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let format = args.output_format;
    let ended = match args.input_format {
        InputFormat::Text => attempt(args, everywhere, env, &mut None),
        InputFormat::StreamJson => turns::run(args, everywhere, env),
    };
    ended.inspect_err(|failure| match format {
        OutputFormat::Json | OutputFormat::ClaudeStreamJson => report(failure, env, format),
        OutputFormat::Text | OutputFormat::StreamJson => {}
    })
}

/// The same, without a word for programs when it can't begin; `session` becomes the one that was asked.
pub(super) fn attempt(
    args: &RunArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
    session: &mut Option<SessionId>,
) -> Result<Exit, Failure> {
    let terminal = Terminal::look_at(env);
    let goes_on = args.session.is_some() || args.continue_latest;
    let mut message = match (args.input_format, args.message()) {
        (InputFormat::StreamJson, Some(text)) => Message { text, warnings: Vec::new() },
        (InputFormat::StreamJson | InputFormat::Text, written) => message::gather(written, terminal.stderr, goes_on)?,
    };
    let attachments = picture::attachments(&files::pictures(args))?;
    if let Some(exit) = note::remember(&message.text, args, everywhere, env)? {
        return Ok(exit);
    }
    message.warnings.iter().for_each(|words| say::note(words));
    message.text = slash::spelt_out(message.text, everywhere, env)?;
    let mut ends = Some(Ends::of(args)?);
    let title = message.text.lines().next().unwrap_or_default().to_owned();
    message.text = files::added(message.text, args)?;
    message.text = ends.iter().fold(message.text, |text, ends| ends.told(text));
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let folder = crate::folder(everywhere)?;
    let runtime = compose::runtime()?;
    let folder = worktree::begin(folder, args, &message.text, env)?;
    let (asks, attended) = (tty.is_some(), tty.is_some());
    let app = Arc::new(TerminalOpener::new(env, asks, false)).program(args, everywhere);
    let wanted = wanted(args, everywhere, folder.display().to_string())?;
    let wanted = OpenSession { attended, ..wanted };
    let mut closing = 0;
    let opened = loop {
        let opened = runtime.block_on(app.open(&Caller::person(), wanted.clone()));
        let opened = opened.inspect_err(|_| worktree::end(&folder, &title, "", env))?;
        let Some(owner) = opened.owner else { break opened };
        let said = steering(&message.text, &attachments);
        match runtime.block_on(Begun::say(opened, owner, Some(said))) {
            Ok(begun) => {
                attach::left_out(args).iter().for_each(|words| say::note(words));
                // The store is for those who have something to keep.
                runtime.block_on(app.stop())?;
                let ui = take_seat(args.output_format, env, tty, begun.folder(), begun.id());
                *session = Some(begun.id());
                let ui = RunUi { ends: ends.take().unwrap_or_default(), ..ui };
                let seen = guest::follow(&runtime, begun, ui);
                runtime.shutdown_background();
                return seen;
            }
            // It is just being closed.
            Err(ClientError::Gone) if closing < guest::CLOSING => closing += 1,
            Err(error) => return Err(error.into()),
        }
        std::thread::sleep(guest::PAUSE);
    };
    let OpenedSession { id, client, folder: works_in, since, notes, .. } = opened;
    notes.iter().for_each(|words| say::note(words));
    let ui = take_seat(args.output_format, env, tty, works_in.clone().into(), id);
    *session = Some(id);
    let mut ui = RunUi { ends: ends.unwrap_or_default(), ..ui };
    if let (Printer::Text(text), Some(agent)) = (&mut ui.printer, &args.agent) {
        text.name_agent(agent);
    }
    let asked = Command::UserMessage { content: message.text, attachments };
    let run = Run { id, client: Arc::clone(&client), since, write_all: app.write_all() };
    let seen = see_through(&runtime, run, ui, asked, || runtime.block_on(app.goes_on(&client)));
    let ended = compose::stop(runtime, leave(&app, client), seen);
    if matches!(ended, Ok(Exit::Failed)) && disk::is_full(env.data_dir()) {
        say::note(disk::store_advice(env.data_dir()));
    }
    worktree::end(Path::new(&works_in), &title, &short_id(id), env);
    ended
}

/// Hands back the only session of a process, and closes the store.
pub async fn leave(app: &SharedApp, client: Arc<dyn Client>) -> Result<(), AppError> {
    let left = app.close(client).await;
    let stopped = app.stop().await;
    left.map(drop).and(stopped)
}

/// What is said to a session that may be at work: words reach the agent at its next turn. Pictures
/// can't be said in between.
fn steering(text: &str, attachments: &[Attachment]) -> Command {
    match attachments {
        [] => Command::Steer { text: text.to_owned() },
        _ => Command::UserMessage { content: text.to_owned(), attachments: attachments.to_vec() },
    }
}

/// What a session that works in `folder` is seen with.
pub fn take_seat(format: OutputFormat, env: &Env, tty: Option<Tty>, folder: PathBuf, session: SessionId) -> RunUi {
    let terminal = Terminal::look_at(env);
    let mut printer = terminal.printer(format);
    // How it is gone on with is for whoever reads it; a file and a program have no use for it.
    if let Printer::Text(text) = &mut printer
        && terminal.stderr
    {
        text.set_session(short_id(session));
    }
    RunUi { printer, person: tty.map(|tty| ask::person(tty, folder, env)), ends: Ends::default() }
}

/// In forms that end with an object even what never began is one.
fn report(failure: &Failure, env: &Env, format: OutputFormat) {
    let outcome = Outcome::of_failure(RunError { code: failure.code, message: failure.message.clone() });
    // The same is said on stderr.
    let _ = Terminal::look_at(env).printer(format).finish(|| Report::new(&outcome, None, failure.exit).line());
}
