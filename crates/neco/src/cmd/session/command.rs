//! The forms of `neco session`.

use jiff::Timestamp;
use neco_app::disk;
use neco_app::sessions::row;
use neco_config::Env;
use neco_proto::app::sessions::{ListSessions, RenameSession, SearchSessions, SessionPage, SessionRow};
use neco_proto::app::{App, Caller, Trouble};
use neco_proto::event::TitleSource;
use neco_proto::visible;
use neco_proto::{Client, Command, Event, EventBody, Role};
use neco_store::SessionRecord;
use neco_view::agent_ask;
use serde_json::json;

use super::desk::Desk;
use super::list::{Shape, as_lines};
use super::show::{Reader, heading};
use super::{attach, back, diff, export, fork, import, log, remove, resume, search, tree};
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::agents;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;
use crate::run;
use crate::run::attach::Which;
use crate::say;
use crate::session_args::{ListArgs, SearchArgs, SessionCommand};
use crate::short_id::short_id;
use crate::terminal::Terminal;

/// Runs `neco session …`.
///
/// # Errors
/// When there is no such session or the store can't be read.
pub fn run(command: &SessionCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let SessionCommand::Attach { id, output_format } = command
        && let Some(exit) = attach::watch(Which::Id(id), *output_format, env)?
    {
        return Ok(exit);
    }
    if let SessionCommand::Resume { id, words } = command {
        return resume::run(id.as_deref(), words, everywhere, env);
    }
    let runtime = compose::runtime()?;
    runtime.block_on(async {
        let answered = answer_once(command, everywhere, env).await;
        match answered {
            // What was found damaged is set aside when it is opened again, and the answer is in what was taken over.
            Err(_) if disk::is_doubted(env.data_dir()) => answer_once(command, everywhere, env).await,
            answered => answered,
        }
    })
}

async fn answer_once(command: &SessionCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let desk = match command {
        _ if removes(command) => Desk::open_to_remove(everywhere, env).await?,
        _ if only_reads(command) => Desk::open_to_read(everywhere, env).await?,
        _ => Desk::open(everywhere, env).await?,
    };
    crate::log::hide(desk.hub.redactor());
    let answered = answer(command, &desk).await;
    let closed = desk.close().await;
    if removes(command) {
        disk::keep_room(env.data_dir());
    }
    // Why something failed says more than that what comes after it does.
    let answered = answered?;
    closed.map(|()| answered)
}

/// Whether something is removed, which is to be possible on a full disk.
fn removes(command: &SessionCommand) -> bool {
    match command {
        SessionCommand::Rm { .. } => true,
        SessionCommand::Prune(args) => !args.only_shows(),
        _ => false,
    }
}

fn only_reads(command: &SessionCommand) -> bool {
    match command {
        SessionCommand::List(_)
        | SessionCommand::Show { .. }
        | SessionCommand::Tree { .. }
        | SessionCommand::Search(_)
        | SessionCommand::Log { .. }
        | SessionCommand::Export(_) => true,
        SessionCommand::Prune(args) => args.only_shows(),
        SessionCommand::Attach { .. }
        | SessionCommand::Rename { .. }
        | SessionCommand::Fork(_)
        | SessionCommand::Rewind(_)
        | SessionCommand::Diff { .. }
        | SessionCommand::Import(_)
        | SessionCommand::Rm { .. }
        | SessionCommand::Resume { .. } => false,
    }
}

async fn answer(command: &SessionCommand, desk: &Desk<'_>) -> Result<Exit, Failure> {
    match command {
        SessionCommand::List(args) => list(args, desk).await,
        SessionCommand::Show { id, agent, json } => {
            show(&desk.named(id.as_deref()).await?, agent.as_deref(), *json, desk).await
        }
        SessionCommand::Tree { id, json } => tree::run(id.as_deref(), *json, desk).await,
        SessionCommand::Search(args) => find(args, desk).await,
        SessionCommand::Attach { id, .. } => Err(attach::not_open(&desk.hub.find(id).await?)),
        SessionCommand::Rename { id, title, json } => rename(id, &title.join(" "), *json, desk).await,
        SessionCommand::Fork(args) => fork::run(args, desk).await,
        SessionCommand::Rewind(args) => back::run(args, desk).await,
        SessionCommand::Log { id, json, after } => log::run(id, *after, *json, desk).await,
        SessionCommand::Diff { id, from, to, stat, json } => {
            let shape = diff::Shape { stat: *stat, json: *json };
            diff::run(id, from.as_deref(), to.as_deref(), shape, desk).await
        }
        SessionCommand::Export(args) => export::run(args, desk).await,
        SessionCommand::Import(args) => import::run(args, desk).await,
        SessionCommand::Rm { ids, yes, json } => remove::rm(ids, *yes, *json, desk).await,
        SessionCommand::Prune(args) => remove::prune(args, desk).await,
        // It was gone on with before the store was opened.
        SessionCommand::Resume { .. } => Ok(Exit::Done),
    }
}

