//! `neco session rewind`: what would change, a question, and the way back.

use jiff::Timestamp;
use neco_proto::app::history::{
    AgreedTo, ListRewindPoints, PreviewRewind, RewindOutlook, RewindSession, RewindTo, RewoundSession,
};
use neco_proto::event::RewindWhat;
use neco_proto::{Answer, Client, Command, Query, RewindKind, RewindPreview};
use neco_session::SessionError;
use neco_session::rewind::RewindError;
use neco_view::paint::lists::history;
use neco_view::wording::place;
use serde_json::{Value, json};

use super::args::RewindArgs;
use super::desk::Desk;
use crate::cmd::confirm::{agrees, person};
use crate::cmd::program::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::attach::{self, Which};
use crate::say;

/// Goes back in a session, or lists what can be gone back to.
pub(super) async fn run(args: &RewindArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let session = desk.named(args.id.as_deref()).await?.id.to_string();
    let to = match &args.to {
        _ if args.undo => RewindTo::Undo,
        _ if args.redo => RewindTo::Redo,
        Some(point) => RewindTo::Point { point: point.clone(), what: what(args) },
        None => {
            let found = desk.ask(&ListRewindPoints { session }).await?;
            let value = json!({ "session_id": found.session_id, "messages": found.messages });
            return print(args.json, &value, || history::points(&found, Timestamp::now(), desk.width()));
        }
    };
    let folder = desk.folder(true)?;
    let request = PreviewRewind { session, folder: folder.clone(), to: to.clone() };
    let outlook = desk.ask(&request).await?;
    outlook.place.iter().for_each(|note| say::note(&place::words(note)));
    let RewindOutlook { session, preview, .. } = &outlook;
    let shown = history::preview(&outlook, &folder, desk.width());
    if args.dry_run || outlook.is_nothing {
        let nothing = if outlook.is_nothing { "nothing would change\n" } else { "" };
        return print(args.json, &as_json(&outlook, None), || format!("{shown}{nothing}"));
    }
    let agreed = match (args.others, args.yes) {
        (true, _) => AgreedTo::Anything,
        (false, true) => AgreedTo::Nothing,
        (false, false) => agreed_to(preview),
    };
    let question = if outlook.undoes.is_some() { "Undo the rewind?" } else { "Rewind?" };
    let instead = "--yes rewinds without asking; --dry-run only shows what would change.";
    if !args.yes && !agrees(person(desk.env), &shown, question, instead)? {
        say::out("nothing was changed\n")?;
        return Ok(Exit::Refused);
    }
    let id = session.id.to_string();
    let went = match attach::find(Which::Id(&id), desk.env).await? {
        Some(open) => {
            tell(open.client.as_ref(), &outlook, &command(preview, args), &agreed).await?;
            None
        }
        None => {
            let request = RewindSession { session: id, folder, to, agreed, last_seq: outlook.last_seq };
            Some(desk.ask(&request).await?)
        }
    };
    // Who was asked has it on the screen.
    let shown = if args.yes { shown.replacen(" would change:", " changed:", 1) } else { String::new() };
    let value = as_json(&outlook, Some(went.as_ref()));
    print(args.json, &value, || format!("{shown}{}", history::done(&outlook, &went.unwrap_or_default())))
}

/// What a person agrees to who was shown `preview`.
fn agreed_to(preview: &RewindPreview) -> AgreedTo {
    let files = preview.files.iter().filter(|file| file.by_others).map(|file| file.path.clone()).collect();
    AgreedTo::Files { files }
}

/// The same in a session that another process has open, if it stands as it was looked at here.
async fn tell(open: &dyn Client, outlook: &RewindOutlook, command: &Command, agreed: &AgreedTo) -> Result<(), Failure> {
    let Answer::Snapshot(snapshot) = open.ask(Query::Snapshot).await? else {
        return Err(Failure::new(Exit::Failed, "the session does not answer"));
    };
    if snapshot.last_seq != outlook.last_seq {
        return Err(SessionError::GoneOn(snapshot.session_id).into());
    }
    let preview = &outlook.preview;
    // What it would do there is looked at once more, and noted there as shown: what came since refuses it.
    let query = match command {
        Command::UndoRewind => Query::UndoPreview,
        Command::RedoRewind => Query::RedoPreview,
        Command::RestoreCheckpoint { rev } => Query::CheckpointPreview { rev: rev.clone() },
        _ => Query::RewindPreview { message_id: preview.message_id, what: preview.what },
    };
    let Answer::RewindPreview(now) = open.ask(query).await? else {
        return Err(Failure::new(Exit::Failed, "the session does not answer"));
    };
    let covers = |path: &String| match agreed {
        AgreedTo::Nothing => false,
        AgreedTo::Files { files } => files.contains(path),
        AgreedTo::Anything => true,
    };
    if let Some(file) = now.files.iter().find(|file| file.by_others && !covers(&file.path)) {
        let words = format!("{} was changed since by you or another program", file.path);
        return Err(SessionError::from(RewindError::ByOthers(words)).into());
    }
    if now.messages != preview.messages {
        return Err(SessionError::GoneOn(snapshot.session_id).into());
    }
    Ok(open.send(command.clone()).await.map(drop)?)
}

/// The same for a session that another process has open.
fn command(preview: &RewindPreview, args: &RewindArgs) -> Command {
    match &preview.rev {
        _ if args.undo => Command::UndoRewind,
        _ if args.redo => Command::RedoRewind,
        Some(rev) if preview.kind == RewindKind::Checkpoint => Command::RestoreCheckpoint { rev: rev.clone() },
        Some(_) | None => Command::Rewind { message_id: preview.message_id, what: preview.what },
    }
}

fn what(args: &RewindArgs) -> RewindWhat {
    match (args.conversation, args.files) {
        (true, _) => RewindWhat::Conversation,
        (false, true) => RewindWhat::Files,
        (false, false) => RewindWhat::Both,
    }
}

/// `went` says what was done; what another process did is not known here.
fn as_json(outlook: &RewindOutlook, went: Option<Option<&RewoundSession>>) -> Value {
    let done = went.map(|went| match went {
        Some(went) => json!({ "changes": went.changes, "kept": went.kept }),
        None => json!({ "elsewhere": true }),
    });
    let RewindOutlook { preview, undoes, .. } = outlook;
    json!({ "preview": preview, "again": preview.again, "undoes": undoes, "done": done })
}
