//! Calls: what was asked, decided, changed and printed, folded.

use std::io::{self, Write};

use neco_proto::event::CallStatus;
use neco_proto::{Diff, Display};
use serde_json::Value;

use crate::export::figures;
use crate::export::tale::Card;
use neco_view::paint::html::page::Page;
use neco_view::paint::html::prose::changes;

/// Lines of changes up to which a card is open from the beginning.
const OPEN: usize = 60;
/// Bytes of an output that is given whole; of what is longer, beginning and end.
const OUTPUT: usize = 200_000;

/// Writes a card.
pub(super) fn card<W: Write>(page: &mut Page<W>, card: &Card<'_>) -> io::Result<()> {
    let (begin, mark) = match (card.status, is_open(card)) {
        (Some(CallStatus::Success), false) if exit_code(card) != 0 => ("<details class=\"call cut\"><summary>", "!"),
        (Some(CallStatus::Success), false) => ("<details class=\"call ok\"><summary>", "✓"),
        (Some(CallStatus::Success), true) => ("<details class=\"call ok\" open><summary>", "✓"),
        (Some(CallStatus::Cancelled), _) => ("<details class=\"call cut\"><summary>", "⊘"),
        (Some(_), false) => ("<details class=\"call bad\"><summary>", "✗"),
        (Some(_), true) => ("<details class=\"call bad\" open><summary>", "✗"),
        (None, _) => ("<details class=\"call cut\" open><summary>", "…"),
    };
    page.tag(begin)?;
    page.element("<span class=\"mark\">", mark, "</span>")?;
    let summary = if card.summary.trim().is_empty() { &card.tool } else { &card.summary };
    page.element("<span class=\"what\" dir=\"auto\">", summary, "</span>")?;
    page.element("<span class=\"facts\">", &facts(card), "</span></summary><div class=\"inside\">")?;
    inside(page, card)?;
    page.tag("</div></details>\n")
}

/// Changes are what a reader came for, and so is what went wrong.
fn is_open(card: &Card<'_>) -> bool {
    let lines = |text: &str| text.lines().count();
    match (card.display, card.error) {
        (Some(Display::Diff { files }), _) => files.iter().map(|file| lines(&file.unified)).sum::<usize>() <= OPEN,
        (_, Some(_)) => lines(&card.output) <= 12,
        (_, None) => false,
    }
}

fn exit_code(card: &Card<'_>) -> i32 {
    match card.display {
        Some(Display::Terminal { exit_code: Some(code), .. }) => *code,
        Some(_) | None => 0,
    }
}

fn facts(card: &Card<'_>) -> String {
    let mut facts = Vec::new();
    if let Some(Display::Diff { files }) = card.display {
        let (added, removed) = files.iter().fold((0_u64, 0_u64), |(added, removed), file| {
            (added + u64::from(file.added), removed + u64::from(file.removed))
        });
        facts.push(format!("+{added} −{removed}"));
    }
    if exit_code(card) != 0 {
        facts.push(format!("exit {}", exit_code(card)));
    }
    facts.extend(card.error.map(|code| format!("error {code}")));
    facts.push(card.tool.clone());
    facts.extend(card.duration_ms.map(figures::duration));
    if card.status.is_none() {
        facts.push("no end was recorded".to_owned());
    }
    facts.join(" · ")
}

fn inside<W: Write>(page: &mut Page<W>, card: &Card<'_>) -> io::Result<()> {
    if let Some(decided) = &card.decided {
        page.element("<div class=\"decided\">You: ", decided, "</div>")?;
    }
    match card.display {
        Some(Display::Diff { files }) => {
            files.iter().try_for_each(|file| change(page, file))?;
            return folded_output(page, card);
        }
        Some(Display::Terminal { command, tail, .. }) => {
            page.element("<pre dir=\"ltr\">$ ", command.trim_end(), "</pre>")?;
            let printed = if card.output.trim().is_empty() { tail } else { &card.output };
            output(page, printed)?;
        }
        Some(Display::List { title, items, total }) => {
            arguments(page, card)?;
            page.element("<div class=\"label\">", title, "</div>")?;
            let mut text = items.join("\n");
            let more = total.saturating_sub(items.len() as u64);
            if more > 0 {
                text.push_str(&format!("\n… {more} more"));
            }
            output(page, &text)?;
            return folded_output(page, card);
        }
        Some(Display::Text { text }) => {
            arguments(page, card)?;
            output(page, text)?;
            if text.trim() != card.output.trim() {
                return folded_output(page, card);
            }
        }
        None => {
            arguments(page, card)?;
            output(page, &card.output)?;
        }
    }
    spilled(page, card)
}

