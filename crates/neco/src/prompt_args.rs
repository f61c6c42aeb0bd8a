//! What can be written after `neco prompt`.

use clap::{Args, Subcommand};

use crate::args::ModeArg;
use crate::rule_args::RuleArgs;

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
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// For this model or model group
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub model: Option<String>,
    /// In this mode
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// With the tools and the prompt of this generation
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
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}
