//! `neco session rewind`: what would change, a question, and the way back.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::app::history::{
    AgreedTo, ListRewindPoints, PreviewRewind, RewindOutlook, RewindPoints, RewindSession, RewindTo, RewoundSession,
};
use neco_proto::app::{App, Caller};
use neco_proto::event::{FileChangeKind, RewindWhat};
use neco_proto::{Answer, Client, Command, Query, RewindKind, RewindPoint, RewindPreview};
use neco_server::RemoteClient;
use neco_session::SessionError;
use neco_session::rewind::RewindError;
use neco_view::wording::place;
use serde_json::json;

use super::confirm::is_meant;
use super::desk::Desk;
use crate::cmd::when::ago;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::wrap::{columns, fitting, wrap};
use crate::run::attach::{self, Which};
use crate::say;
use crate::session_args::RewindArgs;
use crate::short_id::short_id;

/// Most files that are named.
const NAMED: usize = 40;

/// Goes back in a session, or lists what can be gone back to.
pub(super) async fn run(args: &RewindArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (app, person): (&dyn App, _) = (&desk.app(), Caller::person());
    let to = match &args.to {
        _ if args.undo => RewindTo::Undo,
        _ if args.redo => RewindTo::Redo,
        Some(point) => RewindTo::Point { point: point.clone(), what: what(args) },
        None => return list(&args.id, args.json, app, desk).await,
    };
    let (session, folder) = (args.id.clone(), desk.folder(true)?);
    let request = PreviewRewind { session, folder: folder.clone(), to: to.clone() };
    let outlook = app.ask(&person, &request).await?;
    outlook.place.iter().for_each(|note| say::note(&place::words(note)));
    let RewindOutlook { session, preview, .. } = &outlook;
    let shown = format!("{}{}", place_of(&outlook, &folder), shown(preview, desk.width()));
    if args.dry_run || outlook.is_nothing {
        let nothing = if outlook.is_nothing { "nothing would change\n" } else { "" };
        say::out(&if args.json { as_json(&outlook, None) } else { format!("{shown}{nothing}") })?;
        return Ok(Exit::Done);
    }
    let agreed = match (args.others, args.yes) {
        (true, _) => AgreedTo::Anything,
        (false, true) => AgreedTo::Nothing,
        (false, false) => agreed_to(preview),
    };
    let question = if outlook.undoes.is_some() { "Take it back?" } else { "Go back?" };
    let instead = "Pass --yes to go back without asking, or --dry-run to look first.";
    if !args.yes && !is_meant(&shown, question, instead, desk.env)? {
        say::out("nothing was changed\n")?;
        return Ok(Exit::Refused);
    }
    let id = session.id.to_string();
    let went = match attach::find(Which::Id(&id), desk.env).await? {
        Some(open) => {
            tell(&open.client, &outlook, &command(preview, args), &agreed).await?;
            None
        }
        None => {
            let request = RewindSession { session: id, folder, to, agreed, last_seq: outlook.last_seq };
            Some(app.ask(&person, &request).await?)
        }
    };
    // Who was asked has it on the screen.
    let shown = if args.yes { shown.replacen(" would change:", " changed:", 1) } else { String::new() };
    say::out(&match args.json {
        true => as_json(&outlook, Some(went.as_ref())),
        false => format!("{shown}{}", done(&outlook, &went.unwrap_or_default())),
    })?;
    Ok(Exit::Done)
}

/// What a person agrees to who was shown `preview`.
fn agreed_to(preview: &RewindPreview) -> AgreedTo {
    let files = preview.files.iter().filter(|file| file.by_others).map(|file| file.path.clone()).collect();
    AgreedTo::Files { files }
}

