//! What is neither said nor called: questions, plans, todos, lines.

use neco_proto::event::{NotificationLevel, TodoUpdate};
use neco_proto::{Message, Subject, Todo, TodoStatus};

use super::page::Page;
use super::prose::prose;
use crate::reduce::block::{Asked, BlockBody};
use crate::wording::answers;

pub(super) fn note(page: &mut Page, level: NotificationLevel, text: &str) {
    let begin = match level {
        NotificationLevel::Info => "<div class=\"note\"><span>·</span><span dir=\"auto\">",
        NotificationLevel::Warning => "<div class=\"note warning\"><span>!</span><span dir=\"auto\">",
    };
    page.element(begin, text, "</span></div>\n");
}

/// A block that is told in a line; that of an agent leads to what it did, a compaction has its summary folded below it.
pub(super) fn line(page: &mut Page, body: &BlockBody, level: NotificationLevel, text: &str) {
    let summary = match body {
        BlockBody::Agent(step) => {
            let begin = "<div class=\"note\"><span>⤷</span><span dir=\"auto\"><a href=\"#a";
            page.element(begin, &step.node.id.to_string(), "\">").element("", text, "</a></span></div>\n");
            return;
        }
        BlockBody::Compaction(done) => done.summary.as_ref().map(Message::text).unwrap_or_default(),
        _ => String::new(),
    };
    if summary.trim().is_empty() {
        return note(page, level, text);
    }
    page.element("<details class=\"box quiet\"><summary>", text, "</summary><div class=\"prose\">");
    prose(page, &summary);
    page.tag("</div></details>\n");
}

pub(super) fn question(page: &mut Page, asked: &Asked) {
    page.tag("<div class=\"box\">");
    match &asked.question.subject {
        Subject::Choices { items } => {
            for item in items {
                let head = if item.title.is_empty() { "Question" } else { &item.title };
                page.element("<div class=\"head\" dir=\"auto\">", head, "</div>");
                page.element("<div class=\"words\" dir=\"auto\">", &item.text, "</div>");
                if item.options.is_empty() {
                    continue;
                }
                page.tag("<ul dir=\"auto\">");
                for option in &item.options {
                    page.element("<li>", &option.label, "");
                    if !option.description.is_empty() {
                        page.element(" <span class=\"soft\">", &option.description, "</span>");
                    }
                    page.tag("</li>");
                }
                page.tag("</ul>");
            }
        }
        Subject::Plan { plan } => {
            page.tag("<div class=\"head\">Carry out this plan?</div><div class=\"prose\">");
            prose(page, plan);
            page.tag("</div>");
        }
        Subject::Loop { text } => {
            page.tag("<div class=\"head\">The agent was repeating itself and was stopped</div>");
            page.element("<div class=\"words\" dir=\"auto\">", text, "</div>");
        }
    }
    let begin = "</div>\n<div class=\"note\"><span>↳</span><span dir=\"auto\">You: <span class=\"chosen\">";
    page.element(begin, &answers::reply(asked.reply.as_ref()), "</span></span></div>\n");
}

/// The last list is open: it is how things stand.
pub(super) fn todos(page: &mut Page, update: &TodoUpdate, is_last: bool) {
    let closed = update.todos.iter().filter(|todo| todo.status.is_closed()).count();
    let begin = if is_last { "<details class=\"box\" open><summary>" } else { "<details class=\"box\"><summary>" };
    let heading = format!("Todos · {closed} of {} done", update.todos.len());
    page.element(begin, &heading, "</summary><ul class=\"todos\" dir=\"auto\">");
    for (depth, todo) in Todo::outline(&update.todos) {
        let (class, mark) = match todo.status {
            TodoStatus::Pending => ("<li class=\"open", "☐"),
            TodoStatus::InProgress => ("<li class=\"now", "▶"),
            TodoStatus::Completed => ("<li class=\"closed", "☑"),
            TodoStatus::Cancelled => ("<li class=\"dropped", "☒"),
        };
        let depth = match depth {
            0 => "",
            1 => " deep1",
            2 => " deep2",
            _ => " deep3",
        };
        page.tag(class).tag(depth).element("\"><span>", mark, "</span>").element("<span>", &todo.text, "</span></li>");
    }
    page.tag("</ul></details>\n");
}

/// A plan that is another one now, and what was found out.
pub(super) fn plan(page: &mut Page, plan: Option<(&str, &str)>, found: &[String]) {
    if let Some((heading, text)) = plan {
        page.element("<details class=\"box\"><summary>", heading, "</summary><div class=\"prose\">");
        prose(page, text);
        page.tag("</div></details>\n");
    }
    if found.is_empty() {
        return;
    }
    let count = found.len().to_string();
    page.element("<details class=\"box\"><summary>Findings · ", &count, "</summary><ul dir=\"auto\">");
    for finding in found {
        page.element("<li>", finding, "</li>");
    }
    page.tag("</ul></details>\n");
}
