//! Finding the process that has a session open.

use std::path::Path;

use neco_app::other_processes::{self, Attached};
use neco_config::Env;
use neco_proto::ClientError;
use neco_proto::app::opening::WhichSession;
use neco_store::SessionRecord;
use neco_tui::line::run::attached::{Begun, CLOSING, PAUSE};

use super::opener::TerminalOpener;
use crate::args::RunArgs;
use crate::failure::Failure;

/// The session that is meant and the way to it, should another process have it open.
pub async fn find(
    which: &WhichSession,
    folder: &Path,
    env: &Env,
) -> Result<Option<(Attached, SessionRecord)>, Failure> {
    let opener = TerminalOpener::new(env, false, false);
    Ok(other_processes::find(which, folder, env.data_dir(), &opener).await?)
}

/// The session, if a process has it open for long enough to be watched.
pub async fn begin(which: &WhichSession, folder: &Path, env: &Env) -> Result<Option<Begun>, Failure> {
    let mut closing = 0;
    while let Some((Attached { client, owner }, record)) = find(which, folder, env).await? {
        match Begun::say(client, owner, (record.id, record.cwd), None).await {
            Ok(begun) => return Ok(Some(begun)),
            Err(ClientError::Gone) if closing < CLOSING => closing += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(None)
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
        ("--append-system-prompt", args.append_system_prompt.is_some()),
        ("--max-turns", args.max_turns.is_some()),
        ("--max-cost", args.max_cost.is_some()),
        ("--timeout", args.timeout.is_some()),
        ("--sandbox", args.box_args.sandbox.is_some()),
        ("--network", args.box_args.network),
    ];
    let names: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let words = "the session runs in another process, with its own settings";
    (!names.is_empty()).then(|| format!("Nothing changes here with {}: {words}", names.join(", ")))
}
