//! `neco attach`, `neco ps`, `neco logs` and `neco stop`: what the server works on while nobody watches.

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use neco_config::Env;
use neco_proto::Command;
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::sessions::{ListSessions, SessionRow, SessionState};
use neco_proto::app::{App, Caller};
use neco_proto::event::NodeState;
use neco_tui::line::run::attached::{self, Begun};

use super::confirm::person;
use super::program::{ask_of, block_on, print, with_files};
use super::session::SessionCommand;
use crate::args::{EverywhereArgs, JsonArg, OutputFormat, RunArgs};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::run::request::take_seat;
use crate::say;
use crate::server::{here, named, reach, resume};
use crate::short_id::short_id;

/// Sessions that are looked through, and at a time: of more than these the program does not say how they stand.
const MOST: usize = 1000;
const PAGE: usize = 100;

/// How long work is spoken of that was stopped in the middle, such as by a crash.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// `neco logs …`
#[derive(Clone, Debug, Args)]
pub struct LogsArgs {
    /// The session's id, or four characters that no other has
    #[arg(value_name = "ID")]
    pub id: String,
    /// Shows what happens until the session is closed, and asks you what it asks; Ctrl-C leaves it to itself
    #[arg(short, long)]
    pub follow: bool,
    /// Prints one event a line
    #[arg(long)]
    pub json: bool,
}

/// The server that is meant: the one that was named, or the one here.
fn url(everywhere: &EverywhereArgs, env: &Env) -> Result<Option<String>, Failure> {
    match named(everywhere, env) {
        Some(url) => Ok(Some(url.to_owned())),
        None => Ok(here(env)?.map(|found| found.url)),
    }
}

/// Opens a window on a server, or follows a session that another process has open.
pub fn attach(target: &str, id: Option<&str>, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if !target.contains("://") {
        let attach = SessionCommand::Attach { id: target.to_owned(), output_format: OutputFormat::Text };
        return super::session::run(&attach, everywhere, env);
    }
    let there = EverywhereArgs { server: Some(target.to_owned()), ..everywhere.clone() };
    let resume = id.is_none().then(String::new);
    crate::converse(&RunArgs { session: id.map(str::to_owned), resume, ..RunArgs::default() }, &there, env)
}

/// Lists the sessions that are open, and those whose work was cut short a short time ago.
pub fn ps(json: JsonArg, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let rows = match url(everywhere, env)? {
        Some(url) => block_on(async { rows(&reach(&url, env).await?).await })?,
        None => with_files(everywhere, env, rows)?,
    };
    print(json, &rows, || match rows.as_slice() {
        [] => "nothing works in the background\n".to_owned(),
        rows => {
            let resume = resume(everywhere, env);
            let hint = format!("{resume} ID goes on with what was interrupted; neco logs ID shows it\n");
            let hint = if rows.iter().any(is_interrupted) { hint } else { String::new() };
            rows.iter().map(line).chain([hint]).collect()
        }
    })
}

async fn rows(app: &dyn App) -> Result<Vec<SessionRow>, Failure> {
    let since = Timestamp::now().checked_sub(RECENT).ok();
    let is_recent = |row: &SessionRow| since.is_none_or(|since| row.updated >= since);
    let mut rows = Vec::new();
    let mut request = ListSessions { limit: PAGE, states: true, ..ListSessions::default() };
    for _ in 0..MOST / PAGE {
        let page = ask_of(app, &request).await?;
        let counts = |row: &SessionRow| row.state == Some(SessionState::Open) || is_interrupted(row) && is_recent(row);
        rows.extend(page.sessions.into_iter().filter(counts));
        match page.next {
            Some(next) => request.cursor = Some(next),
            None => break,
        }
    }
    Ok(rows)
}

/// Whether nobody goes on with work that has no end: its process was killed, or the one after it waits for a person.
fn is_interrupted(row: &SessionRow) -> bool {
    let is_paused = row.work == Some(NodeState::Paused) && row.state != Some(SessionState::Other);
    row.state == Some(SessionState::Stopped) || is_paused
}

fn line(row: &SessionRow) -> String {
    let does = match (&row.work, row.asks) {
        (_, true) => "waits for you".to_owned(),
        _ if is_interrupted(row) => "interrupted".to_owned(),
        (Some(work), false) => work.to_string(),
        (None, false) => "rests".to_owned(),
    };
    format!("{}  {does:<14}  {}  {}\n", short_id(row.id), clean_line(&row.title), clean_line(&row.cwd))
}

/// Shows a session, and follows it.
pub fn logs(args: &LogsArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let Some(url) = url(everywhere, env)?.filter(|_| args.follow) else {
        let id = Some(args.id.clone());
        let shown = SessionCommand::Show { id, agent: None, json: args.json };
        return super::session::run(&shown, everywhere, env);
    };
    follow(&url, &args.id, if args.json { OutputFormat::StreamJson } else { OutputFormat::Text }, env)
}

/// Shows what happens in a session of a server until that is closed, and asks the person what it asks.
pub fn follow(url: &str, id: &str, format: OutputFormat, env: &Env) -> Result<Exit, Failure> {
    let runtime = compose::runtime()?;
    let begun = runtime.block_on(async {
        let (owner, OpenedSession { id, client, folder, .. }) = open(url, id, env).await?;
        Ok::<_, Failure>(Begun::say(client, owner, (id, folder), None).await?)
    })?;
    let tty = (format == OutputFormat::Text).then(|| person(env)).flatten();
    let seat = take_seat(format, env, tty, begun.folder(), Some(begun.id()));
    let seen = attached::follow(&runtime, begun, seat);
    runtime.shutdown_background();
    Ok(seen?)
}

/// Stops all work of a session.
pub fn stop(id: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let url = url(everywhere, env)?.ok_or_else(|| Failure::usage("nothing works in the background: no server runs"))?;
    let stopped = block_on(async {
        let (_, opened) = open(&url, id, env).await?;
        opened.client.send(Command::StopAll).await?;
        Ok(opened.id)
    })?;
    let short = short_id(stopped);
    say::note(&format!("Stopped; neco logs {short} shows what was done, neco resume {short} continues it"));
    Ok(Exit::Done)
}

/// A session of a server, and the server's process.
async fn open(url: &str, id: &str, env: &Env) -> Result<(u32, OpenedSession), Failure> {
    let server = reach(url, env).await?;
    let wanted = OpenSession {
        which: WhichSession::Id(id.to_owned()),
        attended: true,
        interactive: true,
        ..OpenSession::default()
    };
    Ok((server.owner().pid, server.open(&Caller::person(), wanted).await?))
}
