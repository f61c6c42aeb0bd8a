//! Removing sessions: some that are named, or all that are old.

use jiff::Timestamp;
use neco_proto::app::sessions::{
    ListSessions, MeasureKept, PruneSessions, RemoveSessions, RemovedSessions, SessionPage, SessionRow,
};
use neco_proto::app::{AppError, Trouble};
use neco_view::paint::lists::room::Room;
use neco_view::paint::lists::sessions::{Shape, as_lines, title};
use serde_json::json;

use super::args::PruneArgs;
use super::desk::Desk;
use crate::args::JsonArg;
use crate::cmd::confirm::{agrees, person};
use crate::cmd::program::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::figures;
use crate::run::worktree;
use crate::say;
use crate::short_id::short_id;

/// Most sessions that are named with a failure.
const NAMED: usize = 10;

/// Removes sessions, after asking. All of them must be there: half of what was asked is not done.
pub(super) async fn rm(ids: &[String], yes: bool, json: JsonArg, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let request = RemoveSessions { sessions: ids.to_vec(), dry_run: false };
    if !yes {
        let wanted = desk.ask(&RemoveSessions { dry_run: true, ..request.clone() }).await?.sessions;
        if !agreed(&wanted, "?", desk).await? {
            say::out("nothing was deleted\n")?;
            return Ok(Exit::Refused);
        }
    }
    let removed = desk.ask(&request).await.map_err(in_use)?;
    if let Some(error) = removed.stopped_by {
        return Err(stopped(&removed.sessions, in_use(error)));
    }
    tell(&removed, "about ", json, "deleted")?;
    if !json.json {
        say::out("their checkpoints stay until `neco session prune --older-than …` deletes them\n")?;
    }
    Ok(Exit::Done)
}

/// What is open is not removed, and what goes on with it has its own way.
fn in_use(error: AppError) -> Failure {
    let open = error.session.filter(|_| error.trouble == Trouble::InUse);
    let failure = Failure::from(error);
    match open {
        Some(id) => {
            failure.hint(format!("Nothing was deleted. `neco session attach {}` shows what it does.", short_id(id)))
        }
        None => failure,
    }
}

/// What went before something failed is told with it.
fn stopped(gone: &[SessionRow], failure: Failure) -> Failure {
    if gone.is_empty() {
        return failure;
    }
    let names: Vec<String> = gone
        .iter()
        .take(NAMED)
        .map(|session| format!("{} {}", short_id(session.id), title(&session.title, session.forked_from.is_some())))
        .collect();
    let more = if gone.len() > NAMED { ", …" } else { "" };
    let removed = figures::count(gone.len() as u64, "session");
    let message = format!("{removed} deleted ({}{more}), then: {}", names.join(", "), failure.message);
    Failure { message, ..failure }
}

/// Removes sessions that nobody used for long, after asking.
pub(super) async fn prune(args: &PruneArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let folder = desk.folder(args.here)?;
    if args.older_than.is_none() && args.keep.is_none() {
        return report(args, folder, desk).await;
    }
    let request = PruneSessions {
        folder,
        here: args.here,
        unused_since: args.older_than,
        keep: args.keep,
        only: None,
        dry_run: false,
    };
    let wanted = desk.ask(&PruneSessions { dry_run: true, ..request.clone() }).await?;
    if args.dry_run {
        if !args.json.json && !wanted.sessions.is_empty() {
            say::out(&shown(&wanted.sessions, desk).await?)?;
        }
        return tell(&wanted, "about ", args.json, "would be deleted");
    }
    if !args.yes && !wanted.sessions.is_empty() {
        let days = wanted.keep_days;
        let question = format!("? (checkpoints older than {days} days are deleted too)");
        if !agreed(&wanted.sessions, &question, desk).await? {
            say::out("nothing was deleted\n")?;
            return Ok(Exit::Refused);
        }
    }
    let only = Some(wanted.sessions.iter().map(|session| session.id).collect());
    let ids = desk.short_ids().await?;
    let pruned = desk.ask(&PruneSessions { only, ..request }).await.map_err(in_use)?;
    pruned.worktrees.iter().for_each(|tree| say::note(&worktree::removed(tree)));
    if args.yes && !args.json.json && !pruned.sessions.is_empty() {
        say::out(&as_lines(&pruned.sessions, &ids, &shape(desk)))?;
    }
    if let Some(error) = pruned.stopped_by {
        return Err(stopped(&pruned.sessions, in_use(error)));
    }
    tell(&pruned, "", args.json, "deleted")
}

