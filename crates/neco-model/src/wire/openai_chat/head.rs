//! The beginning of a request: everything before the conversation.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::dialect::{OutputForm, ReasoningParameter};
use super::encode::OpenaiChat;
use super::messages::{self, to_bytes};
use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::effort;
use crate::wire::format::Delivery;
use crate::wire::text_calls::told;

impl OpenaiChat {
    pub(super) fn encode_head(&self, request: &Request, as_text: bool, delivery: Delivery) -> Bytes {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), self.target.model.as_str().into());
        match delivery {
            Delivery::Streamed => {
                fields.insert("stream".to_owned(), true.into());
                if self.dialect.stream_usage {
                    fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
                }
            }
            Delivery::Whole => {
                fields.insert("stream".to_owned(), false.into());
            }
        }
        if self.dialect.prompt_cache_key && !request.cache_key.is_empty() {
            fields.insert("prompt_cache_key".to_owned(), request.cache_key.as_str().into());
        }
        self.add_parameters(request, &mut fields);
        fields.extend(self.dialect.extra.clone());
        if let Some(output) = &request.output {
            fields.insert("response_format".to_owned(), self.output(output));
        }
        if !request.tools.is_empty() && !as_text {
            fields.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        }
        let mut bytes = to_bytes(&fields);
        bytes.pop();
        bytes.extend_from_slice(b",\"messages\":[");
        let told = as_text.then(|| told::system(&request.system, &request.tools));
        let system = told.as_deref().unwrap_or(&request.system);
        if !system.is_empty() && self.marks_cache() {
            bytes.extend(to_bytes(&messages::marked_system(system)));
        } else if !system.is_empty() {
            bytes.extend(to_bytes(&json!({ "role": "system", "content": system })));
        }
        bytes.into()
    }

    fn output(&self, output: &OutputSchema) -> Value {
        let OutputSchema { name, schema } = output;
        match self.dialect.output {
            OutputForm::Schema => {
                let schema = json!({ "name": name, "schema": schema, "strict": output.is_strict() });
                json!({ "type": "json_schema", "json_schema": schema })
            }
            OutputForm::Object => json!({ "type": "json_object" }),
        }
    }

    fn add_parameters(&self, request: &Request, fields: &mut Map<String, Value>) {
        let Parameters { temperature: _, top_p, max_tokens, reasoning, seed } = &self.target.parameters;
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        set("temperature", self.target.temperature(request).map(Value::from));
        set("top_p", top_p.map(Value::from));
        set(self.dialect.max_tokens_field(&self.target.model), max_tokens.map(Value::from));
        set(&self.dialect.seed_field, seed.map(Value::from));
        let Some(effort) = reasoning else { return };
        match self.dialect.reasoning {
            ReasoningParameter::None => {}
            ReasoningParameter::Effort => {
                set("reasoning_effort", Some(effort::level(&self.target.model, effort).into()));
            }
            ReasoningParameter::Object => {
                // A gateway finds the level that the model knows; `max` is not one of its words.
                let effort = if effort == "max" { "xhigh" } else { effort };
                set("reasoning", Some(json!({ "effort": effort })));
            }
            ReasoningParameter::Thinking if effort == "none" => {
                set("thinking", Some(json!({ "type": "disabled" })));
            }
            ReasoningParameter::Thinking => {
                set("thinking", Some(json!({ "type": "enabled" })));
                set("reasoning_effort", Some(effort.as_str().into()));
            }
        }
    }

    /// Whether what is to be cached is marked.
    pub(super) fn marks_cache(&self) -> bool {
        self.dialect.cache_marks && self.target.model.to_lowercase().contains("claude")
    }
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}
