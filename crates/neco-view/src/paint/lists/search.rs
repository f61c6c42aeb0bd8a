//! What was found in sessions, as lines.

use std::collections::HashSet;
use std::fmt::Write;

use jiff::Timestamp;
use neco_proto::app::sessions::{FoundPlace, FoundRole};
use neco_proto::clean::clean_line;

use crate::figures::ago;
use crate::paint::colour::Paint;
use crate::paint::wrap::{fitting, wrap_under};
use crate::short_id::ShortIds;

/// What stands before the words that were found.
const INDENT: usize = 4;

/// Places that are shown of one session.
const SHOWN: usize = 3;

/// For each session its heading, then what was said at the places in it; each text once.
pub fn as_lines(hits: &[FoundPlace], ids: &ShortIds, now: Timestamp, width: usize, paint: Paint) -> String {
    if hits.is_empty() {
        return "no match\n".to_owned();
    }
    let mut sessions: Vec<(&FoundPlace, Vec<&FoundPlace>)> = Vec::new();
    for hit in hits {
        match sessions.iter_mut().find(|(first, _)| first.session_id == hit.session_id) {
            Some((_, places)) => places.push(hit),
            None => sessions.push((hit, vec![hit])),
        }
    }
    let mut text = String::new();
    for (first, places) in sessions {
        let (id, when) = (ids.short(first.session_id), ago(first.time.as_millisecond(), now));
        let head = format!("{id}  {when}  {}", clean_line(&first.title));
        let _ = writeln!(text, "{}", paint.dim(&fitting(head.trim_end(), width)));
        let places = told(places);
        for hit in places.iter().take(SHOWN) {
            let words = format!("{}{}: {}", " ".repeat(INDENT), who(hit.role), marked(hit, paint));
            let _ = writeln!(text, "{}", wrap_under(&words, width, INDENT));
        }
        let more = places.len().saturating_sub(SHOWN);
        if more > 0 {
            let words = format!("{}… {more} more in it: neco session show {id}", " ".repeat(INDENT));
            let _ = writeln!(text, "{}", paint.dim(&fitting(&words, width)));
        }
    }
    text
}

/// The places of a session that are told: the title stands in its heading, and what is the same is told once.
fn told(places: Vec<&FoundPlace>) -> Vec<&FoundPlace> {
    let is_title = |hit: &&FoundPlace| hit.role == FoundRole::Title;
    let only_titles = places.iter().all(is_title);
    let mut seen = HashSet::new();
    let told = places.into_iter().filter(|hit| only_titles || !is_title(hit));
    told.filter(|hit| seen.insert(clean_line(&hit.text))).collect()
}

fn who(role: FoundRole) -> &'static str {
    match role {
        FoundRole::Title => "title",
        FoundRole::User => "you",
        FoundRole::Neco => "Neco",
        FoundRole::Assistant => "model",
        FoundRole::Tool => "tool",
        FoundRole::Other => "other",
    }
}

/// Whether a question is several words of a script that puts no spaces between them.
pub fn is_one_run(words: &str) -> bool {
    words.split_whitespace().any(|word| word.chars().filter(|letter| *letter as u32 >= 0x2E80).count() >= 4)
}

/// The words around a hit, with those that were looked for in bold.
fn marked(hit: &FoundPlace, paint: Paint) -> String {
    let mut text = String::new();
    let mut at = 0;
    for [start, end] in hit.marks.iter().copied() {
        let (Some(before), Some(found)) = (hit.text.get(at..start), hit.text.get(start..end)) else { continue };
        text.push_str(&clean_line_around(before));
        text.push_str(&paint.bold(&clean_line_around(found)));
        at = end;
    }
    text.push_str(&clean_line_around(hit.text.get(at..).unwrap_or_default()));
    text
}

/// Without what steers a terminal, and with the blanks at its ends.
fn clean_line_around(text: &str) -> String {
    let blank = |is: bool| if is { " " } else { "" };
    let (begins, ends) = (text.starts_with(' '), text.len() > 1 && text.ends_with(' '));
    format!("{}{}{}", blank(begins), clean_line(text.trim_matches(' ')), blank(ends))
}

#[cfg(test)]
mod tests {
    use neco_proto::SessionId;

    use super::*;

    fn hit(role: FoundRole, text: &str, word: &str) -> FoundPlace {
        let start = text.find(word).unwrap();
        FoundPlace {
            session_id: "019a8000-0000-7000-8000-000000000001".parse::<SessionId>().unwrap(),
            seq: 7,
            time: Timestamp::now() - jiff::SignedDuration::from_millis(7_300_000),
            role,
            text: text.to_owned(),
            marks: vec![[start, start + word.len()]],
            title: "fix the login page".to_owned(),
            cwd: "/home/me/a".to_owned(),
        }
    }

    #[test]
    fn a_title_is_no_second_place() {
        let hits =
            [hit(FoundRole::Title, "fix the login page", "login"), hit(FoundRole::User, "fix the login page", "login")];
        let ids = ShortIds::of(hits.iter().map(|hit| hit.session_id));
        let lines = |hits: &[FoundPlace]| as_lines(hits, &ids, Timestamp::now(), 60, Paint::new(false));
        assert!(lines(&hits).contains("    you: fix the login page") && !lines(&hits).contains("title:"));
        assert!(lines(&hits[..1]).contains("title: "));
        // One heading for a session, and what is the same once.
        let many: Vec<FoundPlace> =
            (0..6).map(|n| hit(FoundRole::Tool, &format!("login {}", n / 2), "login")).collect();
        let lines = lines(&[many, hits.to_vec()].concat());
        assert_eq!((lines.matches("fix the login page\n").count(), lines.matches("tool: ").count()), (1, 3), "{lines}");
        assert!(lines.contains("    … 1 more in it: neco session show "), "{lines}");
    }

    #[test]
    fn places_are_shown_with_the_words_in_bold() {
        let hits = [
            hit(FoundRole::User, "…the login page forgets who was there last, since the change of yesterday", "login"),
            hit(FoundRole::Tool, "connection refused \u{1b}[31mat line 3", "refused"),
        ];
        let ids = ShortIds::of(hits.iter().map(|hit| hit.session_id));
        insta::assert_snapshot!("search_60", as_lines(&hits, &ids, Timestamp::now(), 60, Paint::new(false)));
        let coloured = as_lines(&hits, &ids, Timestamp::now(), 60, Paint::new(true));
        assert!(coloured.contains(&Paint::new(true).bold("login")) && !coloured.contains("[31m"), "{coloured:?}");
    }
}
