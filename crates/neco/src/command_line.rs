//! Reads the command line of this process, with what the parser alone does not do.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use crate::args::CommandLine;
use crate::misuse::misuse;

impl CommandLine {
    /// Reads the command line of this process; ends it when help was asked for or a flag is wrong.
    #[must_use]
    pub fn of_process() -> Self {
        Self::read(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
    }

    /// Reads the words of a command line, the program's name among them.
    ///
    /// # Errors
    /// When help was asked for or something is wrong with the line.
    pub fn read(words: Vec<OsString>) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(&words)?;
        let mut line = Self::from_arg_matches(&matches)?;
        let misused = match line.command {
            Some(_) => flags_of_a_run(&matches),
            None => misuse(&line),
        };
        if let Some(misused) = misused {
            return Err(Self::command().error(ErrorKind::ArgumentConflict, misused));
        }
        if line.command.is_some() && !line.everywhere.overrides.is_empty() {
            let before = settings_before_the_subcommand(&words);
            // Those behind the subcommand take the place of those before it; where there are none
            // behind it, the parser has passed them on.
            if before != line.everywhere.overrides {
                line.everywhere.overrides.splice(0..0, before);
            }
        }
        Ok(line)
    }
}

/// The settings that stand before the subcommand.
fn settings_before_the_subcommand(words: &[OsString]) -> Vec<String> {
    let command = CommandLine::command().mut_arg("overrides", |arg| arg.global(false)).ignore_errors(true);
    let Ok(matches) = command.try_get_matches_from(words) else { return Vec::new() };
    matches.get_many("overrides").map(|values| values.cloned().collect()).unwrap_or_default()
}

/// Flags of a run that stand before a subcommand, and where they belong.
fn flags_of_a_run(matches: &ArgMatches) -> Option<String> {
    let command = CommandLine::command();
    let is_written = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let written = command.get_arguments().find(|arg| !arg.is_global_set() && is_written(arg.get_id().as_str()))?;
    let (path, subcommand) = innermost(&command, matches);
    let flag = match (written.get_long(), written.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => return Some(format!("quote the message: neco -m \"… {path}\"")),
    };
    let takes_it =
        subcommand.get_arguments().any(|arg| arg.get_long().is_some_and(|long| written.get_long() == Some(long)));
    Some(match takes_it {
        true => format!("{flag} belongs behind the subcommand: neco {path} {flag} …"),
        false => format!(
            "{flag} is a flag of a run and can't be combined with the subcommand `{path}`; what that takes is listed by neco {path} --help"
        ),
    })
}

/// The subcommand that was written last, and its words.
fn innermost<'a>(command: &'a Command, matches: &ArgMatches) -> (String, &'a Command) {
    let (mut command, mut matches, mut path) = (command, matches, Vec::new());
    while let Some((name, inner)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else { break };
        path.push(name);
        (command, matches) = (found, inner);
    }
    (path.join(" "), command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<CommandLine, String> {
        let words = [&["neco"], words].concat().into_iter().map(OsString::from).collect();
        CommandLine::read(words).map_err(|error| error.to_string())
    }

    fn overrides(words: &[&str]) -> Vec<String> {
        read(words).unwrap().everywhere.overrides
    }

    #[test]
    fn settings_count_before_and_behind_a_subcommand() {
        assert_eq!(overrides(&["-c", "a=1", "config", "show"]), ["a=1"]);
        assert_eq!(overrides(&["config", "show", "-c", "a=1"]), ["a=1"]);
        assert_eq!(overrides(&["-c", "a=1", "config", "show", "-c", "b=2", "-c", "c=3"]), ["a=1", "b=2", "c=3"]);
        assert_eq!(overrides(&["-c", "a=1", "-c", "b=2", "repl", "-c", "a=3"]), ["a=1", "b=2", "a=3"]);
        assert_eq!(overrides(&["-c", "a=1", "-m", "x", "-c", "b=2"]), ["a=1", "b=2"]);
    }

    #[test]
    fn a_flag_of_a_run_before_a_subcommand_is_named() {
        let moved = read(&["--mode", "ask", "prompt", "show"]).unwrap_err();
        assert!(moved.contains("--mode belongs behind the subcommand: neco prompt show --mode …"), "{moved}");
        let foreign = read(&["--max-turns", "3", "doctor"]).unwrap_err();
        assert!(foreign.contains("--max-turns is a flag of a run"), "{foreign}");
        assert!(foreign.contains("neco doctor --help"), "{foreign}");
        assert!(read(&["-m", "x", "doctor"]).unwrap_err().contains("--message is a flag of a run"));
    }

    #[test]
    fn an_amount_below_zero_is_an_amount() {
        let told = read(&["-m", "x", "--max-cost", "-1"]).unwrap_err();
        assert!(told.contains("give an amount above 0"), "{told}");
    }
}
