//! How the servers that speak this format differ.

use neco_config::section::{CallIdForm, DialectSection};
pub use neco_config::section::{OutputForm, ReasoningBack, ReasoningParameter};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::adapt::CallIds;

/// The longest id where only its form is told.
const LONGEST_ID: usize = 128;

/// What one provider wants otherwise than the rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The field that limits the answer's length.
    pub max_tokens_field: String,
    /// The beginnings of the names of models that want `max_completion_tokens` instead.
    pub completion_tokens: Vec<String>,
    /// The field that holds the seed.
    pub seed_field: String,
    /// Whether `stream_options.include_usage` is understood.
    pub stream_usage: bool,
    /// Whether `prompt_cache_key` is understood.
    pub prompt_cache_key: bool,
    /// Whether what is to be cached is marked for the models that want that: Claude behind a gateway.
    pub cache_marks: bool,
    /// How the amount of thought is asked for.
    pub reasoning: ReasoningParameter,
    /// Which earlier thoughts go back.
    pub reasoning_back: ReasoningBack,
    /// Whether `<think>` at the beginning of an answer opens a thought.
    pub think_tags: bool,
    /// Which ids of calls are accepted.
    pub call_ids: CallIds,
    /// Whether the model must speak between results and what the user says next.
    pub answer_after_results: bool,
    /// Whether headers say who asks (the user, or the agent that goes on by itself) and that there
    /// are pictures: GitHub Copilot charges for what the user asks.
    pub initiator: bool,
    /// How an answer is held to a form.
    pub output: OutputForm,
    /// Further fields of every request.
    pub extra: Map<String, Value>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            max_tokens_field: "max_tokens".to_owned(),
            completion_tokens: Vec::new(),
            seed_field: "seed".to_owned(),
            stream_usage: true,
            prompt_cache_key: false,
            cache_marks: false,
            reasoning: ReasoningParameter::Effort,
            reasoning_back: ReasoningBack::Never,
            think_tags: true,
            call_ids: CallIds::Text(LONGEST_ID),
            answer_after_results: false,
            initiator: false,
            output: OutputForm::Schema,
            extra: Map::new(),
        }
    }
}

impl Dialect {
    /// Lays over it what the configuration says.
    pub(crate) fn lay_over(&mut self, section: &DialectSection) {
        let section = section.clone();
        if let Some(field) = section.max_tokens_field {
            self.max_tokens_field = field;
            self.completion_tokens.clear();
        }
        lay(&mut self.seed_field, section.seed_field);
        lay(&mut self.stream_usage, section.stream_usage);
        lay(&mut self.prompt_cache_key, section.prompt_cache_key);
        lay(&mut self.cache_marks, section.cache_marks);
        lay(&mut self.reasoning, section.reasoning);
        lay(&mut self.reasoning_back, section.reasoning_back);
        lay(&mut self.think_tags, section.think_tags);
        lay(&mut self.answer_after_results, section.answer_after_results);
        lay(&mut self.output, section.output);
        self.call_ids = call_ids(self.call_ids, section.call_ids, section.call_id_length);
        for (name, text) in section.extra {
            // What is no JSON is meant as text.
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            self.extra.insert(name, value);
        }
    }

    /// The field that limits the length of an answer of `model`.
    pub(super) fn max_tokens_field(&self, model: &str) -> &str {
        let newer = self.completion_tokens.iter().any(|begin| model.starts_with(begin.as_str()));
        if newer { "max_completion_tokens" } else { &self.max_tokens_field }
    }
}

fn lay<T>(mine: &mut T, theirs: Option<T>) {
    if let Some(theirs) = theirs {
        *mine = theirs;
    }
}

fn call_ids(mine: CallIds, form: Option<CallIdForm>, length: Option<u32>) -> CallIds {
    let (usual, mine) = match mine {
        CallIds::Text(longest) => (CallIdForm::Text, longest),
        CallIds::Words(longest) => (CallIdForm::Words, longest),
        CallIds::Nine => (CallIdForm::Nine, LONGEST_ID),
    };
    let longest = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(mine);
    match form.unwrap_or(usual) {
        CallIdForm::Text => CallIds::Text(longest),
        CallIdForm::Words => CallIds::Words(longest),
        CallIdForm::Nine => CallIds::Nine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_configuration_says_is_laid_over_and_the_rest_stays() {
        let mut dialect = Dialect { reasoning_back: ReasoningBack::Kept, ..Dialect::default() };
        dialect.completion_tokens = vec!["gpt-5".to_owned()];
        assert_eq!(dialect.max_tokens_field("gpt-5-mini"), "max_completion_tokens");
        assert_eq!(dialect.max_tokens_field("claude"), "max_tokens");
        dialect.lay_over(&DialectSection {
            max_tokens_field: Some("limit".to_owned()),
            reasoning: Some(ReasoningParameter::None),
            call_id_length: Some(40),
            extra: [("split".to_owned(), "true".to_owned()), ("mode".to_owned(), "fast".to_owned())].into(),
            ..DialectSection::default()
        });
        assert_eq!(dialect.max_tokens_field("gpt-5-mini"), "limit");
        assert_eq!((dialect.reasoning, dialect.reasoning_back), (ReasoningParameter::None, ReasoningBack::Kept));
        assert_eq!(dialect.call_ids, CallIds::Text(40));
        assert_eq!(Value::Object(dialect.extra.clone()), serde_json::json!({ "split": true, "mode": "fast" }));
        dialect.lay_over(&DialectSection { call_ids: Some(CallIdForm::Nine), ..DialectSection::default() });
        assert_eq!(dialect.call_ids, CallIds::Nine);
        let before = dialect.clone();
        dialect.lay_over(&DialectSection::default());
        assert_eq!(dialect, before);
    }
}
