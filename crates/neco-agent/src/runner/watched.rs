//! The one way by which guards speak: at a turn boundary, in one message that is Neco's own.

use neco_model::History;
use neco_proto::Message;
use neco_toolkit::Registry;

use super::conversation::Conversation;
use super::reports::Reports;
use super::terms::Terms;
use crate::guards::{Guards, Objection, Scene};
use crate::plan::{ASK_USER, EXIT_PLAN_MODE, PlanBook, TODO_WRITE};
use crate::ports::SinkError;

pub(super) struct Watched(Guards);

impl Watched {
    /// What the guards would have said of an earlier run was said then.
    pub(super) fn new(guards: Guards, history: &History, tools: &Registry, terms: &Terms) -> Self {
        let mut watched = Self(guards);
        watched.show(history, tools, terms);
        watched.0.take();
        watched
    }

    /// Shows the guards what happened and lets them speak before the model is asked. Why the model is not to be
    /// asked, if it is not.
    pub(super) async fn hear(
        &mut self,
        conversation: &mut Conversation,
        tools: &Registry,
        terms: &Terms,
        reports: &Reports,
    ) -> Result<Option<String>, SinkError> {
        self.show(&conversation.history, tools, terms);
        let said = self.0.take();
        if let Some(text) = hint_text(&said.hints) {
            conversation.admit(Message::neco(text), reports).await?;
            // They know what they said.
            self.show(&conversation.history, tools, terms);
        }
        // The person is told what the model was told that they would wonder about.
        for notice in &said.notices {
            reports.inform(notice).await?;
        }
        Ok(said.stop)
    }

    /// What the guards have against the end of the work.
    pub(super) fn objection(
        &mut self,
        book: &PlanBook,
        history: &History,
        tools: &Registry,
        terms: &Terms,
    ) -> Option<Objection> {
        self.show(history, tools, terms);
        self.0.object(&book.progress(), &scene(tools, terms))
    }

    /// Shows the guards what they have not seen of the conversation.
    fn show(&mut self, history: &History, tools: &Registry, terms: &Terms) {
        self.0.catch_up(history, tools, &scene(tools, terms));
    }
}

fn scene(tools: &Registry, terms: &Terms) -> Scene {
    let has = |name: &str| tools.find(name).is_ok();
    Scene {
        mode: terms.settings.mode,
        can_ask: terms.settings.person_present && has(ASK_USER),
        has_todos: has(TODO_WRITE),
        can_plan: has(EXIT_PLAN_MODE),
    }
}

fn hint_text(hints: &[String]) -> Option<String> {
    match hints {
        [] => None,
        [hint] => Some(hint.clone()),
        several => Some(several.iter().map(|hint| format!("- {hint}")).collect::<Vec<_>>().join("\n")),
    }
}
