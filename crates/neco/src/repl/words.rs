//! What a session answers, as lines.

use std::fmt::Write;
use std::io::BufRead;

use neco_proto::event::{AgentNode, RewindWhat};
use neco_proto::slash::Slash;
use neco_proto::{
    Answer, ContextView, MessageSize, RewindPoint, RewindPreview, SessionSnapshot, Speaker, Todo, TodoStatus,
};

use crate::print::clean::clean_line;
use crate::print::figures;

/// A line that is asked for.
#[must_use]
pub fn read() -> Option<String> {
    let mut line = String::new();
    let count = std::io::stdin().lock().read_line(&mut line).ok()?;
    (count > 0).then(|| line.trim().to_owned())
}

/// An answer in words.
#[must_use]
pub fn answer(answer: &Answer, view: ContextView) -> String {
    let mut text = String::new();
    match answer {
        Answer::Context(report) => {
            let of = report.window.map(|window| format!(" of {}", figures::tokens(window))).unwrap_or_default();
            let _ = writeln!(text, "context: {}{of} tokens", figures::tokens(report.tokens));
            let _ = writeln!(text, "{} tools: {}", report.tools.count, figures::tokens(report.tools.tokens));
            for layer in report.layers.iter().filter(|layer| layer.tokens > 0) {
                let _ = writeln!(text, "{}: {}", layer.layer, figures::tokens(layer.tokens));
            }
            text.push_str(&messages(&report.messages, view));
            if let Some(at) = report.compact_at {
                let _ = writeln!(text, "compacted at {}; /compact does it now", figures::tokens(at));
            }
        }
        Answer::Tree { nodes } => nodes.iter().for_each(|node| text.push_str(&node_line(node))),
        Answer::Snapshot(_)
        | Answer::Messages { .. }
        | Answer::Prompt(_)
        | Answer::Checkpoints { .. }
        | Answer::RewindPoints { .. }
        | Answer::Workflows { .. }
        | Answer::RewindPreview(_) => {}
    }
    text
}

/// The messages that were asked for, a line each.
fn messages(messages: &[MessageSize], view: ContextView) -> String {
    let (chosen, left) = view.of(messages);
    let line = |(number, message): (usize, &MessageSize)| {
        let (size, who) = (figures::tokens(message.tokens), Speaker::of(message).words());
        let about: Vec<&str> = message.tools.iter().map(String::as_str).chain([message.begins.as_str()]).collect();
        format!("message {number}: {size}, {:.1} %, {who}: {}\n", message.share, clean_line(&about.join(": ")))
    };
    let mut text: String = chosen.into_iter().map(line).collect();
    if left > 0 {
        let others = figures::count(left as u64, "other");
        let _ = writeln!(text, "and {others}: /context {}", ContextView::ARGUMENT);
    }
    text
}

fn node_line(node: &AgentNode) -> String {
    let said = node.last_message.as_deref().map(|text| format!(": {}", clean_line(text))).unwrap_or_default();
    let progress = (node.progress.clamp(0.0, 1.0) * 100.0).round();
    format!("{}, {}, {progress} %{said}\n", clean_line(&node.name), node.state)
}

/// What a command wants to know of how the session stands.
#[must_use]
pub fn standing(snapshot: &SessionSnapshot, what: &Slash) -> String {
    match what {
        Slash::Cost => figures::usage(&snapshot.usage).unwrap_or_else(|| "nothing was used yet".to_owned()),
        Slash::Todo if snapshot.todos.is_empty() => "the todo list is empty".to_owned(),
        Slash::Todo => Todo::outline(&snapshot.todos).into_iter().map(|(depth, todo)| todo_line(depth, todo)).collect(),
        Slash::Plan => match &snapshot.plan {
            None => "there is no plan; /mode plan makes one".to_owned(),
            Some(plan) => {
                let step = |step: &neco_proto::PlanStep| {
                    format!("{} {}\n", if step.done { "done:" } else { "open:" }, clean_line(&step.text))
                };
                format!("plan: {}\n{}", plan.status, plan.steps.iter().map(step).collect::<String>())
            }
        },
        _ => {
            let (model, folder) = (clean_line(&snapshot.model), clean_line(&snapshot.cwd));
            format!("a session with {model}, mode {}, in {folder}", snapshot.mode)
        }
    }
}

fn todo_line(depth: usize, todo: &Todo) -> String {
    let state = match todo.status {
        TodoStatus::Pending => "open:",
        TodoStatus::InProgress => "now:",
        TodoStatus::Completed => "done:",
        TodoStatus::Cancelled => "dropped:",
    };
    format!("{}{state} {}\n", "  ".repeat(depth), clean_line(&todo.text))
}

/// The messages that can be gone back to.
#[must_use]
pub fn points(points: &[RewindPoint]) -> String {
    let line = |point: &RewindPoint| {
        let files = if point.files { " (files changed since)" } else { "" };
        format!("{}. {}{files}\n", point.number, clean_line(&point.text))
    };
    points.iter().map(line).collect()
}

/// The message that a line means, and what goes back: `3`, `3 f`, `3c`.
#[must_use]
pub fn way<'a>(line: &str, points: &'a [RewindPoint]) -> Option<(&'a RewindPoint, RewindWhat)> {
    let digits = line.trim().trim_end_matches(|char: char| !char.is_ascii_digit());
    let what = match line.trim().strip_prefix(digits)?.trim() {
        "" => RewindWhat::Both,
        "f" | "files" => RewindWhat::Files,
        "c" | "conversation" => RewindWhat::Conversation,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    points.iter().find(|point| point.number == number).map(|point| (point, what))
}

/// What going back would change.
#[must_use]
pub fn preview(preview: &RewindPreview) -> String {
    let mut text = String::new();
    for point in &preview.messages {
        let _ = writeln!(text, "no longer counts: {}", clean_line(&point.text));
    }
    for file in &preview.files {
        let others = if file.by_others { " (somebody else changed it since)" } else { "" };
        let kind = format!("{:?}", file.kind).to_lowercase();
        let _ = writeln!(text, "{kind}: {}{others}", clean_line(&file.path));
    }
    preview.notes.iter().for_each(|note| text.push_str(&format!("{}\n", clean_line(note))));
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::MessageId;

    use super::*;

    #[test]
    fn a_way_back_is_a_number_and_a_letter() {
        let point = |number| RewindPoint {
            number,
            message_id: MessageId::new(),
            seq: number,
            ts: Timestamp::UNIX_EPOCH,
            text: String::new(),
            calls: 0,
            files: false,
        };
        let points = [point(1), point(2)];
        let read = |line: &str| way(line, &points).map(|(point, what)| (point.number, what));
        assert_eq!(read("2"), Some((2, RewindWhat::Both)));
        assert_eq!(read("1 f"), Some((1, RewindWhat::Files)));
        assert_eq!(read("1c"), Some((1, RewindWhat::Conversation)));
        for line in ["", "3", "x", "1 x", "n"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
