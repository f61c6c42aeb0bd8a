//! What can be written on the command line about rules.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use neco_app::workspace::rules::RuleFlags;
use neco_proto::app::rules::GivenRules;
use neco_safety::Ruling;

use crate::args::{ApprovalArg, ModeArg};
use crate::help;

/// Rules for this run, and folders that are open in it.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct RuleArgs {
    /// Allows without asking: a tool, `bash(git log *)`, `edit(src/**)`; may be repeated
    #[arg(long, value_name = "RULE", action = ArgAction::Append)]
    pub allow: Vec<String>,
    /// Asks before every such call; may be repeated
    #[arg(long, value_name = "RULE", action = ArgAction::Append)]
    pub ask: Vec<String>,
    /// Refuses every such call; may be repeated
    #[arg(long, value_name = "RULE", action = ArgAction::Append)]
    pub deny: Vec<String>,
    /// Opens another folder for reading and writing besides the one worked in; may be repeated
    #[arg(long, value_name = "DIR", action = ArgAction::Append)]
    pub add_dir: Vec<PathBuf>,
}

impl RuleArgs {
    /// The same without the command line.
    #[must_use]
    pub fn flags(&self) -> RuleFlags {
        RuleFlags { rules: self.rules(), add_dir: self.add_dir.clone() }
    }

    /// The same as requests carry it.
    #[must_use]
    pub fn given(&self) -> GivenRules {
        let Self { allow, ask, deny, add_dir } = self.clone();
        let add_dir = add_dir.iter().map(|folder| folder.display().to_string()).collect();
        GivenRules { allow, ask, deny, add_dir }
    }

    /// The rules, with what each says.
    fn rules(&self) -> Vec<(Ruling, String)> {
        let of = |ruling: Ruling, texts: &[String]| texts.iter().map(|text| (ruling, text.clone())).collect::<Vec<_>>();
        [of(Ruling::Deny, &self.deny), of(Ruling::Ask, &self.ask), of(Ruling::Allow, &self.allow)].concat()
    }
}

/// `neco policy …`
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Lists the rules in force, in the order in which they are looked at
    #[command(after_help = help::POLICY_LIST)]
    List {
        #[command(flatten)]
        rules: RuleArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Says what would happen to a call, by which rule, and where that rule is written
    #[command(after_help = help::POLICY_EXPLAIN)]
    Explain {
        /// The tool, by its own name or another agent's
        tool: String,
        /// Its arguments as a JSON object; a command, a path or an address alone will do
        arguments: String,
        #[command(flatten)]
        situation: SituationArgs,
        #[command(flatten)]
        rules: RuleArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists the rules that you allowed with "always", or takes some of them back
    #[command(after_help = help::POLICY_REMOVE)]
    Remove {
        /// The numbers of the rules to take back; without any they are listed
        #[arg(value_name = "NUMBER")]
        numbers: Vec<NonZeroUsize>,
        /// Takes all of them back
        #[arg(long, conflicts_with = "numbers")]
        all: bool,
    },
    /// Checks your rules against a file of cases; exits with 1 when one comes out otherwise
    #[command(after_help = help::POLICY_TEST)]
    Test {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        rules: RuleArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
}

/// On whose behalf a call is judged.
#[derive(Clone, Debug, Default, Args)]
pub struct SituationArgs {
    /// The mode; without it the configured one
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// The approval mode; without it the configured one
    #[arg(long, value_enum)]
    pub approval: Option<ApprovalArg>,
    /// As if nobody could be asked
    #[arg(long)]
    pub no_person: bool,
}
