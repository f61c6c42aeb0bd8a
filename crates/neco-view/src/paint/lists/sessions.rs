//! Sessions as lines.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::app::sessions::{RecentFolder, SessionRow, SessionState};
use neco_proto::clean::clean_line;

use crate::figures::{self, ago};
use crate::paint::wrap::{columns, fitting};
use crate::short_id::ShortIds;

/// Columns of a folder at most.
const FOLDER: usize = 36;

/// Columns of a title at least.
const TITLE: usize = 16;

/// How a list is shown.
pub struct Shape<'a> {
    /// Whether sessions of all folders are in it.
    pub all: bool,
    /// The person's home, which is shown as `~`.
    pub home: &'a Path,
    /// The time that it is.
    pub now: Timestamp,
    /// Columns there are.
    pub width: usize,
    /// Whether it is shown how much room they take.
    pub sizes: bool,
}

/// One line for each session, below a heading.
pub fn as_lines(sessions: &[SessionRow], ids: &ShortIds, shape: &Shape<'_>) -> String {
    if sessions.is_empty() {
        let more = if shape.all { "" } else { " in this folder; `neco session list --all` lists those of all folders" };
        return format!("no sessions{more}\n");
    }
    let mut rows = vec![["ID", "LAST USED", "FOLDER", "TITLE", "SIZE", "MESSAGES"].map(str::to_owned)];
    rows.extend(sessions.iter().map(|session| {
        let folder = if shape.all { below_home(&session.cwd, shape.home) } else { String::new() };
        let title = title(&session.title, session.forked_from.is_some());
        let title = match session.state {
            Some(SessionState::Open) => format!("(open) {title}"),
            Some(SessionState::Stopped) => format!("(stopped) {title}"),
            Some(SessionState::AtRest | SessionState::Other) | None if session.single => format!("(one-shot) {title}"),
            Some(SessionState::AtRest | SessionState::Other) | None => title,
        };
        let bytes = figures::bytes(session.bytes.unwrap_or_default());
        let messages = session.messages.map(|messages| messages.to_string()).unwrap_or_default();
        [ids.short(session.id), ago(session.updated.as_millisecond(), shape.now), folder, title, bytes, messages]
    }));
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or_default();
    let (id, used, said) = (widest(0), widest(1), widest(5));
    let size = if shape.sizes { widest(4) } else { 0 };
    let left = shape.width.saturating_sub(id + used + said + 6 + if size > 0 { size + 2 } else { 0 }).max(TITLE);
    // The title tells more than the folder, whose end tells more than its beginning.
    let folder = if shape.all { widest(2).min(FOLDER).min(left / 5 * 2) } else { 0 };
    let title_width = if shape.all { left.saturating_sub(folder + 2) } else { left };
    let mut text = String::new();
    for row in &rows {
        let place = match shape.all {
            true => format!("{}  ", padded(&end_of(&row[2], folder), folder)),
            false => String::new(),
        };
        let room = if size > 0 { format!("{:>size$}  ", row[4]) } else { String::new() };
        let (id, used, said) = (padded(&row[0], id), padded(&row[1], used), format!("{:>said$}", row[5]));
        let line = format!("{id}  {used}  {said}  {room}{place}{}", fitting(&row[3], title_width));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// One line for each folder that sessions worked in: when, how many, where, and what the last one is called.
pub fn folders(found: &[RecentFolder], home: &Path, now: Timestamp, width: usize) -> String {
    if found.is_empty() {
        return "no sessions\n".to_owned();
    }
    let mut rows = vec![["LAST USED", "SESSIONS", "FOLDER", "LAST SESSION"].map(str::to_owned)];
    rows.extend(found.iter().map(|folder| {
        let gone = if folder.is_there { "" } else { " (gone)" };
        let place = format!("{}{gone}", below_home(&folder.folder, home));
        let (used, count) = (ago(folder.updated.as_millisecond(), now), folder.sessions.to_string());
        [used, count, place, title(&folder.title, false)]
    }));
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or_default();
    let (used, count) = (widest(0), widest(1));
    // Where to go is what is looked for: a folder is shown as a whole where it can be.
    let place = widest(2).min(width.saturating_sub(used + count + 4).max(TITLE));
    let left = width.saturating_sub(used + count + place + 6);
    let line = |row: &[String; 4]| {
        let words = if left < TITLE { String::new() } else { fitting(&row[3], left) };
        let line = format!(
            "{}  {:>count$}  {}  {words}",
            padded(&row[0], used),
            row[1],
            padded(&end_of(&row[2], place), place)
        );
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// How many messages of the person a session has, as far as that is known.
pub fn messages(session: &SessionRow) -> String {
    session.messages.map(|messages| figures::count(messages, "message")).unwrap_or_default()
}

/// The title, or that there is none; a fork is marked.
pub fn title(title: &str, is_fork: bool) -> String {
    let title = clean_line(title);
    let words = title.split_once(" ```").map_or(title.as_str(), |(words, _)| words);
    let words = if words.is_empty() { "(nothing was said)" } else { words };
    if is_fork { format!("⑂ {words}") } else { words.to_owned() }
}

/// A folder as people write it.
pub fn below_home(folder: &str, home: &Path) -> String {
    match Path::new(folder).strip_prefix(home) {
        Ok(rest) if home.parent().is_some() => clean_line(&Path::new("~").join(rest).display().to_string()),
        _ => clean_line(folder),
    }
}

/// Padded by what is seen: some characters take two columns.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The end of `text` that fits into `most` columns.
fn end_of(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let reversed: String = text.chars().rev().collect();
    fitting(&reversed, most).chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use neco_proto::SessionId;
    use neco_proto::event::ForkedFrom;

    use super::*;

    fn session(number: u32, title: &str, cwd: &str, age_s: i64, bytes: u64) -> SessionRow {
        let id: SessionId = format!("019a8000-0000-7000-8000-{number:012x}").parse().unwrap();
        let updated = Timestamp::now() - SignedDuration::from_secs(age_s);
        SessionRow {
            id,
            title: title.into(),
            title_by: None,
            cwd: cwd.into(),
            created: Timestamp::UNIX_EPOCH,
            updated,
            events: 0,
            messages: Some(u64::from(number)),
            single: number == 3,
            forked_from: None,
            bytes: Some(bytes),
            state: None,
            work: None,
            asks: false,
            usage: None,
            branch: None,
        }
    }

    fn sample() -> Vec<SessionRow> {
        let login = "make the login page remember who was there last, and why";
        let forked_from = Some(ForkedFrom { session_id: SessionId::new(), seq: 3 });
        vec![
            SessionRow { state: Some(SessionState::Open), ..session(1, "review ``` fn main() {", "/home/me/a", 5, 0) },
            SessionRow {
                state: Some(SessionState::Stopped),
                ..session(2, login, "/home/me/code/customers/shop", 4000, 12_345)
            },
            session(3, "", "/srv/漢字", 90_000, 999),
            SessionRow { forked_from, ..session(4, "登录页面修复", "/home/me/a", 400_000, 7_654_321) },
        ]
    }

    fn shown(all: bool, width: usize, sizes: bool) -> String {
        let sessions = sample();
        let ids = ShortIds::of(sessions.iter().map(|session| session.id));
        let text =
            as_lines(&sessions, &ids, &Shape { all, home: Path::new("/home/me"), now: Timestamp::now(), width, sizes });
        assert!(text.lines().all(|line| columns(line) <= width), "{text}");
        text
    }

    #[test]
    fn lists_fit_the_terminal() {
        insta::assert_snapshot!("list_60", shown(false, 60, false));
        insta::assert_snapshot!("list_all_60", shown(true, 60, false));
        insta::assert_snapshot!("list_all_120", shown(true, 120, false));
        insta::assert_snapshot!("list_all_80_with_sizes", shown(true, 80, true));
    }

    #[test]
    fn an_empty_list_says_where_to_look() {
        let shape = Shape { all: false, home: Path::new("/"), now: Timestamp::now(), width: 80, sizes: false };
        assert!(as_lines(&[], &ShortIds::default(), &shape).contains("--all"));
    }

    #[test]
    fn folders_are_shown_whole_where_there_is_room() {
        let folder = |folder: &str, is_there| RecentFolder {
            folder: folder.to_owned(),
            sessions: 12,
            updated: Timestamp::now() - SignedDuration::from_mins(90),
            title: "fix the login page".to_owned(),
            is_there,
        };
        let found = [folder("/home/me/shop", true), folder("/srv/old", false)];
        let wide = "LAST USED  SESSIONS  FOLDER           LAST SESSION\n\
                    1 h ago          12  ~/shop           fix the login page\n\
                    1 h ago          12  /srv/old (gone)  fix the login page\n";
        assert_eq!(folders(&found, Path::new("/home/me"), Timestamp::now(), 80), wide);
        let narrow = folders(&found, Path::new("/home/me"), Timestamp::now(), 40);
        assert!(narrow.contains("/srv/old (gone)") && !narrow.contains("login"), "{narrow}");
        assert_eq!(folders(&[], Path::new("/home/me"), Timestamp::now(), 80), "no sessions\n");
    }
}
