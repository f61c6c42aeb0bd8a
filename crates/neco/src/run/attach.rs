//! Finding the process that has a session open.

use std::path::Path;
use std::sync::Arc;

use neco_app::other_processes::{self, any_open, look_up};
use neco_config::Env;
use neco_proto::Client;
use neco_proto::app::opening::WhichSession;
use neco_store::SessionRecord;

use super::opener::TerminalOpener;
use crate::args::RunArgs;
use crate::compose;
use crate::failure::Failure;

/// Which session is meant.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The one whose id begins so.
    Id(&'a str),
    /// The last one of this folder.
    Latest(&'a Path),
}

/// A session that another process has open.
pub struct Attached {
    /// The way to it.
    pub client: Arc<dyn Client>,
    /// The process.
    pub owner: u32,
    /// The session.
    pub record: SessionRecord,
}

/// Attaches to the session if another process has it open. `None` when nobody has, or when it is not
/// clear which one is meant: whoever opens it says so.
pub async fn find(which: Which<'_>, env: &Env) -> Result<Option<Attached>, Failure> {
    let data_dir = env.data_dir();
    // Most of the time nobody has any session open, and then nothing else is looked at.
    if !any_open(data_dir) {
        return Ok(None);
    }
    let (which, folder) = match which {
        Which::Id(id) => (WhichSession::Id(id.to_owned()), Path::new("")),
        Which::Latest(folder) => (WhichSession::Latest, folder),
    };
    let store = compose::open_store(data_dir).await?;
    let record = look_up(&which, folder, &store, data_dir).await;
    store.close().await?;
    let Some(record) = record? else { return Ok(None) };
    let attached = other_processes::attach(record.id, data_dir, &TerminalOpener::new(env, false, false)).await?;
    Ok(attached.map(|other_processes::Attached { client, owner }| Attached { client, owner, record }))
}

/// The flags that mean nothing for a session that runs already, as a note; nothing when there are none.
pub fn left_out(args: &RunArgs) -> Option<String> {
    let given = [
        ("--model", args.model.is_some()),
        ("--mode", args.mode.is_some()),
        ("--approval", args.approval.is_some()),
        ("--yes", args.yes),
        ("--gen", args.generation.is_some()),
        ("--tools", args.tools.is_some()),
        ("--max-turns", args.max_turns.is_some()),
        ("--max-cost", args.max_cost.is_some()),
        ("--timeout", args.timeout.is_some()),
        ("--sandbox", args.box_args.sandbox.is_some()),
        ("--network", args.box_args.network),
    ];
    let names: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let change = if names.len() == 1 { "changes" } else { "change" };
    let words = "nothing here: the session runs in another process, with what was given there";
    (!names.is_empty()).then(|| format!("{} {change} {words}", names.join(", ")))
}
