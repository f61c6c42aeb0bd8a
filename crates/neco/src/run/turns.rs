//! `--input-format stream-json`: every line of stdin is a message, and they are answered one after the other in one session.

use std::io::BufRead;

use neco_config::Env;
use serde_json::Value;

use super::request::{Process, attempt};
use crate::args::{EverywhereArgs, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// Answers every message of stdin until there are no more, or one is not answered.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if args.message().is_some() {
        return Err(Failure::usage("with --input-format stream-json messages come from stdin alone")
            .hint("Leave the message out, or --input-format."));
    }
    let mut process = None;
    let ended = answer(args, everywhere, env, &mut process);
    Process::stop(process, ended)
}

fn answer(
    args: &RunArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
    process: &mut Option<Process>,
) -> Result<Exit, Failure> {
    let mut args = args.clone();
    let mut exit = None;
    for (line, number) in std::io::stdin().lock().lines().zip(1..) {
        let line = line.map_err(|error| Failure::usage(format!("stdin can't be read: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        args.message = Some(message(number, &line)?);
        let ended = attempt(&args, everywhere, env, process)?;
        exit = Some(ended);
        if !matches!(ended, Exit::Done | Exit::Refused) {
            break;
        }
        // What was given with the first message is known to the session, which works where it began.
        (args.files, args.images, args.worktree) = (Vec::new(), Vec::new(), None);
        if let Some(session) = process.as_ref().and_then(|process| process.session) {
            (args.session, args.continue_latest) = (Some(session.to_string()), false);
        }
    }
    exit.ok_or_else(|| {
        Failure::usage("stdin has no message").hint("A line is {\"type\": \"user_message\", \"content\": \"…\"}.")
    })
}

/// The words of a line: as Claude Code takes them, or as a command of ours.
fn message(number: usize, line: &str) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::usage(format!("line {number} of stdin {why}"));
    let value: Value = serde_json::from_str(line).map_err(|error| wrong(&format!("is not JSON: {error}")))?;
    let content = match value["type"].as_str() {
        Some("user") => &value["message"]["content"],
        Some("user_message") => &value["content"],
        _ => return Err(wrong("is not a message: its type is neither `user` nor `user_message`")),
    };
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
            texts.ok_or_else(|| wrong("has content that is not text"))?.join("\n")
        }
        _ => String::new(),
    };
    if text.trim().is_empty() { Err(wrong("has no text")) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_in_both_forms() {
        for line in [
            r#"{"type":"user","message":{"role":"user","content":"hi"}}"#,
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#,
            r#"{"type":"user_message","content":"hi"}"#,
        ] {
            assert_eq!(message(1, line).unwrap(), "hi");
        }
        for line in ["hi", "{}", r#"{"type":"user"}"#, r#"{"type":"user","message":{"content":[{"type":"image"}]}}"#] {
            assert!(message(1, line).is_err(), "{line}");
        }
    }
}
