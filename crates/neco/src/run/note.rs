//! A message that begins with `# `: it is remembered, and no model is asked.

use neco_config::{Env, LoadOptions};
use neco_proto::EventBody;
use neco_session::actor::kept_words;
use neco_session::memory::to_remember;

use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::cmd;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Remembers a message that asks for it and says where; nothing for any other message, or when there
/// is no memory. Neither a model nor a session is needed.
///
/// # Errors
/// When it can't be kept.
pub fn remember(text: &str, args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Option<Exit>, Failure> {
    let Some(new) = to_remember(text).filter(|_| args.images.is_empty()) else { return Ok(None) };
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    if !loaded.config.memory.enabled {
        return Ok(None);
    }
    let kept = cmd::memory::note(new, everywhere, env)?;
    say::out(&match args.output_format {
        OutputFormat::Text => format!("{}\n", kept_words(&kept)),
        OutputFormat::Json => cmd::memory::as_json(&kept),
        OutputFormat::StreamJson => {
            let line = kept.event().map(|update| serde_json::to_string(&EventBody::MemoryUpdate(update)));
            line.and_then(Result::ok).map(|line| line + "\n").unwrap_or_default()
        }
    })?;
    Ok(Some(Exit::Done))
}
