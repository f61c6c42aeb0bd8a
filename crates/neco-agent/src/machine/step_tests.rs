//! What the state table does with every kind of input, and with inputs in any order.

use neco_proto::ErrorCode;
use neco_proto::event::{AgentState, CompleteReason};
use proptest::prelude::*;

use super::effect::{Effect, Nudge};
use super::input::{AnswerKind, End, Halt, Input, Stamp};
use super::state::State;
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
        Effect::TakeInSaid { stamp } => Some(*stamp),
        _ => None,
    };
    effects.iter().find_map(asked).expect("a turn is to begin")
}

/// The turn that is to begin does.
fn begun(machine: &mut Machine, effects: &[Effect]) -> Stamp {
    let stamp = stamp_of(effects);
    let iteration = machine.iteration();
    assert_eq!(machine.on(Input::Passed { stamp, something: true }), [Effect::BeginTurn { stamp, iteration }]);
    stamp
}

/// The turn that a begin begins.
fn begin(machine: &mut Machine) -> Stamp {
    let effects = machine.on(Input::Begin);
    begun(machine, &effects)
}

fn moved(stamp: Stamp, waiting: usize, running: usize, open: usize) -> Input {
    Input::CallsMoved { stamp, waiting, running, open }
}

#[test]
fn a_turn_with_an_approval_goes_through_the_table() {
    let mut machine = Machine::new(50);
    let effects = machine.on(Input::Begin);
    assert_eq!(states(&effects), [AgentState::Streaming]);
    let stamp = begun(&mut machine, &effects);
    assert_eq!(
        machine.on(Input::Answered { stamp, kind: AnswerKind::Calls }).last(),
        Some(&Effect::RunCalls { stamp })
    );
    assert_eq!(states(&machine.on(moved(stamp, 1, 0, 1))), [AgentState::AwaitingApproval]);
    assert_eq!(states(&machine.on(moved(stamp, 0, 1, 1))), [AgentState::ToolExecuting]);
    let effects = machine.on(moved(stamp, 0, 0, 0));
    assert_eq!(states(&effects), [AgentState::ToolResultReady, AgentState::Streaming]);
    let stamp = begun(&mut machine, &effects);
    let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Text });
    assert_eq!(states(&effects), [AgentState::Complete]);
    assert_eq!(effects.last(), Some(&Effect::Finish { reason: CompleteReason::Natural, code: None }));
}

#[test]
fn a_late_result_after_a_cancel_restarts_nothing() {
    let mut machine = Machine::new(50);
    let stamp = begin(&mut machine);
    let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
    let _ = machine.on(moved(stamp, 0, 1, 1));
    assert_eq!(states(&machine.on(Input::Cancel)), [AgentState::Cancelled]);
    assert!(machine.on(moved(stamp, 0, 0, 0)).is_empty());
    let again = begin(&mut machine);
    assert!(machine.on(moved(stamp, 0, 0, 0)).is_empty());
    assert!(machine.on(Input::Answered { stamp, kind: AnswerKind::Text }).is_empty());
    assert!(!machine.on(Input::Answered { stamp: again, kind: AnswerKind::Text }).is_empty());
}

#[test]
fn a_turn_that_is_broken_off_is_asked_again_under_its_number() {
    let mut machine = Machine::new(1);
    let stamp = begin(&mut machine);
    let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
    let _ = machine.on(moved(stamp, 0, 1, 1));
    let effects = machine.on(Input::Hold(Halt::AtOnce));
    assert_eq!((effects.first(), states(&effects)), (Some(&Effect::StopWork), vec![AgentState::Streaming]));
    assert_eq!(machine.state(), State::Held);
    assert!(machine.on(Input::Hold(Halt::AtOnce)).is_empty());
    assert!(machine.on(moved(stamp, 0, 0, 0)).is_empty(), "what was broken off is void");
    let effects = machine.on(Input::Release);
    assert_eq!(effects.first(), Some(&Effect::TellBrokenOff));
    let again = begun(&mut machine, &effects);
    assert_eq!((machine.iteration(), again == stamp), (1, false));
    let _ = machine.on(Input::Halt(End::DONE));
    assert_eq!(states(&machine.on(Input::Hold(Halt::AtOnce))), [AgentState::Complete], "what was to end ends");
    assert!(machine.on(Input::Hold(Halt::AtOnce)).is_empty() && machine.on(Input::Release).is_empty());
}

