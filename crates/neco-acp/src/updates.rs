//! Updates for an editor, each from one thing that is to be told.

use agent_client_protocol::v1::schema as acp;
use neco_proto::clean::clean_line;
use neco_proto::{CallId, Event, EventBody, Message, MessageId, Part, Todo, TodoStatus, TurnId};

/// Calls that are named which were done after they were stopped.
const MOST_LATE: usize = 20;

/// The pictures of a person's message that an event brings.
pub(crate) fn pictures(event: &Event) -> Vec<acp::SessionUpdate> {
    let message = match &event.body {
        EventBody::Message(message) => message,
        EventBody::MessageQueued(queued) => &queued.message,
        _ => return Vec::new(),
    };
    let chunk = |picture| acp::ContentChunk::new(picture).message_id(acp::MessageId::new(message.id.to_string()));
    let pictures = message.parts.iter().filter_map(picture);
    pictures.map(|picture| acp::SessionUpdate::UserMessageChunk(chunk(picture))).collect()
}

/// The picture that a part of a message is.
pub(crate) fn picture(part: &Part) -> Option<acp::ContentBlock> {
    match part {
        Part::Image { media_type, data } => {
            Some(acp::ContentBlock::Image(acp::ImageContent::new(data.clone(), media_type.clone())))
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    }
}

/// What is new of a call.
pub(crate) fn update(call: &CallId, fields: acp::ToolCallUpdateFields) -> acp::SessionUpdate {
    acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(call.as_str().to_owned(), fields))
}

fn chunk(words: impl Into<String>) -> acp::ContentChunk {
    acp::ContentChunk::new(acp::ContentBlock::Text(acp::TextContent::new(words)))
}

/// What the model says: the words of one turn are one message.
pub(crate) fn said(words: &str, turn: Option<TurnId>) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(
        chunk(words).message_id(turn.map(|turn| acp::MessageId::new(turn.to_string()))),
    )
}

/// What the model thinks before, which is a message of its own.
pub(crate) fn thought(words: &str, turn: Option<TurnId>) -> acp::SessionUpdate {
    let message = turn.map(|turn| acp::MessageId::new(format!("{turn}-thought")));
    acp::SessionUpdate::AgentThoughtChunk(chunk(words).message_id(message))
}

/// What a person said, without what came along.
pub(crate) fn heard(message: MessageId, words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::UserMessageChunk(
        chunk(Message::written(words)).message_id(acp::MessageId::new(message.to_string())),
    )
}

/// What a person must see, apart from what the model says.
pub(crate) fn aside(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(chunk(format!("\n\n> {}\n\n", words.replace('\n', "\n> "))))
}

/// What is good to know.
pub(crate) fn thought_aside(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentThoughtChunk(chunk(format!("\n\n{words}\n\n")))
}

/// The todo list, parts below what they are parts of.
pub(crate) fn plan_of(todos: &[Todo]) -> acp::SessionUpdate {
    let entry = |(depth, todo): (usize, &Todo)| {
        let (status, mark) = match todo.status {
            TodoStatus::Pending => (acp::PlanEntryStatus::Pending, ""),
            TodoStatus::InProgress => (acp::PlanEntryStatus::InProgress, ""),
            TodoStatus::Completed => (acp::PlanEntryStatus::Completed, ""),
            TodoStatus::Cancelled => (acp::PlanEntryStatus::Completed, " (not needed any more)"),
        };
        let words = format!("{}{}{mark}", "  ".repeat(depth), clean_line(&todo.text));
        acp::PlanEntry::new(words, acp::PlanEntryPriority::Medium, status)
    };
    acp::SessionUpdate::Plan(acp::Plan::new(Todo::outline(todos).into_iter().map(entry).collect()))
}

/// Whether it tells what is done, and not how the session stands.
pub(crate) fn is_of_work(update: &acp::SessionUpdate) -> bool {
    matches!(
        update,
        acp::SessionUpdate::UserMessageChunk(_)
            | acp::SessionUpdate::AgentMessageChunk(_)
            | acp::SessionUpdate::AgentThoughtChunk(_)
            | acp::SessionUpdate::ToolCall(_)
            | acp::SessionUpdate::ToolCallUpdate(_)
            | acp::SessionUpdate::Plan(_)
            | acp::SessionUpdate::UsageUpdate(_)
    )
}

/// What was done, where an update says that a call has done what it should.
pub(crate) fn done_by(update: &acp::SessionUpdate) -> Option<String> {
    let done = acp::ToolCallStatus::Completed;
    match update {
        acp::SessionUpdate::ToolCall(call) if call.status == done => Some(call.title.clone()),
        acp::SessionUpdate::ToolCallUpdate(update) if update.fields.status == Some(done) => update.fields.title.clone(),
        _ => None,
    }
}

/// What was done after the editor was told that it is stopped; nothing where nothing was.
pub(crate) fn told_late(late: &[String]) -> Option<acp::SessionUpdate> {
    let more = late.len().saturating_sub(MOST_LATE);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let told = late.get(..MOST_LATE).unwrap_or(late).join("; ");
    (!late.is_empty()).then(|| thought_aside(&format!("What was stopped was done all the same: {told}{more}")))
}

/// A text as it stands.
pub(crate) fn fenced(text: &str) -> String {
    fenced_as("", text)
}

/// The same in a language: the fence has more backquotes than there are in a row within it.
pub(crate) fn fenced_as(language: &str, text: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_within() {
        assert_eq!(fenced("a\n"), "```\na\n```");
        assert_eq!(fenced("```\na\n```\n"), "````\n```\na\n```\n````");
        assert_eq!(fenced_as("sh", "a `````b"), "``````sh\na `````b\n``````");
    }
}