/// What the model was told, where the person is shown something else.
fn folded_output<W: Write>(page: &mut Page<W>, card: &Card<'_>) -> io::Result<()> {
    if !card.output.trim().is_empty() {
        page.tag("<details class=\"fold\"><summary>What the model was told</summary>")?;
        output(page, &card.output)?;
        page.tag("</details>")?;
    }
    spilled(page, card)
}

fn spilled<W: Write>(page: &mut Page<W>, card: &Card<'_>) -> io::Result<()> {
    match card.spilled_to {
        Some(file) => page.element("<div class=\"label\">All of it was kept in ", file, "</div>"),
        None => Ok(()),
    }
}

fn output<W: Write>(page: &mut Page<W>, text: &str) -> io::Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    page.element("<pre dir=\"auto\">", &shortened(text.trim_end()), "</pre>")
}

/// Beginning and end of a text that no reader reads as a whole.
fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= OUTPUT {
        return text.into();
    }
    let begin = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= OUTPUT / 2).last().unwrap_or_default();
    let end = text.char_indices().map(|(at, _)| at).find(|at| text.len() - at <= OUTPUT / 2).unwrap_or(text.len());
    let (head, tail) = (text.get(..begin).unwrap_or_default(), text.get(end..).unwrap_or_default());
    format!("{head}\n\n… {} bytes left out …\n\n{tail}", end - begin).into()
}

fn arguments<W: Write>(page: &mut Page<W>, card: &Card<'_>) -> io::Result<()> {
    let Some(text) = card.arguments.as_deref().filter(|text| !matches!(text.trim(), "" | "{}")) else { return Ok(()) };
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) else {
        return page.element("<pre dir=\"ltr\">", text, "</pre>");
    };
    page.tag("<dl class=\"args\">")?;
    for (name, value) in &fields {
        page.element("<dt>", name, "</dt>")?;
        match value {
            Value::String(text) if text.contains('\n') => {
                page.element("<dd><pre dir=\"auto\">", text, "</pre></dd>")?
            }
            Value::String(text) => page.element("<dd class=\"words\" dir=\"auto\">", text, "</dd>")?,
            Value::Array(_) | Value::Object(_) => {
                page.element("<dd><pre dir=\"ltr\">", &format!("{value:#}"), "</pre></dd>")?;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                page.element("<dd class=\"words\">", &value.to_string(), "</dd>")?;
            }
        }
    }
    page.tag("</dl>")
}

fn change<W: Write>(page: &mut Page<W>, file: &Diff) -> io::Result<()> {
    page.element("<div><div class=\"file\"><span class=\"mono\">", &file.path, "</span><span class=\"plus\">+")?;
    page.number(file.added.into())?;
    page.tag("</span><span class=\"minus\">−")?;
    page.number(file.removed.into())?;
    page.tag("</span>")?;
    match (file.created, file.deleted) {
        (_, true) => page.tag("<span class=\"soft\">deleted</span>")?,
        (true, false) => page.tag("<span class=\"soft\">new file</span>")?,
        (false, false) => {}
    }
    page.tag("</div>")?;
    if !file.unified.trim().is_empty() {
        page.tag("<pre class=\"diff\" dir=\"ltr\">")?;
        changes(page, &shortened(&file.unified))?;
        page.tag("</pre>")?;
    }
    page.tag("</div>")
}