#[test]
fn whoever_is_held_begins_no_turn_until_it_is_released() {
    let mut machine = Machine::new(50);
    let stamp = begin(&mut machine);
    let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
    assert!(machine.on(Input::Hold(Halt::AfterCalls)).is_empty(), "its calls come to their end");
    assert_eq!(machine.on(moved(stamp, 0, 0, 0)).last().map(|_| machine.state()), Some(State::Held));
    let effects = machine.on(Input::Release);
    assert_eq!(effects, [Effect::TakeInSaid { stamp: machine.stamp() }], "nothing was broken off");
    // What was said has not passed the gate yet: the turn has not begun.
    assert!(machine.on(Input::Hold(Halt::AfterTurn)).is_empty());
    let stamp = machine.stamp();
    assert!(machine.on(Input::Passed { stamp, something: true }).is_empty());
    assert_eq!(machine.state(), State::Held);
}

#[test]
fn the_model_is_asked_when_a_summary_has_made_room() {
    let mut machine = Machine::new(50);
    let stamp = begin(&mut machine);
    assert!(machine.on(Input::Compacts { stamp }).is_empty());
    assert!(machine.on(Input::Answered { stamp, kind: AnswerKind::Text }).is_empty(), "it was not asked yet");
    assert_eq!(machine.on(Input::Compacted { stamp }), [Effect::AskModel { stamp }]);
    assert!(machine.on(Input::EndAtGate { stamp }).is_empty());
    assert_eq!(states(&machine.on(Input::Answered { stamp, kind: AnswerKind::Text })), [AgentState::Complete]);
}

#[test]
fn a_request_of_which_nothing_passed_the_gate_ends() {
    let mut machine = Machine::new(50);
    let stamp = stamp_of(&machine.on(Input::Begin));
    let stopped = Effect::Finish { reason: CompleteReason::Stopped, code: None };
    assert_eq!(machine.on(Input::Passed { stamp, something: false }).last(), Some(&stopped));
    let stamp = begin(&mut machine);
    let stamp = stamp_of(&machine.on(Input::Answered { stamp, kind: AnswerKind::Paused }));
    let _ = machine.on(Input::Passed { stamp, something: false });
    assert_eq!(machine.state(), State::Streaming, "a later turn has its results to tell");
}

#[test]
fn a_turn_of_another_process_goes_on_with_its_calls() {
    let mut machine = Machine::new(50);
    let effects = machine.on(Input::TakeUp);
    let Some(Effect::RunCalls { stamp }) = effects.last().copied() else { panic!("{effects:?}") };
    assert_eq!((states(&effects), machine.iteration()), (vec![AgentState::ToolPending], 1));
    assert!(machine.on(Input::TakeUp).is_empty(), "it is at work");
    let _ = machine.on(moved(stamp, 1, 0, 1));
    assert_eq!(machine.state(), State::AwaitingApproval);
    let _ = machine.on(moved(stamp, 0, 0, 0));
    assert_eq!((machine.state(), machine.iteration()), (State::AtGate, 2), "the next one asks the model");
}

#[test]
fn the_limit_ends_the_work_and_begin_goes_on() {
    let mut machine = Machine::new(1);
    let stamp = begin(&mut machine);
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
    let mut stamp = begin(&mut machine);
    for _ in 0..2 {
        let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Empty });
        assert!(effects.contains(&Effect::Nudge(Nudge::Empty)));
        stamp = begun(&mut machine, &effects);
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
    let mut stamp = begin(&mut machine);
    for _ in 0..2 {
        let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::TooLong });
        stamp = begun(&mut machine, &effects);
    }
    let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::TooLong });
    assert!(states(&effects) == [AgentState::Failed] && effects.contains(&Effect::NoEnd), "{effects:?}");
    let finish = Effect::Finish { reason: CompleteReason::Failed, code: Some(ErrorCode::AnswerTooLong) };
    assert_eq!(effects.last(), Some(&finish));
}

#[test]
fn a_used_up_budget_ends_the_turn_and_begins_no_other() {
    let mut machine = Machine::new(50);
    let stamp = begin(&mut machine);
    assert!(machine.on(Input::BudgetUsedUp).is_empty());
    let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
    let budget = Effect::Finish { reason: CompleteReason::Budget, code: Some(ErrorCode::BudgetUsedUp) };
    assert_eq!(machine.on(moved(stamp, 0, 0, 0)).last(), Some(&budget));
    assert_eq!(machine.on(Input::Begin).last(), Some(&budget));
}

#[test]
fn a_refusal_is_a_failure_and_asked_about_no_further() {
    let mut machine = Machine::new(50);
    let stamp = begin(&mut machine);
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
    let stamp = begin(&mut machine);
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
    let stamp = begin(&mut machine);
    assert_eq!(states(&machine.on(Input::Waits { stamp })), [AgentState::AwaitingApproval]);
    let effects = machine.on(Input::GoesOn { stamp });
    assert_eq!(states(&effects), [AgentState::Streaming]);
    assert!(machine.on(Input::GoesOn { stamp }).is_empty());
    let stamp = begun(&mut machine, &effects);
    let _ = machine.on(Input::Waits { stamp });
    let looped = Effect::Finish { reason: CompleteReason::LoopDetected, code: Some(ErrorCode::LoopDetected) };
    assert_eq!(machine.on(Input::Blocked { stamp, end: End::LOOP }).last(), Some(&looped));
}

