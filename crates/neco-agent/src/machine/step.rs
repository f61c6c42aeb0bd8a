//! The state table.

use neco_proto::ErrorCode;
use neco_proto::event::{AgentState, CompleteReason, StateChange};

use super::effect::{Effect, Nudge};
use super::input::{AnswerKind, End, Input, Stamp};
use super::state::State;

/// How often in a row a model may stop without being done before it is taken at its word.
const MOST_NUDGES: u32 = 2;

/// One agent's loop.
#[derive(Debug)]
pub struct Machine {
    state: State,
    /// What windows were told last.
    shown: AgentState,
    iteration: u32,
    limit: u32,
    nudges: u32,
    /// Empty answers in a row.
    empty: u32,
    budget_left: bool,
    halted: Option<End>,
    /// Whether no turn begins for now.
    held: bool,
    /// Whether the turn before the one that is held was broken off.
    broken_off: bool,
    stamp: Stamp,
}

impl Machine {
    /// An idle loop that stops after `limit` turns.
    pub fn new(limit: u32) -> Self {
        Self {
            state: State::Idle,
            shown: AgentState::Idle,
            iteration: 0,
            limit,
            nudges: 0,
            empty: 0,
            budget_left: true,
            halted: None,
            held: false,
            broken_off: false,
            stamp: Stamp::default(),
        }
    }

    /// What it is doing.
    pub fn state(&self) -> State {
        self.state
    }

    /// What reports about the present turn carry.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The turn it is in, counted since it last began.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// Whether a message now would have to wait.
    pub fn busy(&self) -> bool {
        self.state.shown().is_at_work()
    }

    /// Takes what happened, gives what is to be done. What makes no sense in the present state, or
    /// belongs to an older turn, changes nothing.
    pub fn on(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        if input.stamp().is_some_and(|stamp| stamp != self.stamp) {
            return effects;
        }
        match (input, self.state) {
            (Input::Begin, _) if !self.busy() => self.begin(&mut effects),
            (Input::TakeUp, _) if !self.busy() => self.take_up(&mut effects),
            (Input::Passed { something, .. }, State::AtGate) => self.passed(something, &mut effects),
            (Input::Waits { .. }, State::Streaming) => self.change(State::AskingPerson, &mut effects),
            (Input::GoesOn { .. }, State::AskingPerson) => self.prepare(&mut effects),
            (Input::Compacts { .. }, State::Streaming) => self.change(State::Compacting, &mut effects),
            (Input::Compacted { stamp }, State::Compacting) => {
                self.change(State::Streaming, &mut effects);
                effects.push(Effect::AskModel { stamp });
            }
            (Input::EndAtGate { .. }, State::Streaming) => self.change(State::EndAtGate, &mut effects),
            (Input::Answered { kind, .. }, State::Streaming | State::EndAtGate) => self.answered(kind, &mut effects),
            (Input::ProviderFailed { code, .. }, State::Streaming | State::Compacting) => {
                self.change(State::Failed, &mut effects);
                self.finish(CompleteReason::Failed, Some(code), &mut effects);
            }
            (Input::CallsMoved { waiting, running, open, .. }, state) if state.has_calls() => {
                self.calls_moved(waiting, running, open, &mut effects);
            }
            (Input::Blocked { end, .. }, state) if state.is_asking() => self.end(end, &mut effects),
            (Input::Hold(halt), state) => {
                self.held = true;
                if state.is_broken_off_by(halt) {
                    self.broken_off = true;
                    effects.push(Effect::StopWork);
                    self.ask_again(&mut effects);
                }
            }
            (Input::Release, state) => self.release(state, &mut effects),
            (Input::Halt(end), _) if self.busy() => self.halted = Some(end),
            (Input::TimeUp, state) if state.shown() == AgentState::Streaming => {
                self.budget_left = false;
                effects.push(Effect::StopWork);
                self.end(End::BUDGET, &mut effects);
            }
            (Input::BudgetUsedUp | Input::TimeUp, _) => self.budget_left = false,
            (Input::Cancel, _) if self.busy() => {
                effects.push(Effect::StopWork);
                self.change(State::Cancelled, &mut effects);
                self.finish(CompleteReason::Cancelled, None, &mut effects);
            }
            (
                Input::Begin
                | Input::TakeUp
                | Input::Passed { .. }
                | Input::Waits { .. }
                | Input::GoesOn { .. }
                | Input::Compacts { .. }
                | Input::Compacted { .. }
                | Input::EndAtGate { .. }
                | Input::Answered { .. }
                | Input::ProviderFailed { .. }
                | Input::CallsMoved { .. }
                | Input::Blocked { .. }
                | Input::Halt(_)
                | Input::Cancel,
                _,
            ) => {}
        }
        effects
    }

