//! What was found, as lines and as JSON.

use std::fmt::Write;

use jiff::Timestamp;
use neco_store::{HitRole, SearchHit, Snippet};
use serde_json::json;

use crate::cmd::when::ago;
use crate::print::clean::clean_line;
use crate::print::paint::Paint;
use crate::print::wrap::{fitting, wrap_under};
use crate::short_id::ShortIds;

/// What stands before the words that were found.
const INDENT: usize = 4;

/// Two lines for each place: where it is, and what was said there.
#[must_use]
pub fn as_lines(hits: &[SearchHit], ids: &ShortIds, width: usize, paint: Paint) -> String {
    if hits.is_empty() {
        return "nothing was found\n".to_owned();
    }
    let now = Timestamp::now();
    let mut text = String::new();
    for (at, hit) in hits.iter().enumerate() {
        // What makes a title is often the first message; once is enough.
        let again = |other: &SearchHit| other.session == hit.session && other.snippet.text == hit.snippet.text;
        if hits.iter().take(at).any(again) {
            continue;
        }
        let who = match hit.role {
            HitRole::Title => "title",
            HitRole::User => "you",
            HitRole::Assistant => "model",
            HitRole::Tool => "tool",
        };
        let head = format!("{}  {} · {who}  {}", ids.short(hit.session), ago(hit.ts_ms, now), clean_line(&hit.title));
        let _ = writeln!(text, "{}", paint.dim(&fitting(head.trim_end(), width)));
        let words = format!("{}{}", " ".repeat(INDENT), marked(&hit.snippet, paint));
        let _ = writeln!(text, "{}", wrap_under(&words, width, INDENT));
    }
    text
}

/// Whether a question is several words of a script that puts no spaces between them.
#[must_use]
pub fn is_one_run(words: &str) -> bool {
    words.split_whitespace().any(|word| word.chars().filter(|letter| *letter as u32 >= 0x2E80).count() >= 4)
}

/// What was found as it is.
#[must_use]
pub fn as_json(hits: &[SearchHit]) -> String {
    let entry = |hit: &SearchHit| {
        json!({
            "session_id": hit.session,
            "seq": hit.seq,
            "time": Timestamp::from_millisecond(hit.ts_ms).map(|time| time.to_string()).ok(),
            "role": hit.role.as_str(),
            "title": hit.title,
            "cwd": hit.cwd,
            "text": hit.snippet.text,
            "marks": hit.snippet.marks.iter().map(|mark| [mark.start, mark.end]).collect::<Vec<_>>(),
        })
    };
    format!("{:#}\n", json!(hits.iter().map(entry).collect::<Vec<_>>()))
}

/// The words around a hit, with those that were looked for in bold.
fn marked(snippet: &Snippet, paint: Paint) -> String {
    let mut text = String::new();
    let mut at = 0;
    for mark in &snippet.marks {
        let (Some(before), Some(found)) = (snippet.text.get(at..mark.start), snippet.text.get(mark.clone())) else {
            continue;
        };
        text.push_str(&clean_line_around(before));
        text.push_str(&paint.bold(&clean_line_around(found)));
        at = mark.end;
    }
    text.push_str(&clean_line_around(snippet.text.get(at..).unwrap_or_default()));
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

    fn hit(role: HitRole, text: &str, word: &str) -> SearchHit {
        let start = text.find(word).unwrap();
        SearchHit {
            session: "019a8000-0000-7000-8000-000000000001".parse::<SessionId>().unwrap(),
            seq: 7,
            ts_ms: Timestamp::now().as_millisecond() - 7_300_000,
            role,
            snippet: Snippet { text: text.to_owned(), marks: std::iter::once(start..start + word.len()).collect() },
            title: "fix the login page".to_owned(),
            cwd: "/home/me/a".to_owned(),
        }
    }

    #[test]
    fn places_are_shown_with_the_words_in_bold() {
        let hits = [
            hit(HitRole::User, "…the login page forgets who was there last, since the change of yesterday", "login"),
            hit(HitRole::Tool, "connection refused \u{1b}[31mat line 3", "refused"),
        ];
        let ids = ShortIds::of(hits.iter().map(|hit| hit.session));
        insta::assert_snapshot!("search_60", as_lines(&hits, &ids, 60, Paint::new(false)));
        let coloured = as_lines(&hits, &ids, 60, Paint::new(true));
        assert!(coloured.contains(&Paint::new(true).bold("login")) && !coloured.contains("[31m"), "{coloured:?}");
    }
}
