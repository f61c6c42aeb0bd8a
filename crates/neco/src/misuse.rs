//! Command lines that are well formed and yet hardly what was meant.

use clap::CommandFactory;

use crate::args::{CommandLine, RunArgs};

/// Words that are commands of other tools, and what does the same here. As a message they are too
/// short to be meant.
const ELSEWHERE: &[(&str, Option<&str>)] = &[
    ("list", Some("neco session list")),
    ("ls", Some("neco session list")),
    ("history", Some("neco session list")),
    ("resume", Some("neco session resume")),
    ("rewind", Some("neco session rewind")),
    ("undo", Some("neco session rewind ID --undo")),
    ("fork", Some("neco session fork")),
    ("search", Some("neco session search")),
    ("continue", Some("neco -m continue --continue")),
    ("login", Some("neco auth login")),
    ("logout", Some("neco auth remove")),
    ("models", Some("neco doctor")),
    ("providers", Some("neco doctor")),
    ("status", Some("neco doctor")),
    ("setup", Some("neco doctor")),
    ("configure", Some("neco config show")),
    ("version", Some("neco --version")),
    ("run", Some("neco -m \"…\"")),
    ("exec", Some("neco -m \"…\"")),
    ("chat", Some("neco -m \"…\"")),
    ("completion", None),
    ("completions", None),
    ("init", None),
    ("mcp", None),
    ("web", None),
    ("serve", None),
    ("server", None),
    ("acp", None),
    ("tui", Some("neco")),
    ("start", None),
    ("update", None),
    ("upgrade", None),
    ("install", None),
    ("uninstall", None),
];

/// What is wrong with a line without a subcommand although each part of it is fine.
#[must_use]
pub fn misuse(line: &CommandLine) -> Option<String> {
    let words = line.run.words.join(" ");
    if let Some(message) = &line.run.message {
        let whole = format!("{message} {words}");
        return (!words.is_empty()).then(|| format!("quote the message: neco -m \"{whole}\""));
    }
    let as_message = format!("As a message it is written neco -m \"{words}\"");
    if let Some((written, meant)) = misspelt_subcommand(&line.run) {
        return Some(format!("there is no subcommand `{written}`; did you mean `{meant}`? {as_message}"));
    }
    let (word, instead) = command_elsewhere(&line.run)?;
    let instead = instead.map(|instead| format!(" `{instead}` comes close.")).unwrap_or_default();
    Some(format!("there is no subcommand `{word}`.{instead} {as_message}"))
}

/// The subcommand that a bare word was probably meant to be. Only short lines are doubted: a
/// sentence is a message.
fn misspelt_subcommand(run: &RunArgs) -> Option<(String, String)> {
    let first = run.words.first().filter(|_| run.words.len() <= 3)?;
    let likely = |name: &str| {
        let distance = strsim::damerau_levenshtein(first, name);
        0 < distance && distance <= if name.len() > 5 { 2 } else { 1 }
    };
    let command = CommandLine::command();
    let meant = command.get_subcommands().map(clap::Command::get_name).find(|name| likely(name))?;
    Some((first.clone(), meant.to_owned()))
}

fn command_elsewhere(run: &RunArgs) -> Option<(&str, Option<&'static str>)> {
    let [word] = run.words.as_slice() else { return None };
    let (_, instead) = ELSEWHERE.iter().find(|(name, _)| name == word)?;
    Some((word, *instead))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn misused(line: &[&str]) -> Option<String> {
        misuse(&CommandLine::try_parse_from([&["neco"], line].concat()).unwrap())
    }

    fn meant(line: &[&str]) -> Option<String> {
        let line = CommandLine::try_parse_from([&["neco"], line].concat()).unwrap();
        misspelt_subcommand(&line.run).map(|(_, meant)| meant)
    }

    #[test]
    fn a_misspelt_subcommand_is_not_taken_for_a_message() {
        assert!(misused(&["sesion", "list"]).unwrap().contains("neco -m \"sesion list\""));
        assert_eq!(meant(&["sesion", "list"]).as_deref(), Some("session"));
        assert_eq!(meant(&["doctr"]).as_deref(), Some("doctor"));
        assert_eq!(meant(&["demi"]).as_deref(), Some("demo"));
        assert_eq!(meant(&["fix", "the", "test"]), None);
        assert_eq!(meant(&["sesion is a word that I misspelt"]), None);
        assert_eq!(meant(&["section", "three", "needs", "work"]), None);
    }

    #[test]
    fn a_command_of_another_tool_is_not_taken_for_a_message() {
        assert!(misused(&["list"]).unwrap().contains("`neco session list` comes close"));
        assert!(misused(&["completions"]).unwrap().contains("there is no subcommand `completions`"));
        for message in [&["list", "the", "files"][..], &["explain"], &["-"], &["list all sessions"]] {
            assert_eq!(misused(message), None, "{message:?}");
        }
    }

    #[test]
    fn no_word_is_a_command_here() {
        for name in CommandLine::command().get_subcommands().map(clap::Command::get_name) {
            assert!(!ELSEWHERE.iter().any(|(word, _)| *word == name), "{name}");
        }
    }

    #[test]
    fn a_message_without_quotes_is_told() {
        assert_eq!(misused(&["-m", "hi", "there"]).unwrap(), "quote the message: neco -m \"hi there\"");
    }
}
