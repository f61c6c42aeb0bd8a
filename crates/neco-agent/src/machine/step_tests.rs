//! What the state table does with every kind of input, and with inputs in any order.

use neco_proto::ErrorCode;
use neco_proto::event::{AgentState, CompleteReason};
use proptest::prelude::*;

use super::effect::{Effect, Nudge};
use super::input::{AnswerKind, End, Input, Stamp};
use super::step::Machine;

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
fn answers_that_are_always_too_long_are_a_failure() {
    let mut machine = Machine::new(50);
    let mut stamp = stamp_of(&machine.on(Input::Begin));
    for _ in 0..2 {
        stamp = stamp_of(&machine.on(Input::Answered { stamp, kind: AnswerKind::TooLong }));
    }
    let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::TooLong });
    assert!(states(&effects) == [AgentState::Failed] && effects.contains(&Effect::NoEnd), "{effects:?}");
    let finish = Effect::Finish { reason: CompleteReason::Failed, code: Some(ErrorCode::ProviderUnavailable) };
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
                    | Effect::NoEnd
                    | Effect::StopWork => {}
                }
            }
            prop_assert_eq!(machine.state(), state);
            prop_assert_eq!(begun, finished + usize::from(machine.busy()));
        }
    }
}
