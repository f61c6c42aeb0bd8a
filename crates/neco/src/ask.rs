//! Asking a person on the terminal, with what the environment says of them.

use std::path::PathBuf;

use neco_config::Env;
use neco_proto::app::trust::{FolderTrust, TrustAnswer};
use neco_tui::line::Person;
pub use neco_tui::line::ask::*;

use crate::signals::Signal;
use crate::terminal;

/// Who is asked over `channel` about what is done in `folder`.
pub fn person(channel: Channel, folder: PathBuf, env: &Env) -> Person {
    let terminal = terminal::look_at(env);
    let paint = match &channel {
        Channel::Terminal(_) => terminal.paint(),
        Channel::Lines(_) => terminal.stdout_paint(),
    };
    let place = question::Place { paint, width: terminal.width, rows: terminal.rows, folder };
    Person { channel, place, programs: programs(env) }
}

/// The programs that the person wants.
pub fn programs(env: &Env) -> editor::Programs {
    editor::Programs::wanted(|name| env.var_os(name), env.find_program("less").is_some())
}

/// Asks whether what is told of is to be trusted, or which parts of it; nothing when nobody can be read.
///
/// # Errors
/// When the person wants to leave instead.
pub fn trusts(tty: &Tty, told: &FolderTrust, env: &Env) -> Result<Option<TrustAnswer>, Signal> {
    let kept = env.shown(&env.config_dir().join(neco_safety::trust::TRUST_FILE));
    trust::answer(tty, told, &kept)
}
