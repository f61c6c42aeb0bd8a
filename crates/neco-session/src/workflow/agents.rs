//! Tasks as agents of the tree. One that is a tool or a command is an agent too, whose model asks for that
//! one call: so it is stopped, shown and judged as everybody is.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream;
use neco_agent::skills::SkillLimit;
use neco_model::{Delta, DeltaStream, FinishReason, Provider, Request};
use neco_proto::event::{
    CallStatus, NodeResult, NodeType, Notification, NotificationLevel, SubtreeBudget, ToolCallEnd,
};
use neco_proto::{AgentId, Display, EventBody, Part, Seq, Usage, WorkflowId};
use neco_safety::{tools, untrusted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::definition::Work;
use super::hands::{Begun, Ended, Hands, TaskCall, TaskError};
use crate::fold::each_event;
use crate::hub::SessionCore;
use crate::roles::{Definition, Definitions, Narrowing, Origin, RoleModel, ToolChoice, UnknownDefinition};
use crate::tree::{AgentSupervisor, SpawnRequest, Told};

/// The tool that runs commands.
const SHELL: &str = "bash";

/// Bytes of what a command printed that other tasks can read.
const MOST_PASSED_ON: u64 = 1024 * 1024;

/// The tool that reads files.
const READ: &str = "read_file";

/// Does tasks as agents of the tree.
#[derive(Clone)]
pub struct TreeHands {
    pub core: SessionCore,
    pub supervisor: Arc<AgentSupervisor>,
    /// Whose children they are.
    pub parent: AgentId,
    pub definitions: Arc<Definitions>,
    /// The skills that the parent had in use when the first task began: they hold all of them.
    pub in_use: Arc<OnceCell<Vec<SkillLimit>>>,
}

impl Hands for TreeHands {
    fn begin(&self, call: TaskCall) -> BoxFuture<'static, Result<Begun, TaskError>> {
        let own = self.clone();
        Box::pin(async move {
            let since = own.core.journal.standing().last_seq;
            let is_agent = matches!(call.work, Work::Agent { .. });
            let in_use = own.in_use.get_or_init(async || own.supervisor.skills_in_use(own.parent).await.limits()).await;
            let request = own.request(&call)?.within(in_use.clone());
            let agent = own.supervisor.spawn(own.parent, request).await?;
            let end = Box::pin(async move {
                let result = tokio::select! {
                    result = own.supervisor.ended(agent) => result,
                    () = call.cancel.cancelled() => {
                        // One that has ended has nothing to cancel.
                        let _ = own.supervisor.stop_as(agent, Told::Nobody, None).await;
                        return Err(TaskError::Stopped);
                    }
                };
                match is_agent {
                    true => of_agent(result),
                    false => own.of_call(agent, since, result).await,
                }
            });
            Ok(Begun { agent: Some(agent), end })
        })
    }

    fn abandon(&self, workflow: WorkflowId) -> BoxFuture<'static, ()> {
        let supervisor = Arc::clone(&self.supervisor);
        Box::pin(async move { drop(supervisor.stop_workflow(workflow).await) })
    }
}

impl TreeHands {
    fn request(&self, call: &TaskCall) -> Result<SpawnRequest, UnknownDefinition> {
        let one = |tool: &str, arguments: Value, task: String| {
            let mut request = SpawnRequest::new(caller(tool), task);
            request.spec.call = Some(OneCall { name: tool.to_owned(), arguments });
            request
        };
        let mut request = match &call.work {
            Work::Agent { role, prompt, model } => {
                let definition = self.definitions.find(role)?.clone();
                let model_group = model.clone();
                SpawnRequest { model_group, ..SpawnRequest::new(definition, prompt.clone()) }
            }
            Work::Tool { name, arguments } => {
                let own = tools::own_name(name).unwrap_or(name);
                one(own, arguments.clone(), format!("{}: {own}", call.task))
            }
            Work::Command { line } => {
                let mut arguments = json!({ "command": line });
                if let Some(seconds) = call.timeout {
                    arguments["timeout"] = seconds.into();
                }
                one(SHELL, arguments, format!("{}: {line}", call.task))
            }
        };
        (request.spec.told, request.spec.workflow) = (false, Some(call.workflow));
        Ok(request)
    }

    /// What came of the call of an agent that made one.
    async fn of_call(&self, agent: AgentId, since: Seq, result: NodeResult) -> Ended {
        self.core.log().commit(self.core.id()).await?;
        let mut end: Option<ToolCallEnd> = None;
        each_event(self.core.log().as_ref(), self.core.id(), since, |event| {
            if let EventBody::ToolCallEnd(ended) = event.body
                && event.agent_id == agent
            {
                end = Some(ended);
            }
        })
        .await?;
        match (end, result) {
            (Some(end), _) => self.whole(&end, of_end(&end)?).await,
            (None, NodeResult::Error { message, .. }) => Err(TaskError::Failed(message)),
            (None, NodeResult::Output { .. }) => Err(TaskError::NotCalled),
        }
    }

    /// What a command printed, all of it: the middle of what was too long for a conversation is in a file. What is
    /// too long for other tasks too stays cut, and the person is told.
    async fn whole(&self, end: &ToolCallEnd, given: Value) -> Ended {
        let (Some(file), Some(Display::Terminal { .. })) = (&end.spilled_to, &end.display) else { return Ok(given) };
        let size = tokio::fs::metadata(file).await.map(|about| about.len()).unwrap_or(u64::MAX);
        if size <= MOST_PASSED_ON
            && let Ok(bytes) = tokio::fs::read(file).await
        {
            return Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        }
        let text = format!(
            "Other tasks get the beginning and the end of {size} bytes of output, all of it is in {file}: {}",
            end.summary
        );
        let warning = EventBody::Notification(Notification::new(NotificationLevel::Warning, text));
        self.core.journal.emit(self.parent, None, warning).await?;
        Ok(given)
    }
}