async fn list(args: &ListArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let folder = crate::folder(desk.everywhere)?;
    let request = ListSessions {
        folder: (!args.all).then(|| folder.display().to_string()),
        since: args.since.and_then(|since| Timestamp::from_millisecond(since).ok()),
        limit: args.limit,
        states: true,
        sizes: args.size,
    };
    let app: &dyn App = &desk.app();
    let SessionPage { sessions, more, older, above } = app.ask(&Caller::person(), &request).await?;
    if let Some(above) = above {
        say::note(&format!("these are the sessions of {above}"));
    }
    let text = match args.json {
        true => format!("{:#}\n", json!(sessions)),
        false if sessions.is_empty() && more > 0 => String::new(),
        false if sessions.is_empty() && older > 0 => {
            "no sessions since then; the list without --since has older ones\n".to_owned()
        }
        false => {
            let shape = Shape {
                all: args.all,
                home: desk.env.home(),
                now: Timestamp::now(),
                width: desk.width(),
                sizes: args.size,
            };
            as_lines(&sessions, &desk.short_ids().await?, &shape)
        }
    };
    say::out(&text)?;
    if more > 0 && !args.json {
        say::note(&format!("{more} more; --limit shows them"));
    }
    Ok(Exit::Done)
}

async fn find(args: &SearchArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let words = args.words.join(" ");
    let time = |ms: i64| Timestamp::from_millisecond(ms).ok();
    let request = SearchSessions {
        folder: args.here.then(|| desk.folder(true)).transpose()?,
        since: args.since.and_then(time),
        until: args.until.and_then(time),
        words: words.clone(),
        limit: args.limit,
    };
    let app: &dyn App = &desk.app();
    let places = app.ask(&Caller::person(), &request).await?.places;
    let text = match args.json {
        true => format!("{:#}\n", json!(places)),
        false => {
            let paint = Terminal::look_at(desk.env).stdout_paint();
            search::as_lines(&places, &desk.short_ids().await?, desk.width(), paint)
        }
    };
    say::out(&text)?;
    if places.is_empty() && !args.json && search::is_one_run(&words) {
        say::note(
            "words of a script without spaces are looked for as they stand; put spaces between parts that may lie apart",
        );
    }
    Ok(Exit::Done)
}

async fn rename(id: &str, title: &str, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let app: &dyn App = &desk.app();
    let request = RenameSession { session: id.to_owned(), title: title.to_owned() };
    let named = match app.ask(&Caller::person(), &request).await {
        Err(error) if error.trouble == Trouble::InUse => rename_elsewhere(&request, app, desk).await?,
        named => named?,
    };
    say::out(&match json {
        true => format!("{:#}\n", json!(named)),
        false => format!("renamed: {}\n", clean_line(&named.title)),
    })?;
    Ok(Exit::Done)
}

/// Has the process rename a session that has it open.
async fn rename_elsewhere(request: &RenameSession, app: &dyn App, desk: &Desk<'_>) -> Result<SessionRow, Failure> {
    let Some(open) = run::attach::find(Which::Id(&request.session), desk.env).await? else {
        // It was closed meanwhile.
        return Ok(app.ask(&Caller::person(), request).await?);
    };
    open.client.send(Command::Rename { title: request.title.clone() }).await?;
    let title = neco_session::title::tidy(&request.title);
    Ok(SessionRow { title, title_by: Some(TitleSource::Person), ..row(open.record) })
}

/// Event by event: a long session is never in memory as a whole.
async fn show(record: &SessionRecord, agent: Option<&str>, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let course = desk.hub.course(record.id).await?;
    let paint = Terminal::look_at(desk.env).stdout_paint();
    let nodes = if agent.is_some() { desk.hub.agents_of(record.id).await? } else { Vec::new() };
    let node = agent.map(|agent| agent_ask::find(&nodes, agent)).transpose().map_err(|_| {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let words =
            format!("there is no agent {} in this session; it has {}", agent.unwrap_or_default(), names.join(", "));
        Failure::usage(words).hint(format!("`neco session tree {}` shows them.", short_id(record.id)))
    })?;
    let only = node.map(|node| node.id);
    let mut reader = only.map_or_else(|| Reader::new(paint), |agent| Reader::of(agent, paint));
    let about = node.map(|node| agents::one(node, &nodes)).unwrap_or_default();
    let mut written = if json { Ok(()) } else { say::out(&format!("{}{about}", heading(record, paint))) };
    let mut write = |text: String| {
        if written.is_ok() && !text.is_empty() {
            written = say::out(&text);
        }
    };
    let mut left_out = 0;
    desk.hub
        .each_event(record.id, |event| {
            write(match json {
                true if only.is_some_and(|agent| agent != event.agent_id) => String::new(),
                true => visible::json(&serde_json::to_string(event).unwrap_or_default()).into_owned() + "\n",
                // What was gone back over is in the log, and no part of the conversation.
                false if !course.counts(event.seq) => {
                    left_out += u64::from(only.is_none() && is_said(event));
                    String::new()
                }
                false => {
                    let gone = said_gone(std::mem::take(&mut left_out), record, paint);
                    gone.unwrap_or_default() + &reader.shown(event)
                }
            });
        })
        .await?;
    if !json {
        write(reader.left_open());
    }
    written.map(|()| Exit::Done)
}

/// Whether the person said something.
fn is_said(event: &Event) -> bool {
    matches!(&event.body, EventBody::Message(message) if message.role == Role::User && !message.is_neco())
}

/// That messages are left out which no longer count.
fn said_gone(messages: u64, record: &SessionRecord, paint: Paint) -> Option<String> {
    let counts = if messages == 1 { "counts" } else { "count" };
    let count = figures::count(messages, "message");
    let words = format!("── {count} of yours no longer {counts}: neco session log {} ──", short_id(record.id));
    (messages > 0).then(|| format!("\n{}\n", paint.dim(&words)))
}
