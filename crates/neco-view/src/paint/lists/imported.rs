//! Sessions of other programs: those that there are, and what came of taking one in.

use std::fmt::Write;

use jiff::Timestamp;
use neco_proto::app::port::{ForeignSession, ImportNote, ImportedSession, SkippedRecords};
use neco_proto::clean::clean_line;
use serde_json::{Value, json};

use crate::figures::{ago, count};
use crate::paint::wrap::fitting;
use crate::short_id::short_id;
use crate::wording::told::NEWER;

/// Kinds of records that are named.
const KINDS: usize = 8;
/// Columns of a title.
const TITLE: usize = 60;

/// The sessions that another program has of a folder, numbered.
pub fn foreign(found: &[ForeignSession], now: Timestamp) -> String {
    let mut text = String::new();
    for (session, number) in found.iter().zip(1..) {
        let when = session.last.map(|last| ago(last.as_millisecond(), now)).unwrap_or_default();
        let messages = count(session.messages as u64, "message");
        let here = if session.imported { "  (imported)" } else { "" };
        let _ = writeln!(text, "{number:>4}  {when:<12}  {messages:<13}  {}{here}", fitting(&session.title, TITLE));
    }
    text
}

/// The same for programs.
pub fn foreign_json(found: &[ForeignSession]) -> Value {
    let one = |(session, number): (&ForeignSession, usize)| {
        let file = match &session.entry {
            Some(entry) => format!("{}#{entry}", session.file),
            None => session.file.clone(),
        };
        json!({
            "number": number,
            "id": session.id,
            "file": file,
            "title": session.title,
            "messages": session.messages,
            "last": session.last.map(|last| last.to_string()),
            "imported": session.imported,
        })
    };
    found.iter().zip(1..).map(one).collect()
}

/// An import in words, with the line that goes on with it.
pub fn as_lines(told: &ImportedSession) -> String {
    let title = match clean_line(&told.title).as_str() {
        "" => String::new(),
        title => format!(": {title}"),
    };
    let first = match told.already {
        true => format!("already imported{title}"),
        false => format!("imported from {}{title} ({})", told.program, count(told.events, "event")),
    };
    let notes: String = told.notes.iter().map(|note| format!("! {}\n", clean_line(&words(note)))).collect();
    let again = if told.already { "to import it a second time, add --again\n" } else { "" };
    format!("{first}\n{notes}{again}Resume it with  neco resume {}\n", short_id(told.session))
}

/// The same for programs.
pub fn as_json(told: &ImportedSession) -> Value {
    json!({
        "session_id": told.session,
        "from": told.program,
        "title": told.title,
        "events": told.events,
        "already": told.already,
        "notes": told.notes.iter().map(words).collect::<Vec<_>>(),
    })
}

fn words(note: &ImportNote) -> String {
    match note {
        ImportNote::Skipped { records } => skipped(records),
        ImportNote::OwnFolder { folder } => format!("it works in its own folder {folder} (--cwd names another one)"),
        ImportNote::OtherFolder { own, folder } => {
            let why = match own {
                Some(own) => format!("its folder {own} is not here"),
                None => "it does not say where it worked".to_owned(),
            };
            format!("{why}; it works in {folder} from now on (--cwd names another one)")
        }
        ImportNote::CutOff { missing: 0, .. } => "the file is cut off: what is complete was imported".to_owned(),
        ImportNote::CutOff { promised, missing: 1 } => {
            format!("the file is cut off: 1 event of {promised} is missing")
        }
        ImportNote::CutOff { promised, missing } => {
            format!("the file is cut off: {} of {promised} are missing", count(*missing, "event"))
        }
        ImportNote::WithoutFiles => {
            "an export has no checkpoints: a rewind restores files only where checkpoints exist".to_owned()
        }
        ImportNote::OwnId { session } => {
            format!("session {session} is here and differs: this one has got a new id")
        }
        ImportNote::FromRepository { outputs } => {
            let outputs = match outputs {
                0 => String::new(),
                outputs => format!(", and {} that were too big for the model", count(*outputs, "output")),
            };
            format!(
                "what is not in it: text as it streamed in, what was rewound with its costs, what came after its last \
                 finished exchange{outputs}"
            )
        }
        ImportNote::Other => format!("something about it {NEWER}"),
        ImportNote::GoesOn { had, added } => {
            format!("{} of it were here; {} were added", count(*had, "event"), count(*added, "more event"))
        }
    }
}

/// `12 records were skipped: 8 progress, 4 future-line`.
fn skipped(records: &[SkippedRecords]) -> String {
    let total = match records.iter().map(|records| records.count).sum::<u64>() {
        1 => "1 record was".to_owned(),
        total => format!("{total} records were"),
    };
    let kinds: Vec<String> =
        records.iter().take(KINDS).map(|records| format!("{} {}", records.count, records.kind)).collect();
    let more = if records.len() > KINDS { ", …" } else { "" };
    format!("{total} skipped: {}{more}", kinds.join(", "))
}