fn of_agent(result: NodeResult) -> Ended {
    match result {
        NodeResult::Output { output } => Ok(output),
        NodeResult::Error { message, .. } => Err(TaskError::Failed(message)),
    }
}

/// A command that ends with another code than 0 has failed; for a model that is a result like any other.
fn of_end(end: &ToolCallEnd) -> Ended {
    let code = match &end.display {
        Some(Display::Terminal { exit_code, .. }) => *exit_code,
        Some(Display::Text { .. } | Display::Diff { .. } | Display::List { .. }) | None => None,
    };
    match (end.status, code) {
        (CallStatus::Success, None | Some(0)) => Ok(Value::String(given(end))),
        _ => Err(TaskError::Failed(untrusted::unwrapped(&end.output).into_owned())),
    }
}

/// What a call gave, without what is said about it to a model.
fn given(end: &ToolCallEnd) -> String {
    match (untrusted::between(&end.output), &end.display) {
        (Some(given), _) if end.tool == READ => unnumbered(&given),
        (Some(given), _) => given,
        // A command that printed nothing; all that is there is about it.
        (None, Some(Display::Terminal { .. })) => String::new(),
        (None, Some(Display::Text { .. } | Display::Diff { .. } | Display::List { .. }) | None) => end.output.clone(),
    }
}

/// The lines of a file without the numbers that a model gets with them.
fn unnumbered(text: &str) -> String {
    let bare = |line: &'_ str| match line.split_once('\t') {
        Some((number, rest)) if number.trim().parse::<u64>().is_ok() => rest.to_owned(),
        Some(_) | None => line.to_owned(),
    };
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

/// Who an agent is that makes one call.
fn caller(tool: &str) -> Definition {
    Definition {
        name: "task".to_owned(),
        description: format!("Calls {tool} for a workflow."),
        prompt: "You make one call for a workflow.".to_owned(),
        model: RoleModel::OfParent,
        temperature: None,
        max_output: None,
        tools: ToolChoice { only: Some(vec![tool.to_owned()]), except: Vec::new() },
        narrowing: Narrowing::default(),
        skills: Vec::new(),
        inputs: BTreeMap::new(),
        query: None,
        output_schema: None,
        max_turns: Some(2),
        timeout: None,
        budget: SubtreeBudget::default(),
        node_type: NodeType::ActOnly,
        origin: Origin::BuiltIn,
    }
}

/// What it is called where models are named.
const LABEL: &str = "workflow/task";

/// The one call that an agent makes instead of asking a model.
/// So the call takes the way of every call, whoever asks for it: it is validated, hooks see it, the policy judges
/// it, a person may be asked, the workspace is kept before it, and it runs in its box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneCall {
    pub name: String,
    pub arguments: Value,
}

impl Provider for OneCall {
    fn label(&self) -> &str {
        LABEL
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        let called = request.history.iter().any(|entry| entry.message().parts.iter().any(is_result));
        let begin = Delta::Begin { model: LABEL.to_owned() };
        let deltas = if called {
            vec![
                begin,
                Delta::Text("done".to_owned()),
                Delta::Usage(Usage::default()),
                Delta::Finish(FinishReason::Stop),
            ]
        } else {
            vec![
                begin,
                Delta::CallStart { index: 0, id: None, name: self.name.clone() },
                Delta::CallArguments { index: 0, text: self.arguments.to_string() },
                Delta::Usage(Usage::default()),
                Delta::Finish(FinishReason::ToolCalls),
            ]
        };
        Box::pin(stream::iter(deltas.into_iter().map(Ok)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(tool: &str, output: String, exit_code: Option<i32>) -> ToolCallEnd {
        let terminal =
            |_| Display::Terminal { command: "x".to_owned(), tail: String::new(), exit_code, background: None };
        ToolCallEnd {
            call_id: "c".into(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: tool.to_owned(),
            summary: String::new(),
            status: CallStatus::Success,
            output,
            error_code: None,
            advice: None,
            agent: None,
            duration_ms: 0,
            display: exit_code.map(terminal),
            spilled_to: None,
            known: Vec::new(),
        }
    }

    #[test]
    fn what_is_said_to_a_model_about_an_output_is_no_part_of_it() {
        let told = |text: &str, about: &str| format!("{}\n{about}", untrusted::wrap("c", "command", text));
        let gives = |end: ToolCallEnd| of_end(&end).unwrap();
        assert_eq!(gives(end("bash", "[no output, exit code 0]".to_owned(), Some(0))), "");
        assert_eq!(
            gives(end("bash", told("a\n[b]", "[exit code 0; what it left running was ended]"), Some(0))),
            "a\n[b]"
        );
        assert_eq!(gives(end("read_file", told("1\thello\n2\t3\tx", "(2 lines)"), None)), "hello\n3\tx");
        assert_eq!(gives(end("memory_store", "kept".to_owned(), None)), "kept");
        let failed = of_end(&end("bash", told("no", "[exit code 2]"), Some(2))).unwrap_err();
        assert_eq!(failed.to_string(), "no\n[exit code 2]", "why it failed is told");
    }
}
