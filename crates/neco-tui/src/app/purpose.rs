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
    /// The other agents: one is written to, or opened, or they are listed.
    Agents,
    /// What goes with an answer, or a rule.
    Answer,
}

impl WindowState {
    /// Whose the field is as the window stands. What is asked above an agent that is open is written to the root.
    fn present_owner(&self) -> FieldOwner {
        let lists_agents = self.picker.as_ref().is_some_and(|picker| picker.is_tree() || picker.is_menu());
        let shows_agent = self.watched.is_some() && self.asking().is_none();
        match self.purpose {
            Purpose::Agent(_) => FieldOwner::Agents,
            Purpose::Reason(_) | Purpose::Revision(_) | Purpose::Rule => FieldOwner::Answer,
            Purpose::Message if lists_agents || shows_agent => FieldOwner::Agents,
            Purpose::Message => FieldOwner::Root,
        }
    }

    /// The field may have got another owner: what stands in it is for the one that it was written for, never for the
    /// next.
    pub(crate) fn settle_field(&mut self) {
        let owner = self.present_owner();
        let before = std::mem::replace(&mut self.field_owner, owner);
        if before == owner {
            return;
        }
        if before == FieldOwner::Root {
            return self.prompt.lend();
        }
        // What was to go with an answer can be said all the same.
        let can_be_said = before == FieldOwner::Answer && owner == FieldOwner::Root;
        if !can_be_said && !self.prompt.text.is_empty() {
            self.prompt.put_away();
            self.tell("↑ restores it");
        }
        if owner == FieldOwner::Root {
            self.prompt.give_back();
        }
    }

    /// Words that were to go with an answer are a message once somebody else has answered.
    pub(super) fn drop_void_purpose(&mut self) {
        let holds = match &self.purpose {
            Purpose::Reason(call) => self.desk.holds_call(call),
            Purpose::Revision(question) => self.desk.holds_question(*question),
            Purpose::Message | Purpose::Agent(_) | Purpose::Rule => true,
        };
        if !holds {
            self.purpose = Purpose::Message;
            self.tell("Answered in another window");
        }
    }
}
