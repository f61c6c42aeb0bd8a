//! A message that begins with `# `: it is remembered, and no model is asked.

use jiff::Timestamp;
use neco_config::{Env, LoadOptions};
use neco_proto::app::memory::Kept;
use neco_proto::{Event, EventBody};
use neco_session::memory::{kept_words, to_remember};
use serde_json::json;

use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::cmd;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Remembers a message that asks for it and says where; nothing for any other message. Neither a model nor
/// a session is needed.
pub fn remember(text: &str, args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Option<Exit>, Failure> {
    let Some(new) = to_remember(text).filter(|_| args.images.is_empty() && args.files.is_empty()) else {
        return if text.trim_matches(['#', ' ', '\n']).is_empty() && text.starts_with('#') {
            Err(Failure::usage("nothing to remember: the text after # is empty"))
        } else {
            Ok(None)
        };
    };
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    if !loaded.config.memory.enabled {
        let words = "nothing was remembered: there is no memory (memory.enabled = false), and no model was asked";
        return Err(Failure::usage(words).hint("To ask a model about a heading, put a word before the #."));
    }
    let kept = cmd::memory::note(new, everywhere, env)?;
    say::out(&match args.output_format {
        OutputFormat::Text => format!("{}\n", kept_words(&kept)),
        OutputFormat::Json | OutputFormat::ClaudeStreamJson => report(&kept),
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
fn report(kept: &Kept) -> String {
    let value = json!({
        "result": kept_words(kept),
        "is_error": false,
        "exit_code": Exit::Done.number(),
        "session_id": null,
        "num_turns": 0,
        "memory": cmd::memory::value(kept),
    });
    format!("{value}\n")
}
