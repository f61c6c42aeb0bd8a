//! `--from`: the sessions that another agent has of this folder, and which of them are meant.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::command::loaded;
use super::keep::Keeper;
use crate::ask::Tty;
use crate::cmd::when::ago;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::ImportArgs;
use crate::print::clean::clean_line;
use crate::print::figures::count;
use crate::print::wrap::fitting;
use crate::say;
use crate::terminal::is_unattended;
use neco_port::import::database::{openclaw_session, openclaw_sessions, opencode_session, opencode_sessions};
use neco_port::import::events::session_id;
use neco_port::import::format::{Record, records};
use neco_port::import::places::Homes;
use neco_port::import::{Foreign, Format};

/// The most sessions of one list.
const MOST: usize = 200;
/// Columns of a title.
const TITLE: usize = 60;

/// A session that another agent has, as a list shows it: it is read again when it is chosen.
pub(super) struct Candidate {
    /// Where it lies.
    place: Place,
    /// Its id there.
    id: Option<String>,
    title: String,
    messages: usize,
    /// When something last happened in it.
    last: Option<Timestamp>,
    /// Whether it is here already.
    here: bool,
}

/// Where a session lies.
#[derive(Clone)]
enum Place {
    File(PathBuf),
    /// In a database, under an id.
    Opencode(PathBuf, String),
    Openclaw(PathBuf, String),
}

impl Place {
    fn shown(&self) -> String {
        match self {
            Self::File(file) => file.display().to_string(),
            Self::Opencode(file, id) | Self::Openclaw(file, id) => format!("{}#{id}", file.display()),
        }
    }

    /// What lies there; nothing when it is no session, or nothing was said in it.
    async fn load(&self, from: Format) -> Result<Option<Foreign>, Failure> {
        let record = |json: Value| Record { json: Some(json), cut: false };
        let (lines, file) = match self {
            Self::File(file) => {
                let owned = file.clone();
                let read = move || File::open(owned).and_then(|file| records(BufReader::new(file))).ok();
                let Ok(Some(lines)) = tokio::task::spawn_blocking(read).await else { return Ok(None) };
                (lines, Some(file.as_path()))
            }
            Self::Opencode(file, id) => (vec![record(opencode_session(file, id).await.map_err(odd_opencode)?)], None),
            Self::Openclaw(file, id) => {
                let entries = openclaw_session(file, id).await.map_err(|error| odd(file, &error))?;
                (entries.into_iter().map(record).collect(), None)
            }
        };
        Ok(loaded(from, lines, file).filter(|foreign| foreign.messages() > 0))
    }
}

/// The sessions that are meant; nothing when only the list was wanted.
///
/// # Errors
/// When there are none, or a choice is none of them.
pub(super) async fn chosen(
    from: Format,
    args: &ImportArgs,
    keeper: &Keeper<'_>,
) -> Result<Option<Vec<Candidate>>, Failure> {
    let cwd = folder_as_named(keeper)?;
    let found = found(from, &cwd, keeper).await?;
    if found.is_empty() {
        let words = format!("{} has no sessions of {} here", from.name(), keeper.desk.env.shown(&cwd));
        return Err(Failure::new(Exit::Failed, words)
            .hint("--cwd names another folder, by its old name if it was moved; a file can be named too."));
    }
    if !args.which.is_empty() {
        return picked(found, &args.which).map(Some);
    }
    if args.json {
        let list: Vec<Value> = found.iter().zip(1..).map(|(candidate, number)| candidate.json(number)).collect();
        say::out(&format!("{:#}\n", Value::from(list)))?;
        return Ok(None);
    }
    let list = listed(&found);
    match asked(&list, keeper) {
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
fn folder_as_named(keeper: &Keeper<'_>) -> Result<PathBuf, Failure> {
    match &keeper.desk.everywhere.cwd {
        Some(gone) if gone.is_absolute() && !gone.exists() => Ok(gone.clone()),
        Some(_) | None => crate::folder(keeper.desk.everywhere),
    }
}

async fn found(from: Format, cwd: &Path, keeper: &Keeper<'_>) -> Result<Vec<Candidate>, Failure> {
    let mut found = Vec::new();
    for place in places(from, cwd, keeper).await? {
        // One at a time: together they may be more than there is memory.
        let Some(foreign) = place.load(from).await? else { continue };
        let here = keeper.find(session_id(from, &foreign)).await?.is_some();
        found.push(Candidate::of(place, &foreign, here));
        if found.len() == MOST {
            break;
        }
    }
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.last));
    Ok(found)
}