    fn begin(&mut self, effects: &mut Vec<Effect>) {
        self.start_over(effects);
        if self.budget_left {
            return self.ask(effects);
        }
        self.out_of_budget(effects);
    }

    /// The turn that another process began goes on: its answer is there.
    fn take_up(&mut self, effects: &mut Vec<Effect>) {
        self.start_over(effects);
        self.iteration = 1;
        self.stamp = Stamp(self.stamp.0 + 1);
        self.change(State::ToolPending, effects);
        effects.push(Effect::RunCalls { stamp: self.stamp });
    }

    fn start_over(&mut self, effects: &mut Vec<Effect>) {
        self.change(State::Idle, effects);
        self.iteration = 0;
        self.nudges = 0;
        self.empty = 0;
        self.halted = None;
        self.broken_off = false;
    }

    fn out_of_budget(&mut self, effects: &mut Vec<Effect>) {
        self.change(State::Complete, effects);
        self.finish(CompleteReason::Budget, Some(ErrorCode::BudgetUsedUp), effects);
    }

    /// The next iteration begins.
    fn ask(&mut self, effects: &mut Vec<Effect>) {
        self.iteration += 1;
        self.prepare(effects);
    }

    /// A turn is to begin, unless none may. The stamp moves on, so that answers to the last one are void.
    fn prepare(&mut self, effects: &mut Vec<Effect>) {
        self.stamp = Stamp(self.stamp.0 + 1);
        if self.held {
            return self.change(State::Held, effects);
        }
        self.change(State::AtGate, effects);
        effects.push(Effect::TakeInSaid { stamp: self.stamp });
    }

    fn release(&mut self, state: State, effects: &mut Vec<Effect>) {
        self.held = false;
        let broken_off = std::mem::take(&mut self.broken_off);
        if state != State::Held {
            return;
        }
        if broken_off {
            effects.push(Effect::TellBrokenOff);
        }
        self.prepare(effects);
    }

    fn passed(&mut self, something: bool, effects: &mut Vec<Effect>) {
        if !something && self.iteration == 1 {
            return self.end(End::STOPPED, effects);
        }
        if self.held {
            return self.change(State::Held, effects);
        }
        self.change(State::Streaming, effects);
        effects.push(Effect::BeginTurn { stamp: self.stamp, iteration: self.iteration });
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
                self.change(State::ToolPending, effects);
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
            self.show(AgentState::ToolResultReady, effects);
            self.next_turn(effects);
        } else if running > 0 {
            self.change(State::ToolExecuting, effects);
        } else if waiting > 0 {
            self.change(State::AwaitingApproval, effects);
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
        self.show(AgentState::IterationLimit, effects);
        self.change(State::Complete, effects);
        self.finish(CompleteReason::IterationLimit, Some(ErrorCode::IterationLimit), effects);
    }

    fn end(&mut self, end: End, effects: &mut Vec<Effect>) {
        self.change(State::Complete, effects);
        self.finish(end.reason, end.code, effects);
    }

    fn complete(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::EndTurn { iteration: self.iteration });
        self.change(State::Complete, effects);
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
        self.fail(ErrorCode::AnswerTooLong, effects);
    }

    /// It was reached, but gave no answer that could be worked with.
    fn fail(&mut self, code: ErrorCode, effects: &mut Vec<Effect>) {
        effects.push(Effect::EndTurn { iteration: self.iteration });
        self.change(State::Failed, effects);
        self.finish(CompleteReason::Failed, Some(code), effects);
    }

    /// Whatever still comes for the finished turn is void.
    fn finish(&mut self, reason: CompleteReason, code: Option<ErrorCode>, effects: &mut Vec<Effect>) {
        self.stamp = Stamp(self.stamp.0 + 1);
        effects.push(Effect::Finish { reason, code });
    }

    fn change(&mut self, to: State, effects: &mut Vec<Effect>) {
        self.state = to;
        self.show(to.shown(), effects);
    }

    fn show(&mut self, to: AgentState, effects: &mut Vec<Effect>) {
        if self.shown != to {
            effects.push(Effect::Change(StateChange { from: self.shown, to, iteration: self.iteration }));
            self.shown = to;
        }
    }
}
