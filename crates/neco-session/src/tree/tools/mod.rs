//! The model's hands in the tree.
//!
//! They live with the tree and not with the other tools, as a tool lives with the state it changes.
//!
//! Reading order: [`member`] (whose hands they are), [`spawn_agent`], [`agent_message`], [`agent_status`],
//! [`agent_wait`], [`agent_cancel`], [`task`] with [`by_name`] (`agent__<name>`); and what a child has for its
//! parent: [`report`], [`complete_task`]; and what all have: [`shared_state`], [`skill`].

mod agent_cancel;
mod agent_message;
mod agent_status;
mod agent_wait;
mod by_name;
mod complete_task;
mod member;
mod report;
mod shared_state;
mod skill;
mod spawn_agent;
mod task;

use std::sync::{Arc, Weak};

use neco_agent::SkillShelf;
use neco_proto::AgentId;
use neco_proto::event::NodeType;
use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;
use serde_json::{Value, json};

use super::supervisor::AgentSupervisor;
use crate::roles::{Definition, Definitions, Origin};
use member::Member;

/// Tools that a child always has, whatever its definition names.
pub const OF_CHILDREN: [&str; 4] = ["report", "complete_task", "state_get", "state_set"];

/// Tools that no child has: whom they ask is not theirs to ask.
pub const NOT_OF_CHILDREN: [&str; 3] = ["ask_user", "enter_plan_mode", "exit_plan_mode"];

/// The tools of one agent, as far as its type lets it have them.
pub fn tools(
    supervisor: &Weak<AgentSupervisor>,
    agent: AgentId,
    kind: NodeType,
    output_schema: Option<&Value>,
    definitions: &Definitions,
) -> Vec<Arc<dyn DynTool>> {
    // The root's first request gets no heavier for what few sessions need; whoever is new has them from the start.
    // Declared later, the tools of an agent at work would be others, and its whole prompt with them.
    let shares = || supervisor.upgrade().is_some_and(|supervisor| supervisor.shared().iter().next().is_some());
    let offered = kind != NodeType::Root || shares();
    let member = Member { supervisor: Weak::clone(supervisor), agent, untold: !offered };
    let mut tools = match kind {
        NodeType::Root | NodeType::Child => commanding(&member, definitions),
        NodeType::ActOnly => Vec::new(),
    };
    if kind != NodeType::Root {
        tools.push(erase(report::Report(member.clone())));
        tools.extend(output_schema.map(|schema| complete_task::tool(member.clone(), schema)));
    }
    tools.extend(sharing(&member, offered));
    tools
}

/// What brings in skills for an agent.
pub fn skill_tool(
    supervisor: &Weak<AgentSupervisor>,
    agent: AgentId,
    shelf: Option<Arc<dyn SkillShelf>>,
) -> Arc<dyn DynTool> {
    erase(skill::SkillTool { member: Member { supervisor: Weak::clone(supervisor), agent, untold: false }, shelf })
}

/// The same tools without a session, for lists of what there is.
pub fn listed() -> Vec<Arc<dyn DynTool>> {
    let nowhere = Member { supervisor: Weak::new(), agent: AgentId::new(), untold: false };
    let mut tools = commanding(&nowhere, &Definitions::default());
    tools.push(erase(report::Report(nowhere.clone())));
    tools.push(complete_task::tool(nowhere.clone(), &json!({})));
    tools.extend(sharing(&nowhere, false));
    tools.push(skill_tool(&Weak::new(), AgentId::new(), None));
    tools
}

/// What every agent has to share values with all others.
fn sharing(member: &Member, offered: bool) -> [Arc<dyn DynTool>; 2] {
    let get = shared_state::StateGet { member: member.clone(), offered };
    [erase(get), erase(shared_state::StateSet { member: member.clone(), offered })]
}

fn commanding(member: &Member, definitions: &Definitions) -> Vec<Arc<dyn DynTool>> {
    let mut tools: Vec<Arc<dyn DynTool>> = vec![
        erase(task::Task(member.clone())),
        erase(spawn_agent::SpawnAgent(member.clone())),
        erase(agent_message::AgentMessageTool(member.clone())),
        erase(agent_status::AgentStatus(member.clone())),
        erase(agent_wait::AgentWait(member.clone())),
        erase(agent_cancel::AgentCancel(member.clone())),
    ];
    // Those that come with the program are named in the prompt; declaring each of them as well would say the
    // same twice.
    let offered = |definition: &Definition| definition.origin != Origin::BuiltIn;
    tools.extend(definitions.iter().map(|one| by_name::tool(member.clone(), one, offered(one))));
    tools
}
