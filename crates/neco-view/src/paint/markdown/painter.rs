//! The document: what the session is, what happened, what it cost.

use neco_proto::event::{AgentNode, NotificationLevel, TodoUpdate};
use neco_proto::{Display, Message, Subject, Todo, TodoStatus};

use super::text::{fenced, in_tag, inline, prose, quoted};
use crate::figures;
use crate::paint::document::{self, DocumentPainter, Head, LastPlan, Progress};
use crate::reduce::block::{Asked, BlockBody, Call, Planned, Said};
use crate::reduce::{Outline, Seen};
use crate::wording::answers;

/// Lines of an output that are given; of what is longer, beginning and end.
const LINES: usize = 120;

/// A session as markdown.
#[derive(Debug, Default)]
pub struct Markdown(Progress);

impl DocumentPainter for Markdown {
    fn head(&mut self, head: &Head<'_>) -> String {
        self.0.last_todos = head.outline.last_todos;
        let row = |(name, value): (&str, String)| format!("| {name} | {} |\n", inline(&value));
        let facts: String = head.facts().into_iter().map(row).collect();
        format!("# {}\n\n| | |\n|---|---|\n{facts}\n", inline(head.title()))
    }

    fn block(&mut self, seen: &Seen<'_>) -> String {
        match &seen.block.body {
            BlockBody::Message(said) => self.person(seen, said),
            BlockBody::Thinking(written) => self.name(seen) + &folded("Thoughts", &written.text),
            BlockBody::Answer(written) if written.over => format!("{}{}\n\n", self.name(seen), prose(&written.text)),
            BlockBody::Answer(written) => format!("{}\n\n**Not finished.**\n\n", prose(&written.text)),
            BlockBody::Call(call) => card(seen, call),
            BlockBody::Question(asked) => question(asked),
            // Only the last list is given: it is how things stand.
            BlockBody::Todos(update) if self.0.last_todos == Some(seen.block.seq) => todos(update),
            BlockBody::Todos(_) => String::new(),
            BlockBody::Plan(planned) => self.planned(planned),
            BlockBody::Error(error) => format!("**Error:** {} ({})\n\n", inline(&error.message), error.code),
            BlockBody::End(end) => format!("<sub>{}</sub>\n\n", in_tag(&document::end(end))),
            body => {
                let Some((level, text)) = document::line(body) else { return String::new() };
                let summary = match body {
                    BlockBody::Compaction(done) => done.summary.as_ref().map(Message::text).unwrap_or_default(),
                    _ => String::new(),
                };
                if summary.trim().is_empty() { self.note(level, &text) } else { folded(&text, &summary) }
            }
        }
    }

    fn note(&mut self, level: NotificationLevel, text: &str) -> String {
        let mark = match level {
            NotificationLevel::Info => "",
            NotificationLevel::Warning => "⚠ ",
        };
        match inline(text).as_str() {
            "" => String::new(),
            text => format!("*{mark}{text}*\n\n"),
        }
    }

    fn told(&mut self, text: &str) -> String {
        self.note(NotificationLevel::Info, text)
    }

    fn taken_back(&mut self, messages: u64) -> String {
        self.0.speaker = None;
        let messages = figures::count(messages, "message");
        format!("<details><summary>Removed by a rewind · {messages}</summary>\n\n")
    }

    fn agent(&mut self, node: &AgentNode, is_first: bool) -> String {
        (self.0.below, self.0.plan) = (true, LastPlan::default());
        let heading = if is_first { "## Agents\n\n" } else { "" };
        let parts = [Some(node.name.clone()), Some(node.state.to_string()), figures::usage(&node.usage)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{heading}<details><summary>{}</summary>\n\n", in_tag(&parts.join(" · ")))
    }

    fn close(&mut self) -> String {
        self.0.speaker = None;
        "</details>\n\n".to_owned()
    }

    fn foot(&mut self, _: &Outline) -> String {
        "---\n\n<sub>Exported by Neco. Times are in UTC.</sub>\n".to_owned()
    }
}

impl Markdown {
    fn person(&mut self, seen: &Seen<'_>, said: &Said) -> String {
        self.0.speaker = None;
        let words = quoted(&said.text);
        if self.0.below {
            return format!("{words}\n");
        }
        self.0.number += 1;
        let pictures = match said.pictures as u64 {
            0 => String::new(),
            pictures => format!("*with {}*\n\n", figures::count(pictures, "picture")),
        };
        let minute = document::minute(document::at(seen));
        format!("## {} · You <sub>{minute}</sub>\n\n{words}\n{pictures}", self.0.number)
    }

    /// Who speaks, where that is not plain from what stands above.
    fn name(&mut self, seen: &Seen<'_>) -> String {
        self.0.new_speaker(seen).map(|name| format!("**{}**\n\n", inline(name))).unwrap_or_default()
    }

