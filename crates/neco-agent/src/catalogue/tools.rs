//! The two tools by which a model reaches those that are not declared.

use std::sync::Arc;

use neco_model::{ACTIVATE, CALL};
use neco_proto::{ErrorCode, Risk};
use neco_toolkit::tool::erase;
use neco_toolkit::{DynTool, Intent, Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Both. An agent that lacks one of them is told of all its tools at once.
pub fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![erase(Activate), erase(Call)]
}

struct Activate;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActivateArgs {
    #[schemars(length(min = 1))]
    names: Vec<String>,
}

impl Tool for Activate {
    type Args = ActivateArgs;
    const NAME: &'static str = ACTIVATE;
    const DESCRIPTION: &'static str =
        "Shows the arguments of more tools, several at once; run them with call. There are:";
    const TOUCH: SideEffect = SideEffect::Reads;

    /// One name may stand by itself.
    fn adapt(arguments: &mut Value) {
        let Some(fields) = arguments.as_object_mut() else { return };
        if !fields.contains_key("names")
            && let Some(name) = ["name", "tool", "tools"].iter().find_map(|field| fields.remove(*field))
        {
            fields.insert("names".to_owned(), name);
        }
        if let Some(names) = fields.get_mut("names")
            && let Value::String(text) = names
        {
            let name = |name: &str| Value::from(name.trim());
            *names = text.split(',').filter(|name| !name.trim().is_empty()).map(name).collect();
        }
    }

    fn summary(&self, args: &ActivateArgs) -> String {
        format!("Learn {}", args.names.join(", "))
    }

    async fn plan(&self, _: &ActivateArgs, _: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: ActivateArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("").with_intent(Intent::LookUpTools(args.names)))
    }
}

struct Call;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CallArgs {
    name: String,
    /// As activate showed them.
    #[serde(default)]
    #[expect(dead_code, reason = "what is to be called was taken out before, if anything was said")]
    arguments: Map<String, Value>,
}

impl Tool for Call {
    type Args = CallArgs;
    const NAME: &'static str = CALL;
    const DESCRIPTION: &'static str = "Runs a tool of activate's list.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, args: &CallArgs) -> String {
        format!("Call {}", args.name)
    }

    /// A call that says what is to be called is one of that tool before anybody looks at it.
    async fn plan(&self, _: &CallArgs, _: &ToolContext) -> Result<Plan, ToolError> {
        Err(nothing_to_call())
    }

    async fn run(&self, _: CallArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(nothing_to_call())
    }
}

fn nothing_to_call() -> ToolError {
    let words = "name: the tool to be run, one of the list of activate";
    ToolError::new(ErrorCode::InvalidArguments, words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_taken_as_they_come() {
        for given in [
            json!({ "names": ["git", "process"] }),
            json!({ "names": "git, process" }),
            json!({ "tools": ["git", "process"] }),
            json!({ "name": "git,process" }),
        ] {
            let mut arguments = given.clone();
            Activate::adapt(&mut arguments);
            assert_eq!(arguments, json!({ "names": ["git", "process"] }), "{given}");
        }
    }
}
