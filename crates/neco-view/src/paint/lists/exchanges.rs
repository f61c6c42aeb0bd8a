//! What is kept of sessions in the repository of checkpoints, as lines.

use std::fmt::Write;

use jiff::Timestamp;
use neco_proto::app::exchanges::{Exchange, KeptSessions, SessionHistory};
use neco_proto::clean::clean_line;

use crate::figures::{ago, count};
use crate::paint::wrap::fitting;
use crate::short_id::short_id;

/// Characters of the name of a commit.
const NAME: usize = 10;

/// Columns of a time.
const TIME: usize = 14;

/// One line for each exchange: its number, commit and time, and what was said; `-` marks those that were gone back over.
pub fn history(found: &SessionHistory, now: Timestamp, width: usize) -> String {
    if found.exchanges.is_empty() {
        return "nothing of this session is in the repository of checkpoints yet; its next message adds all of it\n"
            .to_owned();
    }
    let number = found.exchanges.iter().map(|exchange| exchange.number.to_string().len()).max().unwrap_or_default();
    let mut text = String::new();
    for exchange in &found.exchanges {
        let mark = if exchange.rewound { '-' } else { ' ' };
        let when = ago(exchange.ts.as_millisecond(), now);
        let said = fitting(&clean_line(&exchange.message), width.saturating_sub(number + NAME + TIME + 7));
        let _ = writeln!(text, "{mark} {:>number$}  {}  {when:<TIME$} {said}", exchange.number, name(exchange));
    }
    let _ = writeln!(text, "\ngit --git-dir {} log session/{}", found.repository, found.session_id);
    text
}

fn name(exchange: &Exchange) -> &str {
    exchange.id.get(..NAME).unwrap_or(&exchange.id)
}

/// One line for each session that is kept.
pub fn kept(found: &KeptSessions, now: Timestamp, width: usize) -> String {
    if found.sessions.is_empty() {
        return format!("no session is kept in {}\n", found.repository);
    }
    let mut text = String::new();
    for session in &found.sessions {
        let (when, exchanges) = (ago(session.ts.as_millisecond(), now), count(session.exchanges, "exchange"));
        let before = format!("{}  {when:<TIME$} {exchanges:<13}  ", short_id(session.session_id));
        let here = if session.here { "  (here)" } else { "" };
        let said = fitting(&clean_line(&session.message), width.saturating_sub(before.chars().count() + here.len()));
        let _ = writeln!(text, "{before}{said}{here}");
    }
    text.push_str("\nrestore one with  neco session restore ID\n");
    text
}

#[cfg(test)]
mod tests {
    use neco_proto::app::exchanges::KeptSession;

    use super::*;

    fn ago_minutes(minutes: i64) -> Timestamp {
        Timestamp::now() - jiff::SignedDuration::from_mins(minutes)
    }

    fn exchange(number: u64, message: &str, minutes: i64, rewound: bool) -> Exchange {
        let id = format!("{number}f2a91c0de{number}").repeat(4);
        Exchange {
            id,
            parent: None,
            number,
            message: message.to_owned(),
            ts: ago_minutes(minutes),
            rewound,
            files: None,
        }
    }

    fn id() -> neco_proto::SessionId {
        "01980000-0000-7000-8000-00000000abcd".parse().unwrap()
    }

    #[test]
    fn exchanges_are_listed_with_what_was_gone_back_over() {
        let exchanges = vec![
            exchange(1, "where is the login page made?", 90, false),
            exchange(2, "make it remember who was there last, in redis", 80, true),
            exchange(2, "make it remember who was\u{1b}[31m there last, in a file", 10, false),
        ];
        let found = SessionHistory { session_id: id(), repository: "/data/checkpoints/x/git".to_owned(), exchanges };
        let wanted = "  1  1f2a91c0de  1 h ago        where is the login page made?\n\
                      - 2  2f2a91c0de  1 h ago        make it remember who was there last, in redis\n  \
                      2  2f2a91c0de  10 min ago     make it remember who was there last, in a file\n\n\
                      git --git-dir /data/checkpoints/x/git log session/01980000-0000-7000-8000-00000000abcd\n";
        assert_eq!(history(&found, Timestamp::now(), 80), wanted);
        let narrow = history(&found, Timestamp::now(), 50);
        assert!(narrow.lines().take(3).all(|line| line.chars().count() <= 50), "{narrow}");
        let nothing = SessionHistory { exchanges: Vec::new(), ..found };
        assert_eq!(history(&nothing, Timestamp::now(), 80).lines().count(), 1);
    }

    #[test]
    fn kept_sessions_are_listed_with_whether_they_are_here() {
        let session = |here, exchanges| KeptSession {
            session_id: id(),
            exchanges,
            message: "and now the docs, please, with all that belongs to them".to_owned(),
            ts: ago_minutes(5),
            here,
        };
        let sessions = vec![session(true, 1), session(false, 12)];
        let found = KeptSessions { repository: "/data/checkpoints/x/git".to_owned(), sessions };
        let shown = kept(&found, Timestamp::now(), 72);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines[0].starts_with("00abcd  5 min ago      1 exchange     and now the docs")
                && lines[0].ends_with("  (here)")
        );
        assert!(lines[1].starts_with("00abcd  5 min ago      12 exchanges   and now") && !lines[1].contains("(here)"));
        assert!(lines[..2].iter().all(|line| line.chars().count() <= 72), "{shown}");
    }
}
