//! Opening the session that a request goes to, and seeing it through.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use neco_app::shared::SharedApp;
use neco_app::{disk, sessions};
use neco_config::Env;
use neco_proto::app::agents::ListAgents;
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::{App, AppError, Caller};
use neco_proto::{Attachment, Client, ClientError, Command, MessagePiece, SessionId};
use neco_tui::SaidByCommand;
use neco_tui::line::run::attached::{self, Begun};
use neco_tui::line::run::stdin::{self, Message};
use neco_tui::line::run::{Run, RunUi, listen, see_through};
use tokio::runtime::Runtime;

use super::ends::Ends;
use super::opener::{TerminalOpener, wanted};
use super::{attach, files, note, on_server, picture, slash, turns, worktree};
use crate::args::{EverywhereArgs, InputFormat, OutputFormat, RunArgs};
use crate::ask::{self, Channel, Tty};
use crate::cmd::program::{block_on, on_store};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::print::json::Report;
use crate::say;
use crate::server;
use crate::short_id::short_id;
use crate::signals::InterruptMask;
use crate::terminal::{self, is_unattended};

/// How long the store may take to write what waits when the process ends between two lines.
const LAST_WRITE: Duration = Duration::from_millis(200);

/// One request, from its arguments to how the process ends.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let format = args.output_format;
    let ended = match args.input_format {
        InputFormat::Text if args.background => on_server::begin(args, everywhere, env),
        InputFormat::Text if server::named(everywhere, env).is_some() => on_server::run(args, everywhere, env),
        InputFormat::StreamJson if args.background || server::named(everywhere, env).is_some() => {
            Err(Failure::usage("--input-format stream-json works here, and not with a server"))
        }
        InputFormat::Text => one(args, everywhere, env),
        InputFormat::StreamJson => turns::run(args, everywhere, env),
    };
    ended.inspect_err(|failure| match format {
        OutputFormat::Json | OutputFormat::ClaudeStreamJson => report(failure, env, format),
        OutputFormat::Text | OutputFormat::StreamJson => {}
    })
}

/// One message that is answered, whatever its form, without a word for programs when it can't begin.
pub fn one(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let mut process = None;
    let ended = attempt(args, everywhere, env, &mut process);
    Process::stop(process, ended)
}

/// What sessions are opened with: settings, store and folders are read once, however much is asked.
pub(super) struct Process {
    runtime: Runtime,
    app: Arc<SharedApp>,
    /// Whether a message is being answered: whoever sees that through hears the signals meanwhile.
    answering: Arc<AtomicBool>,
    /// The session that was asked last.
    pub session: Option<SessionId>,
}

impl Process {
    fn start(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env, asks: bool) -> Result<Self, Failure> {
        let app = Arc::new(TerminalOpener::new(env, asks, false)).program(args, everywhere);
        let (runtime, answering) = (compose::runtime()?, Arc::<AtomicBool>::default());
        if args.input_format == InputFormat::StreamJson {
            hear_between(&runtime, Arc::clone(&answering), app.write_all())?;
        }
        Ok(Self { runtime, app, answering, session: None })
    }

    /// Everything down again, if it was ever up.
    pub fn stop(process: Option<Self>, ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
        match process {
            Some(Self { runtime, app, .. }) => compose::stop(runtime, app.stop(), ended),
            None => ended,
        }
    }
}

/// Hears signals while no line is answered, since what listens for a line ends with it: the process ends then, after
/// `write_all` had a moment. A signal that comes while one is answered is for whoever sees it through.
fn hear_between<W: Future<Output = ()> + Send + 'static>(
    runtime: &Runtime,
    answering: Arc<AtomicBool>,
    write_all: W,
) -> Result<(), Failure> {
    let mut signals = listen(runtime, &InterruptMask::default())?;
    runtime.spawn(async move {
        let signal = loop {
            let signal = signals.next().await;
            if !answering.load(Ordering::SeqCst) {
                break signal;
            }
        };
        let _ = tokio::time::timeout(LAST_WRITE, write_all).await;
        compose::quit(signal);
    });
    Ok(())
}

