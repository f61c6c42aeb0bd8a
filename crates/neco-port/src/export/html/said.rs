//! Messages: what the person and the model say.

use std::io::{self, Write};

use jiff::Timestamp;
use neco_proto::{Message, Part, Seq};

use crate::export::figures;
use neco_view::paint::html::page::Page;
use neco_view::paint::html::prose::prose;

/// Lines of a person's message that are shown before the rest is folded.
const LINES: usize = 18;

/// What the person says: as it was typed.
pub(super) fn person<W: Write>(
    page: &mut Page<W>,
    seq: Seq,
    number: u64,
    at: Timestamp,
    message: &Message,
) -> io::Result<()> {
    page.tag("<article class=\"said person\" id=\"e")?;
    page.number(seq)?;
    page.tag("\"><header><b>You</b><a class=\"soft\" href=\"#e")?;
    page.number(seq)?;
    page.tag("\">#")?;
    page.number(number)?;
    page.tag("</a>")?;
    time(page, at)?;
    page.tag("</header>")?;
    words(page, &message.text())?;
    pictures(page, message)?;
    page.tag("</article>\n")
}

/// What the model says and thought. `by` is its name, where that is not plain from what stands above.
pub(super) fn model<W: Write>(
    page: &mut Page<W>,
    at: Timestamp,
    by: Option<&str>,
    message: &Message,
) -> io::Result<()> {
    match by {
        Some(name) => {
            page.element("<article class=\"said model\"><header><b>", name, "</b>")?;
            time(page, at)?;
            page.tag("</header>")?;
        }
        None => page.tag("<article class=\"said model follows\">")?,
    }
    for part in &message.parts {
        match part {
            Part::Text { text } if !text.trim().is_empty() => {
                page.tag("<div class=\"prose\">")?;
                prose(page, text)?;
                page.tag("</div>")?;
            }
            Part::Reasoning { text, .. } if !text.trim().is_empty() => {
                page.tag("<details class=\"fold thoughts\"><summary>Thoughts</summary>")?;
                page.element("<div class=\"words\" dir=\"auto\">", text.trim(), "</div></details>")?;
            }
            Part::Text { .. }
            | Part::Reasoning { .. }
            | Part::Image { .. }
            | Part::ToolCall(_)
            | Part::ToolResult(_) => {}
        }
    }
    pictures(page, message)?;
    page.tag("</article>\n")
}

/// What Neco or a hook says in the person's place.
pub(super) fn neco<W: Write>(page: &mut Page<W>, message: &Message) -> io::Result<()> {
    let text = message.text();
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_none() {
        page.tag("<div class=\"note\"><span>·</span><span dir=\"auto\">")?;
        page.text(first)?;
        return page.tag("</span></div>\n");
    }
    page.element("<details class=\"fold\"><summary dir=\"auto\">", first, "</summary>")?;
    page.element("<div class=\"words soft\" dir=\"auto\">", text.trim(), "</div></details>\n")
}

/// Words that never became a message.
pub(super) fn unfinished<W: Write>(page: &mut Page<W>, text: &str) -> io::Result<()> {
    page.tag("<article class=\"said model\"><div class=\"prose\">")?;
    prose(page, text)?;
    page.tag("</div></article><div class=\"note warning\"><span>!</span><span>Not finished.</span></div>\n")
}

/// A moment of the day.
pub(super) fn time<W: Write>(page: &mut Page<W>, at: Timestamp) -> io::Result<()> {
    page.element("<time datetime=\"", &at.to_string(), "\">")?;
    page.text(&figures::clock(at))?;
    page.tag("</time>")
}

/// Text as it was typed; what is long is folded behind its beginning.
fn words<W: Write>(page: &mut Page<W>, text: &str) -> io::Result<()> {
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES + LINES / 3 {
        return page.element("<div class=\"words\" dir=\"auto\">", text, "</div>");
    }
    let (beginning, rest) = lines.split_at(LINES);
    let (more, beginning, rest) = (rest.len() as u64, beginning.join("\n"), rest.join("\n"));
    page.element("<div class=\"words\" dir=\"auto\">", &beginning, "</div>")?;
    let more = figures::count(more, "more line");
    page.element("<details class=\"fold\"><summary>", &more, "</summary>")?;
    page.element("<div class=\"words\" dir=\"auto\">", &rest, "</div></details>")
}

fn pictures<W: Write>(page: &mut Page<W>, message: &Message) -> io::Result<()> {
    for part in &message.parts {
        if let Part::Image { media_type, data } = part {
            picture(page, media_type, data)?;
        }
    }
    Ok(())
}

/// A picture of a kind that browsers draw and that can hold no script.
fn picture<W: Write>(page: &mut Page<W>, media_type: &str, data: &str) -> io::Result<()> {
    let begin = match media_type {
        "image/png" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/png;base64,",
        "image/jpeg" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/jpeg;base64,",
        "image/gif" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/gif;base64,",
        "image/webp" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/webp;base64,",
        _ => return page.element("<p class=\"soft\">[picture, ", media_type, "]</p>"),
    };
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if data.is_empty() || !data.bytes().all(is_base64) {
        return page.element("<p class=\"soft\">[picture, ", media_type, ", not readable]</p>");
    }
    page.element(begin, data, "\">")
}
