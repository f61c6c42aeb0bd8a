//! What can be written behind `neco eval`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args};
use neco_app::eval::{Grid, Limits};
use neco_proto::Mode;

use crate::args::{BoxArgs, JsonArg, MODES, at_least_one, dollars, duration, one_of};

/// After `neco eval --help`.
pub const EVAL: &str = "\
Examples:
  neco eval --only shell --model ollama/qwen3:8b      the tasks in shell that come with Neco
  neco eval tasks.yaml --gen 1,4-6,auto --repeat 3    your own, at five tool levels, each three times
  neco eval --list                                    which tasks there are
  neco eval tasks.yaml --verify                       are the tasks sound? No model is asked

Task files run commands: read one that you did not write before you run it.
Results are added to the file of --results as they come. The same command again does what is not done yet, and tries
again what could not be run; Ctrl-C stops. Another file begins anew.
Exit codes: 0 everything ran, solved or not; 1 some could not be run, or are not sound; 2 wrong usage; 130 stopped.";

/// `neco eval …`
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The task file, in YAML; the tasks that come with Neco without it
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only tasks whose name or language this is; * stands for any letters; may be repeated
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    pub only: Vec<String>,
    /// A model or model group; may be repeated. Yours without it
    #[arg(long = "model", value_name = "MODEL", value_parser = NonEmptyStringValueParser::new(), action = ArgAction::Append)]
    pub models: Vec<String>,
    /// Tool levels, such as 1,4-6,auto; auto is what a session has by itself
    #[arg(long = "gen", value_name = "LEVELS", value_parser = levels, default_value = "auto")]
    pub levels: Levels,
    /// A mode; may be repeated
    #[arg(long = "mode", value_parser = one_of(MODES), action = ArgAction::Append)]
    pub modes: Vec<Mode>,
    /// How often every task is run
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Where results are added
    #[arg(long, value_name = "FILE", default_value = "eval-results.jsonl")]
    pub results: PathBuf,
    /// Lists the tasks and runs nothing
    #[arg(long, conflicts_with = "verify")]
    pub list: bool,
    /// Looks whether every check fails at first and passes with the task's own solution; no model is asked
    #[arg(long)]
    pub verify: bool,
    /// Keeps the folders of runs, and names them in the results
    #[arg(long)]
    pub keep: bool,
    /// Most turns of a run, whatever the task file says
    #[arg(help_heading = "Limits", long, value_name = "TURNS", value_parser = at_least_one)]
    pub max_turns: Option<u32>,
    /// Most time of a run: 90, 90s, 10m, 1h
    #[arg(help_heading = "Limits", long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Most tokens of a run, input and output together
    #[arg(help_heading = "Limits", long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    /// Most US dollars of a run, as far as prices are known
    #[arg(help_heading = "Limits", long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    #[command(flatten)]
    pub box_args: BoxArgs,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Tool levels; nothing stands for the one that a session has by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(Vec<Option<u8>>);

impl EvalArgs {
    /// What tasks are run with besides these models.
    pub fn grid(&self, models: Vec<String>) -> Grid {
        let modes = if self.modes.is_empty() { vec![Mode::Agent] } else { self.modes.clone() };
        Grid { models, levels: self.levels.0.clone(), modes, repeat: self.repeat }
    }

    /// The limits that outrank those of the task file.
    pub fn limits(&self) -> Limits {
        Limits {
            turns: self.max_turns,
            seconds: self.timeout.map(|time| time.as_secs_f64()),
            tokens: self.max_tokens,
            cost: self.max_cost,
            command_seconds: None,
        }
    }
}

fn levels(text: &str) -> Result<Levels, &'static str> {
    const WRONG: &str = "give levels from 1 to 8, such as 1,4-6,auto";
    let number = |text: &str| text.parse::<u8>().ok().filter(|level| (1..=8).contains(level)).ok_or(WRONG);
    let mut levels = Vec::new();
    for part in text.split(',').map(str::trim) {
        match (part, part.split_once('-')) {
            ("auto", _) => levels.push(None),
            (_, Some((from, to))) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(WRONG);
                }
                levels.extend((from..=to).map(Some));
            }
            (one, None) => levels.push(Some(number(one)?)),
        }
    }
    let mut once = Vec::new();
    for level in levels {
        if !once.contains(&level) {
            once.push(level);
        }
    }
    Ok(Levels(once))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_single_ones_ranges_and_auto() {
        assert_eq!(levels("1,4-6,auto,5").unwrap().0, [Some(1), Some(4), Some(5), Some(6), None]);
        for wrong in ["", "0", "9", "6-4", "1-9", "a", "1,,2"] {
            assert!(levels(wrong).is_err(), "{wrong}");
        }
    }
}