async fn places(from: Format, cwd: &Path, keeper: &Keeper<'_>) -> Result<Vec<Place>, Failure> {
    let env = keeper.desk.env;
    let variable = |name: &str| env.var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let homes = Homes::new(env.home(), variable);
    let mut places = Vec::new();
    match from {
        Format::Opencode => {
            let file = homes.opencode_database();
            if file.exists() {
                let ids = opencode_sessions(&file, cwd).await.map_err(odd_opencode)?;
                places.extend(ids.into_iter().map(|id| Place::Opencode(file.clone(), id)));
            }
        }
        Format::Openclaw => {
            for file in homes.openclaw_databases() {
                let ids = openclaw_sessions(&file, cwd).await.map_err(|error| odd(&file, &error))?;
                places.extend(ids.into_iter().map(|id| Place::Openclaw(file.clone(), id)));
            }
        }
        Format::Neco | Format::ClaudeCode | Format::Codex | Format::GeminiCli => {}
    }
    let owned = cwd.to_owned();
    let look = move || homes.files(from, &owned);
    let files = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    places.extend(files.into_iter().map(Place::File));
    Ok(places)
}

fn odd_opencode(error: sqlx::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the database of opencode can't be read: {error}"))
        .hint("`opencode export ID > FILE` writes a file that can be imported.")
}

fn odd(file: &Path, error: &sqlx::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the database {} can't be read: {error}", file.display()))
}

impl Candidate {
    fn of(place: Place, foreign: &Foreign, here: bool) -> Self {
        let last = foreign.items.iter().filter_map(|item| item.at).max();
        let messages = foreign.messages();
        Self { place, id: foreign.id.clone(), title: title_of(foreign), messages, last, here }
    }

    /// Where it lies.
    pub(super) fn file(&self) -> String {
        self.place.shown()
    }

    /// What it holds.
    ///
    /// # Errors
    /// When it can't be read any more.
    pub(super) async fn load(&self, from: Format) -> Result<Foreign, Failure> {
        let gone = || Failure::new(Exit::Failed, format!("{} can't be read any more", self.file()));
        self.place.load(from).await?.ok_or_else(gone)
    }

    fn json(&self, number: usize) -> Value {
        json!({
            "number": number,
            "id": self.id,
            "file": self.file(),
            "title": self.title,
            "messages": self.messages,
            "last": self.last.map(|last| last.to_string()),
            "imported": self.here,
        })
    }

    /// Whether a word means this one: its number, or the beginning of its id.
    fn is_meant(&self, number: usize, word: &str) -> bool {
        let by_id = word.len() >= 4 && self.id.as_ref().is_some_and(|id| id.starts_with(word));
        word.parse() == Ok(number) || by_id
    }
}

fn title_of(foreign: &Foreign) -> String {
    let first = foreign.items.iter().find_map(|item| match &item.what {
        neco_port::import::foreign::What::User(parts) => parts.iter().find_map(|part| match part {
            neco_proto::Part::Text { text } => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    });
    clean_line(&foreign.title.clone().filter(|title| !title.trim().is_empty()).or(first).unwrap_or_default())
}

fn listed(found: &[Candidate]) -> String {
    let now = Timestamp::now();
    let mut text = String::new();
    for (candidate, number) in found.iter().zip(1..) {
        let when = candidate.last.map(|last| ago(last.as_millisecond(), now)).unwrap_or_default();
        let messages = count(candidate.messages as u64, "message");
        let here = if candidate.here { "  (imported)" } else { "" };
        let _ = writeln!(text, "{number:>4}  {when:<12}  {messages:<13}  {}{here}", fitting(&candidate.title, TITLE));
    }
    text
}

/// What a person answers; nothing when nobody is there.
fn asked(list: &str, keeper: &Keeper<'_>) -> Option<Vec<String>> {
    let tty = (!is_unattended(keeper.desk.env)).then(Tty::open).flatten()?;
    tty.forget_typed();
    let mut terminal = tty.lend().ok()?;
    write!(terminal, "{list}Which ones? Numbers, all, or Enter for none: ").and_then(|()| terminal.flush()).ok()?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).ok()?;
    Some(answer.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

fn picked(found: Vec<Candidate>, words: &[String]) -> Result<Vec<Candidate>, Failure> {
    if words.iter().any(|word| word == "all") {
        return Ok(found);
    }
    for word in words {
        if !found.iter().zip(1..).any(|(candidate, number)| candidate.is_meant(number, word)) {
            return Err(Failure::usage(format!("{word} is none of the {} sessions", found.len())));
        }
    }
    let is_meant =
        |(candidate, number): &(Candidate, usize)| words.iter().any(|word| candidate.is_meant(*number, word));
    Ok(found.into_iter().zip(1..).filter(is_meant).map(|(candidate, _)| candidate).collect())
}
