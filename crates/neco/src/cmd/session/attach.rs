//! `neco session attach`: watches a session that another process has open.

use neco_config::Env;
use neco_store::SessionRecord;

use crate::args::OutputFormat;
use crate::ask::Tty;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::attach::Which;
use crate::run::guest;
use crate::run::request::take_seat;
use crate::short_id::short_id;
use crate::terminal::is_unattended;

/// Watches the session until it is closed, and answers what is asked. `None` when no process has it open.
///
/// # Errors
/// When a process has it open and can't be talked to.
pub fn watch(which: Which<'_>, format: OutputFormat, env: &Env) -> Result<Option<Exit>, Failure> {
    let runtime = compose::runtime()?;
    let Some(begun) = runtime.block_on(guest::begin(which, env, None))? else { return Ok(None) };
    let tty = (format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let seat = take_seat(format, env, tty, begun.folder(), begun.id());
    let seen = guest::follow(&runtime, begun, seat);
    runtime.shutdown_background();
    seen.map(Some)
}

/// That there is nothing to watch.
#[must_use]
pub fn not_open(record: &SessionRecord) -> Failure {
    let id = short_id(record.id);
    Failure::usage(format!("no process has session {id} open"))
        .hint(format!("`neco session show {id}` shows what was said; `neco --session {id} -m \"…\"` goes on with it."))
}
