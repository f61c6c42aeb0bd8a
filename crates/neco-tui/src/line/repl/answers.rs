//! What a session answers, as lines.

use std::fmt::Write;

use neco_proto::clean::clean_line;
use neco_proto::event::AgentNode;
use neco_proto::{ContextReport, MessageSize, SessionSnapshot, Todo, TodoStatus};
use neco_view::setting::Setting;
use neco_view::slash::{self, Slash};
use neco_view::wording::{layers, notices};
use neco_view::{ContextView, Speaker, figures};

/// What is said of themes.
pub const NO_THEMES: &str = "themes are for the window; neco repl has no colours";

/// What is said of going into the background.
pub const NOTHING_WORKS: &str =
    "nothing works while lines are read; `neco -m \"…\" --background` works on without a window";

/// What the conversation is made of.
pub fn context(report: &ContextReport, view: ContextView) -> String {
    let of = report.known_window().map(|window| format!(" of {}", figures::tokens(window))).unwrap_or_default();
    let mut text = format!("context: {}{of} tokens\n", figures::tokens(report.tokens));
    let _ = writeln!(text, "{} tools: {}", report.tools.count, figures::tokens(report.tools.tokens));
    for words in notices::of_servers(&report.tools).chain(notices::looked_up(&report.tools)) {
        let _ = writeln!(text, "  {words}");
    }
    for layer in report.layers.iter().filter(|layer| layer.tokens > 0) {
        let _ = writeln!(text, "{}: {}", layers::name(layer.layer), figures::tokens(layer.tokens));
    }
    text.push_str(&messages(&report.messages, view));
    if let Some(used) = &report.given {
        let _ = writeln!(text, "{}", notices::given(used));
    }
    if let Some(at) = report.compact_at {
        let _ = writeln!(text, "compacted at {}; /compact does it now", figures::tokens(at));
    }
    if let Some(words) = notices::unknown_window(report) {
        let _ = writeln!(text, "{words}");
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

/// The agents, a line each; of the root it is told whether it works now.
pub fn tree(nodes: &[AgentNode], root_works: bool) -> String {
    let others = nodes.iter().filter(|node| node.parent.is_some()).map(node_line).collect::<String>();
    let root = if root_works { "the main agent is working\n" } else { "the main agent waits for you\n" };
    match others.is_empty() {
        true => format!("{root}no other agents\n"),
        false => format!("{root}{others}"),
    }
}

fn node_line(node: &AgentNode) -> String {
    let said = node.last_message.as_deref().map(|text| format!(": {}", clean_line(text))).unwrap_or_default();
    let progress = (node.progress.clamp(0.0, 1.0) * 100.0).round();
    format!("{}, {}, {progress} %{said}\n", clean_line(&node.name), node.state)
}

/// What a command wants to know of how the session stands.
pub fn standing(snapshot: &SessionSnapshot, what: &Slash) -> String {
    match what {
        Slash::Cost => {
            let all = figures::usage(&snapshot.usage).unwrap_or_else(|| "nothing was used yet".to_owned());
            let beside = (snapshot.aside.input + snapshot.aside.output > 0).then(|| figures::usage(&snapshot.aside));
            let beside = beside.flatten().map(|used| format!("\nof it {used} in side calls: {}", notices::BESIDE));
            format!("{all}{}", beside.unwrap_or_default())
        }
        Slash::How(setting) => match setting {
            Setting::Mode => setting.told(snapshot.mode.name()),
            Setting::Approval => setting.told(snapshot.approval.name()),
            Setting::Generation => setting.told(&snapshot.generation.to_string()),
            Setting::Theme => NO_THEMES.to_owned(),
            Setting::Sandbox => setting.told("the one in your settings"),
        },
        Slash::Todo if snapshot.todos.is_empty() => slash::NO_TODOS.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_is_only_assumed_is_told_as_not_known() {
        let report = ContextReport { model: "a/b".to_owned(), tokens: 500, ..ContextReport::default() };
        let told = |report: &ContextReport| context(report, ContextView::default());
        let known = told(&ContextReport { window: Some(8000), ..report.clone() });
        assert!(known.starts_with("context: 500 of 8.0k tokens\n") && !known.contains("not known"), "{known}");
        let assumed = told(&ContextReport { window: Some(8000), window_is_assumed: true, ..report });
        assert!(assumed.starts_with("context: 500 tokens\n"), "{assumed}");
        assert!(assumed.ends_with("set context_window in [models.\"a/b\"]\n"), "{assumed}");
    }
}
