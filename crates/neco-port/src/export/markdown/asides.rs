//! What is neither said nor called: questions, plans, todos, ends.

use std::io::{self, Write};

use neco_proto::event::{AgentComplete, PlanUpdate, TodoUpdate};
use neco_proto::{Question, Subject, Todo, TodoStatus};

use crate::export::{figures, one_line};
use neco_view::paint::markdown::text::{in_tag, inline, prose, quoted};

pub(super) fn question(out: &mut impl Write, question: &Question) -> io::Result<()> {
    match &question.subject {
        Subject::Choices { items } => {
            for item in items {
                writeln!(out, "**Question:** {}\n", inline(&item.text))?;
                for option in &item.options {
                    let more = match option.description.as_str() {
                        "" => String::new(),
                        description => format!(": {}", inline(description)),
                    };
                    writeln!(out, "- {}{more}", inline(&option.label))?;
                }
                writeln!(out)?;
            }
            Ok(())
        }
        Subject::Plan { plan } => writeln!(out, "**Is this plan to be carried out?**\n\n{}", quoted(plan)),
        Subject::Loop { text } => writeln!(out, "**The agent repeats itself and was stopped:** {}\n", inline(text)),
    }
}

/// Only the last list is given: it is how things stand.
pub(super) fn todos(out: &mut impl Write, update: &TodoUpdate) -> io::Result<()> {
    let closed = update.todos.iter().filter(|todo| todo.status.is_closed()).count();
    writeln!(out, "**Todos** ({closed} of {} done)\n", update.todos.len())?;
    for (depth, todo) in Todo::outline(&update.todos) {
        let text = inline(&todo.text);
        let (mark, text) = match todo.status {
            TodoStatus::Pending => (' ', text),
            TodoStatus::InProgress => (' ', format!("**{text}**")),
            TodoStatus::Completed => ('x', text),
            TodoStatus::Cancelled => ('x', format!("~~{text}~~")),
        };
        writeln!(out, "{}- [{mark}] {text}", "  ".repeat(depth))?;
    }
    writeln!(out)
}

pub(super) fn plan(out: &mut impl Write, update: &PlanUpdate) -> io::Result<()> {
    if let Some(plan) = &update.plan {
        let status = one_line::plan_status(plan.status);
        writeln!(out, "<details><summary>Plan · {status}</summary>\n\n{}\n\n</details>\n", prose(&plan.text))?;
    }
    if update.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>Findings · {}</summary>\n", update.findings.len())?;
    update.findings.iter().try_for_each(|finding| writeln!(out, "- {}", inline(finding)))?;
    writeln!(out, "\n</details>\n")
}

pub(super) fn folded(out: &mut impl Write, summary: &str, text: &str) -> io::Result<()> {
    writeln!(out, "<details><summary>{}</summary>\n\n{}\n\n</details>\n", in_tag(summary), prose(text))
}

pub(super) fn complete(out: &mut impl Write, complete: &AgentComplete) -> io::Result<()> {
    let mut parts = vec![one_line::reason(complete.reason).to_owned()];
    parts.extend(complete.error_code.map(|code| format!("error {code}")));
    parts.push(figures::count(complete.turns.into(), "turn"));
    parts.extend(Some(complete.worked_ms()).filter(|ms| *ms > 0).map(figures::duration));
    parts.extend(figures::used(&complete.usage));
    parts.extend(figures::cost(&complete.usage));
    writeln!(out, "<sub>{}</sub>\n", in_tag(&parts.join(" · ")))
}
