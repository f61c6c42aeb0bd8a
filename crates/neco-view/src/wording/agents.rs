//! What an agent does, in a few words.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeResult, NodeState, NodeType};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::reduce::Agents;
use crate::reduce::activity::Doing;

/// How an agent stands, in a word. An agent is stopped; what is cancelled is a call.
pub fn state(state: NodeState) -> &'static str {
    match state {
        NodeState::Created => "waits its turn",
        NodeState::Running => "at work",
        NodeState::Paused => "paused",
        NodeState::Completed => "done",
        NodeState::Failed => "failed",
        NodeState::Cancelled => "stopped",
    }
}

/// What an agent does now, or what became of it.
pub fn doing(node: &AgentNode, agents: &Agents) -> String {
    let said = || node.last_message.as_deref().map(in_one_line);
    match node.state {
        NodeState::Running => match agents.does(node.id) {
            Some(Doing::Thinks) => "thinks".to_owned(),
            Some(Doing::Calls { summary }) => does(summary),
            Some(Doing::Wants { summary }) => {
                let own = summary.strip_prefix(&format!("{}: ", clean_line(&node.name)));
                would(own.unwrap_or(summary))
            }
            Some(Doing::Asks) => "asks you something".to_owned(),
            None => said().unwrap_or_default(),
        },
        NodeState::Failed => match &node.result {
            Some(NodeResult::Error { message, .. }) => clean_line(message),
            Some(NodeResult::Output { .. }) | None => said().unwrap_or_else(|| state(node.state).to_owned()),
        },
        NodeState::Created | NodeState::Paused | NodeState::Completed | NodeState::Cancelled => {
            state(node.state).to_owned()
        }
    }
}

/// A call as what somebody does: `Run cargo test` is `runs cargo test`.
fn does(summary: &str) -> String {
    let summary = clean_line(summary);
    match verb(&summary) {
        Some((verb, rest)) => {
            let end = if verb.ends_with(['s', 'x', 'h']) { "es" } else { "s" };
            format!("{verb}{end}{rest}")
        }
        None => summary,
    }
}

/// A call as what somebody wants to do: `Run cargo test` is `would run cargo test`.
fn would(summary: &str) -> String {
    let summary = clean_line(summary);
    verb(&summary).map(|(verb, rest)| format!("would {verb}{rest}")).unwrap_or(summary)
}

/// The verb that a call's line begins with, in small letters, and what follows it.
fn verb(summary: &str) -> Option<(String, &str)> {
    let (verb, _) = summary.split_once(' ')?;
    let is_verb = verb.starts_with(|char: char| char.is_ascii_uppercase())
        && verb.chars().skip(1).all(|char| char.is_ascii_lowercase());
    is_verb.then(|| (verb.to_lowercase(), summary.get(verb.len()..).unwrap_or_default()))
}

/// What an agent wrote, in one line: without the marks of headings, emphasis and code, which need rows of their own.
pub fn in_one_line(text: &str) -> String {
    let mut words = String::new();
    for event in Parser::new(text) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                words.push_str(&text);
            }
            Event::Start(Tag::Item) => words.push_str(" - "),
            Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Item) => words.push(' '),
            _ => {}
        }
    }
    clean_line(&words)
}

/// What kind of agent it is, by what it may do.
pub fn kind(kind: NodeType) -> String {
    let does = match kind {
        NodeType::Root => "talks with you",
        NodeType::Child => "may start agents of its own",
        NodeType::ActOnly => "works alone",
    };
    format!("{kind} ({does})")
}

/// A model, which is named with its provider, or a group of models. What a group is for is known to whoever set it.
pub fn model_or_group(name: &str) -> String {
    if name.is_empty() || name.contains('/') { name.to_owned() } else { format!("group {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_as_what_somebody_does() {
        assert_eq!(does("Run cargo test"), "runs cargo test");
        assert_eq!(does("Search for x"), "searches for x");
        assert_eq!(does("MCP tool"), "MCP tool");
        assert_eq!(would("Edit src/a.rs (+1 −1)"), "would edit src/a.rs (+1 −1)");
    }

    #[test]
    fn what_an_agent_wrote_has_no_marks_in_one_line() {
        let text = "## Done\n\nI looked at **it** and `main`.\n\n```rust\nfn main() {}\n```\n- one\n- two\n";
        assert_eq!(in_one_line(text), "Done I looked at it and main. fn main() {} - one - two");
        assert_eq!(in_one_line("found a_b_c, 2 * 3 < Vec<T>"), "found a_b_c, 2 * 3 < Vec<T>");
    }

    #[test]
    fn a_group_is_told_from_a_model() {
        assert_eq!((model_or_group("act"), model_or_group("a/b")), ("group act".into(), "a/b".into()));
    }
}
