//! complete_task: a child finishes with an output of the form that its definition asks for.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::{ErrorCode, Risk};
use neco_toolkit::schema::ArgumentSchema;
use neco_toolkit::{DynTool, Plan, PreparedCall, ToolContext, ToolError, ToolOutput, Touch};
use serde_json::{Value, json};

use super::member::Member;

const NAME: &str = "complete_task";
const DESCRIPTION: &str = "Finishes your task with its output. The output must have exactly the form that is asked for; when it does not fit you are told why and can try again. Your work ends with it.";

/// The tool by which an agent finishes whose output has to fit `output`.
pub(super) fn tool(member: Member, output: &Value) -> Arc<dyn DynTool> {
    let schema = json!({
        "type": "object",
        "properties": { "output": output },
        "required": ["output"],
        "additionalProperties": false,
    });
    Arc::new(CompleteTask { member, schema: ArgumentSchema::new(schema) })
}

struct CompleteTask {
    member: Member,
    schema: ArgumentSchema,
}

struct Call {
    tool: Arc<CompleteTask>,
    arguments: Value,
}

impl DynTool for CompleteTask {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn schema(&self) -> &Value {
        self.schema.declared()
    }

    fn most_touch(&self) -> Touch {
        Touch::Reads
    }

    /// What does not fit is found when it runs: every misfit is counted.
    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(Call { tool: self, arguments }))
    }
}

impl PreparedCall for Call {
    fn touch(&self) -> Touch {
        Touch::Reads
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    fn summary(&self) -> String {
        "Finish the task".to_owned()
    }

    fn arguments(&self) -> &Value {
        &self.arguments
    }

    fn plan<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(std::future::ready(Ok(Plan::of(Risk::Safe))))
    }

    fn run(self: Box<Self>, _: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let member = &self.tool.member;
            let company = member.company()?;
            if let Err(misfit) = self.tool.schema.check(&self.arguments) {
                let left = company.misfit(member.agent, &misfit.message).await;
                let words = match left {
                    0 => format!("{}; the task has failed", misfit.message),
                    1 => format!("{}; one more try is left", misfit.message),
                    left => format!("{}; {left} more tries are left", misfit.message),
                };
                return Err(ToolError::new(ErrorCode::InvalidArguments, words));
            }
            let output = self.arguments.get("output").cloned().unwrap_or_default();
            match company.finish(member.agent, output).await {
                Ok(()) => Ok(ToolOutput::text("The task is complete.")),
                Err(error) => Err(member.refused(error).await),
            }
        })
    }
}
