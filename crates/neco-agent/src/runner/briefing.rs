//! What the model is told before the conversation: how it is put together, which level of tools leaves room for it, and
//! how much room everything takes.

use std::sync::Arc;

use neco_proto::event::{Notification, NotificationLevel};
use neco_proto::{ContextReport, PromptReport};
use neco_toolkit::Registry;

use super::compaction::Room;
use super::conversation::Conversation;
use super::model::Model;
use super::terms::{Terms, Toolset};
use crate::capability_level::CapabilityLevel;
use crate::context::{Assembled, Context, Situation, prompt_report, report};
use crate::scheduler::Scheduler;

/// The parts of an agent that decide what the model is told.
pub(super) struct Briefing<'a> {
    pub(super) context: &'a mut Context,
    pub(super) tools: &'a mut Toolset,
    pub(super) scheduler: &'a mut Scheduler,
    pub(super) room: &'a Room,
    pub(super) model: &'a Model,
    pub(super) terms: &'a Terms,
    pub(super) conversation: &'a Conversation,
}

impl Briefing<'_> {
    /// All of it, as it is in the present turn.
    pub(super) fn assembled(&mut self) -> Arc<Assembled> {
        let rooms = self.room.space(self.model).rooms();
        let situation = Situation { mode: self.terms.turn_mode, generation: self.tools.level, rooms };
        let rules = (self.scheduler.registry(), self.scheduler.policy());
        self.context.assemble(situation, rules, &self.terms.who(), self.model.family())
    }

    /// Takes the highest level that fits; what is to be said of it where it is another one than before.
    pub(super) fn fit_level(self) -> Option<Notification> {
        let (space, family, who) = (self.room.space(self.model), self.model.family(), self.terms.who());
        let (most, window) = (space.most_told()?, space.window()?);
        let (context, policy) = (&*self.context, self.scheduler.policy());
        let fits = |generation: CapabilityLevel, tools: &Registry| {
            let situation = Situation { mode: who.mode, generation, rooms: space.rooms() };
            context.make(situation, (tools, policy), &who, family).tokens() <= most
        };
        let registry = self.tools.fit((window, who.mode), fits)?;
        self.context.forget();
        self.scheduler.set_registry(registry);
        let level = self.tools.level.number();
        let text = format!(
            "This model's window is {window} tokens: tool level {level} of {} leaves room to work; --gen N or /gen N \
             takes another",
            CapabilityLevel::highest().number()
        );
        Some(Notification { fitted: Some(level), ..Notification::new(NotificationLevel::Info, text) })
    }

    /// How much room everything takes.
    pub(super) fn context_report(mut self) -> ContextReport {
        let assembled = self.assembled();
        self.report_on(&assembled)
    }

    /// Everything that the model would be told.
    pub(super) fn prompt_report(mut self) -> PromptReport {
        let assembled = self.assembled();
        prompt_report(self.report_on(&assembled), &assembled, &self.conversation.history, self.model.family())
    }

    fn report_on(&self, assembled: &Assembled) -> ContextReport {
        let (history, family) = (&self.conversation.history, self.model.family());
        let told = report(self.model.label(), assembled, history, &self.room.space(self.model), family);
        let given = self.conversation.pieces.given.used();
        ContextReport { given, window_is_assumed: self.model.provider.window_is_assumed(), ..told }
    }
}