/// The same in a session that another process has open, if it stands as it was looked at here.
async fn tell(
    open: &RemoteClient,
    outlook: &RewindOutlook,
    command: &Command,
    agreed: &AgreedTo,
) -> Result<(), Failure> {
    let Answer::Snapshot(snapshot) = open.ask(Query::Snapshot).await? else {
        return Err(Failure::new(Exit::Failed, "the session does not say how it stands"));
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
        return Err(Failure::new(Exit::Failed, "the session does not say what would change"));
    };
    let covers = |path: &String| match agreed {
        AgreedTo::Nothing => false,
        AgreedTo::Files { files } => files.contains(path),
        AgreedTo::Anything => true,
    };
    if let Some(file) = now.files.iter().find(|file| file.by_others && !covers(&file.path)) {
        let words = format!("{} was changed since by somebody else", file.path);
        return Err(SessionError::from(RewindError::ByOthers(words)).into());
    }
    if now.messages != preview.messages {
        return Err(SessionError::GoneOn(snapshot.session_id).into());
    }
    Ok(open.send(command.clone()).await.map(drop)?)
}

/// Where files would change, when that is not where the person is.
fn place_of(outlook: &RewindOutlook, here: &str) -> String {
    let cwd = &outlook.session.cwd;
    let elsewhere = !outlook.preview.files.is_empty() && Path::new(cwd) != Path::new(here);
    if elsewhere { format!("in {}:\n", clean_line(cwd)) } else { String::new() }
}

