//! What is neither said nor called: questions, plans, todos, notes, ends.

use std::io::{self, Write};

use neco_proto::event::{AgentComplete, Compaction, ErrorEvent, NotificationLevel, PlanUpdate, TodoUpdate};
use neco_proto::{AgentId, Question, Reply, Subject, Todo, TodoStatus};

use crate::export::facts::answered;
use crate::export::{figures, one_line};
use neco_view::paint::html::page::Page;
use neco_view::paint::html::prose::prose;

pub(super) fn note<W: Write>(page: &mut Page<W>, level: NotificationLevel, text: &str) -> io::Result<()> {
    let begin = match level {
        NotificationLevel::Info => "<div class=\"note\"><span>·</span><span dir=\"auto\">",
        NotificationLevel::Warning => "<div class=\"note warning\"><span>!</span><span dir=\"auto\">",
    };
    page.element(begin, text, "</span></div>\n")
}

/// What an agent is at; the words lead to what it did.
pub(super) fn agent<W: Write>(page: &mut Page<W>, agent: AgentId, text: &str) -> io::Result<()> {
    page.element("<div class=\"note\"><span>⤷</span><span dir=\"auto\"><a href=\"#a", &agent.to_string(), "\">")?;
    page.element("", text, "</a></span></div>\n")
}

pub(super) fn error<W: Write>(page: &mut Page<W>, error: &ErrorEvent) -> io::Result<()> {
    page.tag("<div class=\"note error\"><span>✗</span><span dir=\"auto\">Error ")?;
    page.text(&error.code.to_string())?;
    page.element(": ", &error.message, "</span></div>\n")
}

pub(super) fn question<W: Write>(page: &mut Page<W>, question: &Question) -> io::Result<()> {
    page.tag("<div class=\"box\">")?;
    match &question.subject {
        Subject::Choices { items } => {
            for item in items {
                let head = if item.title.is_empty() { "Question" } else { &item.title };
                page.element("<div class=\"head\" dir=\"auto\">", head, "</div>")?;
                page.element("<div class=\"words\" dir=\"auto\">", &item.text, "</div>")?;
                if item.options.is_empty() {
                    continue;
                }
                page.tag("<ul dir=\"auto\">")?;
                for option in &item.options {
                    page.element("<li>", &option.label, "")?;
                    if !option.description.is_empty() {
                        page.element(" <span class=\"soft\">", &option.description, "</span>")?;
                    }
                    page.tag("</li>")?;
                }
                page.tag("</ul>")?;
            }
        }
        Subject::Plan { plan } => {
            page.tag("<div class=\"head\">Is this plan to be carried out?</div><div class=\"prose\">")?;
            prose(page, plan)?;
            page.tag("</div>")?;
        }
        Subject::Loop { text } => {
            page.tag("<div class=\"head\">The agent repeats itself and was stopped</div>")?;
            page.element("<div class=\"words\" dir=\"auto\">", text, "</div>")?;
        }
    }
    page.tag("</div>\n")
}

pub(super) fn answer<W: Write>(page: &mut Page<W>, reply: Option<&Reply>) -> io::Result<()> {
    page.tag("<div class=\"note\"><span>↳</span><span dir=\"auto\">You: <span class=\"chosen\">")?;
    page.text(&answered(reply))?;
    page.tag("</span></span></div>\n")
}

/// The last list is open: it is how things stand.
pub(super) fn todos<W: Write>(page: &mut Page<W>, update: &TodoUpdate, last: bool) -> io::Result<()> {
    let closed = update.todos.iter().filter(|todo| todo.status.is_closed()).count();
    let begin = if last { "<details class=\"box\" open><summary>" } else { "<details class=\"box\"><summary>" };
    let heading = format!("Todos · {closed} of {} done", update.todos.len());
    page.element(begin, &heading, "</summary><ul class=\"todos\" dir=\"auto\">")?;
    for (depth, todo) in Todo::outline(&update.todos) {
        page.tag("<li class=\"")?;
        page.tag(match todo.status {
            TodoStatus::Pending => "open",
            TodoStatus::InProgress => "now",
            TodoStatus::Completed => "closed",
            TodoStatus::Cancelled => "dropped",
        })?;
        page.tag(match depth {
            0 => "",
            1 => " deep1",
            2 => " deep2",
            _ => " deep3",
        })?;
        page.element("\"><span>", one_line::todo_mark(todo.status), "</span>")?;
        page.element("<span>", &todo.text, "</span></li>")?;
    }
    page.tag("</ul></details>\n")
}

pub(super) fn plan<W: Write>(page: &mut Page<W>, update: &PlanUpdate) -> io::Result<()> {
    if let Some(plan) = &update.plan {
        page.element("<details class=\"box\"><summary>Plan · ", one_line::plan_status(plan.status), "</summary>")?;
        page.tag("<div class=\"prose\">")?;
        prose(page, &plan.text)?;
        page.tag("</div></details>\n")?;
    }
    if update.findings.is_empty() {
        return Ok(());
    }
    page.tag("<details class=\"box\"><summary>Findings · ")?;
    page.number(update.findings.len() as u64)?;
    page.tag("</summary><ul dir=\"auto\">")?;
    for finding in &update.findings {
        page.element("<li>", finding, "</li>")?;
    }
    page.tag("</ul></details>\n")
}

pub(super) fn compaction<W: Write>(page: &mut Page<W>, compaction: &Compaction) -> io::Result<()> {
    let told = one_line::compaction(compaction);
    let summary = compaction.summary.as_ref().map(neco_proto::Message::text).unwrap_or_default();
    if summary.trim().is_empty() {
        return note(page, NotificationLevel::Info, &told);
    }
    page.element("<details class=\"box quiet\"><summary>", &told, "</summary><div class=\"prose\">")?;
    prose(page, &summary)?;
    page.tag("</div></details>\n")
}

pub(super) fn complete<W: Write>(page: &mut Page<W>, complete: &AgentComplete) -> io::Result<()> {
    let mut parts = vec![one_line::reason(complete.reason).to_owned()];
    parts.extend(complete.error_code.map(|code| format!("error {code}")));
    parts.push(figures::count(complete.turns.into(), "turn"));
    parts.extend(Some(complete.worked_ms()).filter(|ms| *ms > 0).map(figures::duration));
    parts.extend(figures::used(&complete.usage));
    parts.extend(figures::cost(&complete.usage));
    page.element("<div class=\"done\">", &parts.join(" · "), "</div>\n")
}