#[test]
fn what_is_blocked_or_halted_ends_without_another_turn() {
    let stopped = Effect::Finish { reason: CompleteReason::Stopped, code: None };
    let mut machine = Machine::new(50);
    let stamp = begin(&mut machine);
    assert_eq!(machine.on(blocked(stamp)).last(), Some(&stopped));
    assert!(machine.on(blocked(stamp)).is_empty() && !machine.busy());
    let stamp = begin(&mut machine);
    let _ = machine.on(Input::Answered { stamp, kind: AnswerKind::Calls });
    assert!(machine.on(Input::Halt(End::STOPPED)).is_empty());
    assert_eq!(machine.on(moved(stamp, 0, 0, 0)).last(), Some(&stopped));
}

#[test]
fn an_end_that_is_objected_to_is_another_turn_up_to_the_limit() {
    let mut machine = Machine::new(2);
    let stamp = begin(&mut machine);
    let effects = machine.on(Input::Answered { stamp, kind: AnswerKind::Held });
    let stamp = begun(&mut machine, &effects);
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
        (stamp.clone(), any::<bool>()).prop_map(|(stamp, something)| Input::Passed { stamp, something }),
        stamp.clone().prop_map(|stamp| Input::Compacts { stamp }),
        stamp.clone().prop_map(|stamp| Input::Compacted { stamp }),
        stamp.clone().prop_map(|stamp| Input::EndAtGate { stamp }),
        prop_oneof![Just(Halt::AfterTurn), Just(Halt::AfterCalls), Just(Halt::AtOnce)].prop_map(Input::Hold),
        Just(Input::Release),
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
    /// the limit holds, no turn begins while it is held, and a busy loop always waits for something that it asked for.
    #[test]
    fn any_order_of_inputs_keeps_the_loop_sane(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut machine = Machine::new(3);
        let (mut state, mut begun, mut finished, mut asked) = (AgentState::Idle, 0, 0, Vec::new());
        let mut held = false;
        for input in inputs {
            let was_busy = machine.busy();
            match input {
                Input::Hold(_) => held = true,
                Input::Release => held = false,
                _ => {}
            }
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
                    Effect::TakeInSaid { stamp } => {
                        prop_assert!(!asked.contains(&stamp), "a stamp is used once");
                        prop_assert!(machine.state() == State::AtGate);
                        asked.push(stamp);
                    }
                    Effect::BeginTurn { stamp, iteration } => {
                        prop_assert!(iteration <= 3 && machine.state() == State::Streaming && !held);
                        prop_assert_eq!(asked.last(), Some(&stamp));
                    }
                    Effect::Finish { .. } => finished += 1,
                    Effect::RunCalls { .. }
                    | Effect::AskModel { .. }
                    | Effect::EndTurn { .. }
                    | Effect::TellBrokenOff
                    | Effect::Nudge(_)
                    | Effect::NoAnswer { .. }
                    | Effect::NoEnd
                    | Effect::StopWork => {}
                }
            }
            prop_assert_eq!(machine.state().shown(), state);
            prop_assert_eq!(begun, finished + usize::from(machine.busy()));
        }
    }
}

/// A loop that rests in `state`.
fn at(state: State) -> Machine {
    let mut machine = Machine::new(50);
    if state == State::Held {
        let _ = machine.on(Input::Hold(Halt::AfterTurn));
    }
    if state != State::Idle {
        let _ = machine.on(Input::Begin);
    }
    let stamp = machine.stamp();
    let calls = Input::Answered { stamp, kind: AnswerKind::Calls };
    let way: &[Input] = match state {
        State::Idle | State::Held | State::AtGate | State::Streaming => &[],
        State::AskingPerson => &[Input::Waits { stamp }],
        State::Compacting => &[Input::Compacts { stamp }],
        State::EndAtGate => &[Input::EndAtGate { stamp }],
        State::ToolPending => &[calls],
        State::AwaitingApproval => &[calls, moved(stamp, 1, 0, 1)],
        State::ToolExecuting => &[calls, moved(stamp, 0, 1, 1)],
        State::Complete => &[Input::Answered { stamp, kind: AnswerKind::Text }],
        State::Failed => &[Input::ProviderFailed { stamp, code: ErrorCode::ProviderUnavailable }],
        State::Cancelled => &[Input::Cancel],
    };
    if !matches!(state, State::Idle | State::Held | State::AtGate) {
        let _ = machine.on(Input::Passed { stamp, something: true });
    }
    for input in way {
        let _ = machine.on(*input);
    }
    assert_eq!(machine.state(), state);
    machine
}

