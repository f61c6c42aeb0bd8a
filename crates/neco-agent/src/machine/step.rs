//! The state table.

use neco_proto::ErrorCode;
use neco_proto::event::{AgentState, CompleteReason, StateChange};

use super::effect::{Effect, Nudge};
use super::input::{AnswerKind, End, Input, Stamp};

/// How often in a row a model may stop without being done before it is taken at its word.
const MOST_NUDGES: u32 = 2;

/// One agent's loop.
#[derive(Debug)]
pub struct Machine {
    state: AgentState,
    iteration: u32,
    limit: u32,
    nudges: u32,
    /// Empty answers in a row.
    empty: u32,
    budget_left: bool,
    halted: Option<End>,
    stamp: Stamp,
}

impl Machine {
    /// An idle loop that stops after `limit` turns.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            state: AgentState::Idle,
            iteration: 0,
            limit,
            nudges: 0,
            empty: 0,
            budget_left: true,
            halted: None,
            stamp: Stamp::default(),
        }
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> AgentState {
        self.state
    }

    /// The turn it is in, counted since it last began.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// Whether a message now would have to wait.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.state.is_at_work()
    }

    /// Takes what happened, gives what is to be done. What makes no sense in the present state, or
    /// belongs to an older turn, changes nothing.
    #[must_use]
    pub fn on(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Begin if !self.busy() => self.begin(&mut effects),
            Input::Answered { stamp, kind } if self.expects(stamp, AgentState::Streaming) => {
                self.answered(kind, &mut effects);
            }
            Input::ProviderFailed { stamp, code } if self.expects(stamp, AgentState::Streaming) => {
                self.change(AgentState::Failed, &mut effects);
                self.finish(CompleteReason::Failed, Some(code), &mut effects);
            }
            Input::CallsMoved { stamp, waiting, running, open } if stamp == self.stamp && self.has_calls() => {
                self.calls_moved(waiting, running, open, &mut effects);
            }
            Input::Blocked { stamp, end } if self.is_asking(stamp) => self.end(end, &mut effects),
            Input::Waits { stamp } if self.expects(stamp, AgentState::Streaming) => {
                self.change(AgentState::AwaitingApproval, &mut effects);
            }
            Input::GoesOn { stamp } if self.expects(stamp, AgentState::AwaitingApproval) => {
                self.change(AgentState::Streaming, &mut effects);
            }
            Input::Halt(end) if self.busy() => self.halted = Some(end),
            Input::TimeUp if self.state == AgentState::Streaming => {
                self.budget_left = false;
                effects.push(Effect::StopWork);
                self.end(End::BUDGET, &mut effects);
            }
            Input::BudgetUsedUp | Input::TimeUp => self.budget_left = false,
            Input::BreakOff if self.busy() => {
                effects.push(Effect::StopWork);
                self.ask_again(&mut effects);
            }
            Input::Cancel if self.busy() => {
                effects.push(Effect::StopWork);
                self.change(AgentState::Cancelled, &mut effects);
                self.finish(CompleteReason::Cancelled, None, &mut effects);
            }
            Input::Begin
            | Input::Answered { .. }
            | Input::ProviderFailed { .. }
            | Input::CallsMoved { .. }
            | Input::Blocked { .. }
            | Input::Waits { .. }
            | Input::GoesOn { .. }
            | Input::Halt(_)
            | Input::BreakOff
            | Input::Cancel => {}
        }
        effects
    }

    fn expects(&self, stamp: Stamp, state: AgentState) -> bool {
        stamp == self.stamp && self.state == state
    }

    /// Whether the model is asked in that turn, or would be if the person were not asked first.
    fn is_asking(&self, stamp: Stamp) -> bool {
        self.expects(stamp, AgentState::Streaming) || self.expects(stamp, AgentState::AwaitingApproval)
    }

    fn has_calls(&self) -> bool {
        matches!(self.state, AgentState::ToolPending | AgentState::AwaitingApproval | AgentState::ToolExecuting)
    }

    fn begin(&mut self, effects: &mut Vec<Effect>) {
        if self.state != AgentState::Idle {
            self.change(AgentState::Idle, effects);
        }
        self.iteration = 0;
        self.nudges = 0;
        self.empty = 0;
        self.halted = None;
        if self.budget_left {
            return self.ask(effects);
        }
        self.out_of_budget(effects);
    }

    fn out_of_budget(&mut self, effects: &mut Vec<Effect>) {
        self.change(AgentState::Complete, effects);
        self.finish(CompleteReason::Budget, Some(ErrorCode::BudgetUsedUp), effects);
    }

    /// The next iteration begins. The stamp moves on, so that answers to the last one are void.
    fn ask(&mut self, effects: &mut Vec<Effect>) {
        self.iteration += 1;
        self.stamp = Stamp(self.stamp.0 + 1);
        self.change(AgentState::Streaming, effects);
        effects.push(Effect::AskModel { stamp: self.stamp, iteration: self.iteration });
    }

    /// A turn that was broken off does not count: the next one has its number. What was to end with it ends.
    fn ask_again(&mut self, effects: &mut Vec<Effect>) {
        match self.halted {
            Some(end) => self.end(end, effects),
            None if !self.budget_left => self.out_of_budget(effects),
            None => {
                self.iteration = self.iteration.saturating_sub(1);
                self.ask(effects);
            }
        }
    }

    fn answered(&mut self, kind: AnswerKind, effects: &mut Vec<Effect>) {
        self.empty = if kind == AnswerKind::Empty { self.empty + 1 } else { 0 };
        match kind {
            AnswerKind::Calls => {
                self.nudges = 0;
                self.change(AgentState::ToolPending, effects);
                effects.push(Effect::RunCalls { stamp: self.stamp });
            }
            AnswerKind::Text => self.complete(effects),
            AnswerKind::Held => {
                self.nudges = 0;
                self.next_turn(effects);
            }
            AnswerKind::Empty => self.nudge(Nudge::Empty, effects),
            AnswerKind::CutOff => self.nudge(Nudge::CutOff, effects),
            AnswerKind::TooLong => self.nudge(Nudge::TooLong, effects),
            AnswerKind::Paused => self.next_turn(effects),
            AnswerKind::Refused => self.fail(ErrorCode::AnswerRefused, effects),
        }
    }

    fn nudge(&mut self, nudge: Nudge, effects: &mut Vec<Effect>) {
        if self.nudges == MOST_NUDGES {
            return match nudge {
                Nudge::CutOff => self.complete(effects),
                Nudge::TooLong => self.no_end(effects),
                Nudge::Empty => self.no_answer(effects),
            };
        }
        self.nudges += 1;
        effects.push(Effect::Nudge(nudge));
        self.next_turn(effects);
    }

    fn calls_moved(&mut self, waiting: usize, running: usize, open: usize, effects: &mut Vec<Effect>) {
        if open == 0 {
            self.change(AgentState::ToolResultReady, effects);
            self.next_turn(effects);
        } else if running > 0 {
            self.change(AgentState::ToolExecuting, effects);
        } else if waiting > 0 {
            self.change(AgentState::AwaitingApproval, effects);
        }
    }

    fn next_turn(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::EndTurn { iteration: self.iteration });
        if let Some(end) = self.halted {
            return self.end(end, effects);
        }
        if !self.budget_left {
            return self.out_of_budget(effects);
        }
        if self.iteration < self.limit {
            return self.ask(effects);
        }
        self.change(AgentState::IterationLimit, effects);
        self.change(AgentState::Complete, effects);
        self.finish(CompleteReason::IterationLimit, Some(ErrorCode::IterationLimit), effects);
    }

    fn end(&mut self, end: End, effects: &mut Vec<Effect>) {
        self.change(AgentState::Complete, effects);
        self.finish(end.reason, end.code, effects);
    }

    fn complete(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::EndTurn { iteration: self.iteration });
        self.change(AgentState::Complete, effects);
        self.finish(CompleteReason::Natural, None, effects);
    }

    /// A model that says nothing however often it is asked is as good as none, but it was reached.
    fn no_answer(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::NoAnswer { times: self.empty });
        self.fail(ErrorCode::EmptyAnswer, effects);
    }

    /// So is one whose answers are never read to their end.
    fn no_end(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::NoEnd);
        self.fail(ErrorCode::ProviderUnavailable, effects);
    }

    /// It was reached, but gave no answer that could be worked with.
    fn fail(&mut self, code: ErrorCode, effects: &mut Vec<Effect>) {
        effects.push(Effect::EndTurn { iteration: self.iteration });
        self.change(AgentState::Failed, effects);
        self.finish(CompleteReason::Failed, Some(code), effects);
    }

    /// Whatever still comes for the finished turn is void.
    fn finish(&mut self, reason: CompleteReason, code: Option<ErrorCode>, effects: &mut Vec<Effect>) {
        self.stamp = Stamp(self.stamp.0 + 1);
        effects.push(Effect::Finish { reason, code });
    }

    fn change(&mut self, to: AgentState, effects: &mut Vec<Effect>) {
        if self.state == to {
            return;
        }
        effects.push(Effect::Change(StateChange { from: self.state, to, iteration: self.iteration }));
        self.state = to;
    }
}
