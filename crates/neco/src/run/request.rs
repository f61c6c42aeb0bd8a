//! Opening the session that a request goes to, and seeing it through.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_app::opening::{Opened, Opener, Opening};
use neco_app::workspace::Workspaces;
use neco_app::{disk, services};
use neco_config::Env;
use neco_proto::{Attachment, Command, ErrorCode, SessionId};
use neco_store::{SessionRecord, SqliteStore};

use super::attach::{self, Which};
use super::drive::{RunUi, see_through};
use super::ends::Ends;
use super::message::Message;
use super::socket::SocketServer;
use super::{files, guest, message, note, picture, turns, worktree};
use crate::args::{EverywhereArgs, InputFormat, OutputFormat, RunArgs};
use crate::ask::{self, Tty};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::print::json::Report;
use crate::say;
use crate::short_id::short_id;
use crate::terminal::{Terminal, is_unattended};
use crate::tui::ahead;

/// How often somebody else may be faster to open a session, and how long until it is looked again.
const RACES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// One request, from its arguments to how the process ends.
///
/// # Errors
/// When it can't begin.
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
///
/// # Errors
/// When it can't begin.
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
    let mut ends = Some(Ends::of(args)?);
    let title = message.text.lines().next().unwrap_or_default().to_owned();
    message.text = files::added(message.text, args)?;
    message.text = ends.iter().fold(message.text, |text, ends| ends.told(text));
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let folder = crate::folder(everywhere)?;
    let runtime = compose::runtime()?;
    let folder = worktree::begin(folder, args, &message.text, env)?;
    let workspaces = Workspaces::new(env.clone());
    let mut races = 0;
    let opened = loop {
        let said = steering(&message.text, &attachments);
        if goes_on && let Some(begun) = runtime.block_on(guest::begin(which(args, &folder), env, Some(said)))? {
            attach::left_out(args).iter().for_each(|words| say::note(words));
            let ui = take_seat(args.output_format, env, tty, begun.folder(), begun.id());
            *session = Some(begun.id());
            let ui = RunUi { ends: ends.take().unwrap_or_default(), ..ui };
            let seen = guest::follow(&runtime, begun, ui);
            runtime.shutdown_background();
            return seen;
        }
        let (tty, attended) = (tty.as_ref(), tty.is_some());
        let request = Request {
            args,
            everywhere,
            env,
            workspaces: &workspaces,
            tty,
            loosens_in: None,
            attended,
            interactive: false,
        };
        match runtime.block_on(request.open(&folder)) {
            // Somebody else was faster, and serves it in a moment.
            Err(failure) if goes_on && failure.code == Some(ErrorCode::SessionInUse) && races < RACES => races += 1,
            // What was found damaged is set aside by the next opening.
            Err(_) if races < RACES && disk::is_doubted(env.data_dir()) => races = RACES,
            opened => break opened.inspect_err(|_| worktree::end(&folder, None, &title, "", env))?,
        }
        std::thread::sleep(PAUSE);
    };
    opened.notes.iter().for_each(|words| say::note(words));
    let others = SocketServer::serve(runtime.handle(), &opened.session, &opened.services, everywhere, env);
    let ui = take_seat(args.output_format, env, tty, opened.folder.clone(), opened.session.id());
    *session = Some(opened.session.id());
    let ui = RunUi { ends: ends.unwrap_or_default(), ..ui };
    let asked = Command::UserMessage { content: message.text, attachments };
    let seen = see_through(&runtime, &opened.services, &opened.session, &others, ui, asked);
    let (works_in, id) = (opened.folder, short_id(opened.session.id()));
    let ended = compose::stop(runtime, opened.services, opened.session, others, seen);
    if matches!(ended, Ok(Exit::Failed)) && disk::is_full(env.data_dir()) {
        say::note(disk::store_advice(env.data_dir()));
    }
    worktree::end(&works_in, opened.held, &title, &id, env);
    ended
}

/// Which session is gone on with.
fn which<'a>(args: &'a RunArgs, folder: &'a Path) -> Which<'a> {
    match &args.session {
        Some(id) => Which::Id(id),
        None => Which::Latest(folder),
    }
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
    let mut printer = Terminal::look_at(env).printer(format);
    if let Printer::Text(text) = &mut printer {
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

/// What is needed to open the session of a request.
pub struct Request<'a> {
    /// What is asked for.
    pub args: &'a RunArgs,
    /// Where settings come from.
    pub everywhere: &'a EverywhereArgs,
    /// The environment.
    pub env: &'a Env,
    /// The folders that this process works in.
    pub workspaces: &'a Workspaces,
    /// Where a person can be asked while it is opened, if so.
    pub tty: Option<&'a Tty>,
    /// The only folder in which what the arguments loosen holds, unless they were said of this very session.
    pub loosens_in: Option<&'a Path>,
    /// Whether a person is there.
    pub attended: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
}

impl Request<'_> {
    /// Opens it for work in `folder`, or in the session's own.
    ///
    /// # Errors
    /// When that is not possible; there may be no model yet.
    pub async fn open(&self, folder: &Path) -> Result<Opened, Failure> {
        let opening = Opening {
            session: self.args.session.clone(),
            latest: self.args.continue_latest,
            chose_folder: self.everywhere.cwd.is_some(),
            overrides: [self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat(),
            flags: self.args.rules.flags(&crate::folder(self.everywhere)?),
            loosens_in: self.loosens_in.map(Path::to_owned),
            tools: self.args.tools.clone().unwrap_or_default(),
            model: self.args.model.clone(),
            mode: self.args.mode,
            generation: self.args.generation,
            approval: self.args.approval(),
            max_turns: self.args.max_turns,
            max_cost: self.args.max_cost,
            environment: services::environment(self.env),
            attended: self.attended,
            interactive: self.interactive,
        };
        let opened = opening.open(self.workspaces, folder, self).await?;
        log::hide(opened.services.hub.redactor());
        Ok(opened)
    }
}

impl Opener for Request<'_> {
    fn tell(&self, words: &str) {
        say::note(words);
    }

    fn asks(&self) -> bool {
        self.tty.is_some()
    }

    fn trusts(&self, described: &str) -> Option<bool> {
        ask::trusts(self.tty?, described, self.env)
    }

    fn found(&self, store: &Arc<SqliteStore>, record: &SessionRecord) {
        if self.interactive {
            ahead::look(store, record, self.env);
        }
    }
}
