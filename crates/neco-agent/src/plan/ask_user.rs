//! The tool that asks the person.

use neco_proto::{ErrorCode, QuestionItem, QuestionOption, Risk};
use neco_toolkit::{Intent, Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Its name.
pub const ASK_USER: &str = "ask_user";

const MOST_QUESTIONS: usize = 5;
const MOST_OPTIONS: usize = 9;

pub(super) struct AskUser;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    #[schemars(length(min = 1, max = 5))]
    questions: Vec<ArgQuestion>,
}

// One question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArgQuestion {
    question: String,
    /// A word or two.
    #[serde(default)]
    header: String,
    /// The one you would take first; the user can always write something else.
    #[serde(default)]
    #[schemars(length(max = 9))]
    options: Vec<ArgOption>,
    #[serde(default)]
    multiple: bool,
}

// Something that can be chosen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArgOption {
    label: String,
    #[serde(default)]
    description: String,
}

impl Tool for AskUser {
    type Args = Args;
    const NAME: &'static str = ASK_USER;
    const DESCRIPTION: &'static str = "Asks the user and waits for the answer. For a decision that is theirs or a task \
        that can be read in two ways, when a wrong guess would cost more than the answer. Not for what you can look \
        up, nor for permission, which is asked for by itself.";
    const TOUCH: SideEffect = SideEffect::Reads;

    /// Options may be plain words, and one question may stand by itself.
    fn adapt(arguments: &mut Value) {
        if let Some(object) = arguments.as_object_mut()
            && !object.contains_key("questions")
            && object.contains_key("question")
        {
            let question = Value::Object(std::mem::take(object));
            object.insert("questions".to_owned(), Value::Array(vec![question]));
        }
        let questions = arguments.get_mut("questions").and_then(Value::as_array_mut);
        for question in questions.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(multiple) = question.remove("multiSelect") {
                question.entry("multiple").or_insert(multiple);
            }
            let options = question.get_mut("options").and_then(Value::as_array_mut);
            for option in options.into_iter().flatten().filter(|option| option.is_string()) {
                *option = json!({ "label": option.take() });
            }
        }
    }

    fn summary(&self, args: &Args) -> String {
        match args.questions.as_slice() {
            [only] => format!("Ask: {}", only.question),
            several => format!("Ask {} questions", several.len()),
        }
    }

    async fn plan(&self, args: &Args, _: &ToolContext) -> Result<Plan, ToolError> {
        let wrong = |words: String| Err(ToolError::new(ErrorCode::InvalidArguments, words));
        if args.questions.is_empty() || args.questions.len() > MOST_QUESTIONS {
            return wrong(format!("questions: one to {MOST_QUESTIONS} of them"));
        }
        for question in &args.questions {
            if question.question.trim().is_empty() {
                return wrong("a question is empty".to_owned());
            }
            if question.options.len() > MOST_OPTIONS
                || question.options.iter().any(|option| option.label.trim().is_empty())
            {
                return wrong(format!("options: at most {MOST_OPTIONS}, each with a label"));
            }
        }
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let option = |option: ArgOption| QuestionOption { label: option.label, description: option.description };
        let item = |question: ArgQuestion| QuestionItem {
            title: question.header,
            text: question.question,
            options: question.options.into_iter().map(option).collect(),
            multiple: question.multiple,
            empty: Default::default(),
            field: None,
        };
        Ok(ToolOutput::text("").with_intent(Intent::AskPerson(args.questions.into_iter().map(item).collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_taken_as_other_agents_write_them() {
        let mut arguments = json!({ "questions": [{ "question": "Which?", "options": ["a", { "label": "b" }],
            "multiSelect": true }] });
        AskUser::adapt(&mut arguments);
        let wanted = json!({ "questions": [{ "question": "Which?", "options": [{ "label": "a" }, { "label": "b" }],
            "multiple": true }] });
        assert_eq!(arguments, wanted);
        let mut arguments = json!({ "question": "Which?", "options": ["a"] });
        AskUser::adapt(&mut arguments);
        assert_eq!(arguments, json!({ "questions": [{ "question": "Which?", "options": [{ "label": "a" }] }] }));
    }
}
