//! The ways that words get into the document.

use neco_proto::clean::{clean, clean_line};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The markdown that readers know.
const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

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
    text = below_ours(&text);
    if let Some(fence) = open_fence(&text) {
        text = format!("{text}\n{fence}");
    }
    text
}

/// Headings of a model stand below those of the document, which ends at the second level.
fn below_ours(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        let Event::Start(Tag::Heading { level, .. }) = event else { continue };
        let part = text.get(range.clone()).unwrap_or_default();
        // Those that are underlined, or stand in a quotation, are rare and stay.
        if range.start < copied || !part.starts_with('#') {
            continue;
        }
        made.push_str(text.get(copied..range.start).unwrap_or_default());
        made.push_str("######".get(..2.min(6 - level as usize)).unwrap_or_default());
        copied = range.start;
    }
    made.push_str(text.get(copied..).unwrap_or_default());
    made
}

/// The same, quoted.
pub(super) fn quoted(text: &str) -> String {
    prose(text).lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
}

/// The text with every `<` of its HTML escaped and its pictures made links; nothing when there are none.
fn without_html(text: &str) -> Option<String> {
    let mut made = String::new();
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
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

/// The fence that closes the one that is left open. One in a list or a quotation ends with that.
fn open_fence(text: &str) -> Option<String> {
    let (mut depth, mut last) = (0_usize, None);
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if depth == 0 => last = Some(range),
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let last = last.filter(|range| range.end >= text.trim_end().len())?;
    let block = text.get(last)?.trim();
    let mark = block.chars().next()?;
    let fence: String = block.chars().take_while(|character| *character == mark).collect();
    let end = block.lines().skip(1).last().map(str::trim).unwrap_or_default();
    let closed = end.len() >= fence.len() && end.chars().all(|character| character == mark);
    (!closed).then_some(fence)
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
        assert_eq!(
            prose("~~~\n- > ~~~\n- > <b>"),
            "~~~\n- > ~~~\n- > <b>\n~~~",
            "a fence is not ended by what looks like one"
        );
        assert_eq!(prose("```\na\n```"), "```\na\n```");
        assert_eq!(prose("# a\nb\n##### c\n```\n# d\n```"), "### a\nb\n###### c\n```\n# d\n```");
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
