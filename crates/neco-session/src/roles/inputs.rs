//! What an agent is started with: inputs of declared types, and the task that its query makes of them.

use std::collections::BTreeMap;

use neco_proto::ErrorCode;
use neco_proto::app::Known;
use neco_proto::app::agents::{DeclaredInput, InputType};
use neco_toolkit::ToolError;
use neco_toolkit::schema::ArgumentSchema;
use serde_json::{Map, Value, json};

use super::definition::Definition;
use crate::workflow::template;

impl Definition {
    /// JSON schema of what it is started with.
    pub(crate) fn input_schema(&self) -> Value {
        let properties: Map<String, Value> =
            self.inputs.iter().map(|(name, input)| (name.clone(), property(input))).collect();
        let required: Vec<&String> =
            self.inputs.iter().filter(|(_, input)| input.required).map(|(name, _)| name).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    /// Its inputs in one line; nothing when it has none.
    pub(crate) fn inputs_in_words(&self) -> Option<String> {
        let words = |(name, input): (&String, &DeclaredInput)| match (&input.default, input.required) {
            (Some(default), _) => format!("{name} ({}, {default} when left out)", input.kind),
            (None, true) => format!("{name} ({})", input.kind),
            (None, false) => format!("{name} ({}, may be left out)", input.kind),
        };
        (!self.inputs.is_empty()).then(|| self.inputs.iter().map(words).collect::<Vec<_>>().join(", "))
    }

    /// Whether it can be started with `given`.
    /// Fails when it takes other inputs, and says which.
    pub(crate) fn check_inputs(&self, given: Option<&Map<String, Value>>) -> Result<(), ToolError> {
        let given = given.cloned().unwrap_or_default();
        if self.query.is_none() {
            return match given.is_empty() {
                true => Ok(()),
                false => Err(invalid(format!("the agent {} takes no inputs: say all of it in its task", self.name))),
            };
        }
        let checked = ArgumentSchema::new(self.input_schema()).check(&Value::Object(given));
        checked.map_err(|error| self.misfit(error.message.trim_end_matches('.')))
    }

    /// The task of an agent that is started with `given` and told `said` beside it.
    /// Fails when it takes other inputs, and says which.
    pub(crate) fn task(&self, given: Option<&Map<String, Value>>, said: &str) -> Result<String, ToolError> {
        self.check_inputs(given)?;
        let none = Map::new();
        let given = given.unwrap_or(&none);
        let Some(query) = &self.query else { return Ok(said.to_owned()) };
        let value = |(name, input): (&String, &DeclaredInput)| {
            // What was left out is an empty text: nothing where it is written, and no where it is asked for.
            let value = given.get(name).or(input.default.as_ref()).cloned();
            (name.clone(), value.unwrap_or_else(|| Value::String(String::new())))
        };
        let values: BTreeMap<String, Value> = self.inputs.iter().map(value).collect();
        let filled = template::fill_alone(query, &values).map_err(|error| self.misfit(&template::reason(&error)))?;
        Ok([filled.trim(), said.trim()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n"))
    }

    fn misfit(&self, why: &str) -> ToolError {
        let takes = self.inputs_in_words().unwrap_or_else(|| "none".to_owned());
        invalid(format!("{why}. The inputs of the agent {} are: {takes}", self.name))
    }
}

fn property(input: &DeclaredInput) -> Value {
    // What a newer version knows can be anything here.
    let mut property = match &input.kind {
        Known::This(kind) => schema_of(*kind),
        Known::Newer(_) => json!({}),
    };
    if !input.description.is_empty() {
        property["description"] = Value::from(input.description.clone());
    }
    property
}

/// JSON schema of the values of a type.
pub(super) fn schema_of(kind: InputType) -> Value {
    let list = |of: &str| json!({ "type": "array", "items": { "type": of } });
    match kind {
        InputType::String | InputType::Number | InputType::Integer | InputType::Boolean => {
            json!({ "type": kind.name() })
        }
        InputType::Array | InputType::Object => json!({ "type": kind.name() }),
        InputType::Strings => list("string"),
        InputType::Numbers => list("number"),
        InputType::Integers => list("integer"),
        InputType::Booleans => list("boolean"),
    }
}

fn invalid(words: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, words)
}