/// What every state makes of every input, as `state: input → next state`; what is not listed leaves it where it is.
const TABLE: &str = "\
    Idle: begin → AtGate\n\
    Held: release → AtGate, time up → Complete, cancel → Cancelled\n\
    AtGate: passed → Streaming, nothing passed → Complete, blocked → Complete, hold at once → Held, time up → \
    Complete, cancel → Cancelled\n\
    AskingPerson: goes on → AtGate, blocked → Complete, hold at once → Held, cancel → Cancelled\n\
    Compacting: compacted → Streaming, failed → Failed, blocked → Complete, hold after calls → Held, hold at \
    once → Held, time up → Complete, cancel → Cancelled\n\
    Streaming: waits → AskingPerson, compacts → Compacting, end at gate → EndAtGate, calls → ToolPending, \
    text → Complete, nothing → AtGate, failed → Failed, blocked → Complete, hold after calls → Held, hold at \
    once → Held, time up → Complete, cancel → Cancelled\n\
    EndAtGate: calls → ToolPending, text → Complete, nothing → AtGate, blocked → Complete, hold at once → \
    Held, time up → Complete, cancel → Cancelled\n\
    ToolPending: calls wait → AwaitingApproval, calls run → ToolExecuting, calls done → AtGate, hold at once \
    → Held, cancel → Cancelled\n\
    AwaitingApproval: calls run → ToolExecuting, calls done → AtGate, hold at once → Held, cancel → Cancelled\n\
    ToolExecuting: calls wait → AwaitingApproval, calls done → AtGate, hold at once → Held, cancel → \
    Cancelled\n\
    Complete: begin → AtGate\n\
    Failed: begin → AtGate\n\
    Cancelled: begin → AtGate\n\
";

#[test]
fn every_input_is_defined_in_every_state() {
    let states = [
        State::Idle,
        State::Held,
        State::AtGate,
        State::AskingPerson,
        State::Compacting,
        State::Streaming,
        State::EndAtGate,
        State::ToolPending,
        State::AwaitingApproval,
        State::ToolExecuting,
        State::Complete,
        State::Failed,
        State::Cancelled,
    ];
    let inputs = |stamp| {
        [
            ("begin", Input::Begin),
            ("passed", Input::Passed { stamp, something: true }),
            ("nothing passed", Input::Passed { stamp, something: false }),
            ("waits", Input::Waits { stamp }),
            ("goes on", Input::GoesOn { stamp }),
            ("compacts", Input::Compacts { stamp }),
            ("compacted", Input::Compacted { stamp }),
            ("end at gate", Input::EndAtGate { stamp }),
            ("calls", Input::Answered { stamp, kind: AnswerKind::Calls }),
            ("text", Input::Answered { stamp, kind: AnswerKind::Text }),
            ("nothing", Input::Answered { stamp, kind: AnswerKind::Empty }),
            ("failed", Input::ProviderFailed { stamp, code: ErrorCode::ProviderUnavailable }),
            ("calls wait", moved(stamp, 1, 0, 1)),
            ("calls run", moved(stamp, 0, 1, 1)),
            ("calls done", moved(stamp, 0, 0, 0)),
            ("blocked", blocked(stamp)),
            ("hold after turn", Input::Hold(Halt::AfterTurn)),
            ("hold after calls", Input::Hold(Halt::AfterCalls)),
            ("hold at once", Input::Hold(Halt::AtOnce)),
            ("release", Input::Release),
            ("halt", Input::Halt(End::DONE)),
            ("budget", Input::BudgetUsedUp),
            ("time up", Input::TimeUp),
            ("cancel", Input::Cancel),
        ]
    };
    let mut table = String::new();
    for state in states {
        let moves = inputs(at(state).stamp()).into_iter().filter_map(|(name, input)| {
            let mut machine = at(state);
            let effects = machine.on(input);
            let next = machine.state();
            (next != state || !effects.is_empty()).then(|| format!("{name} → {next:?}"))
        });
        let line = format!("{state:?}: {}\n", moves.collect::<Vec<_>>().join(", "));
        table.push_str(&line);
        for (name, input) in inputs(Stamp(u64::MAX)).into_iter().filter(|(_, input)| input.stamp().is_some()) {
            let mut machine = at(state);
            assert!(machine.on(input).is_empty() && machine.state() == state, "{name} of another turn in {state:?}");
        }
    }
    assert_eq!(table, TABLE, "{table}");
}
