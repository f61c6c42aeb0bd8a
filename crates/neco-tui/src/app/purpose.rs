//! What the field is for, and what becomes of what stands in it when that changes. Whoever opens a list, an agent or a
//! question, or leaves one, only does that: whose the field is follows from it, here and nowhere else.

use neco_proto::{AgentId, CallId, QuestionId};

use super::state::WindowState;

/// Why the next message is written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Purpose {
    /// For the agent.
    #[default]
    Message,
    /// Why a call is rejected.
    Reason(CallId),
    /// What should be different in the plan of a question.
    Revision(QuestionId),
    /// A correction for one of the other agents.
    Agent(AgentId),
    /// A permission rule.
    Rule,
}

/// Whose the field is. A draft for the root makes room for everything else, and is there again afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FieldOwner {
    #[default]
    Root,
    /// The agent that is written to or opened; in their list it is still the one that was written to, if any was.
    Agents(Option<AgentId>),
    /// What goes with an answer, or a rule.
    Answer,
}

/// Whose the field is as the window stands. What is asked above an agent that is open is written to the root.
fn present_owner(window: &WindowState) -> FieldOwner {
    let lists_agents = window.picker.as_ref().is_some_and(|picker| picker.is_tree() || picker.is_menu());
    let shown = window.watched.as_ref().filter(|_| window.asking().is_none()).map(|watched| watched.agent);
    let written_to = match window.field_owner {
        FieldOwner::Agents(agent) => agent,
        FieldOwner::Root | FieldOwner::Answer => None,
    };
    match window.purpose {
        Purpose::Agent(agent) => FieldOwner::Agents(Some(agent)),
        Purpose::Reason(_) | Purpose::Revision(_) | Purpose::Rule => FieldOwner::Answer,
        Purpose::Message if shown.is_some() => FieldOwner::Agents(shown),
        Purpose::Message if lists_agents => FieldOwner::Agents(written_to),
        Purpose::Message => FieldOwner::Root,
    }
}

/// The field may have got another owner: what stands in it is for the one that it was written for, never for the
/// next.
pub(crate) fn settle_field(window: &mut WindowState) {
    let owner = present_owner(window);
    let before = std::mem::replace(&mut window.field_owner, owner);
    if before == owner {
        return;
    }
    if before == FieldOwner::Root {
        return window.prompt.lend();
    }
    // What was to go with an answer can be said all the same.
    let can_be_said = before == FieldOwner::Answer && owner == FieldOwner::Root;
    let is_put_away = !can_be_said && !window.prompt.text.is_empty();
    if is_put_away {
        window.prompt.put_away();
    }
    let makes_room = owner == FieldOwner::Root && window.prompt.give_back();
    // Why it is not asked any more says more than where the words are.
    if is_put_away || makes_room && window.word.is_none() {
        // Among the agents ↑ goes through what they did.
        window.tell(match owner {
            FieldOwner::Root | FieldOwner::Answer => "↑ restores it",
            FieldOwner::Agents(_) => "Put away: ↑ restores it in the conversation",
        });
    }
}

/// Words that were to go with an answer are a message once nothing waits for one.
pub(super) fn drop_void_purpose(window: &mut WindowState) {
    let holds = match &window.purpose {
        Purpose::Reason(call) => window.desk.holds_call(call),
        Purpose::Revision(question) => window.desk.holds_question(*question),
        Purpose::Message | Purpose::Agent(_) | Purpose::Rule => true,
    };
    if !holds {
        window.purpose = Purpose::Message;
        window.tell("No longer asked");
    }
}
