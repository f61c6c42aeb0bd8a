//! Events of the agent tree and of workflows to fill a store with.

use jiff::Timestamp;
use neco_proto::event::{
    AgentMessage, AgentNode, AgentUpdate, Letter, NodeResult, NodeState, NodeType, SessionStop, SubtreeBudget,
    TaskKind, TaskState, Up, WorkflowState, WorkflowTask, WorkflowUpdate,
};
use neco_proto::{Actor, AgentId, ErrorCode, EventBody, MessageId, Usage, WorkflowId};
use serde_json::json;

pub(super) fn tree_bodies() -> Vec<EventBody> {
    let (id, parent) = (AgentId::new(), AgentId::new());
    let result = NodeResult::Error { code: Some(ErrorCode::BudgetUsedUp), message: "too dear".to_owned() };
    let from = Actor::Agent { id };
    let letter = Letter::Up(Up::Ended { result: result.clone() });
    let update = AgentUpdate {
        node: AgentNode {
            id,
            name: "explore-1".to_owned(),
            kind: NodeType::ActOnly,
            role: "explore".to_owned(),
            parent: Some(parent),
            children: vec![AgentId::new()],
            collapsed: 1,
            task: "find it".to_owned(),
            model_group: "balanced".to_owned(),
            state: NodeState::Paused,
            paused_by: Some(parent),
            progress: 0.25,
            last_message: Some("half".to_owned()),
            usage: Usage { input: 1, ..Usage::default() },
            subtree_usage: Usage { input: 2, cost: Some(0.5), ..Usage::default() },
            budget: SubtreeBudget { tokens: Some(100), cost: None },
            created: Timestamp::UNIX_EPOCH,
            changed: Timestamp::UNIX_EPOCH,
            result: Some(result),
        },
        gone: vec![AgentId::new()],
        setup: Some(json!({ "definition": { "name": "explore" } })),
        by: Some(Actor::Person),
        anew: true,
    };
    vec![
        EventBody::AgentUpdate(update),
        EventBody::AgentMessage(AgentMessage { from, to: parent, letter, message_id: MessageId::new() }),
        EventBody::Stop(SessionStop { paused: vec![id], by: None }),
        EventBody::WorkflowUpdate(workflow(id)),
    ]
}

fn workflow(agent: AgentId) -> WorkflowUpdate {
    let task = WorkflowTask {
        id: "plan".to_owned(),
        kind: TaskKind::Agent,
        state: TaskState::Failed,
        needs: vec!["research".to_owned()],
        agent_id: Some(agent),
        started: Some(Timestamp::UNIX_EPOCH),
        ended: Some(Timestamp::UNIX_EPOCH),
        attempts: 2,
        error: Some("no".to_owned()),
        output: Some(json!({ "steps": [1, 2] })),
    };
    WorkflowUpdate {
        workflow_id: WorkflowId::new(),
        name: "delivery".to_owned(),
        state: WorkflowState::Running,
        strategy: "fail_fast".to_owned(),
        tasks: vec![task],
        definition: Some(json!({ "name": "delivery" })),
        inputs: Some(json!({ "task": "do it" })),
        by: None,
    }
}
