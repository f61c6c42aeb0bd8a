//! complete_task: a child finishes with an output of the form that its definition asks for.

use std::sync::Arc;

use neco_proto::ErrorCode;
use neco_toolkit::schema::ArgumentSchema;
use neco_toolkit::{DynTool, PreparedCall, SideEffect, ToolError, ToolOutput};
use serde_json::{Value, json};

use super::member::{Member, MemberCall, RunCall};

const NAME: &str = "complete_task";
const DESCRIPTION: &str = "Finishes your task with its output. The output must have exactly the form that is asked for; when it does not fit you are told why and can try again. Your work ends with it.";

/// Where a schema keeps what it refers to, from its own beginning.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The tool by which an agent finishes whose output has to fit `output`.
pub(super) fn tool(member: Member, output: &Value) -> Arc<dyn DynTool> {
    Arc::new(CompleteTask { member, declared: declared(output), output: ArgumentSchema::new(output.clone()) })
}

/// The arguments as a model is told: what the output's schema refers to is found from the beginning of this one.
fn declared(output: &Value) -> Value {
    let mut output = output.clone();
    let mut schema = json!({ "type": "object", "required": ["output"], "additionalProperties": false });
    for name in DEFINITIONS {
        if let Some(definitions) = output.as_object_mut().and_then(|fields| fields.remove(name)) {
            schema[name] = definitions;
        }
    }
    schema["properties"] = json!({ "output": output });
    schema
}

struct CompleteTask {
    member: Member,
    /// The arguments, as a model is told.
    declared: Value,
    /// What the output has to fit, on its own.
    output: ArgumentSchema,
}

impl CompleteTask {
    /// The output in the arguments, if it fits.
    fn fitting(&self, arguments: &Value) -> Result<Value, ToolError> {
        let invalid = |words: &str| ToolError::new(ErrorCode::InvalidArguments, words);
        let fields = arguments.as_object().ok_or_else(|| invalid("the arguments are no object with output"))?;
        let output = fields.get("output").ok_or_else(|| invalid("output: is missing"))?;
        if let Some(other) = fields.keys().find(|name| *name != "output") {
            return Err(invalid(&format!("{other}: is not asked for; all that counts goes into output")));
        }
        self.output.check(output)?;
        Ok(output.clone())
    }
}

impl DynTool for CompleteTask {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn schema(&self) -> &Value {
        &self.declared
    }

    fn most_touch(&self) -> SideEffect {
        SideEffect::Reads
    }

    /// What does not fit is found when it runs: every misfit is counted.
    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let given = arguments.clone();
        let run: RunCall = Box::new(move |_| {
            Box::pin(async move {
                let member = &self.member;
                let supervisor = member.supervisor()?;
                let output = match self.fitting(&given) {
                    Ok(output) => output,
                    Err(misfit) if misfit.code == ErrorCode::InvalidArguments => {
                        let left = supervisor.misfit(member.agent, &misfit.message).await;
                        let words = match left {
                            0 => format!("{}; the task has failed", misfit.message),
                            1 => format!("{}; one more try is left", misfit.message),
                            left => format!("{}; {left} more tries are left", misfit.message),
                        };
                        return Err(ToolError::new(ErrorCode::InvalidArguments, words));
                    }
                    // A form that nothing can be held against is the definition's fault: what was done is not lost.
                    Err(_) => given.get("output").cloned().unwrap_or_default(),
                };
                match supervisor.finish(member.agent, output).await {
                    Ok(()) => Ok(ToolOutput::text("The task is complete.")),
                    Err(error) => Err(member.refused(error).await),
                }
            })
        });
        Ok(Box::new(MemberCall { arguments, summary: "Finish the task".to_owned(), timeout: None, run }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use neco_proto::AgentId;

    use super::*;

    fn made(output: &Value) -> CompleteTask {
        let member = Member { supervisor: Weak::new(), agent: AgentId::new(), untold: false };
        CompleteTask { member, declared: declared(output), output: ArgumentSchema::new(output.clone()) }
    }

    #[test]
    fn a_form_that_refers_to_its_own_definitions_can_be_met() {
        let output = json!({
            "type": "object",
            "properties": { "items": { "type": "array", "items": { "$ref": "#/$defs/Item" } } },
            "required": ["items"],
            "$defs": { "Item": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } },
        });
        let tool = made(&output);
        let given = json!({ "output": { "items": [{ "n": 1 }] } });
        assert_eq!(tool.fitting(&given).unwrap(), given["output"]);
        let misfit = tool.fitting(&json!({ "output": { "items": [{ "n": "one" }] } })).unwrap_err();
        assert_eq!(misfit.code, ErrorCode::InvalidArguments);
        // What a model is told holds together too.
        assert!(ArgumentSchema::new(tool.declared.clone()).check(&given).is_ok(), "{}", tool.declared);
    }

    #[test]
    fn what_is_missing_or_too_much_is_named() {
        let tool = made(&json!({ "type": "string" }));
        assert_eq!(tool.fitting(&json!({})).unwrap_err().message, "output: is missing");
        assert!(tool.fitting(&json!({ "output": "x", "also": 1 })).unwrap_err().message.starts_with("also:"));
        assert_eq!(tool.fitting(&json!({ "output": "x" })).unwrap(), json!("x"));
    }
}
