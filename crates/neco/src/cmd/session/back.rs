//! `neco session rewind`: what would change, a question, and the way back.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::event::{FileChangeKind, RewindWhat};
use neco_proto::{Answer, Client, Command, Query, RewindPoint, RewindPreview, Seq};
use neco_server::RemoteClient;
use neco_session::SessionError;
use neco_session::rewind::{RewindError, RewindHistory, RewindPlan, TAKES_UNDO_BACK, Went, agreed_to};
use neco_store::SessionRecord;
use neco_workspace::checkpoint::Agreed;
use serde_json::json;

use super::command::elsewhere;
use super::confirm::is_meant;
use super::desk::Desk;
use crate::cmd::when::ago;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::wrap::{columns, fitting, wrap};
use crate::say;
use crate::session_args::RewindArgs;
use crate::short_id::short_id;

/// Most files that are named.
const NAMED: usize = 40;

/// Goes back in a session, or lists what can be gone back to.
pub(super) async fn run(args: &RewindArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let found = desk.hub.find(&args.id).await?;
    let course = desk.hub.course(found.id).await?;
    let way = match &args.to {
        _ if args.undo => course.undo().map_err(SessionError::from)?,
        _ if args.redo => course.redo().map_err(SessionError::from)?,
        Some(to) => way_to(&course, to, args)?,
        None => return list(&found, &course, args.json, desk),
    };
    // What goes on in the conversation alone needs no folder.
    let record = if way.what.files() { desk.placed(found).await? } else { found };
    let hub = desk.hub_of(&record)?;
    let preview = hub.preview(&record, &way).await?;
    let shown = format!("{}{}", place(&record, &preview, desk)?, shown(&way, &preview, desk.width()));
    if args.dry_run || way.is_nothing(&preview) {
        let nothing = if way.is_nothing(&preview) { "nothing would change\n" } else { "" };
        say::out(&if args.json { as_json(&way, &preview, None) } else { format!("{shown}{nothing}") })?;
        return Ok(Exit::Done);
    }
    let agreed = match (args.others, args.yes) {
        (true, _) => Agreed::Anything,
        (false, true) => Agreed::Nothing,
        (false, false) => agreed_to(&preview),
    };
    let question = if way.undoes.is_some() { "Take it back?" } else { "Go back?" };
    let instead = "Pass --yes to go back without asking, or --dry-run to look first.";
    if !args.yes && !is_meant(&shown, question, instead, desk.env)? {
        say::out("nothing was changed\n")?;
        return Ok(Exit::Refused);
    }
    let went = match elsewhere(&record, desk.env).await? {
        Some(open) => {
            let command = command(&way, args);
            tell(&open, &course, &command, &preview, &agreed).await?;
            None
        }
        None => Some(hub.go_back(&record, &course, &way, agreed).await.map_err(refused)?),
    };
    // Who was asked has it on the screen.
    let shown = if args.yes { shown.replacen(" would change:", " changed:", 1) } else { String::new() };
    say::out(&match args.json {
        true => as_json(&way, &preview, Some(went.as_ref())),
        false => format!("{shown}{}", done(&record, &way, &preview, &went.unwrap_or_default())),
    })?;
    Ok(Exit::Done)
}

fn way_to(course: &RewindHistory, to: &str, args: &RewindArgs) -> Result<RewindPlan, Failure> {
    let found = course.find(to).and_then(|point| course.way(point, what(args)));
    match (found, course.state(to)) {
        (Err(RewindError::NoMessage { .. } | RewindError::NothingSaid), Ok(_)) if args.conversation => {
            Err(Failure::usage(format!("{to} is a state of the files; the conversation goes back to a message")))
        }
        (Err(RewindError::NoMessage { .. } | RewindError::NothingSaid), Ok(rev)) => Ok(course.way_to_state(rev)),
        (Err(RewindError::NoMessage { .. }), Err(several @ RewindError::SeveralStates(_))) => {
            Err(SessionError::from(several).into())
        }
        (found, _) => Ok(found.map_err(SessionError::from)?),
    }
}

/// The same in a session that another process has open, if it stands as it was looked at here.
async fn tell(
    open: &RemoteClient,
    course: &RewindHistory,
    command: &Command,
    preview: &RewindPreview,
    agreed: &Agreed,
) -> Result<(), Failure> {
    let Answer::Snapshot(snapshot) = open.ask(Query::Snapshot).await? else {
        return Err(Failure::new(Exit::Failed, "the session does not say how it stands"));
    };
    if snapshot.last_seq != course.last_seq {
        return Err(SessionError::GoneOn(snapshot.session_id).into());
    }
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
    let mut new = now.files.iter().filter(|file| file.by_others && !agreed.covers(Path::new(&file.path)));
    if let Some(file) = new.next() {
        let words = format!("{} was changed since by somebody else", file.path);
        return Err(refused(RewindError::ByOthers(words).into()));
    }
    if now.messages != preview.messages {
        return Err(SessionError::GoneOn(snapshot.session_id).into());
    }
    Ok(open.send(command.clone()).await.map(drop)?)
}

