//! What a server wants the model to answer: how much that may be, how the person is asked, and the answer.

#![expect(deprecated, reason = "servers of the older versions still use sampling")]

use neco_config::section::McpSampling;
use neco_proto::visible::visible;
use neco_proto::{EmptyAnswer, ItemAnswer, Message, Part, QuestionItem, QuestionOption, Role};
use neco_toolkit::{ModelAnswer, ModelQuestion, NoAnswer};
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ErrorCode, ErrorData, SamplingMessage,
    SamplingMessageContentBlock as Block,
};

use super::answer_kind::said_yes;
use super::content;

/// How often a server may ask the model in one call of a tool.
const MOST_QUESTIONS: usize = 10;

/// Most messages of a question, and bytes of text in them.
const MOST_MESSAGES: usize = 50;
const MOST_TEXT: usize = 64 * 1024;

/// Most tokens of an answer, whatever is asked for.
const MOST_OUTPUT: u64 = 4096;

/// Characters of a question that the person is shown.
const SHOWN: usize = 2000;

const ALLOW: &str = "Allow once";

/// What the protocol has for a person who said no.
const REJECTED: ErrorCode = ErrorCode(-1);

/// Why a server gets no answer of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoSample {
    #[error("this server may not ask the model; its setting `sampling` says so")]
    Denied,
    #[error("the model is asked for calls only, and none is under way")]
    NoCall,
    #[error("the model was asked {MOST_QUESTIONS} times in this call already")]
    TooOften,
    #[error("the model can't be asked this: {0}")]
    Unfit(&'static str),
    #[error("nobody allowed that the model is asked")]
    Refused,
    #[error("the call is over")]
    CallIsOver,
    #[error("the model gave no answer: {0}")]
    NoAnswer(#[from] NoAnswer),
}

impl From<NoSample> for ErrorData {
    fn from(why: NoSample) -> Self {
        let words = why.to_string();
        match why {
            NoSample::Refused => Self::new(REJECTED, words, None),
            NoSample::Unfit(_) => Self::invalid_params(words, None),
            NoSample::NoAnswer(_) => Self::internal_error(words, None),
            NoSample::Denied | NoSample::NoCall | NoSample::TooOften | NoSample::CallIsOver => {
                Self::invalid_request(words, None)
            }
        }
    }
}

/// Whether a server may ask once more that asked so often before.
pub(super) fn may_ask(sampling: McpSampling, before: usize) -> Result<(), NoSample> {
    match sampling {
        McpSampling::Deny => Err(NoSample::Denied),
        McpSampling::Ask | McpSampling::Allow if before >= MOST_QUESTIONS => Err(NoSample::TooOften),
        McpSampling::Ask | McpSampling::Allow => Ok(()),
    }
}

/// What the model is asked.
pub(super) fn question(request: CreateMessageRequestParams) -> Result<ModelQuestion, NoSample> {
    if request.tools.is_some_and(|tools| !tools.is_empty()) {
        return Err(NoSample::Unfit("it has no tools"));
    }
    if request.messages.is_empty() || request.messages.len() > MOST_MESSAGES {
        return Err(NoSample::Unfit("there are no messages, or too many"));
    }
    let system = request.system_prompt.unwrap_or_default();
    let messages = request.messages.into_iter().map(message).collect::<Result<Vec<_>, _>>()?;
    let text: usize = messages.iter().flat_map(|message| &message.parts).map(text_bytes).sum();
    if system.len() + text > MOST_TEXT {
        return Err(NoSample::Unfit("it is too long"));
    }
    let max_output = u64::from(request.max_tokens).clamp(1, MOST_OUTPUT);
    let temperature = request.temperature.map(f64::from).filter(|wish| (0.0..=2.0).contains(wish));
    Ok(ModelQuestion { system, messages, max_output, temperature })
}

fn text_bytes(part: &Part) -> usize {
    if let Part::Text { text } = part { text.len() } else { 0 }
}

fn message(message: SamplingMessage) -> Result<Message, NoSample> {
    let role = match message.role {
        rmcp::model::Role::User => Role::User,
        rmcp::model::Role::Assistant => Role::Assistant,
    };
    let parts = message.content.into_vec().into_iter().map(|block| part(role, block));
    Ok(Message::new(role, parts.collect::<Result<_, _>>()?))
}

fn part(role: Role, block: Block) -> Result<Part, NoSample> {
    match block {
        Block::Text(text) => Ok(Part::Text { text: text.text }),
        Block::Image(image) if role == Role::User && content::is_picture(&image.mime_type, &image.data) => {
            Ok(Part::Image { media_type: image.mime_type, data: image.data })
        }
        Block::Image(_) => Err(NoSample::Unfit("a picture of it can't be shown")),
        Block::Audio(_) => Err(NoSample::Unfit("it hears no sounds")),
        _ => Err(NoSample::Unfit("it has no tools")),
    }
}

/// The question to the person whether the model may be asked.
pub(super) fn asks(server: &str, question: &ModelQuestion) -> QuestionItem {
    let option = |label: &str, description: &str| QuestionOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let options = vec![option(ALLOW, "at the cost of this session"), option("Refuse", "")];
    let text = format!(
        "The MCP server {server} wants to ask the model, for an answer of at most {} tokens:\n{}",
        question.max_output,
        shown(question)
    );
    let (title, empty) = (server.to_owned(), EmptyAnswer::Allowed);
    QuestionItem { title, text, options, multiple: false, empty, field: None }
}

/// Whether the person allowed it.
pub(super) fn is_allowed(answers: &[ItemAnswer]) -> bool {
    said_yes(answers, ALLOW)
}

/// What is asked, as far as the person is shown it.
fn shown(question: &ModelQuestion) -> String {
    let mut lines = Vec::new();
    if !question.system.is_empty() {
        lines.push(format!("system: {}", question.system));
    }
    for message in &question.messages {
        let speaker = if message.role == Role::Assistant { "assistant" } else { "user" };
        lines.extend(message.parts.iter().map(|part| match part {
            Part::Text { text } => format!("{speaker}: {text}"),
            Part::Image { media_type, .. } => format!("{speaker}: [a picture: {media_type}]"),
            Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => String::new(),
        }));
    }
    let all = lines.join("\n");
    let beginning: String = all.chars().take(SHOWN).collect();
    match all.chars().count().saturating_sub(SHOWN) {
        0 => visible(&all),
        more => format!("{}\n[and {more} characters more]", visible(&beginning)),
    }
}

/// The answer as the server wants it: said by the assistant.
pub(super) fn result(answer: ModelAnswer) -> CreateMessageResult {
    let reason = match answer.cut_off {
        true => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
        false => CreateMessageResult::STOP_REASON_END_TURN,
    };
    let said = SamplingMessage::assistant_text(answer.text);
    CreateMessageResult::new(said, answer.model).with_stop_reason(reason)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(request: Value) -> Result<ModelQuestion, NoSample> {
        question(serde_json::from_value(request).unwrap())
    }

    fn said(text: &str) -> Value {
        json!({ "role": "user", "content": { "type": "text", "text": text } })
    }

    #[test]
    fn a_question_is_read_and_its_wishes_are_bounded() {
        let asked = json!({ "messages": [said("Hello"), { "role": "assistant", "content": [
            { "type": "text", "text": "Yes?" } ] }], "systemPrompt": "Be short.", "maxTokens": 1_000_000,
            "temperature": 7.5, "includeContext": "allServers" });
        let asked = read(asked).unwrap();
        assert_eq!((asked.system.as_str(), asked.max_output, asked.temperature), ("Be short.", MOST_OUTPUT, None));
        let spoken: Vec<(Role, String)> = asked.messages.iter().map(|said| (said.role, said.text())).collect();
        assert_eq!(spoken, [(Role::User, "Hello".to_owned()), (Role::Assistant, "Yes?".to_owned())]);
    }

    #[test]
    fn what_is_too_much_or_not_for_a_model_is_refused() {
        let block = |content: Value| json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 1 });
        let tool = json!({ "name": "x", "inputSchema": { "type": "object" } });
        for request in [
            json!({ "messages": [], "maxTokens": 1 }),
            json!({ "messages": vec![said("x"); MOST_MESSAGES + 1], "maxTokens": 1 }),
            json!({ "messages": [said(&"x".repeat(MOST_TEXT + 1))], "maxTokens": 1 }),
            json!({ "messages": [said("x")], "systemPrompt": "x".repeat(MOST_TEXT), "maxTokens": 1 }),
            json!({ "messages": [said("x")], "maxTokens": 1, "tools": [tool] }),
            block(json!({ "type": "image", "mimeType": "image/png", "data": "bm8gcGljdHVyZQ==" })),
            block(json!({ "type": "audio", "mimeType": "audio/wav", "data": "" })),
        ] {
            let shown: String = request.to_string().chars().take(100).collect();
            assert!(matches!(read(request), Err(NoSample::Unfit(_))), "{shown}");
        }
    }

    #[test]
    fn the_person_sees_who_asks_what_and_how_much_they_do_not_see() {
        let long = json!({ "messages": [said(&format!("\u{1b}[31m{}", "x".repeat(SHOWN)))], "maxTokens": 50 });
        let item = asks("shop", &read(long).unwrap());
        assert!(item.text.starts_with("The MCP server shop wants to ask the model"), "{}", item.text);
        assert!(item.text.contains("at most 50 tokens") && item.text.contains("characters more]"), "{}", item.text);
        assert!(!item.text.contains('\u{1b}') && item.text.chars().count() < SHOWN + 200, "{}", item.text);
        let chosen = |label: &str| ItemAnswer { chosen: vec![label.to_owned()], ..ItemAnswer::default() };
        assert!(is_allowed(&[chosen(&item.options[0].label)]));
        assert!(!is_allowed(&[chosen(&item.options[1].label)]) && !is_allowed(&[]));
        let typed = |text: &str| [ItemAnswer { text: Some(text.to_owned()), ..ItemAnswer::default() }];
        assert!(["yes", "Y", " 1 ", "allow once"].iter().all(|text| is_allowed(&typed(text))));
        assert!(["no", "n", "2", "", "yes, but later"].iter().all(|text| !is_allowed(&typed(text))));
    }

    #[test]
    fn a_server_asks_so_often_and_no_more() {
        assert_eq!(may_ask(McpSampling::Deny, 0), Err(NoSample::Denied));
        for sampling in [McpSampling::Ask, McpSampling::Allow] {
            assert_eq!(may_ask(sampling, MOST_QUESTIONS - 1), Ok(()));
            assert_eq!(may_ask(sampling, MOST_QUESTIONS), Err(NoSample::TooOften));
        }
    }
}
