//! Command lines that are well formed and yet hardly what was meant.

use std::path::Path;

use clap::CommandFactory;

use crate::args::{CommandLine, RunArgs};
use crate::elsewhere;

/// Names of formats, which elsewhere stand behind `-o`.
const FORMATS: &[&str] = &["text", "json", "stream-json"];

/// What is wrong with a request although each part of it is fine.
pub fn misuse(run: &RunArgs) -> Option<String> {
    let words = run.words.join(" ");
    if let Some(format) = run.output.as_ref().and_then(|file| file.to_str()).filter(|file| FORMATS.contains(file)) {
        return Some(format!(
            "-o names a file: --output-format {format} is the format, and a file of that name is -o ./{format}"
        ));
    }
    if let Some(model) = run.message.as_ref().filter(|message| elsewhere::is_model(message)) {
        let said = if words.is_empty() { String::new() } else { format!(" \"{words}\"") };
        let of = if model.contains('/') { "" } else { "PROVIDER/" };
        return Some(format!(
            "-m is the message here, and `{model}` reads like a model: neco --model {of}{model}{said} (`neco model \
             list` has the names). As a message it is written neco -p \"{model}\""
        ));
    }
    if let Some(message) = &run.message {
        let whole = format!("{message} {words}");
        return (!words.is_empty()).then(|| format!("quote the message: neco -m \"{whole}\""));
    }
    // Who says that a request is meant, or which session it is for, is not doubted.
    if run.print || run.continue_latest || run.session.is_some() {
        return None;
    }
    let as_message = format!("As a message it is written neco -m \"{words}\"");
    if let (Some(instead), Some(first)) = (elsewhere::command(&run.words), run.words.first()) {
        return Some(format!("there is no command `{first}`. {instead} {as_message}"));
    }
    if let Some((written, meant)) = misspelt_subcommand(run) {
        return Some(format!("there is no command `{written}`; did you mean `neco {meant}`? {as_message}"));
    }
    let [word] = run.words.as_slice() else { return None };
    let path = Path::new(word);
    if path.is_dir() {
        return Some(format!("`{word}` is a folder: neco -C {word} works there. {as_message}"));
    }
    // A command of the window begins with a slash, too, and is no file.
    if path.is_file() {
        return Some(format!("`{word}` is a file: neco --file {word} -m \"…\" shows it to the model. {as_message}"));
    }
    reads_as_command(word).then(|| format!("there is no command `{word}`. {as_message}"))
}

/// Whether a word could be the name of a command rather than something to say.
fn reads_as_command(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|char: char| char.is_ascii_alphabetic())
        && word.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'))
}

/// The subcommand that a bare word was probably meant to be. Only short lines are doubted: a
/// sentence is a message.
fn misspelt_subcommand(run: &RunArgs) -> Option<(String, String)> {
    // What begins with a slash is a command of the window.
    let first = run.words.first().filter(|word| run.words.len() <= 3 && !word.starts_with('/'))?;
    let likely = |name: &str| {
        let distance = strsim::damerau_levenshtein(first, name);
        0 < distance && distance <= if name.len() > 5 { 2 } else { 1 }
    };
    let command = CommandLine::command();
    let meant = command.get_subcommands().map(clap::Command::get_name).find(|name| likely(name))?;
    Some((first.clone(), meant.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn misused(line: &[&str]) -> Option<String> {
        misuse(&CommandLine::try_parse_from([&["neco"], line].concat()).unwrap().run)
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
        assert!(misused(&["extension", "add", "x"]).unwrap().contains("no command `extension`. `neco plugin add`"));
        assert!(misused(&["explain"]).unwrap().contains("there is no command `explain`. As a message"));
        for message in [&["list", "the", "files"][..], &["-"], &["list all sessions"], &["-p", "list"], &["为什么"]]
        {
            assert_eq!(misused(message), None, "{message:?}");
        }
    }

    #[test]
    fn a_single_word_is_not_sent_unasked() {
        assert!(misused(&["explain"]).unwrap().contains("neco -m \"explain\""));
        assert_eq!(misused(&["explain", "--continue"]), None, "it is said to a session that is named");
        assert_eq!(misused(&["explain!"]), None);
        assert_eq!(misused(&["/resume"]), None, "a command of the window");
    }

    #[test]
    fn a_folder_or_a_file_is_no_message() {
        assert!(misused(&["src"]).unwrap().contains("neco -C src works there"));
        assert!(misused(&["./src/main.rs"]).unwrap().contains("neco --file ./src/main.rs -m"));
        assert_eq!(misused(&["what is in src?"]), None);
    }

    #[test]
    fn a_model_is_no_message() {
        assert!(misused(&["-m", "gpt-5", "fix it"]).unwrap().contains("neco --model PROVIDER/gpt-5 \"fix it\""));
        assert!(misused(&["-m", "anthropic/claude-opus-4"]).unwrap().contains("neco -p"));
        for message in ["continue", "why does gpt-5 fail?", "src/main.rs", "opus, what is it?"] {
            assert_eq!(misused(&["-m", message]), None, "{message}");
        }
        assert_eq!(misused(&["-p", "gpt-5"]), None);
    }

    #[test]
    fn a_format_is_no_file() {
        assert!(misused(&["-p", "hi", "-o", "json"]).unwrap().contains("--output-format json"));
        assert_eq!(misused(&["-p", "hi", "-o", "./json"]), None);
    }

    #[test]
    fn a_message_without_quotes_is_told() {
        assert_eq!(misused(&["-m", "hi", "there"]).unwrap(), "quote the message: neco -m \"hi there\"");
    }
}
