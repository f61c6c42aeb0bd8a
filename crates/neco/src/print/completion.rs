//! The end of the work in text form: the answer, and what it took.

use std::io;
use std::time::Duration;

use neco_proto::event::{AgentComplete, CompleteReason};

use super::clean::clean_line;
use super::ending::{ending, going_on};
use super::figures;
use super::text::TextPrinter;
use crate::outcome::joined;

impl TextPrinter {
    /// The agent is done: its answer, then a line about the work.
    pub(super) fn complete(&mut self, complete: &AgentComplete) -> io::Result<()> {
        self.waiting = None;
        self.give_answer(complete.reason)?;
        let complete = joined(self.so_far.take(), complete);
        if !self.rest.is_over() {
            // Others still work, and what they give lets the agent go on: that is no end yet.
            self.so_far = Some(complete);
            return Ok(());
        }
        self.sum_up(&complete)
    }

    /// A line about the work, and how it is gone on with.
    pub(super) fn sum_up(&mut self, complete: &AgentComplete) -> io::Result<()> {
        let paint = self.screen.paint();
        if let Some(words) = self.tally.left_in_background() {
            self.screen.line(&paint.dim(&words))?;
        }
        let took = figures::duration(Duration::from_millis(complete.duration_ms));
        let but = if complete.reason == CompleteReason::Natural { ", but" } else { ";" };
        let refused = self.tally.refused().map(|words| format!("{but} {words}")).unwrap_or_default();
        if let Some(budget) = &complete.budget {
            self.screen.line(&paint.yellow(&format!("! {}", figures::budget(budget))))?;
        }
        let mut parts = vec![format!("{} {took}{refused}", ending(complete, self.plan_dropped))];
        parts.extend((!self.models.is_empty()).then(|| clean_line(&self.models.join(", "))));
        if complete.reason != CompleteReason::IterationLimit {
            parts.push(figures::count(complete.turns.into(), "turn"));
        }
        let mut usage = complete.usage;
        usage += self.tally.take_below();
        parts.extend(figures::usage(&usage));
        parts.extend(figures::session_cost(&usage, &complete.session_usage));
        parts.extend(self.context.take());
        self.screen.line(&paint.dim(&parts.join(" · ")))?;
        match self.continue_with.take() {
            Some(id) => self.screen.line(&paint.dim(&going_on(&id, complete))),
            None => Ok(()),
        }
    }

    /// What is not the end of the work is no answer.
    fn give_answer(&mut self, reason: CompleteReason) -> io::Result<()> {
        let Some(answer) = self.answer.take() else { return self.leave() };
        match reason {
            CompleteReason::Natural
            | CompleteReason::IterationLimit
            | CompleteReason::Budget
            | CompleteReason::Stopped
            | CompleteReason::LoopDetected => {
                self.screen.words(&answer)?;
                self.screen.settle()
            }
            CompleteReason::Cancelled | CompleteReason::Failed => self.aside(&answer),
        }
    }
}
