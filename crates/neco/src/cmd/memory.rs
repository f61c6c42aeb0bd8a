//! `neco memory`: what is remembered, in a person's hands.

use std::io::Read;
use std::path::Path;

use clap::{ArgAction, Args, Subcommand};
use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::memory::{
    AddMemory, ListMemory, MemoryCategory, MemoryEntry, MemoryReach, MemoryWords, RemoveMemory, ShowMemory,
};
use neco_session::memory::kept_words;
use neco_view::paint::lists::memory as list;

use super::confirm::agrees;
use super::editor::edit;
use super::program::{ask_of, folder, print, with_files};
use crate::args::{Choices, EverywhereArgs, JsonArg, one_of};
use crate::ask::Tty;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::say;

/// The kinds of entries.
const CATEGORIES: &Choices<MemoryCategory> = &[
    (MemoryCategory::Preference, "preference", "How you want things done"),
    (MemoryCategory::Directory, "directory", "What is not obvious about this folder"),
    (MemoryCategory::ExploreResult, "explore_result", "What a look around has shown"),
    (MemoryCategory::Solution, "solution", "How a problem was solved"),
    (MemoryCategory::Strategy, "strategy", "What to do differently with work of a kind"),
];

const ADD: &str = "\
Examples:
  neco memory add use tabs, never spaces
  neco memory add --dir --title \"Tests need redis\" \"start it with: docker compose up redis\"
  neco memory add --category solution --topic linker --tag ld - < notes.md";

const SEARCH: &str = "\
Examples:
  neco memory search redis tests
  neco memory search 数据库 --limit 3";

const EDIT: &str = "\
Opens the entry's file in $VISUAL or $EDITOR. You can also edit, rename, copy and delete the files yourself.";

const LIST: &str = "\
Lists your own entries, and those of this folder and of the folders above it up to the root of the git
repository. Problems with files are listed below.";

/// `neco memory …`
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Lists what is remembered for this folder, newest first
    #[command(after_help = LIST)]
    List {
        #[command(flatten)]
        which: WhichArgs,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows an entry as a whole
    Show {
        /// The entry's id
        id: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Remembers something
    #[command(after_help = ADD)]
    Add(AddArgs),
    /// Searches entries, the best match first
    #[command(after_help = SEARCH)]
    Search {
        /// Words to search for
        #[arg(required = true, value_name = "WORDS")]
        words: Vec<String>,
        /// The most entries to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        which: WhichArgs,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Opens an entry in your editor
    #[command(after_help = EDIT)]
    Edit {
        /// The entry's id
        id: String,
    },
    /// Deletes entries
    Rm {
        /// The entries' ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Deletes without asking
        #[arg(short, long)]
        yes: bool,
    },
}

/// Which entries are meant.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct WhichArgs {
    /// Only your own, which apply everywhere
    #[arg(long, conflicts_with = "dir")]
    pub global: bool,
    /// Only those of this folder and the folders above it
    #[arg(long)]
    pub dir: bool,
}

/// `neco memory add …`
#[derive(Debug, Args)]
pub struct AddArgs {
    /// What is to be remembered; `-` reads it from stdin
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// What it is about; otherwise the first line
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// The same in a sentence or two: what later sessions are shown; otherwise the beginning of the text
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// Its kind; otherwise preference, or directory with --dir and --private
    #[arg(long, value_parser = one_of(CATEGORIES))]
    pub category: Option<MemoryCategory>,
    /// What the problem of a solution was about
    #[arg(long, value_name = "WORD")]
    pub topic: Option<String>,
    /// A word to find it by; may be repeated
    #[arg(long = "tag", value_name = "WORD", action = ArgAction::Append)]
    pub tags: Vec<String>,
    /// For this folder, as a file in .neco/memory that can be committed
    #[arg(long, conflicts_with = "private")]
    pub dir: bool,
    /// For this folder, but stored with your own entries
    #[arg(long)]
    pub private: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Runs `neco memory …`.
pub fn run(command: &MemoryCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    with_files(everywhere, env, async |app| answer(command, folder, app, env).await)
}

async fn answer(command: &MemoryCommand, folder: String, app: &dyn App, env: &Env) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List { which, json } => {
            let entries =
                ask_of(app, &ListMemory { folder, only: which.reach(), ..ListMemory::default() }).await?.entries;
            print(*json, &entries, || list::as_lines(&entries, list::NOTHING, Timestamp::now()))?;
            if !json.json {
                list::troubles(&entries).iter().for_each(|trouble| say::note(trouble));
            }
        }
        MemoryCommand::Show { id, json } => {
            let shown = ask_of(app, &ShowMemory { folder, id: id.clone() }).await?;
            if let Some(words) = &shown.unreadable {
                return Err(Failure::new(Exit::Failed, words.clone()));
            }
            say::out(&if json.json { list::whole_json(&shown) } else { list::whole(&shown, Timestamp::now()) })?;
        }
        MemoryCommand::Search { words, limit, which, json } => {
            if words.iter().all(|word| word.trim().is_empty()) {
                return Err(Failure::usage("say what to search for").hint("`neco memory list` shows everything."));
            }
            let words = Some(MemoryWords { text: words.join(" "), limit: *limit });
            let entries =
                ask_of(app, &ListMemory { folder, words, only: which.reach(), ..ListMemory::default() }).await?.entries;
            print(*json, &entries, || list::as_lines(&entries, list::NO_HIT, Timestamp::now()))?;
        }
        MemoryCommand::Add(args) => {
            let text = text(&args.text)?;
            let kept = ask_of(app, &request(args, folder, text.trim())).await?;
            print(args.json, &list::kept_json(&kept), || format!("{}\n", kept_words(&kept)))?;
        }
        MemoryCommand::Edit { id } => {
            let shown = ask_of(app, &ShowMemory { folder, id: id.clone() }).await?;
            edit(Path::new(&shown.entry.path), env)?;
        }
        MemoryCommand::Rm { ids, yes } => return remove(ids, *yes, folder, app).await,
    }
    Ok(Exit::Done)
}

