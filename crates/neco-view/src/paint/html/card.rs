//! Calls: what was asked, decided, changed and printed, folded.

use neco_proto::event::CallStatus;
use neco_proto::{Diff, Display};
use serde_json::Value;

use super::page::Page;
use super::prose::changes;
use crate::paint::document;
use crate::reduce::Seen;
use crate::reduce::block::Call;

/// Lines of changes up to which a card is open from the beginning.
const OPEN: usize = 60;
/// Bytes of an output that is given whole; of what is longer, beginning and end.
const OUTPUT: usize = 200_000;

/// Writes a card.
pub(super) fn card(page: &mut Page, seen: &Seen<'_>, call: &Call) {
    let begin = match (call.end.as_ref().map(|end| end.status), is_open(call)) {
        (Some(CallStatus::Success), false) if document::exit_code(call).is_some() => {
            "<details class=\"call cut\"><summary>"
        }
        (Some(CallStatus::Success), false) => "<details class=\"call ok\"><summary>",
        (Some(CallStatus::Success), true) => "<details class=\"call ok\" open><summary>",
        (Some(CallStatus::Cancelled), _) => "<details class=\"call cut\"><summary>",
        (Some(_), _) if call.is_interrupted() => "<details class=\"call cut\" open><summary>",
        (Some(_), false) => "<details class=\"call bad\"><summary>",
        (Some(_), true) => "<details class=\"call bad\" open><summary>",
        (None, _) => "<details class=\"call cut\" open><summary>",
    };
    let mark = if document::exit_code(call).is_some() { "!" } else { document::call_mark(call) };
    page.tag(begin).element("<span class=\"mark\">", mark, "</span>").element(
        "<span class=\"what\" dir=\"auto\">",
        document::call_summary(call),
        "</span>",
    );
    let facts = document::call_facts(call, Some(&call.tool)).join(" · ");
    page.element("<span class=\"facts\">", &facts, "</span></summary><div class=\"inside\">");
    if let Some(decided) = document::decided(seen, call) {
        page.element("<div class=\"decided\">You: ", &decided, "</div>");
    }
    inside(page, call, &document::output(seen, call));
    if let Some(file) = call.end.as_ref().and_then(|end| end.spilled_to.as_ref()) {
        page.element("<div class=\"label\">All of it is in ", file, "</div>");
    }
    page.tag("</div></details>\n");
}

/// Changes are what a reader came for, and so is what went wrong.
fn is_open(call: &Call) -> bool {
    let lines = |text: &str| text.lines().count();
    match (document::display(call), &call.end) {
        (Some(Display::Diff { files }), _) => files.iter().map(|file| lines(&file.unified)).sum::<usize>() <= OPEN,
        (_, Some(end)) if end.error_code.is_some() => lines(&end.output) <= 12,
        (_, Some(_) | None) => false,
    }
}

fn inside(page: &mut Page, call: &Call, told: &str) {
    match document::display(call) {
        Some(Display::Diff { files }) => {
            files.iter().for_each(|file| change(page, file));
            folded_output(page, told);
        }
        Some(Display::Terminal { command, tail, .. }) => {
            page.element("<pre dir=\"ltr\">$ ", command.trim_end(), "</pre>");
            output(page, if told.trim().is_empty() { tail } else { told });
        }
        Some(Display::List { title, items, total }) => {
            arguments(page, call);
            page.element("<div class=\"label\">", title, "</div>");
            let mut text = items.join("\n");
            let more = total.saturating_sub(items.len() as u64);
            if more > 0 {
                text.push_str(&format!("\n… {more} more"));
            }
            output(page, &text);
            folded_output(page, told);
        }
        Some(Display::Text { text }) => {
            arguments(page, call);
            output(page, text);
            if text.trim() != told.trim() {
                folded_output(page, told);
            }
        }
        None => {
            arguments(page, call);
            output(page, told);
        }
    }
}

/// What the model was told, where the person is shown something else.
fn folded_output(page: &mut Page, told: &str) {
    if !told.trim().is_empty() {
        page.tag("<details class=\"fold\"><summary>What the model was told</summary>");
        output(page, told);
        page.tag("</details>");
    }
}

fn output(page: &mut Page, text: &str) {
    if !text.trim().is_empty() {
        page.element("<pre dir=\"auto\">", &shortened(text.trim_end()), "</pre>");
    }
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

fn arguments(page: &mut Page, call: &Call) {
    let fields = match document::arguments(call) {
        None => return,
        Some(Value::Object(fields)) => fields,
        Some(other) => {
            page.element("<pre dir=\"ltr\">", &document::as_written(other), "</pre>");
            return;
        }
    };
    page.tag("<dl class=\"args\">");
    for (name, value) in fields {
        page.element("<dt>", name, "</dt>");
        match value {
            Value::String(text) if text.contains('\n') => {
                page.element("<dd><pre dir=\"auto\">", text, "</pre></dd>");
            }
            Value::String(text) => {
                page.element("<dd class=\"words\" dir=\"auto\">", text, "</dd>");
            }
            Value::Array(_) | Value::Object(_) => {
                page.element("<dd><pre dir=\"ltr\">", &format!("{value:#}"), "</pre></dd>");
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                page.element("<dd class=\"words\">", &value.to_string(), "</dd>");
            }
        }
    }
    page.tag("</dl>");
}

fn change(page: &mut Page, file: &Diff) {
    page.element("<div><div class=\"file\"><span class=\"mono\">", &file.path, "</span>")
        .element("<span class=\"plus\">+", &file.added.to_string(), "</span>")
        .element("<span class=\"minus\">−", &file.removed.to_string(), "</span>")
        .tag(match (file.created, file.deleted) {
            (_, true) => "<span class=\"soft\">deleted</span>",
            (true, false) => "<span class=\"soft\">new file</span>",
            (false, false) => "",
        })
        .tag("</div>");
    if !file.unified.trim().is_empty() {
        page.tag("<pre class=\"diff\" dir=\"ltr\">");
        changes(page, &shortened(&file.unified));
        page.tag("</pre>");
    }
    page.tag("</div>");
}
