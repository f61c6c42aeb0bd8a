//! `neco prompt show`: exactly what a model would be told, and how much room each part takes.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use neco_app::prompt::{self, ShowPrompt, ShownPrompt};
use neco_config::Env;
use neco_proto::Mode;
use neco_view::paint::lists::prompt::{sizes, whole};

use super::program::{folder, notes, print, without_store};
use crate::args::{EverywhereArgs, JsonArg, MODES, RuleArgs, one_of};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;

/// `neco prompt …`
#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Prints the system prompt, the tools and the conversation, with the tokens of each
    Show(PromptArgs),
}

/// `neco prompt show …`
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// Of the session whose id begins with this; without it of a new one in this folder
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// For this model or model group
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,
    /// In this mode
    #[arg(long, value_parser = one_of(MODES))]
    pub mode: Option<Mode>,
    /// With the tools and the prompt of this tool level, 1 to 8
    #[arg(long = "gen", value_name = "N", value_parser = clap::value_parser!(u8))]
    pub generation: Option<u8>,
    /// With these tools only
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
    /// With these rules: they say which files may be told
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Only how much room each part takes
    #[arg(long)]
    pub sizes: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Runs `neco prompt …`.
pub fn run(command: &PromptCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let PromptCommand::Show(args) = command;
    let (request, app) = (request(args, folder(everywhere)?), without_store(everywhere, env));
    let shown = compose::runtime()?.block_on(prompt::show(&app, request));
    let ShownPrompt { report, warnings } = shown.inspect_err(|error| notes(&error.warnings))?;
    notes(&warnings);
    match args.sizes {
        true => print(args.json, &report.context, || sizes(&report.context)),
        false => print(args.json, &report, || whole(&report)),
    }
}

fn request(args: &PromptArgs, folder: String) -> ShowPrompt {
    ShowPrompt {
        folder,
        session: args.session.clone(),
        model: args.model.clone(),
        mode: args.mode,
        generation: args.generation,
        tools: args.tools.clone().unwrap_or_default(),
        given: args.rules.given(),
    }
}
