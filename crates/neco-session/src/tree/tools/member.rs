//! Whose hands these are: an agent of a supervisor.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_agent::skills::InUse;
use neco_proto::event::NodeResult;
use neco_proto::{AgentId, ErrorCode, Risk};
use neco_toolkit::{Plan, PreparedCall, SideEffect, ToolContext, ToolError, ToolOutput};
use serde_json::Value;

use super::shared_state::HINT;
use crate::roles::Definition;
use crate::tree::child_setup::CancelOnDrop;
use crate::tree::{AgentSupervisor, ChildSpec, SpawnRequest, TreeError, letters};

/// An agent of a supervisor.
#[derive(Clone)]
pub(super) struct Member {
    /// The supervisor; gone when the session has ended.
    pub supervisor: Weak<AgentSupervisor>,
    pub agent: AgentId,
    /// Whether the tools for what all share are not declared to it.
    pub untold: bool,
}

impl Member {
    pub fn supervisor(&self) -> Result<Arc<AgentSupervisor>, ToolError> {
        self.supervisor.upgrade().ok_or_else(|| ToolError::failed("the session has ended"))
    }

    pub fn definition(&self, name: &str) -> Result<Definition, ToolError> {
        let definitions = self.supervisor()?.make.definitions();
        let found = definitions.find(name).map_err(|error| invalid(error.to_string()))?;
        Ok(found.clone())
    }

    pub async fn child(&self, name: &str) -> Result<AgentId, ToolError> {
        let supervisor = self.supervisor()?;
        supervisor.child_named(self.agent, name).await.map_err(|error| invalid(error.to_string()))
    }

    /// What a refusal is for the model.
    pub async fn refused(&self, error: TreeError) -> ToolError {
        let code = match &error {
            TreeError::BudgetUsedUp { .. } => ErrorCode::BudgetUsedUp,
            TreeError::Model(_) | TreeError::NoRoot | TreeError::Refused(_) => ErrorCode::ToolFailed,
            _ => ErrorCode::InvalidArguments,
        };
        let words = match self.supervisor() {
            Ok(supervisor) => supervisor.words(&error).await,
            Err(_) => error.to_string(),
        };
        ToolError::new(code, words)
    }

    /// What a call that started a child gives; whoever could not know it is told how values are shared.
    pub fn hinted(&self, text: String) -> ToolOutput {
        ToolOutput::text(if self.untold { format!("{text}\n\n{HINT}") } else { text })
    }

    /// The skills of its present request.
    pub async fn skills_in_use(&self) -> Result<InUse, ToolError> {
        Ok(self.supervisor()?.skills_in_use(self.agent).await)
    }

    /// Starts a child, which the skills in use hold as they do whoever starts it.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<AgentId, ToolError> {
        if request.task.trim().is_empty() {
            let words = "the task is empty: say what the agent is to do, and all that it needs to know";
            return Err(ToolError::new(ErrorCode::InvalidArguments, words));
        }
        let supervisor = self.supervisor()?;
        let in_use = supervisor.skills_in_use(self.agent).await.limits();
        match supervisor.spawn(self.agent, request.within(in_use)).await {
            Ok(child) => Ok(child),
            Err(error) => Err(self.refused(error).await),
        }
    }

    /// Starts a child and waits for what comes of it. When the call is stopped, so is the child, unless it is paused.
    pub async fn run_to_end(&self, request: SpawnRequest, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let supervisor = self.supervisor()?;
        let spec = ChildSpec { told: false, ..request.spec };
        let child = self.spawn(SpawnRequest { spec, ..request }).await?;
        // Nobody else knows of it: when this call is dropped, it ends.
        let cancels = CancelOnDrop::of(&self.supervisor, child);
        let name = supervisor.own_child(self.agent, child).await.map(|node| node.name).unwrap_or_default();
        let given = |result: NodeResult| match result {
            NodeResult::Output { output } => Ok(letters::output_text(&output)),
            error @ NodeResult::Error { .. } => Err(ToolError::failed(letters::ended(&error, &name))),
        };
        let given = tokio::select! {
            result = supervisor.ended(child) => given(result),
            () = supervisor.silence_of(child) => match supervisor.let_go(child).await {
                true => Ok(letters::may_hang(&name)),
                // It ended in this very moment.
                false => given(supervisor.ended(child).await),
            },
            () = ctx.cancel.cancelled() => Err(ToolError::failed(match supervisor.give_up(child).await {
                true => letters::kept_paused(&name),
                false => format!("{name} was stopped"),
            })),
        };
        cancels.let_go();
        let agent = Some(name).filter(|name| !name.is_empty());
        Ok(ToolOutput { agent, ..self.hinted(given?) })
    }
}

/// A call that nobody but the tree sees anything of, with its arguments bound.
pub(super) struct MemberCall {
    pub arguments: Value,
    pub summary: String,
    pub timeout: Option<Duration>,
    pub run: RunCall,
}

/// Does what a call asks for.
pub(super) type RunCall =
    Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>;

impl PreparedCall for MemberCall {
    fn touch(&self) -> SideEffect {
        SideEffect::Reads
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn summary(&self) -> String {
        self.summary.clone()
    }

    fn arguments(&self) -> &Value {
        &self.arguments
    }

    fn plan<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(std::future::ready(Ok(Plan::of(Risk::Safe))))
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        (self.run)(ctx)
    }
}

pub(super) fn invalid(words: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, words)
}
