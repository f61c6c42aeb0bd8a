//! report: a child tells its parent how far it is, or asks it something.

use std::time::Duration;

use neco_proto::Risk;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::member::{Member, invalid};
use crate::tree::slot::Answered;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(3600);

pub struct Report(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// How far you are, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    progress: Option<f64>,
    /// What you have done or found so far, in a sentence or two.
    #[serde(default)]
    message: Option<String>,
    /// Instead: what you need to know to go on. The call gives you the answer.
    #[serde(default)]
    question: Option<String>,
}

impl Tool for Report {
    type Args = Args;
    const NAME: &'static str = "report";
    const DESCRIPTION: &'static str = "Tells the agent that you work for how far you are, or asks it a question and waits for the answer. Report at milestones of longer work; ask only what you can't find out or decide yourself. Your result needs no report.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn timeout(&self, _: &Args) -> Option<Duration> {
        Some(PATIENCE + Duration::from_secs(60))
    }

    fn summary(&self, args: &Args) -> String {
        match (&args.question, &args.message) {
            (Some(question), _) => format!("Ask: {}", question.lines().next().unwrap_or_default()),
            (None, Some(message)) => format!("Report: {}", message.lines().next().unwrap_or_default()),
            (None, None) => "Report".to_owned(),
        }
    }

    async fn plan(&self, args: &Args, _: &ToolContext) -> Result<Plan, ToolError> {
        match (&args.question, &args.message, args.progress) {
            (None, None, None) => Err(invalid("message, progress or question is needed".to_owned())),
            _ => Ok(Plan::of(Risk::Safe)),
        }
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        match args.question.filter(|question| !question.trim().is_empty()) {
            Some(question) => self.ask(question, ctx).await,
            None => {
                let supervisor = self.0.supervisor()?;
                let progress = match args.progress {
                    Some(progress) => progress,
                    None => supervisor.progress_of(self.0.agent).await,
                };
                let message = args.message.unwrap_or_default();
                match supervisor.report(self.0.agent, progress, message).await {
                    Ok(()) => Ok(ToolOutput::text("It is told. Go on.")),
                    Err(error) => Err(self.0.refused(error).await),
                }
            }
        }
    }
}

impl Report {
    async fn ask(&self, question: String, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        const ALONE: &str = "Nobody can answer that now. Decide yourself, as a careful colleague would, and say in your result what you assumed.";
        let supervisor = self.0.supervisor()?;
        let waits = match supervisor.question(self.0.agent, question).await {
            Ok(Some(waits)) => waits,
            Ok(None) => return Ok(ToolOutput::text(ALONE)),
            Err(error) => return Err(self.0.refused(error).await),
        };
        drop(supervisor);
        let answered = tokio::select! {
            answered = tokio::time::timeout(PATIENCE, waits) => answered,
            () = ctx.cancel.cancelled() => return Err(ToolError::failed("stopped while an answer was waited for")),
        };
        match answered {
            Ok(Ok(Answered::By(_, text))) => Ok(ToolOutput::text(text)),
            Ok(Ok(Answered::Nobody) | Err(_)) | Err(_) => Ok(ToolOutput::text(ALONE)),
        }
    }
}
