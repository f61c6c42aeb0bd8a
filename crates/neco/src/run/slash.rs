//! A request that begins with a slash: a command of the person's own becomes what it says, and one of the window is not
//! taken for a message.

use neco_config::Env;
use neco_proto::app::commands::{ExpandCommand, ListCommands};
use neco_view::slash::{self, Outside, Slash};
use neco_view::wording::prompts;

use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder};
use crate::failure::Failure;

/// What the agent is told where `text` is written.
///
/// # Errors
/// When it is a command of the window, or one of the person's own that can't be used.
pub fn spelt_out(text: String, everywhere: &EverywhereArgs, env: &Env) -> Result<String, Failure> {
    let Some(rest) = text.trim().strip_prefix('/') else { return Ok(text) };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, argument) = (name.to_owned(), argument.trim().to_owned());
    if slash::is_known(&text) {
        return match slash::parse(&text, &[]) {
            Ok(Slash::Outside(Outside::Init, what)) => Ok(prompts::init(&what)),
            Ok(Slash::Outside(Outside::Review, what)) => Ok(prompts::review(&what)),
            // A path or a sentence that happens to begin with the name of a command has more behind it.
            Err(_) if !argument.is_empty() => Ok(text),
            Ok(_) | Err(_) => {
                Err(Failure::usage(format!("/{name} is a command of the window; the model was not asked"))
                    .hint("`neco` opens the window; `neco --help` lists what the command line can do."))
            }
        };
    }
    let folder = folder(everywhere)?;
    let own = ask(&ListCommands { folder: folder.clone() }, everywhere, env)?.commands;
    match own.iter().any(|command| command.name == name) {
        true => Ok(ask(&ExpandCommand { folder, name, argument }, everywhere, env)?.text),
        false => Ok(text),
    }
}