/// Says how to go back over what others changed.
fn refused(error: SessionError) -> Failure {
    let by_others = matches!(error, SessionError::Rewind(RewindError::ByOthers(_)));
    let failure = Failure::from(error);
    if by_others { failure.hint("Pass --others to overwrite that too; --undo brings it back.") } else { failure }
}

/// Where files would change, when that is not where the person is.
fn place(record: &SessionRecord, preview: &RewindPreview, desk: &Desk<'_>) -> Result<String, Failure> {
    let here = crate::folder(desk.everywhere)?;
    let elsewhere = !preview.files.is_empty() && Path::new(&record.cwd) != here;
    Ok(if elsewhere { format!("in {}:\n", clean_line(&record.cwd)) } else { String::new() })
}

fn done(record: &SessionRecord, way: &RewindPlan, preview: &RewindPreview, went: &Went) -> String {
    let new = went.kept.iter().filter(|words| !preview.notes.contains(words));
    let kept: String = new.map(|words| format!("! {}\n", clean_line(words))).collect();
    if way.is_mending {
        return format!("{kept}what was there before is back\n");
    }
    let is_undo = way.undoes.is_some() && !way.notes.iter().any(|note| note == TAKES_UNDO_BACK);
    let done = if way.undoes.is_some() { "taken back" } else { "gone back" };
    let back = if is_undo { "to take that back: neco session rewind" } else { "undo: neco session rewind" };
    let flag = if is_undo { "--redo" } else { "--undo" };
    format!("{kept}{done}; {back} {} {flag}\n", short_id(record.id))
}

/// The same for a session that another process has open.
fn command(way: &RewindPlan, args: &RewindArgs) -> Command {
    match &way.rev {
        _ if args.undo => Command::UndoRewind,
        _ if args.redo => Command::RedoRewind,
        Some(rev) if way.is_named => Command::RestoreCheckpoint { rev: rev.clone() },
        Some(_) | None => Command::Rewind { message_id: way.message_id, what: way.what },
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
fn list(record: &SessionRecord, course: &RewindHistory, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let text = match json {
        true => format!("{:#}\n", json!({ "session_id": record.id, "messages": course.points })),
        false if course.points.is_empty() && course.is_said(Seq::MAX) => {
            format!("everything that was said was gone back over: neco session rewind {} --undo\n", short_id(record.id))
        }
        false if course.points.is_empty() => "nothing was said in this session yet\n".to_owned(),
        false => {
            let id = short_id(record.id);
            format!(
                "{}\ngo back to before one: neco session rewind {id} --to N\n",
                points(&course.points, desk.width())
            )
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
fn shown(way: &RewindPlan, preview: &RewindPreview, width: usize) -> String {
    let mut text = String::new();
    messages(&mut text, &way.messages, "no longer counts", "no longer count", width);
    messages(&mut text, &way.again, "counts again", "count again", width);
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
fn as_json(way: &RewindPlan, preview: &RewindPreview, went: Option<Option<&Went>>) -> String {
    let done = went.map(|went| match went {
        Some(went) => json!({ "changes": went.changes, "kept": went.kept }),
        None => json!({ "elsewhere": true }),
    });
    format!("{:#}\n", json!({ "preview": preview, "again": way.again, "undoes": way.undoes, "done": done }))
}

#[cfg(test)]
mod tests {
    use neco_proto::{FilePreview, MessageId, RewindKind};

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

    fn way(messages: Vec<RewindPoint>) -> RewindPlan {
        RewindPlan {
            kind: RewindKind::Message,
            about: "make it remember".to_owned(),
            since_ms: 0,
            over_work: false,
            message_id: MessageId::new(),
            what: RewindWhat::Both,
            to: 19,
            messages,
            again: Vec::new(),
            rev: Some("abc".to_owned()),
            undoes: None,
            is_named: false,
            unfinished: Vec::new(),
            is_mending: false,
            is_told: false,
            notes: Vec::new(),
        }
    }

    #[test]
    fn messages_are_listed_with_what_came_of_them() {
        insta::assert_snapshot!("rewind_points_60", points(&said(), 60));
    }

    #[test]
    fn what_would_change_is_shown() {
        let way = way(said().split_off(1));
        let mut preview = way.preview();
        let file = |path: &str, kind, by_others| FilePreview { path: path.to_owned(), kind, by_others };
        preview.files = vec![
            file("src/login.rs", FileChangeKind::Modified, true),
            file("src/last_seen.rs", FileChangeKind::Deleted, false),
            file("src/old.rs", FileChangeKind::Added, false),
        ];
        preview.notes = vec!["data.bin stays: it is too big for checkpoints now".to_owned()];
        insta::assert_snapshot!("rewind_preview_60", shown(&way, &preview, 60));
        let undo = RewindPlan { messages: Vec::new(), again: said().split_off(2), undoes: Some(40), ..way };
        insta::assert_snapshot!("rewind_undo_60", shown(&undo, &undo.preview(), 60));
    }
}
