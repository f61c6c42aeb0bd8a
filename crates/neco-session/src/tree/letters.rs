//! What agents are told of each other, in words.

use neco_proto::event::{AgentMessage, AgentNode, Down, Letter, NodeResult, NodeState, Up};
use neco_proto::{Message, MessageId};
use neco_safety::untrusted;

/// A letter as it enters the conversation of whom it is said to. What another agent says may quote what a
/// file or a page said.
pub(super) fn message(letter: &AgentMessage, from: &str) -> Message {
    let id = letter.message_id;
    let neco = |text: String| Message { id, ..Message::neco(untrusted::neutral(&text)) };
    let person = |text: String| Message { id, ..Message::user(untrusted::neutral(&text).into_owned()) };
    match &letter.letter {
        Letter::Up(up) => neco(told_up(up, from)),
        Letter::Down(Down::Task { text }) => person(text.clone()),
        Letter::Down(Down::Redirect { text }) => person(format!("Correction from {from}: {text}")),
        Letter::Down(Down::Answer { text }) => person(format!("Answer from {from}: {text}")),
    }
}

/// What a child says, to its parent.
pub(super) fn told_up(up: &Up, from: &str) -> String {
    match up {
        Up::Report { progress, message } => format!("{from} reports ({:.0} %): {message}", progress * 100.0),
        Up::Question { text } => {
            format!("{from} asks: {text}\nAnswer with agent_message (kind answer); it waits for you.")
        }
        Up::Ended { result } => ended(result, from),
        Up::Stopped { why, .. } => format!("{from}: {why}"),
    }
}

/// How a child's task ended.
pub(super) fn ended(result: &NodeResult, from: &str) -> String {
    match result {
        NodeResult::Output { output } => format!("{from} completed its task:\n{}", output_text(output)),
        NodeResult::Error { code: Some(code), message } => format!("{from} failed ({code}): {message}"),
        NodeResult::Error { code: None, message } => format!("{from} failed: {message}"),
    }
}

/// What is said of a child whose result was waited for, when nothing is heard of it.
pub(super) fn may_hang(name: &str) -> String {
    format!(
        "Nothing was heard of {name} for long: it may hang, and is no longer waited for. Look with agent_status, then \
         wait with agent_wait, redirect it with agent_message or end it with agent_cancel. If it completes its task, \
         its result follows."
    )
}

/// What is said of a paused child whose result was waited for, when the call that waited is stopped.
pub(super) fn kept_paused(name: &str) -> String {
    format!(
        "{name} is paused with what it did so far, and is no longer waited for. Let it go on with agent_message (kind \
         resume): its result follows then. Or end it with agent_cancel."
    )
}

/// What the root is told of its agents when the person has stopped everything.
pub(super) fn all_stopped(names: &[String]) -> Message {
    Message::neco(format!(
        "The user stopped everything. Paused, with what they did so far: {}. None of them does anything until it is \
         resumed (agent_message, kind resume); end what is no longer wanted with agent_cancel.",
        names.join(", ")
    ))
}

pub(super) fn output_text(output: &serde_json::Value) -> String {
    match output.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string_pretty(output).unwrap_or_else(|_| output.to_string()),
    }
}

/// A node in a line or two, for its parent.
pub(super) fn node(node: &AgentNode) -> String {
    let mut line = format!("{} ({}, {}", node.name, node.role, node.state);
    if node.state.is_live() && node.progress > 0.0 {
        line.push_str(&format!(", {:.0} %", node.progress * 100.0));
    }
    let used = node.subtree_usage.input.saturating_add(node.subtree_usage.output);
    if used > 0 {
        line.push_str(&format!(", {used} tokens"));
    }
    line.push_str(&format!("): {}", first_line(&node.task)));
    match (&node.result, &node.last_message) {
        (Some(result), _) => line.push_str(&format!("\n  {}", shortened(&ended(result, &node.name)))),
        (None, Some(said)) => line.push_str(&format!("\n  last: {}", first_line(said))),
        (None, None) => {}
    }
    if node.state == NodeState::Paused {
        line.push_str("\n  paused; agent_message (kind resume) lets it go on");
    }
    line
}

/// What an agent is told that ended without the output that its definition asks for.
pub(super) fn reminder() -> Message {
    Message::neco(
        "Your task asks for an output of a given form, and you ended without it. Call complete_task with that \
         output now; text alone does not count.",
    )
}

/// What an agent is told that has nothing more to do while agents of its own are paused.
pub(super) fn left_paused(names: &[String]) -> Message {
    Message::neco(format!(
        "You are done, but {} paused: let it go on with agent_message (kind resume) and wait for it, or end it with \
         agent_cancel. If you end your work again, what is paused is ended with it.",
        match names {
            [one] => format!("{one} is"),
            _ => format!("{} are", names.join(", ")),
        }
    ))
}

/// What an agent is told when it goes on after an interruption.
pub(super) fn go_on() -> Message {
    Message { id: MessageId::new(), ..Message::neco("You were interrupted. Go on with your task where you stopped.") }
}

fn first_line(text: &str) -> String {
    shortened(text.trim().lines().next().unwrap_or_default())
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