    fn planned(&mut self, planned: &Planned) -> String {
        let plan = self.0.plan.changed(planned).map(|(heading, text)| folded(heading, text)).unwrap_or_default();
        if planned.found.is_empty() {
            return plan;
        }
        let found: String = planned.found.iter().map(|finding| format!("- {}\n", inline(finding))).collect();
        format!("{plan}<details><summary>Findings · {}</summary>\n\n{found}\n</details>\n\n", planned.found.len())
    }
}

fn folded(summary: &str, text: &str) -> String {
    format!("<details><summary>{}</summary>\n\n{}\n\n</details>\n\n", in_tag(summary), prose(text))
}

fn question(asked: &Asked) -> String {
    let words = match &asked.question.subject {
        Subject::Choices { items } => items
            .iter()
            .map(|item| {
                let option = |option: &neco_proto::QuestionOption| match option.description.as_str() {
                    "" => format!("- {}\n", inline(&option.label)),
                    more => format!("- {}: {}\n", inline(&option.label), inline(more)),
                };
                let options: String = item.options.iter().map(option).collect();
                format!("**Question:** {}\n\n{options}\n", inline(&item.text))
            })
            .collect(),
        Subject::Plan { plan } => format!("**Carry out this plan?**\n\n{}\n", quoted(plan)),
        Subject::Loop { text } => format!("**The agent was repeating itself and was stopped:** {}\n\n", inline(text)),
    };
    format!("{words}**You:** {}\n\n", inline(&answers::reply(asked.reply.as_ref())))
}

fn todos(update: &TodoUpdate) -> String {
    let closed = update.todos.iter().filter(|todo| todo.status.is_closed()).count();
    let row = |(depth, todo): (usize, &Todo)| {
        let text = inline(&todo.text);
        let (mark, text) = match todo.status {
            TodoStatus::Pending => (' ', text),
            TodoStatus::InProgress => (' ', format!("**{text}**")),
            TodoStatus::Completed => ('x', text),
            TodoStatus::Cancelled => ('x', format!("~~{text}~~")),
        };
        format!("{}- [{mark}] {text}\n", "  ".repeat(depth))
    };
    let rows: String = Todo::outline(&update.todos).into_iter().map(row).collect();
    format!("**Todos** ({closed} of {} done)\n\n{rows}\n", update.todos.len())
}

/// A call, folded.
fn card(seen: &Seen<'_>, call: &Call) -> String {
    let facts = document::call_facts(call, None);
    let facts: String = facts.iter().map(|fact| format!(" · {}", in_tag(fact))).collect();
    let summary = in_tag(document::call_summary(call));
    let decided = document::decided(seen, call).map(|decided| format!("*You: {}*\n\n", inline(&decided)));
    let file = call.end.as_ref().and_then(|end| end.spilled_to.as_ref());
    let kept = file.map(|file| format!("All of it is in {}\n\n", inline(file)));
    format!(
        "<details><summary>{} <code>{summary}</code>{facts}</summary>\n\n{}{}{}</details>\n\n",
        document::call_mark(call),
        decided.unwrap_or_default(),
        inside(seen, call),
        kept.unwrap_or_default()
    )
}

fn inside(seen: &Seen<'_>, call: &Call) -> String {
    let printed = document::output(seen, call);
    match document::display(call) {
        Some(Display::Diff { files }) => {
            let change = |file: &neco_proto::Diff| {
                let kind = match (file.created, file.deleted) {
                    (_, true) => " (deleted)",
                    (true, false) => " (new file)",
                    (false, false) => "",
                };
                let text =
                    if file.unified.trim().is_empty() { String::new() } else { fenced(&file.unified, "diff") + "\n" };
                format!("**{}**{kind}\n\n{text}", inline(&file.path))
            };
            files.iter().map(change).collect()
        }
        Some(Display::Terminal { command, tail, .. }) => {
            let printed = if printed.trim().is_empty() { tail.as_str() } else { &printed };
            format!("{}\n{}", fenced(command, "sh"), output(printed))
        }
        Some(Display::List { .. } | Display::Text { .. }) | None => {
            let arguments = document::arguments(call).map(document::as_written);
            let arguments = arguments.map(|text| fenced(&text, "json") + "\n").unwrap_or_default();
            format!("{arguments}{}", output(&printed))
        }
    }
}

fn output(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES {
        return fenced(text, "text") + "\n";
    }
    let (head, tail) = (lines.iter().take(LINES / 2), lines.iter().skip(lines.len() - LINES / 2));
    let left_out = format!("… {} lines left out …", lines.len() - LINES / 2 * 2);
    let shown: Vec<&str> = head.chain([&left_out.as_str()]).chain(tail).copied().collect();
    fenced(&shown.join("\n"), "text") + "\n"
}