fn done(outlook: &RewindOutlook, went: &RewoundSession) -> String {
    let new = went.kept.iter().filter(|words| !outlook.preview.notes.contains(words));
    let kept: String = new.map(|words| format!("! {}\n", clean_line(words))).collect();
    if outlook.is_mending {
        return format!("{kept}what was there before is back\n");
    }
    let is_undo = outlook.undoes.is_some() && outlook.preview.kind != RewindKind::Redo;
    let done = if outlook.undoes.is_some() { "taken back" } else { "gone back" };
    let back = if is_undo { "to take that back: neco session rewind" } else { "undo: neco session rewind" };
    let flag = if is_undo { "--redo" } else { "--undo" };
    format!("{kept}{done}; {back} {} {flag}\n", short_id(outlook.session.id))
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

/// The messages that can be gone back to.
async fn list(id: &str, json: bool, app: &dyn App, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let request = ListRewindPoints { session: id.to_owned() };
    let RewindPoints { session_id, messages, is_said } = app.ask(&Caller::person(), &request).await?;
    let id = short_id(session_id);
    let text = match json {
        true => format!("{:#}\n", json!({ "session_id": session_id, "messages": messages })),
        false if messages.is_empty() && is_said => {
            format!("everything that was said was gone back over: neco session rewind {id} --undo\n")
        }
        false if messages.is_empty() => "nothing was said in this session yet\n".to_owned(),
        false => {
            format!("{}\ngo back to before one: neco session rewind {id} --to N\n", points(&messages, desk.width()))
        }
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// One line for each message: its number, when, what came of it, what was said.
fn points(points: &[RewindPoint], width: usize) -> String {
    let now = Timestamp::now();
    let rows: Vec<[String; 3]> = points
        .iter()
        .map(|point| {
            let files = if point.files { " · files changed since" } else { "" };
            let facts =
                format!("{} · {}{files}", ago(point.ts.as_millisecond(), now), figures::count(point.calls, "call"));
            [point.number.to_string(), facts, clean_line(&point.text)]
        })
        .collect();
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or_default();
    let number = widest(0);
    let mut text = String::new();
    for [at, facts, said] in &rows {
        let words = fitting(said, width.saturating_sub(number + 2));
        let _ = writeln!(text, "{at:>number$}  {words}");
        let _ = writeln!(text, "{:number$}  {facts}", "");
    }
    text
}

/// What would change, for a person.
fn shown(preview: &RewindPreview, width: usize) -> String {
    let mut text = String::new();
    messages(&mut text, &preview.messages, "no longer counts", "no longer count", width);
    messages(&mut text, &preview.again, "counts again", "count again", width);
    files(&mut text, preview, width);
    for note in &preview.notes {
        let _ = writeln!(text, "{}", wrap(&format!("! {}", clean_line(note)), width));
    }
    text
}

fn messages(text: &mut String, points: &[RewindPoint], one: &str, several: &str, width: usize) {
    if points.is_empty() {
        return;
    }
    let counts = if points.len() == 1 { one } else { several };
    let _ = writeln!(text, "{} {counts}:", figures::count(points.len() as u64, "message"));
    for point in points {
        let _ = writeln!(text, "  > {}", fitting(&clean_line(&point.text), width.saturating_sub(4)));
    }
}

fn files(text: &mut String, preview: &RewindPreview, width: usize) {
    if preview.files.is_empty() {
        return;
    }
    let _ = writeln!(text, "{} would change:", figures::count(preview.files.len() as u64, "file"));
    for file in preview.files.iter().take(NAMED) {
        let word = match file.kind {
            FileChangeKind::Added => "comes back",
            FileChangeKind::Modified => "changes   ",
            FileChangeKind::Deleted => "goes      ",
        };
        let others = if file.by_others { "  (changed by somebody else since)" } else { "" };
        let path = fitting(&clean_line(&file.path), width.saturating_sub(14 + columns(others)));
        let _ = writeln!(text, "  {word}  {path}{others}");
    }
    if preview.files.len() > NAMED {
        let _ = writeln!(text, "  and {} more", preview.files.len() - NAMED);
    }
    let others = preview.files.iter().filter(|file| file.by_others).count();
    if others > 0 {
        let theirs = figures::count(others as u64, "file");
        let words = format!("! somebody else than the agent changed {theirs}; --undo brings that back too");
        let _ = writeln!(text, "{}", wrap(&words, width));
    }
}

/// `went` says what was done; what another process did is not known here.
fn as_json(outlook: &RewindOutlook, went: Option<Option<&RewoundSession>>) -> String {
    let done = went.map(|went| match went {
        Some(went) => json!({ "changes": went.changes, "kept": went.kept }),
        None => json!({ "elsewhere": true }),
    });
    let RewindOutlook { preview, undoes, .. } = outlook;
    format!("{:#}\n", json!({ "preview": preview, "again": preview.again, "undoes": undoes, "done": done }))
}

#[cfg(test)]
mod tests {
    use neco_proto::{FilePreview, MessageId};

    use super::*;

    fn point(number: u64, text: &str, calls: u64, files: bool) -> RewindPoint {
        let ts = Timestamp::now() - jiff::SignedDuration::from_mins(10 * (4 - number as i64));
        RewindPoint { number, message_id: MessageId::new(), seq: number * 10, ts, text: text.to_owned(), calls, files }
    }

    fn said() -> Vec<RewindPoint> {
        vec![
            point(1, "where is the login page made?", 3, true),
            point(2, "make it remember who was there last\nand write a test for it, please", 12, true),
            point(3, "谢谢，请再检查一遍", 0, false),
        ]
    }

    fn preview(messages: Vec<RewindPoint>, again: Vec<RewindPoint>) -> RewindPreview {
        RewindPreview {
            kind: RewindKind::Message,
            about: "make it remember".to_owned(),
            message_id: MessageId::new(),
            what: RewindWhat::Both,
            to: 19,
            messages,
            again,
            rev: Some("abc".to_owned()),
            files: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn messages_are_listed_with_what_came_of_them() {
        insta::assert_snapshot!("rewind_points_60", points(&said(), 60));
    }

    #[test]
    fn what_would_change_is_shown() {
        let mut back = preview(said().split_off(1), Vec::new());
        let file = |path: &str, kind, by_others| FilePreview { path: path.to_owned(), kind, by_others };
        back.files = vec![
            file("src/login.rs", FileChangeKind::Modified, true),
            file("src/last_seen.rs", FileChangeKind::Deleted, false),
            file("src/old.rs", FileChangeKind::Added, false),
        ];
        back.notes = vec!["data.bin stays: it is too big for checkpoints now".to_owned()];
        insta::assert_snapshot!("rewind_preview_60", shown(&back, 60));
        let undo = preview(Vec::new(), said().split_off(2));
        insta::assert_snapshot!("rewind_undo_60", shown(&undo, 60));
    }
}