/// Answers one message with `process`, which is there with the first request that needs it.
pub(super) fn attempt(
    args: &RunArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
    process: &mut Option<Process>,
) -> Result<Exit, Failure> {
    let goes_on = args.session.is_some() || args.continue_latest;
    let mut message = match (args.input_format, args.message()) {
        (InputFormat::StreamJson, Some(text)) => Message { text, warnings: Vec::new() },
        (InputFormat::StreamJson | InputFormat::Text, written) => {
            let gathered = stdin::gather(written, terminal::look_at(env).stderr, goes_on);
            gathered.map_err(|error| without_message(error.into(), args, everywhere, env))?
        }
    };
    let attachments = picture::attachments(&files::pictures(args))?;
    if let Some(exit) = note::remember(&message.text, args, everywhere, env)? {
        return Ok(exit);
    }
    message.warnings.iter().for_each(|words| say::note(words));
    let title = message.text.trim().lines().next().unwrap_or_default().to_owned();
    let spelt_out = slash::spelt_out(message.text.clone(), args, everywhere, env)?;
    let told = MessagePiece::joined(&spelt_out.pieces);
    let is_command = told != message.text;
    let (flags, args) = (args, &spelt_out.wanted(args));
    message.text = told;
    let mut ends = Some(Ends::of(args)?);
    message.text = files::added(message.text, args)?;
    message.text = ends.iter().fold(message.text, |text, ends| ends.told(text));
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let folder = crate::folder(everywhere)?;
    let attended = tty.is_some();
    let process = match process {
        Some(process) => process,
        slot @ None => slot.insert(Process::start(args, everywhere, env, attended)?),
    };
    let Process { runtime: own, app, answering, session } = process;
    // What listens and waits for one line of many ends with it.
    let each_line = (args.input_format == InputFormat::StreamJson).then(compose::runtime).transpose()?;
    let runtime = each_line.as_ref().unwrap_or(own);
    let folder = worktree::begin(folder, args, &message.text, env)?;
    let wanted = wanted(args, everywhere, folder.display().to_string())?;
    let wanted = OpenSession { attended, ..wanted };
    let mut closing = 0;
    let opened = loop {
        let opened = own.block_on(app.open(&Caller::person(), wanted.clone()));
        let opened = opened.inspect_err(|_| worktree::end(&folder, &title, "", env))?;
        let Some(owner) = opened.owner else { break opened };
        // That session has its own rules and model: what the command wants goes along.
        let said = SaidByCommand { wants: spelt_out.wants.clone(), ..spelt_out.said_with(&message.text) };
        let said = with_pictures(said.command(attachments.is_empty()), &attachments);
        let OpenedSession { id, client, folder, .. } = opened;
        match runtime.block_on(Begun::say(client, owner, (id, folder), Some(said))) {
            Ok(begun) => {
                attach::left_out(flags).iter().for_each(|words| say::note(words));
                // The store is for those who have something to keep.
                own.block_on(app.stop())?;
                let ui = take_seat(args.output_format, env, tty, begun.folder(), Some(begun.id()));
                *session = Some(begun.id());
                let ui = RunUi { judge: ends.take().unwrap_or_default().judge(), ..ui };
                answering.store(true, Ordering::SeqCst);
                let seen = attached::follow(runtime, begun, ui);
                answering.store(false, Ordering::SeqCst);
                each_line.into_iter().for_each(Runtime::shutdown_background);
                return Ok(seen?);
            }
            // It is just being closed.
            Err(ClientError::Gone) if closing < attached::CLOSING => closing += 1,
            Err(error) => return Err(error.into()),
        }
        std::thread::sleep(attached::PAUSE);
    };
    let OpenedSession { id, client, folder: works_in, since, notes, .. } = opened;
    notes.iter().for_each(|words| say::note(words));
    let resumed = (args.input_format == InputFormat::Text && !args.passing).then_some(id);
    let ui = take_seat(args.output_format, env, tty, works_in.clone().into(), resumed);
    *session = Some(id);
    let mut ui = RunUi { judge: ends.unwrap_or_default().judge(), timeout: args.timeout, ..ui };
    if let (Printer::Text(text), Some(agent)) = (&mut ui.printer, &args.agent) {
        text.name_agent(agent);
    }
    own.block_on(name_agents(&mut ui.printer, &**app, works_in.clone()));
    // A session is called what the person wrote, and not what a command of theirs says to the model.
    if is_command
        && wanted.which == WhichSession::New
        && let Err(error) = own.block_on(client.send(Command::Rename { title: title.clone() }))
    {
        tracing::warn!(%error, "the session keeps its first words as its title");
    }
    let asked = with_pictures(spelt_out.said_with(&message.text).command(false), &attachments);
    let run = Run { id, client: Arc::clone(&client), since, write_all: app.write_all() };
    answering.store(true, Ordering::SeqCst);
    let seen = see_through(runtime, run, ui, asked, || runtime.block_on(app.goes_on(&client)));
    answering.store(false, Ordering::SeqCst);
    let left = own.block_on(app.close(client)).map(drop);
    each_line.into_iter().for_each(Runtime::shutdown_background);
    let ended = compose::after(left, seen.map_err(Failure::from));
    if matches!(ended, Ok(Exit::Failed)) && disk::is_full(env.data_dir()) {
        say::note(disk::store_advice(env.data_dir()));
    }
    worktree::end(Path::new(&works_in), &title, &short_id(id), env);
    ended
}