/// What there is, when nobody said what may go: the oldest, the biggest, and how to say it.
async fn report(args: &PruneArgs, folder: String, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let how = "Say which ones: --older-than 90d, --keep 20 (the newest of each folder stay), or both; --here takes \
        only those of this folder, --dry-run only shows what would be deleted.";
    if args.yes {
        return Err(Failure::usage("say which sessions are to be deleted").hint(how));
    }
    let here = args.here.then(|| folder.clone());
    let request = ListSessions { folder: here, limit: usize::MAX >> 1, sizes: true, ..ListSessions::default() };
    let SessionPage { sessions, above, .. } = desk.ask(&request).await?;
    let all = if above.is_some() { Vec::new() } else { sessions };
    if args.json.json {
        return print(args.json, &all, String::new);
    }
    let kept = desk.ask(&MeasureKept { folder }).await?;
    let worktrees: Vec<String> = kept.worktrees.iter().map(worktree::listed).collect();
    let room = Room { sessions: all, here: args.here, kept: &kept, worktrees };
    say::out(&room.into_lines(&desk.short_ids().await?, &shape(desk)))?;
    say::lines(&format!("\n{how} `neco session rm ID` deletes a single one.\n"), 0)?;
    Ok(Exit::Done)
}

async fn agreed(sessions: &[SessionRow], how: &str, desk: &Desk<'_>) -> Result<bool, Failure> {
    let these = if sessions.len() == 1 { "it" } else { "them" };
    let question = format!("Delete {these}{how}");
    agrees(person(desk.env), &shown(sessions, desk).await?, &question, "--yes deletes without asking.")
}

async fn shown(sessions: &[SessionRow], desk: &Desk<'_>) -> Result<String, Failure> {
    Ok(as_lines(sessions, &desk.short_ids().await?, &shape(desk)))
}

fn shape<'a>(desk: &'a Desk<'_>) -> Shape<'a> {
    Shape { all: true, home: desk.env.home(), now: Timestamp::now(), width: desk.width(), sizes: true }
}

/// Says how many went and how much room that makes, which is by how much smaller the files are, or `about` what goes.
fn tell(removed: &RemovedSessions, about: &str, json: JsonArg, done: &str) -> Result<Exit, Failure> {
    let RemovedSessions { sessions, freed_bytes: bytes, .. } = removed;
    let ids: Vec<_> = sessions.iter().map(|session| session.id).collect();
    print(json, &json!({ "sessions": ids, "freed_bytes": bytes, "what": done }), || {
        let freed = if *bytes == 0 { String::new() } else { format!(", {about}{} freed", figures::bytes(*bytes)) };
        format!("{} {done}{freed}\n", figures::count(sessions.len() as u64, "session"))
    })
}

#[cfg(test)]
mod tests {
    use neco_app::disk;
    use neco_app::sessions::row;
    use neco_proto::SessionId;
    use neco_store::SessionRecord;

    use super::*;

    #[test]
    fn what_went_before_something_failed_is_told_with_it() {
        let failed = || Failure::new(Exit::Failed, "the disk is full").hint(disk::NO_ROOM);
        assert_eq!(stopped(&[], failed()), failed());
        let gone: Vec<SessionRow> = (0..12)
            .map(|number| {
                row(SessionRecord { title: format!("number {number}"), ..SessionRecord::new(SessionId::new(), "/", 0) })
            })
            .collect();
        let told = stopped(&gone, failed());
        assert!(
            told.message.starts_with("12 sessions deleted (") && told.message.ends_with(", …), then: the disk is full")
        );
        assert!(told.message.contains("number 9") && !told.message.contains("number 10"), "{told}");
        assert_eq!((told.exit, told.hint.as_deref()), (Exit::Failed, Some(disk::NO_ROOM)));
    }
}
