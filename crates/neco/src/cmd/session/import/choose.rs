//! `--from`: the sessions that another agent has of this folder, and which of them are meant.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::port::{FindForeignSessions, ForeignSession, Program};
use neco_proto::app::{App, Caller};
use serde_json::{Value, json};

use crate::ask::Tty;
use crate::cmd::session::desk::Desk;
use crate::cmd::when::ago;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::ImportArgs;
use crate::print::figures::count;
use crate::print::wrap::fitting;
use crate::say;
use crate::terminal::is_unattended;

/// The most sessions of one list.
const MOST: usize = 200;
/// Columns of a title.
const TITLE: usize = 60;

/// The sessions that are meant; nothing when only the list was wanted.
///
/// # Errors
/// When there are none, or a choice is none of them.
pub(super) async fn chosen(
    from: Program,
    args: &ImportArgs,
    app: &dyn App,
    desk: &Desk<'_>,
) -> Result<Option<Vec<ForeignSession>>, Failure> {
    let cwd = folder_as_named(desk)?;
    let request = FindForeignSessions { program: from, folder: cwd.display().to_string(), limit: MOST };
    let found = app.ask(&Caller::person(), &request).await?.sessions;
    if found.is_empty() {
        let words = format!("{} has no sessions of {} here", from.name(), desk.env.shown(&cwd));
        return Err(Failure::new(Exit::Failed, words)
            .hint("--cwd names another folder, by its old name if it was moved; a file can be named too."));
    }
    if !args.which.is_empty() {
        return picked(found, &args.which).map(Some);
    }
    if args.json {
        let list: Vec<Value> = found.iter().zip(1..).map(as_json).collect();
        say::out(&format!("{:#}\n", Value::from(list)))?;
        return Ok(None);
    }
    let list = listed(&found);
    match asked(&list, desk.env) {
        Some(words) if words.is_empty() => Ok(None),
        Some(words) => picked(found, &words).map(Some),
        None => {
            let hint = format!("\nto import some of them: neco session import --from {} 1 3, or all\n", from.name());
            say::out(&(list + &hint))?;
            Ok(None)
        }
    }
}

/// The folder whose sessions are wanted. One that is gone was moved, perhaps: they bear its old name.
fn folder_as_named(desk: &Desk<'_>) -> Result<PathBuf, Failure> {
    match &desk.everywhere.cwd {
        Some(gone) if gone.is_absolute() && !gone.exists() => Ok(gone.clone()),
        Some(_) | None => crate::folder(desk.everywhere),
    }
}

fn as_json((session, number): (&ForeignSession, usize)) -> Value {
    let file = match &session.entry {
        Some(entry) => format!("{}#{entry}", session.file),
        None => session.file.clone(),
    };
    json!({
        "number": number,
        "id": session.id,
        "file": file,
        "title": session.title,
        "messages": session.messages,
        "last": session.last.map(|last| last.to_string()),
        "imported": session.imported,
    })
}

fn listed(found: &[ForeignSession]) -> String {
    let now = Timestamp::now();
    let mut text = String::new();
    for (session, number) in found.iter().zip(1..) {
        let when = session.last.map(|last| ago(last.as_millisecond(), now)).unwrap_or_default();
        let messages = count(session.messages as u64, "message");
        let here = if session.imported { "  (imported)" } else { "" };
        let _ = writeln!(text, "{number:>4}  {when:<12}  {messages:<13}  {}{here}", fitting(&session.title, TITLE));
    }
    text
}

/// What a person answers; nothing when nobody is there.
fn asked(list: &str, env: &Env) -> Option<Vec<String>> {
    let tty = (!is_unattended(env)).then(Tty::open).flatten()?;
    tty.forget_typed();
    let mut terminal = tty.lend().ok()?;
    write!(terminal, "{list}Which ones? Numbers, all, or Enter for none: ").and_then(|()| terminal.flush()).ok()?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).ok()?;
    Some(answer.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

fn picked(found: Vec<ForeignSession>, words: &[String]) -> Result<Vec<ForeignSession>, Failure> {
    if words.iter().any(|word| word == "all") {
        return Ok(found);
    }
    for word in words {
        if !found.iter().zip(1..).any(|(session, number)| is_meant(session, number, word)) {
            return Err(Failure::usage(format!("{word} is none of the {} sessions", found.len())));
        }
    }
    let is_meant =
        |(session, number): &(ForeignSession, usize)| words.iter().any(|word| is_meant(session, *number, word));
    Ok(found.into_iter().zip(1..).filter(is_meant).map(|(session, _)| session).collect())
}

/// Whether a word means this one: its number, or the beginning of its id.
fn is_meant(session: &ForeignSession, number: usize, word: &str) -> bool {
    let by_id = word.len() >= 4 && session.id.as_ref().is_some_and(|id| id.starts_with(word));
    word.parse() == Ok(number) || by_id
}
