//! The ways that words get into the document.

use neco_proto::clean::{clean, clean_line};
use pulldown_cmark::{Event, Options, Parser, Tag};

/// Words in one line, with nothing in them that markdown would read.
pub(super) fn inline(text: &str) -> String {
    let text = clean_line(text);
    let mut escaped = String::with_capacity(text.len());
    if text.starts_with(['#', '-', '+', '=']) {
        escaped.push('\\');
    }
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// The same between tags of HTML, where markdown is not read.
pub(super) fn in_tag(text: &str) -> String {
    clean_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text in a fence that nothing in it can end.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let text = clean(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// Markdown of a model: still markdown, but no HTML, nothing that is loaded, and with no fence left open.
pub(super) fn prose(text: &str) -> String {
    let mut text = clean(text).trim().to_owned();
    // What is no HTML any more may read as something else, and show more of it.
    while let Some(escaped) = without_html(&text) {
        text = escaped;
    }
    if let Some(fence) = open_fence(&text) {
        text = format!("{text}\n{fence}");
    }
    text
}

/// The same, quoted.
pub(super) fn quoted(text: &str) -> String {
    prose(text).lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
}

/// The text with every `<` of its HTML escaped and its pictures made links; nothing when there are none.
fn without_html(text: &str) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut made = String::new();
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let part = text.get(range.clone()).unwrap_or_default();
        let instead = match event {
            Event::Html(_) | Event::InlineHtml(_) if part.contains('<') => part.replace('<', "&lt;"),
            // What is elsewhere is not loaded by who reads this.
            Event::Start(Tag::Image { .. }) if part.starts_with("![") => part.replacen('!', "🖼 ", 1),
            _ => continue,
        };
        if range.start < copied {
            continue;
        }
        made.push_str(text.get(copied..range.start).unwrap_or_default());
        made.push_str(&instead);
        copied = range.end;
    }
    if copied == 0 {
        return None;
    }
    made.push_str(text.get(copied..).unwrap_or_default());
    Some(made)
}

/// The fence that closes the one that is left open.
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let line = line.trim_start_matches([' ', '>', '-', '*']).trim_end();
        let Some(mark @ ('`' | '~')) = line.chars().next() else { continue };
        let length = line.chars().take_while(|character| *character == mark).count();
        let rest = line.trim_start_matches(mark);
        match open {
            None if length >= 3 && !(mark == '`' && rest.contains('`')) => open = Some((mark, length)),
            Some((own, least)) if mark == own && length >= least && rest.is_empty() => open = None,
            None | Some(_) => {}
        }
    }
    open.map(|(mark, length)| mark.to_string().repeat(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_keep_their_form_and_lose_their_power() {
        assert_eq!(inline("a *b* <c>\n| d"), "a \\*b\\* &lt;c&gt; \\| d");
        assert_eq!(fenced("x ``` y ```` z", ""), "`````\nx ``` y ```` z\n`````\n");
        assert_eq!(prose("see `Vec<T>` and <details>"), "see `Vec<T>` and &lt;details>");
        assert_eq!(prose("```rust\nlet a = b < c;"), "```rust\nlet a = b < c;\n```");
        assert_eq!(prose("see ![it](https://a.example/b.png)"), "see 🖼 [it](https://a.example/b.png)");
        assert_eq!(quoted("a\n\nb"), "> a\n>\n> b\n");
    }

    proptest! {
        #[test]
        fn prose_is_never_html(text in "[<>/!a-d\\-`\n \"'=&?]{0,80}") {
            let is_html = |event: Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
            let prose = prose(&text);
            prop_assert!(!Parser::new_ext(&prose, Options::ENABLE_TABLES).any(is_html), "{}", prose);
        }

        #[test]
        fn nothing_ends_a_fence(text in "[`~a\n ]{0,60}") {
            let document = format!("{}\nafter", fenced(&text, ""));
            let mut events = Parser::new(&document);
            prop_assert!(events.any(|event| matches!(event, Event::Text(text) if &*text == "after")), "{}", document);
        }
    }
}
