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
use crate::import::database::{openclaw_sessions, opencode_session, opencode_sessions};
use crate::import::events::session_id;
use crate::import::format::{Record, records};
use crate::import::places::Homes;
use crate::import::{Foreign, Format};
use crate::port_args::ImportArgs;
use crate::print::clean::clean_line;
use crate::print::figures::count;
use crate::print::wrap::fitting;
use crate::say;
use crate::terminal::is_unattended;

/// The most sessions of one list.
const MOST: usize = 200;
/// Columns of a title.
const TITLE: usize = 60;

/// A session that another agent has.
pub(super) struct Candidate {
    /// Where it lies.
    pub file: String,
    /// What it holds.
    pub foreign: Foreign,
    /// When something last happened in it.
    last: Option<Timestamp>,
    /// Whether it is here already.
    here: bool,
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
    let cwd = crate::folder(keeper.desk.everywhere)?;
    let found = found(from, &cwd, keeper).await?;
    if found.is_empty() {
        let words = format!("{} has no sessions of {} here", from.name(), keeper.desk.env.shown(&cwd));
        return Err(Failure::new(Exit::Failed, words).hint("--cwd names another folder; a file can be named too."));
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

async fn found(from: Format, cwd: &Path, keeper: &Keeper<'_>) -> Result<Vec<Candidate>, Failure> {
    let env = keeper.desk.env;
    let variable = |name: &str| env.var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let homes = Homes::new(env.home(), variable);
    let mut sessions = match from {
        Format::Opencode => of_opencode(&homes, cwd).await?,
        Format::Openclaw => of_openclaw(&homes, cwd).await?,
        Format::Neco | Format::ClaudeCode | Format::Codex | Format::GeminiCli => Vec::new(),
    };
    let owned = cwd.to_owned();
    let look = move || of_files(from, &homes.files(from, &owned));
    sessions.extend(tokio::task::spawn_blocking(look).await.unwrap_or_default());
    let mut found = Vec::new();
    for (file, foreign) in sessions {
        let last = foreign.items.iter().filter_map(|item| item.at).max();
        let here = keeper.find(session_id(from, &foreign)).await?.is_some();
        found.push(Candidate { file, foreign, last, here });
    }
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.last));
    Ok(found)
}

fn of_files(from: Format, files: &[PathBuf]) -> Vec<(String, Foreign)> {
    let load = |file: &PathBuf| {
        let lines = records(BufReader::new(File::open(file).ok()?)).ok()?;
        let foreign = loaded(from, lines, Some(file)).filter(|foreign| foreign.messages() > 0)?;
        Some((file.display().to_string(), foreign))
    };
    files.iter().filter_map(load).take(MOST).collect()
}

async fn of_opencode(homes: &Homes, cwd: &Path) -> Result<Vec<(String, Foreign)>, Failure> {
    let file = homes.opencode_database();
    if !file.exists() {
        return Ok(Vec::new());
    }
    let odd = |error: sqlx::Error| {
        Failure::new(Exit::Failed, format!("the database of opencode can't be read: {error}"))
            .hint("`opencode export ID > FILE` writes a file that can be imported.")
    };
    let mut sessions = Vec::new();
    for id in opencode_sessions(&file, cwd).await.map_err(odd)?.into_iter().take(MOST) {
        let document = opencode_session(&file, &id).await.map_err(odd)?;
        let lines = vec![Record { json: Some(document), cut: false }];
        if let Some(foreign) = loaded(Format::Opencode, lines, None).filter(|foreign| foreign.messages() > 0) {
            sessions.push((format!("{}#{id}", file.display()), foreign));
        }
    }
    Ok(sessions)
}

async fn of_openclaw(homes: &Homes, cwd: &Path) -> Result<Vec<(String, Foreign)>, Failure> {
    let mut sessions = Vec::new();
    for file in homes.openclaw_databases() {
        let odd = |error: sqlx::Error| {
            Failure::new(Exit::Failed, format!("the database {} can't be read: {error}", file.display()))
        };
        for entries in openclaw_sessions(&file, cwd).await.map_err(odd)? {
            let lines = entries.into_iter().map(|entry| Record { json: Some(entry), cut: false }).collect();
            if let Some(foreign) = loaded(Format::Openclaw, lines, None).filter(|foreign| foreign.messages() > 0) {
                let id = foreign.id.clone().unwrap_or_default();
                sessions.push((format!("{}#{id}", file.display()), foreign));
            }
        }
    }
    Ok(sessions)
}

impl Candidate {
    fn title(&self) -> String {
        let first = self.foreign.items.iter().find_map(|item| match &item.what {
            crate::import::foreign::What::User(parts) => parts.iter().find_map(|part| match part {
                neco_proto::Part::Text { text } => Some(text.clone()),
                _ => None,
            }),
            _ => None,
        });
        clean_line(&self.foreign.title.clone().filter(|title| !title.trim().is_empty()).or(first).unwrap_or_default())
    }

    fn json(&self, number: usize) -> Value {
        json!({
            "number": number,
            "id": self.foreign.id,
            "file": self.file,
            "title": self.title(),
            "messages": self.foreign.messages(),
            "last": self.last.map(|last| last.to_string()),
            "imported": self.here,
        })
    }

    /// Whether a word means this one: its number, or the beginning of its id.
    fn is_meant(&self, number: usize, word: &str) -> bool {
        let by_id = word.len() >= 4 && self.foreign.id.as_ref().is_some_and(|id| id.starts_with(word));
        word.parse() == Ok(number) || by_id
    }
}

fn listed(found: &[Candidate]) -> String {
    let now = Timestamp::now();
    let mut text = String::new();
    for (candidate, number) in found.iter().zip(1..) {
        let when = candidate.last.map(|last| ago(last.as_millisecond(), now)).unwrap_or_default();
        let messages = count(candidate.foreign.messages() as u64, "message");
        let here = if candidate.here { "  (imported)" } else { "" };
        let _ = writeln!(text, "{number:>4}  {when:<12}  {messages:<13}  {}{here}", fitting(&candidate.title(), TITLE));
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
