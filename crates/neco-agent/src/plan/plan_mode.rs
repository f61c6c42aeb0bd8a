//! The tools by which a model goes into plan mode and comes out of it with a plan.

use neco_proto::{ErrorCode, Risk};
use neco_toolkit::{Intent, Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

/// The name of the tool that goes into plan mode.
pub const ENTER_PLAN_MODE: &str = "enter_plan_mode";
/// The name of the tool that hands over the plan.
pub const EXIT_PLAN_MODE: &str = "exit_plan_mode";

pub(super) struct EnterPlanMode;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EnterArgs {
    /// Why a plan is needed, in a sentence that the user reads.
    reason: String,
}

impl Tool for EnterPlanMode {
    type Args = EnterArgs;
    const NAME: &'static str = ENTER_PLAN_MODE;
    const DESCRIPTION: &'static str = "Goes into plan mode, where you look and plan but nothing is changed until the \
        user has accepted the plan. Use it before you change anything when the task touches more than three files, \
        needs a design decision, or is unclear. Not for what is done in a few calls.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, args: &EnterArgs) -> String {
        format!("Plan first: {}", args.reason)
    }

    async fn plan(&self, _: &EnterArgs, _: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: EnterArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("").with_intent(Intent::EnterPlanMode(args.reason)))
    }
}

pub(super) struct ExitPlanMode;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExitArgs {
    /// The plan in markdown: a numbered list of steps, each with the files it touches and how it is checked.
    plan: String,
}

impl Tool for ExitPlanMode {
    type Args = ExitArgs;
    const NAME: &'static str = EXIT_PLAN_MODE;
    const DESCRIPTION: &'static str = "Puts your plan before the user, who accepts it, sends it back with comments, \
        or drops it. Call it when the plan is whole. When it is accepted you leave plan mode and its steps are your \
        todo list.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, _: &ExitArgs) -> String {
        "Hand over the plan".to_owned()
    }

    async fn plan(&self, args: &ExitArgs, _: &ToolContext) -> Result<Plan, ToolError> {
        if args.plan.trim().is_empty() {
            return Err(ToolError::new(ErrorCode::InvalidArguments, "the plan is empty: write its steps"));
        }
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: ExitArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("").with_intent(Intent::ProposePlan(args.plan)))
    }
}
