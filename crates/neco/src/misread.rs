//! What the parser finds wrong with a command line, in our words.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use neco_view::slash::nearest;

use crate::args::CommandLine;
use crate::elsewhere;

/// What other agents call otherwise is told by its name here, and what is misspelt by the nearest name.
pub fn in_our_words(mut error: clap::Error, given: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::InvalidUtf8 {
        return told("what is written is not UTF-8 text; pipe it in, or name a file with --file".to_owned());
    }
    if let (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    {
        let (path, missing) = (named_command(given).0, missing.join(" and "));
        return told(format!("`neco {path}` needs {missing}; `neco {path} --help` explains it"));
    }
    if error.kind() == ErrorKind::ValueValidation
        && std::error::Error::source(&error).is_some_and(|source| source.is::<std::num::ParseIntError>())
        && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
    {
        return told(format!("{flag} takes a whole number, such as 20"));
    }
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(written))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
        && let (path, Some(here)) = below(given, written)
    {
        return told(format!("there is no command `neco {path} {written}`. {here}"));
    }
    let written = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(written)) => written.clone(),
        _ => return error,
    };
    let words = match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = written.split('=').next().unwrap_or(&written);
            let theirs = elsewhere::flag(&written).map(|here| match elsewhere::values(name) {
                Some(values) => format!("{name} takes {values} here: {here}"),
                None => format!("there is no flag {name}: {here}"),
            });
            theirs.or_else(|| flag_of_a_run(name, given))
        }
        ErrorKind::InvalidValue if written.starts_with("--approval") => match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(value)) => elsewhere::approval(value),
            _ => None,
        },
        ErrorKind::InvalidValue if written.starts_with("--cwd") && given.iter().any(|word| word == "-C") => {
            Some("-C takes a folder; -c or --continue continues the last session".to_owned())
        }
        _ => None,
    };
    if let Some(words) = words {
        return told(words);
    }
    if error.kind() == ErrorKind::UnknownArgument {
        take_back_tip(&mut error, &written);
        if let Some(meant) = nearest_flag(&written, given) {
            error.insert(ContextKind::SuggestedArg, ContextValue::String(meant));
        }
    }
    error
}

/// Takes back the tip how a word is passed as a value: what looks like a flag is hardly meant so.
fn take_back_tip(error: &mut clap::Error, written: &str) {
    if written.contains(char::is_whitespace) {
        return;
    }
    if let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested) {
        let others: Vec<_> = tips.into_iter().filter(|tip| !tip.to_string().starts_with("to pass ")).collect();
        if !others.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(others));
        }
    }
}

/// The command that words name, and what comes close to what is written behind it and is none of its own.
fn below(words: &[OsString], written: &str) -> (String, Option<&'static str>) {
    let path = named_command(words).0;
    let here = elsewhere::subcommand(&path, written);
    (path, here)
}

/// What is said of a flag of a run behind a subcommand that does not take it.
fn flag_of_a_run(name: &str, words: &[OsString]) -> Option<String> {
    let path = Some(named_command(words).0).filter(|path| !path.is_empty())?;
    let is_written_so = |arg: &clap::Arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long_and_visible_aliases().unwrap_or_default().contains(&long),
        None => arg.get_short().is_some_and(|short| name == format!("-{short}")),
    };
    let is_ours = CommandLine::command().get_arguments().any(is_written_so);
    is_ours.then(|| format!("`neco {path}` takes no {name}; `neco {path} --help` lists what it takes"))
}

/// A sentence in place of an answer: how a command line is written would only hide it.
pub fn told(words: String) -> clap::Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, format!("{words}\n"))
}

/// The subcommand that words name, and how it is written.
fn named_command(words: &[OsString]) -> (String, Command) {
    let (mut path, mut command) = (Vec::new(), CommandLine::command());
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(found) = command.find_subcommand(word).cloned() {
            path.push(found.get_name().to_owned());
            command = found;
        }
    }
    (path.join(" "), command)
}

/// The flag that was probably meant, of those that the command takes.
fn nearest_flag(written: &str, words: &[OsString]) -> Option<String> {
    let name = written.split('=').next().unwrap_or(written).strip_prefix("--")?;
    let whole = CommandLine::command();
    let (_, command) = named_command(words);
    let takes = || command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long);
    let global = whole.get_arguments().filter(|arg| arg.is_global_set()).filter_map(clap::Arg::get_long);
    nearest(name, takes().chain(global)).map(|meant| format!("--{meant}"))
}
