//! `agent__<name>`: every definition is a tool too, which runs an agent of it to its end.

use std::sync::Arc;

use neco_toolkit::schema::{self, ArgumentSchema};
use neco_toolkit::{DynTool, PreparedCall, SideEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::member::{Member, MemberCall, RunCall, invalid};
use super::task::LONGEST;
use crate::roles::Definition;
use crate::tree::SpawnRequest;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What the agent is to do: all that it needs to know, as it sees nothing of this conversation.
    prompt: String,
}

/// The tool that runs agents of a definition.
pub(super) fn tool(member: Member, definition: &Definition, offered: bool) -> Arc<dyn DynTool> {
    let description = format!(
        "Has the agent {} do one thing to its end and gives you its result. {}",
        definition.name, definition.description
    );
    Arc::new(ByName {
        member,
        name: definition.tool_name(),
        description,
        definition: definition.clone(),
        offered,
        schema: match definition.query {
            Some(_) => ArgumentSchema::new(definition.input_schema()),
            None => schema::of::<Args>(),
        },
    })
}

struct ByName {
    member: Member,
    name: String,
    description: String,
    definition: Definition,
    offered: bool,
    schema: ArgumentSchema,
}

impl DynTool for ByName {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        self.schema.declared()
    }

    fn most_touch(&self) -> SideEffect {
        SideEffect::Reads
    }

    fn is_offered(&self) -> bool {
        self.offered
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        self.schema.check(&arguments)?;
        // What a definition with a query is started with is what the tool is called with.
        let prompt = match self.definition.query {
            Some(_) => self.definition.task(arguments.as_object(), "")?,
            None => {
                serde_json::from_value::<Args>(arguments.clone()).map_err(|error| invalid(error.to_string()))?.prompt
            }
        };
        let summary = format!("{}: {}", self.definition.name, prompt.lines().next().unwrap_or_default());
        let run: RunCall = Box::new(move |ctx| {
            Box::pin(async move {
                let request = SpawnRequest::new(self.definition.clone(), prompt);
                self.member.run_to_end(request, &ctx).await
            })
        });
        Ok(Box::new(MemberCall { arguments, summary, timeout: Some(LONGEST), run }))
    }
}