impl WhichArgs {
    fn reach(self) -> Option<MemoryReach> {
        match (self.global, self.dir) {
            (true, _) => Some(MemoryReach::Global),
            (false, true) => Some(MemoryReach::Directory),
            (false, false) => None,
        }
    }
}

fn text(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::Usage, format!("stdin can't be read: {error}")))?;
    Ok(text)
}

fn request(args: &AddArgs, folder: String, text: &str) -> AddMemory {
    let first = text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.trim().is_empty());
    AddMemory {
        folder,
        title: args.title.clone().unwrap_or_else(|| first.unwrap_or_default().to_owned()),
        summary: args.summary.clone().unwrap_or_else(|| text.to_owned()),
        content: text.to_owned(),
        category: args.category,
        topic: args.topic.clone().unwrap_or_default(),
        tags: args.tags.clone(),
        reach: match (args.dir, args.private) {
            (true, _) => MemoryReach::Directory,
            (false, true) => MemoryReach::Private,
            (false, false) => MemoryReach::Global,
        },
        replaces: None,
    }
}

/// Removes entries, after asking. All of them must be there: half of what was asked is not done.
async fn remove(ids: &[String], yes: bool, folder: String, app: &dyn App) -> Result<Exit, Failure> {
    let mut entries: Vec<MemoryEntry> = Vec::new();
    for id in ids {
        let found = ask_of(app, &ShowMemory { folder: folder.clone(), id: id.clone() }).await?.entry;
        if !entries.contains(&found) {
            entries.push(found);
        }
    }
    if !yes {
        let line = |found: &MemoryEntry| format!("  {}  {}\n", clean_line(&found.id), clean_line(&found.title));
        let lines: String = entries.iter().map(line).collect();
        let question = format!("Delete {}? This can't be undone.", if entries.len() == 1 { "it" } else { "them" });
        if !agrees(Tty::open(), &lines, &question, "--yes deletes without asking.")? {
            say::out("nothing was deleted\n")?;
            return Ok(Exit::Refused);
        }
    }
    let ids = entries.into_iter().map(|entry| entry.id).collect();
    for path in ask_of(app, &RemoveMemory { folder, ids }).await?.paths {
        say::out(&format!("removed {}\n", clean_line(&path)))?;
    }
    Ok(Exit::Done)
}
