//! A message that begins with `# `: it is remembered, and no model is asked.

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::memory::{KeepNote, Kept, KeptNote};
use neco_proto::{Event, EventBody};
use neco_session::memory::to_remember;
use neco_view::paint::lists::memory::kept_json;
use serde_json::json;

use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::cmd::program::{ask_once, folder};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Remembers a message that asks for it and says where; nothing for any other message. Neither a model nor
/// a session is needed.
pub fn remember(text: &str, args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Option<Exit>, Failure> {
    let is_note = to_remember(text).is_some() && args.images.is_empty() && args.files.is_empty();
    let Some(line) = text.trim().strip_prefix('#').filter(|_| is_note) else {
        return match text.starts_with('#') && text.trim_matches(['#', ' ', '\n']).is_empty() {
            true => Err(Failure::usage("nothing to remember: the text after # is empty")),
            false => Ok(None),
        };
    };
    let request = KeepNote { folder: folder(everywhere)?, text: line.trim().to_owned() };
    let KeptNote { kept, words } = ask_once(&request, everywhere, env).map_err(|failure| match failure.exit {
        Exit::Usage => failure.hint("No model was asked. To ask one about a heading, put a word before the #."),
        _ => failure,
    })?;
    say::out(&match args.output_format {
        OutputFormat::Text => format!("{words}\n"),
        OutputFormat::Json | OutputFormat::ClaudeStreamJson => report(&kept, &words),
        OutputFormat::StreamJson => {
            let event = kept.event().and_then(|update| no_session(EventBody::MemoryUpdate(update)));
            event.and_then(|event| serde_json::to_string(&event).ok()).map(|line| line + "\n").unwrap_or_default()
        }
    })?;
    Ok(Some(Exit::Done))
}

/// An event like any other, of a session that is not there: its ids are nothing but zeros.
fn no_session(body: EventBody) -> Option<Event> {
    const NOBODY: &str = "00000000-0000-0000-0000-000000000000";
    let (session, agent) = (NOBODY.parse().ok()?, NOBODY.parse().ok()?);
    Some(Event::new(1, Timestamp::now(), session, agent, None, body))
}

/// The object of a run that asked no model.
fn report(kept: &Kept, words: &str) -> String {
    let value = json!({
        "result": words,
        "is_error": false,
        "exit_code": Exit::Done.number(),
        "session_id": null,
        "num_turns": 0,
        "memory": kept_json(kept),
    });
    format!("{value}\n")
}
