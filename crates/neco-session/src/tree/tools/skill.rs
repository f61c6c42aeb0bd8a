//! skill: what a skill says is the result of the call, or what the agent comes to that does it.

use std::sync::Arc;
use std::time::Duration;

use neco_agent::skills::{SKILL, SkillShelf, SkillWish};
use neco_proto::event::SkillCause;
use neco_toolkit::{Intent, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::member::Member;
use super::task::LONGEST;
use crate::roles::model_of;
use crate::tree::SpawnRequest;

/// The tool; without skills nobody is told of it.
pub struct SkillTool {
    pub(super) member: Member,
    pub(super) shelf: Option<Arc<dyn SkillShelf>>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    name: String,
    /// What it is to be used for, if it takes that.
    #[serde(default)]
    arguments: String,
}

impl Tool for SkillTool {
    type Args = Args;
    const NAME: &'static str = SKILL;
    const DESCRIPTION: &'static str = "Brings in a skill, a guide for a kind of task: follow what it says.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn is_offered(&self) -> bool {
        self.shelf.as_ref().is_some_and(|shelf| shelf.has_callable())
    }

    /// Others call the fields otherwise.
    fn adapt(arguments: &mut Value) {
        let Some(fields) = arguments.as_object_mut() else { return };
        for (others, ours) in [("skill", "name"), ("command", "name"), ("args", "arguments")] {
            if let Some(value) = fields.get(others).cloned().filter(|_| !fields.contains_key(ours)) {
                fields.remove(others);
                fields.insert(ours.to_owned(), value);
            }
        }
    }

    fn timeout(&self, _: &Args) -> Option<Duration> {
        Some(LONGEST)
    }

    fn summary(&self, args: &Args) -> String {
        format!("Skill {}", args.name)
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let shelf = self.shelf.as_ref().ok_or_else(|| ToolError::failed("there are no skills here"))?;
        let wish = SkillWish::new(args.name.clone(), args.arguments.clone());
        // What the person asked for the model may call.
        let in_use = self.member.skills_in_use().await?;
        let cause = if in_use.was_asked_for(&args.name) { SkillCause::Person } else { SkillCause::Model };
        let skill = shelf.open(wish, cause).await?;
        let Some(agent) = &skill.agent else {
            let intent = Intent::UseSkill { name: args.name, arguments: args.arguments };
            return Ok(ToolOutput::text("").with_intent(intent));
        };
        let mut definition = self.member.definition(agent)?;
        definition.narrowing.within.push(skill.limit());
        let model_group = skill.model.as_deref().and_then(model_of);
        let request = SpawnRequest { model_group, ..SpawnRequest::new(definition, skill.text) };
        self.member.run_to_end(request, ctx).await
    }
}