/// Why nothing can be asked without a message: the session that it would be for may not even be there.
fn without_message(nothing_said: Failure, args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Failure {
    let Some(session) = args.session.as_deref() else { return nothing_said };
    let looked = block_on(async {
        let app = on_store(compose::open_store(env.data_dir()).await?, everywhere, env)?;
        let found = sessions::session(&app, Some(session), Path::new("")).await;
        app.close().await?;
        Ok::<_, Failure>(found)
    });
    match looked {
        Ok(Err(error)) => error.into(),
        Ok(Ok(_)) | Err(_) => nothing_said,
    }
}

/// Hands back the only session of a process, and closes the store.
pub async fn leave(app: &SharedApp, client: Arc<dyn Client>) -> Result<(), AppError> {
    let left = app.close(client).await;
    let stopped = app.stop().await;
    left.map(drop).and(stopped)
}

/// What is said, with pictures.
pub(super) fn with_pictures(mut said: Command, pictures: &[Attachment]) -> Command {
    if let Command::UserMessage { attachments, .. } | Command::CommandMessage { attachments, .. } = &mut said {
        attachments.extend_from_slice(pictures);
    }
    said
}

/// What a session that works in `folder` is seen with; people are told how `session` is gone on with.
pub fn take_seat(
    format: OutputFormat,
    env: &Env,
    tty: Option<Tty>,
    folder: PathBuf,
    session: Option<SessionId>,
) -> RunUi {
    let mut printer = terminal::printer(format, env);
    // How it is gone on with is for whoever reads it; a file and a program have no use for it.
    if let (Printer::Text(text), Some(session)) = (&mut printer, session)
        && terminal::look_at(env).stderr
    {
        text.set_session(short_id(session));
    }
    RunUi::new(printer, tty.map(|tty| ask::person(Channel::Terminal(tty), folder, env)), compose::quit)
}

/// Tells a printer whose first line names the agents that can be asked which those are.
async fn name_agents(printer: &mut Printer, app: &dyn App, folder: String) {
    let Printer::Claude(claude) = printer else { return };
    let known = app.ask(&Caller::person(), &ListAgents { folder }).await.map(|list| list.agents).unwrap_or_default();
    claude.set_agents(known.into_iter().map(|agent| agent.name).collect());
}

/// In forms that end with an object even what never began is one.
fn report(failure: &Failure, env: &Env, format: OutputFormat) {
    let outcome = Outcome::of_failure(RunError { code: failure.code, message: failure.message.clone() });
    // The same is said on stderr.
    let _ = terminal::printer(format, env).finish(|| Report::new(&outcome, None, failure.exit).line());
}
