//! `neco tools`: what agents in a folder can do, and who brought it.

use clap::Subcommand;
use neco_config::Env;
use neco_proto::app::tools::ListTools;
use neco_view::paint::lists::tools;

use super::program::{ask_once, folder, print};
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;

const LIST: &str = "\
Tools of MCP servers are listed as far as they are known: nothing is started. Scripted tools of a folder are listed
when they are trusted (neco trust).";

/// `neco tools …`
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Lists the tools, with their origin
    #[command(after_help = LIST)]
    List {
        /// Only those of these names; `*` stands for anything
        #[arg(value_name = "NAME")]
        only: Vec<String>,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// Runs `neco tools …`.
pub fn run(command: &ToolsCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    match command {
        ToolsCommand::List { only, json } => {
            let request = ListTools { folder: folder(everywhere)?, only: only.clone(), all: true };
            let found = ask_once(&request, everywhere, env)?.tools;
            print(*json, &found, || tools::as_lines(&found))
        }
    }
}
