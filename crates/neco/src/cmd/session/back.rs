//! `neco session rewind`: what would change, a question, and the way back.

use jiff::Timestamp;
use neco_proto::app::history::{
    AgreedTo, ListRewindPoints, PreviewRewind, RewindOutlook, RewindSession, RewindTo, RewoundSession,
};
use neco_proto::event::RewindWhat;
use neco_view::paint::lists::history;
use neco_view::wording::place;
use serde_json::{Value, json};

use super::args::RewindArgs;
use super::desk::Desk;
use crate::cmd::confirm::{agrees, person};
use crate::cmd::program::print;
use crate::exit::Exit;
use crate::failure::Failure;
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
    let request = PreviewRewind { session, folder: folder.clone(), to: to.clone(), others: args.others };
    let outlook = desk.ask(&request).await?;
    outlook.place.iter().for_each(|note| say::note(&place::words(note)));
    let RewindOutlook { session, preview, .. } = &outlook;
    let shown = history::preview(&outlook, &folder, desk.width());
    if args.dry_run || outlook.is_nothing {
        let nothing = if outlook.is_nothing { "nothing would change\n" } else { "" };
        return print(args.json, &as_json(&outlook, None), || format!("{shown}{nothing}"));
    }
    let agreed = if args.others {
        AgreedTo::Anything
    } else {
        // What was shown is what is agreed to; `--yes` alone holds for no change of others.
        let asked = preview.files.iter().filter(|file| if file.by_others { !args.yes } else { file.unsure });
        AgreedTo::Files { files: asked.map(|file| file.path.clone()).collect() }
    };
    let question = if outlook.undoes.is_some() { "Undo the rewind?" } else { "Rewind?" };
    let instead = "--yes rewinds without asking; --dry-run only shows what would change.";
    if !args.yes && !agrees(person(desk.env), &shown, question, instead)? {
        say::out("nothing was changed\n")?;
        return Ok(Exit::Refused);
    }
    let request = RewindSession { session: session.id.to_string(), folder, to, agreed, last_seq: outlook.last_seq };
    let went = desk.ask(&request).await?;
    // Who was asked has it on the screen.
    let shown = if args.yes { shown.replacen(" would change:", " changed:", 1) } else { String::new() };
    print(args.json, &as_json(&outlook, Some(&went)), || format!("{shown}{}", history::done(&outlook, &went)))
}

fn what(args: &RewindArgs) -> RewindWhat {
    match (args.conversation, args.files) {
        (true, _) => RewindWhat::Conversation,
        (false, true) => RewindWhat::Files,
        (false, false) => RewindWhat::Both,
    }
}

/// `went` says what was done; what another process did is not known here.
fn as_json(outlook: &RewindOutlook, went: Option<&RewoundSession>) -> Value {
    let done = went.map(|went| match went.elsewhere {
        false => json!({ "changes": went.changes, "kept": went.kept }),
        true => json!({ "elsewhere": true }),
    });
    let RewindOutlook { preview, undoes, .. } = outlook;
    json!({ "preview": preview, "again": preview.again, "undoes": undoes, "done": done })
}
