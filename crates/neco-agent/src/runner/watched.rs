//! The one way by which guards speak: at a turn boundary, in one message that is Neco's own.

use neco_proto::event::ErrorEvent;
use neco_proto::{ErrorCode, EventBody, Message, Subject};

use super::agent::Agent;
use crate::guards::{Objection, Scene};
use crate::machine::{End, Input, Stamp};
use crate::plan::{ASK_USER, EXIT_PLAN_MODE, TODO_WRITE};
use crate::ports::SinkError;

impl Agent {
    /// Shows the guards what happened and lets them speak before the model is asked. False when the model
    /// is not to be asked now.
    pub(super) async fn hear_guards(&mut self, stamp: Stamp) -> Result<bool, SinkError> {
        self.show_guards();
        let said = self.guards.take();
        if let Some(text) = hint_text(&said.hints) {
            self.admit(Message::neco(text)).await?;
            // They know what they said.
            self.show_guards();
        }
        self.notice(&said.notices).await?;
        match said.stop {
            Some(reason) => self.stop_loop(stamp, reason).await.map(|()| false),
            None => Ok(true),
        }
    }

    /// What the guards have against the end of the work.
    pub(super) fn objection(&mut self) -> Option<Objection> {
        self.show_guards();
        let (progress, scene) = (self.book.progress(), self.guard_scene());
        self.guards.object(&progress, &scene)
    }

    /// Shows the guards what they have not seen of the conversation.
    pub(super) fn show_guards(&mut self) {
        let scene = self.guard_scene();
        self.guards.catch_up(&self.history, self.scheduler.registry(), &scene);
    }

    /// What the guards would have said of an earlier run was said then.
    pub(super) fn recall(&mut self) {
        self.show_guards();
        self.guards.take();
    }

    async fn stop_loop(&mut self, stamp: Stamp, reason: String) -> Result<(), SinkError> {
        if !self.settings.person_present {
            self.tell_of_loop(&reason).await?;
            return Box::pin(self.on(Input::Blocked { stamp, end: End::LOOP })).await;
        }
        self.pose_before(None, Subject::Loop { text: reason }, Some(stamp)).await?;
        Box::pin(self.on(Input::Waits { stamp })).await
    }

    /// The work ends because the model repeats itself.
    pub(super) async fn tell_of_loop(&mut self, reason: &str) -> Result<(), SinkError> {
        let code = ErrorCode::LoopDetected;
        let message = format!("the model was stopped because it repeats itself: {reason}");
        let event = ErrorEvent { code, message, retryable: code.retryable() };
        self.sink.emit(None, EventBody::Error(event)).await
    }

    /// Tells the person what the model was told that they would wonder about.
    async fn notice(&mut self, notices: &[&'static str]) -> Result<(), SinkError> {
        for notice in notices {
            self.inform(notice).await?;
        }
        Ok(())
    }

    fn guard_scene(&self) -> Scene {
        let has = |name: &str| self.scheduler.registry().find(name).is_ok();
        Scene {
            mode: self.settings.mode,
            can_ask: self.settings.person_present && has(ASK_USER),
            has_todos: has(TODO_WRITE),
            can_plan: has(EXIT_PLAN_MODE),
        }
    }
}

fn hint_text(hints: &[String]) -> Option<String> {
    match hints {
        [] => None,
        [hint] => Some(hint.clone()),
        several => Some(several.iter().map(|hint| format!("- {hint}")).collect::<Vec<_>>().join("\n")),
    }
}
