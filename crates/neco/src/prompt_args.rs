//! What can be written after `neco prompt`.

use clap::{Args, Subcommand};

use crate::args::ModeArg;

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
    /// Only how much room each part takes
    #[arg(long)]
    pub sizes: bool,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}
