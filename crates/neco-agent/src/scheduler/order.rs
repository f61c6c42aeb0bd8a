//! Which calls may begin now.

use super::call::{Call, Standing};

/// The positions of the calls that may begin now: reads together up to `parallel_reads`, anything
/// else alone, in order, after everything before it. A call that was changed on its way may do more
/// than read by now, while later reads have begun: it waits for them.
pub(super) fn may_begin(calls: &[Call], parallel_reads: usize) -> Vec<usize> {
    let standing = |call: &Call| call.phase.standing();
    // A call that waits for a person takes no place: eight questions must not block a ninth read.
    let mut begun = calls.iter().filter(|call| standing(call) == Standing::Busy).count();
    let has_not_begun = |call: &Call| matches!(standing(call), Standing::Scheduled | Standing::Done);
    let mut chosen = Vec::new();
    let mut all_done_before = true;
    for (index, call) in calls.iter().enumerate() {
        let Some(touch) = call.touch() else { continue };
        let scheduled = standing(call) == Standing::Scheduled;
        if !touch.changes_nothing() {
            if scheduled && all_done_before && calls.iter().all(has_not_begun) {
                chosen.push(index);
            }
            break;
        }
        if scheduled && begun < parallel_reads {
            begun += 1;
            chosen.push(index);
        }
        all_done_before = false;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use neco_proto::CallId;
    use neco_safety::SideEffect;
    use proptest::prelude::*;

    use super::super::call::{Outcome, Phase};
    use super::super::stand_ins::Stub;
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum State {
        Scheduled,
        Running,
        Done,
    }

    fn call(touch: SideEffect, state: State) -> Call {
        let phase = match state {
            State::Scheduled => Phase::Scheduled { prepared: Box::new(Stub(touch)), approved: false, gated: false },
            State::Running => Phase::Executing { touch, arguments: None },
            State::Done => Phase::Done(Box::new(Outcome::cancelled(false))),
        };
        Call::new(CallId::generate(), String::new(), phase)
    }

    fn calls(states: &[(SideEffect, State)]) -> Vec<Call> {
        states.iter().map(|(touch, state)| call(*touch, *state)).collect()
    }

    /// The calls, how many reads may run at once, and which may begin.
    type Case = (&'static [(SideEffect, State)], usize, &'static [usize]);

    #[test]
    fn reads_begin_together_up_to_the_bound_and_a_write_waits_for_them() {
        use SideEffect::{Network, Reads, Runs, Writes};
        use State::{Done, Running, Scheduled};
        let table: [Case; 10] = [
            (&[(Reads, Scheduled), (Reads, Scheduled), (Writes, Scheduled), (Reads, Scheduled)], 8, &[0, 1]),
            (&[(Reads, Scheduled), (Reads, Scheduled), (Reads, Scheduled)], 2, &[0, 1]),
            (&[(Reads, Running), (Reads, Scheduled), (Reads, Scheduled)], 2, &[1]),
            (&[(Reads, Done), (Writes, Scheduled), (Reads, Scheduled)], 8, &[1]),
            (&[(Reads, Running), (Writes, Scheduled)], 8, &[]),
            (&[(Writes, Running), (Reads, Scheduled)], 8, &[]),
            (&[(Runs, Scheduled), (Runs, Scheduled)], 8, &[0]),
            (&[(Runs, Done), (Runs, Scheduled)], 8, &[1]),
            (&[(Writes, Scheduled), (Reads, Running)], 8, &[]),
            (&[(Network, Scheduled), (Reads, Scheduled), (Runs, Scheduled)], 8, &[0, 1]),
        ];
        for (states, bound, expected) in table {
            assert_eq!(may_begin(&calls(states), bound), expected, "{states:?}");
        }
    }

    fn touches() -> impl Strategy<Value = SideEffect> {
        prop_oneof![
            Just(SideEffect::Reads),
            Just(SideEffect::Network),
            Just(SideEffect::Writes),
            Just(SideEffect::Runs)
        ]
    }

    proptest! {
        /// Played to the end with calls that finish in any order: all run, never beside a write, never too many.
        #[test]
        fn every_order_of_finishing_runs_every_call_alone_or_among_reads(
            kinds in prop::collection::vec(touches(), 0..12),
            bound in 1usize..4,
            finishing in prop::collection::vec(any::<prop::sample::Index>(), 12),
        ) {
            let mut states: Vec<(SideEffect, State)> = kinds.iter().map(|kind| (*kind, State::Scheduled)).collect();
            let mut finishing = finishing.into_iter();
            while states.iter().any(|(_, state)| *state != State::Done) {
                for index in may_begin(&calls(&states), bound) {
                    states[index].1 = State::Running;
                }
                let running: Vec<usize> =
                    (0..states.len()).filter(|index| states[*index].1 == State::Running).collect();
                prop_assert!(!running.is_empty(), "something can always go on");
                prop_assert!(running.len() <= bound.max(1));
                let alone = running.iter().any(|index| !states[*index].0.changes_nothing());
                prop_assert!(!alone || running.len() == 1);
                let first = running[0];
                prop_assert!(!alone || states[..first].iter().all(|(_, state)| *state == State::Done));
                let Some(next) = finishing.next() else { break };
                states[*next.get(&running)].1 = State::Done;
            }
        }
    }
}
