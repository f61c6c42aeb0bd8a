//! The forms of `neco session`.

use std::path::Path;

use jiff::Timestamp;
use neco_app::disk;
use neco_config::Env;
use neco_proto::app::history::{DiffSession, ListSessionAgents};
use neco_proto::app::opening::WhichSession;
use neco_proto::app::sessions::{
    ForkSession, ForkedSession, ListRecentFolders, ListSessions, RenameSession, SearchSessions, SessionPage,
    SessionRow, SessionState,
};
use neco_view::paint::lists::sessions::{Shape, as_lines, folders};
use neco_view::paint::lists::{history, search};
use neco_view::wording::place;

use super::args::{ForkArgs, ListArgs, SearchArgs, SessionCommand};
use super::desk::Desk;
use super::resume::reads_as_id;
use super::{back, exchanges, port, read, remove, resume};
use crate::args::EverywhereArgs;
use crate::cmd::background;
use crate::cmd::program::print;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::agents;
use crate::print::clean::clean_line;
use crate::print::wrap::fitting;
use crate::say;
use crate::server;
use crate::short_id::short_id;

/// Columns of a message that is named.
const SHOWN: usize = 60;

/// Runs `neco session …`.
pub fn run(command: &SessionCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let (SessionCommand::Attach { id, output_format }, Some(url)) = (command, server::named(everywhere, env)) {
        return background::follow(url, id, *output_format, env);
    }
    if let SessionCommand::Attach { id, output_format } = command
        && let Some(exit) = resume::watch(&WhichSession::Id(id.clone()), Path::new(""), *output_format, env)?
    {
        return Ok(exit);
    }
    if let SessionCommand::Resume(args) = command {
        return resume::run(args, everywhere, env);
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
    // Removing is to be possible on a full disk, and reading where nothing can be written.
    let (desk, removes) = match command {
        SessionCommand::Prune(args) if args.only_shows() => (Desk::open_to_read(everywhere, env).await?, false),
        SessionCommand::Rm { .. } | SessionCommand::Prune(_) => (Desk::open_to_remove(everywhere, env).await?, true),
        SessionCommand::List(_)
        | SessionCommand::Show { .. }
        | SessionCommand::Tree { .. }
        | SessionCommand::Search(_)
        | SessionCommand::Log { .. }
        | SessionCommand::History { .. }
        | SessionCommand::Export(_) => (Desk::open_to_read(everywhere, env).await?, false),
        SessionCommand::Attach { .. }
        | SessionCommand::Rename { .. }
        | SessionCommand::Fork(_)
        | SessionCommand::Rewind(_)
        | SessionCommand::Diff { .. }
        | SessionCommand::Restore(_)
        | SessionCommand::Import(_)
        | SessionCommand::Resume(_) => (Desk::open(everywhere, env).await?, false),
    };
    let answered = answer(command, &desk).await;
    let closed = desk.close().await;
    if removes {
        disk::keep_room(env.data_dir());
    }
    // Why something failed says more than that what comes after it does.
    let answered = answered?;
    closed.map(|()| answered)
}

async fn answer(command: &SessionCommand, desk: &Desk<'_>) -> Result<Exit, Failure> {
    match command {
        SessionCommand::List(args) => list(args, desk).await,
        SessionCommand::Show { id, agent, json } => read::show(id.as_deref(), agent.as_deref(), *json, desk).await,
        SessionCommand::Tree { id, json } => {
            let request = ListSessionAgents { session: id.clone(), folder: desk.folder(id.is_none())? };
            let found = desk.ask(&request).await?;
            print(*json, &found, || agents::tree(&found.nodes, desk.width(), desk.paint()))
        }
        SessionCommand::Search(args) => find(args, desk).await,
        SessionCommand::Attach { id, .. } => {
            let id = short_id(desk.named(Some(id)).await?.id);
            Err(Failure::usage(format!("session {id} is not open in any process"))
                .hint(format!("`neco session show {id}` shows what was said; `neco resume {id}` continues it.")))
        }
        SessionCommand::Rename { id, title, json } => {
            let named = desk.ask(&RenameSession { session: id.clone(), title: title.join(" ") }).await?;
            print(*json, &named, || format!("renamed: {}\n", clean_line(&named.title)))
        }
        SessionCommand::Fork(args) => fork(args, desk).await,
        SessionCommand::Rewind(args) => back::run(args, desk).await,
        SessionCommand::Log { id, json, after } => read::log(id.as_deref(), *after, *json, desk).await,
        SessionCommand::Diff { id, from, to, stat, json } => {
            // Points are shorter than any part of an id that is taken for one.
            let is_point = id.as_deref().is_some_and(|word| !reads_as_id(word));
            let (id, from, to) = if is_point { (&None, id, from) } else { (id, from, to) };
            let (session, folder) = (desk.named(id.as_deref()).await?.id.to_string(), desk.folder(true)?);
            let request = DiffSession { session, folder, from: from.clone(), to: to.clone() };
            let diff = desk.ask(&request).await?;
            diff.place.iter().for_each(|note| say::note(&place::words(note)));
            let theirs: Vec<String> =
                diff.files.iter().filter(|file| file.by_others).map(|file| clean_line(&file.path)).collect();
            if !theirs.is_empty() && !stat {
                say::note(&format!("not changed by the agent but by others: {}", theirs.join(", ")));
            }
            print(*json, &diff.files, || match stat {
                true => history::names(&diff.files),
                false => history::texts(&diff.files, desk.paint()),
            })
        }
        SessionCommand::History { id, json } => exchanges::history(id.as_deref(), *json, desk).await,
        SessionCommand::Restore(args) => exchanges::restore(args, desk).await,
        SessionCommand::Export(args) => port::export(args, desk).await,
        SessionCommand::Import(args) => port::import(args, desk).await,
        SessionCommand::Rm { ids, yes, json } => remove::rm(ids, *yes, *json, desk).await,
        SessionCommand::Prune(args) => remove::prune(args, desk).await,
        // It was gone on with before the store was opened.
        SessionCommand::Resume(_) => Ok(Exit::Done),
    }
}

async fn list(args: &ListArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    if args.folders {
        let found = desk.ask(&ListRecentFolders { limit: args.limit }).await?.folders;
        return print(args.json, &found, || folders(&found, desk.env.home(), Timestamp::now(), desk.width()));
    }
    let folder = desk.folder(true)?;
    let request = ListSessions {
        folder: (!args.all).then_some(folder),
        since: args.since,
        limit: args.limit,
        states: true,
        sizes: args.size,
        ..ListSessions::default()
    };
    let SessionPage { sessions, more, older, above, .. } = desk.ask(&request).await?;
    if let Some(above) = above {
        say::note(&format!("this folder has none; these are the sessions of {above}"));
    }
    let ids = desk.short_ids().await?;
    // What a process left before anything was said is nothing to go on with, unless it is still there.
    let is_worth = |session: &&SessionRow| !session.title.is_empty() || session.state == Some(SessionState::Open);
    let shown: Vec<SessionRow> = sessions.iter().filter(is_worth).cloned().collect();
    print(args.json, &sessions, || match shown.is_empty() {
        true if more > 0 => String::new(),
        true if older > 0 => "no sessions since then; without --since older ones are listed\n".to_owned(),
        _ => {
            let (home, width) = (desk.env.home(), desk.width());
            as_lines(&shown, &ids, &Shape { all: args.all, home, now: Timestamp::now(), width, sizes: args.size })
        }
    })?;
    if more > 0 && !args.json.json {
        say::note(&format!("{more} more; --limit shows them"));
    }
    let empty = sessions.len() - shown.len();
    if empty > 0 && !args.json.json {
        say::note(&format!("and {empty} in which nothing was said; --json lists them"));
    }
    Ok(Exit::Done)
}

async fn find(args: &SearchArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let words = args.words.join(" ");
    let request = SearchSessions {
        folder: args.here.then(|| desk.folder(true)).transpose()?,
        since: args.since,
        until: args.until,
        cursor: None,
        words: words.clone(),
        limit: args.limit,
    };
    let places = desk.ask(&request).await?.places;
    let ids = desk.short_ids().await?;
    print(args.json, &places, || search::as_lines(&places, &ids, Timestamp::now(), desk.width(), desk.paint()))?;
    if places.is_empty() && !args.json.json && search::is_one_run(&words) {
        say::note("words without spaces are searched as one; put spaces between parts that may stand apart");
    }
    Ok(Exit::Done)
}

/// Makes a second session out of one.
async fn fork(args: &ForkArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let folder = desk.folder(args.id.is_none())?;
    let request = ForkSession { session: args.id.clone(), folder, at: args.at.clone(), title: args.name.clone() };
    let ForkedSession { session, before, in_a_turn } = desk.ask(&request).await?;
    if in_a_turn {
        say::note("the session is in the middle of a turn: the fork ends before it");
    }
    print(args.json, &session, || {
        let place = match &before {
            None => "after everything that was said".to_owned(),
            Some(point) => {
                let number = if point.number == 0 { String::new() } else { format!(" message {}", point.number) };
                format!("before{number}: {}", fitting(&clean_line(&point.text), SHOWN))
            }
        };
        format!("forked {place}\nResume it with  neco resume {}\n", short_id(session.id))
    })
}
