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
                Nudge::CutOff | Nudge::TooLong => self.complete(effects),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn states(effects: &[Effect]) -> Vec<AgentState> {
        let to = |effect: &Effect| match effect {
            Effect::Change(change) => Some(change.to),
            _ => None,
        };
        effects.iter().filter_map(to).collect()
    }

    fn stamp_of(effects: &[Effect]) -> Stamp {
        let asked = |effect: &Effect| match effect {
            Effect::AskModel { stamp, .. } => Some(*stamp),
            _ => None,
        };
        effects.iter().find_map(asked).expect("the model is asked")
    }

    fn moved(stamp: Stamp, waiting: usize, running: usize, open: usize) -> Input {
        Input::CallsMoved { stamp, waiting, running, open }
    }

    #[test]
    fn a_turn_with_an_approval_goes_through_the_table() {
        let mut machine = Machine::new(50);
        let effects = machine.on(Input::Begin);
        assert_eq!(states(&effects), [AgentState::Streaming]);
        let stamp = stamp_of(&effects);
        assert_eq!(
            machine.on(Input::Answered { stamp, kind: AnswerKind::Calls }).last(),
            Some(&Effect::RunCalls { stamp })
        );
        assert_eq!(states(&machine.on(moved(stamp, 1, 0, 1))), [AgentState::AwaitingApproval]);
        assert_eq!(states(&machine.on(moved(stamp, 0, 1, 1))), [AgentState::ToolExecuting]);
        let effects = machine.on(moved(stamp, 0, 0, 0));
        assert_eq!(states(&effects), [AgentState::ToolResultReady, AgentState::Streaming]);
        let stamp = stamp_of(&effects);
        let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Text });
        assert_eq!(states(&effects), [AgentState::Complete]);
        assert_eq!(effects.last(), Some(&Effect::Finish { reason: CompleteReason::Natural, code: None }));
    }

    #[test]
    fn a_late_result_after_a_cancel_restarts_nothing() {
        let mut machine = Machine::new(50);
        let stamp = stamp_of(&machine.on(Input::Begin));
        let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
        let _ = machine.on(moved(stamp, 0, 1, 1));
        assert_eq!(states(&machine.on(Input::Cancel)), [AgentState::Cancelled]);
        assert!(machine.on(moved(stamp, 0, 0, 0)).is_empty());
        let again = stamp_of(&machine.on(Input::Begin));
        assert!(machine.on(moved(stamp, 0, 0, 0)).is_empty());
        assert!(machine.on(Input::Answered { stamp, kind: AnswerKind::Text }).is_empty());
        assert!(!machine.on(Input::Answered { stamp: again, kind: AnswerKind::Text }).is_empty());
    }

    #[test]
    fn a_turn_that_is_broken_off_is_asked_again_under_its_number() {
        let mut machine = Machine::new(1);
        let stamp = stamp_of(&machine.on(Input::Begin));
        let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
        let _ = machine.on(moved(stamp, 0, 1, 1));
        let effects = machine.on(Input::BreakOff);
        assert_eq!((effects.first(), states(&effects)), (Some(&Effect::StopWork), vec![AgentState::Streaming]));
        let again = stamp_of(&effects);
        assert_eq!(effects.last(), Some(&Effect::AskModel { stamp: again, iteration: 1 }));
        assert!(machine.on(moved(stamp, 0, 0, 0)).is_empty(), "what was broken off is void");
        let _ = machine.on(Input::Halt(End::DONE));
        assert_eq!(states(&machine.on(Input::BreakOff)), [AgentState::Complete], "what was to end ends");
        assert!(machine.on(Input::BreakOff).is_empty());
    }

    #[test]
    fn the_limit_ends_the_work_and_begin_goes_on() {
        let mut machine = Machine::new(1);
        let stamp = stamp_of(&machine.on(Input::Begin));
        let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
        let effects = machine.on(moved(stamp, 0, 0, 0));
        assert_eq!(states(&effects), [AgentState::ToolResultReady, AgentState::IterationLimit, AgentState::Complete]);
        let effects = machine.on(Input::Begin);
        assert_eq!(states(&effects), [AgentState::Idle, AgentState::Streaming]);
        assert_eq!(machine.iteration(), 1);
    }

    #[test]
    fn an_empty_answer_is_asked_again_twice_and_then_a_failure() {
        let mut machine = Machine::new(50);
        let mut stamp = stamp_of(&machine.on(Input::Begin));
        for _ in 0..2 {
            let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Empty });
            assert!(effects.contains(&Effect::Nudge(Nudge::Empty)));
            stamp = stamp_of(&effects);
        }
        let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Empty });
        assert_eq!(states(&effects), [AgentState::Failed]);
        assert!(effects.contains(&Effect::NoAnswer { times: 3 }));
        let finish = Effect::Finish { reason: CompleteReason::Failed, code: Some(ErrorCode::EmptyAnswer) };
        assert_eq!(effects.last(), Some(&finish));
    }

    #[test]
    fn a_used_up_budget_ends_the_turn_and_begins_no_other() {
        let mut machine = Machine::new(50);
        let stamp = stamp_of(&machine.on(Input::Begin));
        assert!(machine.on(Input::BudgetUsedUp).is_empty());
        let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
        let budget = Effect::Finish { reason: CompleteReason::Budget, code: Some(ErrorCode::BudgetUsedUp) };
        assert_eq!(machine.on(moved(stamp, 0, 0, 0)).last(), Some(&budget));
        assert_eq!(machine.on(Input::Begin).last(), Some(&budget));
    }

    #[test]
    fn a_refusal_is_a_failure_and_asked_about_no_further() {
        let mut machine = Machine::new(50);
        let stamp = stamp_of(&machine.on(Input::Begin));
        let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Refused });
        let failed = Effect::Finish { reason: CompleteReason::Failed, code: Some(ErrorCode::AnswerRefused) };
        assert_eq!((states(&effects), effects.last()), (vec![AgentState::Failed], Some(&failed)));
    }

    #[test]
    fn when_time_is_up_an_answer_is_cut_off_and_calls_end_the_turn() {
        let budget = Effect::Finish { reason: CompleteReason::Budget, code: Some(ErrorCode::BudgetUsedUp) };
        let mut machine = Machine::new(50);
        let _ = machine.on(Input::Begin);
        let effects = machine.on(Input::TimeUp);
        assert_eq!((effects.first(), effects.last()), (Some(&Effect::StopWork), Some(&budget)));
        let mut machine = Machine::new(50);
        let stamp = stamp_of(&machine.on(Input::Begin));
        let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
        let _ = machine.on(moved(stamp, 0, 1, 1));
        assert!(machine.on(Input::TimeUp).is_empty());
        assert_eq!(machine.on(moved(stamp, 0, 0, 0)).last(), Some(&budget));
    }

    fn blocked(stamp: Stamp) -> Input {
        Input::Blocked { stamp, end: End::STOPPED }
    }

    #[test]
    fn the_person_can_be_asked_before_the_model() {
        let mut machine = Machine::new(50);
        let stamp = stamp_of(&machine.on(Input::Begin));
        assert_eq!(states(&machine.on(Input::Waits { stamp })), [AgentState::AwaitingApproval]);
        assert_eq!(states(&machine.on(Input::GoesOn { stamp })), [AgentState::Streaming]);
        assert!(machine.on(Input::GoesOn { stamp }).is_empty());
        let _ = machine.on(Input::Waits { stamp });
        let looped = Effect::Finish { reason: CompleteReason::LoopDetected, code: Some(ErrorCode::LoopDetected) };
        assert_eq!(machine.on(Input::Blocked { stamp, end: End::LOOP }).last(), Some(&looped));
    }

    #[test]
    fn what_is_blocked_or_halted_ends_without_another_turn() {
        let stopped = Effect::Finish { reason: CompleteReason::Stopped, code: None };
        let mut machine = Machine::new(50);
        let stamp = stamp_of(&machine.on(Input::Begin));
        assert_eq!(machine.on(blocked(stamp)).last(), Some(&stopped));
        assert!(machine.on(blocked(stamp)).is_empty() && !machine.busy());
        let stamp = stamp_of(&machine.on(Input::Begin));
        let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
        assert!(machine.on(Input::Halt(End::STOPPED)).is_empty());
        assert_eq!(machine.on(moved(stamp, 0, 0, 0)).last(), Some(&stopped));
    }

    #[test]
    fn an_end_that_is_objected_to_is_another_turn_up_to_the_limit() {
        let mut machine = Machine::new(2);
        let stamp = stamp_of(&machine.on(Input::Begin));
        let stamp = stamp_of(&machine.on(Input::Answered { stamp, kind: AnswerKind::Held }));
        let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Held });
        assert_eq!(states(&effects), [AgentState::IterationLimit, AgentState::Complete]);
    }

    fn any_input() -> impl Strategy<Value = Input> {
        let kind = prop_oneof![
            Just(AnswerKind::Calls),
            Just(AnswerKind::Text),
            Just(AnswerKind::Held),
            Just(AnswerKind::Empty),
            Just(AnswerKind::CutOff),
            Just(AnswerKind::TooLong),
            Just(AnswerKind::Refused),
            Just(AnswerKind::Paused)
        ];
        let stamp = (0u64..6).prop_map(Stamp);
        prop_oneof![
            Just(Input::Begin),
            Just(Input::Cancel),
            Just(Input::BudgetUsedUp),
            Just(Input::TimeUp),
            Just(Input::Halt(End::DONE)),
            stamp.clone().prop_map(blocked),
            stamp.clone().prop_map(|stamp| Input::Waits { stamp }),
            stamp.clone().prop_map(|stamp| Input::GoesOn { stamp }),
            (stamp.clone(), kind).prop_map(|(stamp, kind)| Input::Answered { stamp, kind }),
            stamp.clone().prop_map(|stamp| Input::ProviderFailed { stamp, code: ErrorCode::ProviderUnavailable }),
            (stamp, 0usize..2, 0usize..2).prop_map(|(stamp, waiting, running)| moved(
                stamp,
                waiting,
                running,
                waiting + running
            )),
        ]
    }

    proptest! {
        /// Whatever happens in whatever order: transitions join up, every begin ends at most once,
        /// the limit holds, and a busy loop always waits for something that it asked for.
        #[test]
        fn any_order_of_inputs_keeps_the_loop_sane(inputs in prop::collection::vec(any_input(), 0..60)) {
            let mut machine = Machine::new(3);
            let (mut state, mut begun, mut finished, mut asked) = (AgentState::Idle, 0, 0, Vec::new());
            for input in inputs {
                let was_busy = machine.busy();
                let effects = machine.on(input);
                if input == Input::Begin && !was_busy {
                    begun += 1;
                }
                for effect in effects {
                    match effect {
                        Effect::Change(change) => {
                            prop_assert_eq!(change.from, state);
                            state = change.to;
                        }
                        Effect::AskModel { stamp, iteration } => {
                            prop_assert!(iteration <= 3);
                            prop_assert!(!asked.contains(&stamp), "a stamp is used once");
                            asked.push(stamp);
                        }
                        Effect::Finish { .. } => finished += 1,
                        Effect::RunCalls { .. }
                        | Effect::EndTurn { .. }
                        | Effect::Nudge(_)
                        | Effect::NoAnswer { .. }
                        | Effect::StopWork => {}
                    }
                }
                prop_assert_eq!(machine.state(), state);
                prop_assert_eq!(begun, finished + usize::from(machine.busy()));
            }
        }
    }
}
