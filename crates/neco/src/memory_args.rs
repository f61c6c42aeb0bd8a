//! What can be written on the command line about the memory.

use clap::{ArgAction, Args, Subcommand, ValueEnum};

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
Opens the entry's file in $VISUAL or $EDITOR. The files are yours: they may be edited, renamed, copied
and removed by any other means too.";

const LIST: &str = "\
Lists your own entries, and those of this folder and of the folders above it up to the root of the git
repository. What is wrong with a file is said below the list.";

/// `neco memory …`
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Lists what is remembered for this folder, newest first
    #[command(after_help = LIST)]
    List {
        #[command(flatten)]
        which: WhichArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows an entry as a whole
    Show {
        /// The entry's id
        id: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Remembers something
    #[command(after_help = ADD)]
    Add(AddArgs),
    /// Looks for entries, the best match first
    #[command(after_help = SEARCH)]
    Search {
        /// Words to look for
        #[arg(required = true, value_name = "WORDS")]
        words: Vec<String>,
        /// Most entries
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        which: WhichArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Opens an entry in your editor
    #[command(after_help = EDIT)]
    Edit {
        /// The entry's id
        id: String,
    },
    /// Removes entries for good
    Rm {
        /// The entries' ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Does not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// Which entries are meant.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct WhichArgs {
    /// Only your own that hold everywhere
    #[arg(long, conflicts_with = "dir")]
    pub global: bool,
    /// Only those that lie in this folder and the folders above it
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
    #[arg(long, value_enum)]
    pub category: Option<CategoryArg>,
    /// What the problem of a solution was about
    #[arg(long, value_name = "WORD")]
    pub topic: Option<String>,
    /// A word to find it by; may be repeated
    #[arg(long = "tag", value_name = "WORD", action = ArgAction::Append)]
    pub tags: Vec<String>,
    /// For this folder, as a file in .neco/memory that can be committed
    #[arg(long, conflicts_with = "private")]
    pub dir: bool,
    /// For this folder, but kept with your own entries
    #[arg(long)]
    pub private: bool,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// The kind of an entry, as a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum CategoryArg {
    /// How you want things done
    Preference,
    /// What is not obvious about this folder
    Directory,
    /// What a look around has shown
    ExploreResult,
    /// How a problem was solved
    Solution,
    /// What to do differently with work of a kind
    Strategy,
}
