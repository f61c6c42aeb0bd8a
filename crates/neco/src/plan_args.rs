//! What can be written after `neco plan`.

use clap::Subcommand;

const CLOSE: &str = "\
Nothing comes of what is left of the plan: new sessions are not told of it any more, and its own
session does not go on with it. Its conversation stays as it is.";

/// `neco plan …`
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Lists the plans that sessions in this folder left unfinished, newest first
    List {
        /// Those of all folders
        #[arg(long)]
        all: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows a plan with its steps and what was found out
    Show {
        /// The session whose plan it is, or the beginning of its id
        session: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Closes plans that nothing is to come of
    #[command(after_help = CLOSE)]
    Close {
        /// The sessions whose plans they are, or the beginnings of their ids
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<String>,
    },
}
