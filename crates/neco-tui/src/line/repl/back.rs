//! Going back and taking that back, in lines: what can be gone back to, what would change, and a question before it.

use std::fmt::Write;
use std::io;

use neco_proto::clean::clean_line;
use neco_proto::event::RewindWhat;
use neco_proto::{Answer, Command, Query, RewindKind, RewindPoint, RewindPreview};
use neco_view::wording::rewind as wording;

use super::commands::told;
use super::lines::Lines;
use super::turn::LineSession;
use crate::line::say::out;

/// Most files that are named.
const NAMED: usize = 40;

/// Goes back to a message or a state of the files that the person names, before or when they are asked.
pub(super) fn rewind(session: &LineSession, lines: &mut Lines, wanted: &str) -> io::Result<()> {
    let points = match session.ask(Query::RewindPoints) {
        Ok(Answer::RewindPoints { points }) => points,
        Ok(_) => return Ok(()),
        Err(error) => return told(&error.to_string()),
    };
    if points.is_empty() && wanted.is_empty() {
        return told("no message to rewind to; /rewind CHECKPOINT takes one of /checkpoint");
    }
    let line = if wanted.is_empty() {
        out(&listed(&points))?;
        out("Rewind to before which message? Its number, then f for files only or c for the conversation only; or a \
             name from /checkpoint.\n")?;
        match lines.answer("rewind to: ") {
            Some(line) => line,
            None => return Ok(()),
        }
    } else {
        wanted.to_owned()
    };
    let rev = line.trim().to_owned();
    match way(&line, &points) {
        Some((point, what)) => {
            let message_id = point.message_id;
            let command = Command::Rewind { message_id, what };
            agree(session, lines, Query::RewindPreview { message_id, what }, |_| Some(command))
        }
        None if rev.len() < 4 => told("nothing changed"),
        None => agree(session, lines, Query::CheckpointPreview { rev }, |preview| {
            preview.rev.clone().map(|rev| Command::RestoreCheckpoint { rev })
        }),
    }
}

/// Takes the last turn back, or brings it forth again, and asks only where that costs something that nobody saw.
pub(super) fn take_back(session: &LineSession, lines: &mut Lines, query: Query) -> io::Result<()> {
    let Some(preview) = look(session, query)? else { return Ok(()) };
    let command = match preview.kind {
        RewindKind::Undo => Command::UndoRewind,
        RewindKind::Redo => Command::RedoRewind,
        RewindKind::Message => Command::Rewind { message_id: preview.message_id, what: preview.what },
        RewindKind::Checkpoint => return Ok(()),
    };
    if wording::is_asked(&preview) {
        return ask(session, lines, &preview, command);
    }
    let verb = if preview.kind == RewindKind::Undo { "redone" } else { "undone" };
    told(&session.tell(command, &format!("{verb}: “{}”; {}", clean_line(&preview.about), wording::done(&preview))))
}

/// Shows what would change, and does it when the person says yes.
fn agree(
    session: &LineSession,
    lines: &mut Lines,
    query: Query,
    command: impl FnOnce(&RewindPreview) -> Option<Command>,
) -> io::Result<()> {
    let Some(preview) = look(session, query)? else { return Ok(()) };
    let Some(command) = command(&preview) else { return Ok(()) };
    ask(session, lines, &preview, command)
}

/// What would change; why nothing can be said of it is told.
fn look(session: &LineSession, query: Query) -> io::Result<Option<RewindPreview>> {
    match session.ask(query) {
        Ok(Answer::RewindPreview(preview)) => Ok(Some(preview)),
        Ok(_) => Ok(None),
        Err(error) => told(&error.to_string()).map(|()| None),
    }
}

fn ask(session: &LineSession, lines: &mut Lines, preview: &RewindPreview, command: Command) -> io::Result<()> {
    out(&shown(preview))?;
    match lines.answer("Confirm? y or n: ") {
        Some(yes) if yes.eq_ignore_ascii_case("y") || yes.eq_ignore_ascii_case("yes") => {
            told(&session.tell(command, &wording::done(preview)))
        }
        Some(_) | None => told("nothing changed"),
    }
}

/// The messages that can be gone back to.
fn listed(points: &[RewindPoint]) -> String {
    let line = |point: &RewindPoint| {
        let files = if point.files { " (files changed since)" } else { "" };
        format!("{}. {}{files}\n", point.number, clean_line(&point.text))
    };
    points.iter().map(line).collect()
}

/// The message that a line means, and what goes back: `3`, `3 f`, `3c`.
fn way<'a>(line: &str, points: &'a [RewindPoint]) -> Option<(&'a RewindPoint, RewindWhat)> {
    let digits = line.trim().trim_end_matches(|char: char| !char.is_ascii_digit());
    let what = match line.trim().strip_prefix(digits)?.trim() {
        "" => RewindWhat::Both,
        "f" | "files" => RewindWhat::Files,
        "c" | "conversation" => RewindWhat::Conversation,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    points.iter().find(|point| point.number == number).map(|point| (point, what))
}

/// What going back would change.
fn shown(preview: &RewindPreview) -> String {
    let mut text = match preview.kind {
        RewindKind::Message => String::new(),
        RewindKind::Checkpoint => format!("restore the files of checkpoint “{}”:\n", clean_line(&preview.about)),
        RewindKind::Undo => format!("undo the rewind to before “{}”:\n", clean_line(&preview.about)),
        RewindKind::Redo => format!("rewind to before “{}” again:\n", clean_line(&preview.about)),
    };
    for line in wording::preview(preview, NAMED) {
        let mark = if line.warns { "! " } else { "" };
        let _ = writeln!(text, "{mark}{}", clean_line(&line.to_string()));
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::MessageId;

    use super::*;

    #[test]
    fn a_way_back_is_a_number_and_a_letter() {
        let point = |number| RewindPoint {
            number,
            message_id: MessageId::new(),
            seq: number,
            ts: Timestamp::UNIX_EPOCH,
            text: String::new(),
            calls: 0,
            files: false,
            changed: Default::default(),
        };
        let points = [point(1), point(2)];
        let read = |line: &str| way(line, &points).map(|(point, what)| (point.number, what));
        assert_eq!(read("2"), Some((2, RewindWhat::Both)));
        assert_eq!(read("1 f"), Some((1, RewindWhat::Files)));
        assert_eq!(read("1c"), Some((1, RewindWhat::Conversation)));
        for line in ["", "3", "x", "1 x", "n"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
